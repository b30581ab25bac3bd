#pragma once
// What the tests of precond/ share: the hand example, awkward matrices, M⁻¹ as a dense matrix.

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "ilux/base/cpu.hpp"
#include "ilux/gallery/gallery.hpp"
#include "ilux/precond/crout/crout_ilu.hpp"
#include "ilux/precond/mlilu/mlilu.hpp"
#include "ilux/tests/precond/mlilu/dense_blocks.hpp"
#include "ilux/tests/support/checks.hpp"
#include "ilux/tests/support/entry_list.hpp"

namespace ilux::test::precond {

inline CsrMatrix<> dense(Index n, const Vector& a) { return to_csr(Dense{n, n, a}); }

/// Of all rows of A.
inline CroutOptions all_of(const CsrMatrix<>& A, CroutOptions options)
{
    options.candidates = A.rows();
    return options;
}

inline CroutLevel<> level_of(const CsrMatrix<>& A, const CroutOptions& options)
{
    return crout_ilu(A, transpose(A), all_of(A, options));
}

/// Worked by hand in the tests that use it; no scaling, no permutation.
inline CsrMatrix<> hand_example() { return dense(4, {2, 4, 0, 2, 2, 5, 1, 3, 0, 2, 4, 0, 2, 4, 2, 7}); }

/// −x u_xx − y u_yy on a grid of 40 × 40.
inline CsrMatrix<> strips(double x, double y)
{
    auto A = gallery::poisson2d(40, 40);
    for (Index i = 0; i < A.rows(); ++i)
        for (Offset p = A.row_ptr()[i]; p < A.row_ptr()[i + 1]; ++p) {
            const Index distance = std::abs(A.col()[p] - i);
            A.val()[p] = distance == 0 ? 2 * (x + y) : distance == 1 ? -x : -y;
        }
    return A;
}

/// A unit diagonal and `below` times the two rows before: L⁻¹ hardly grows where `below` is 0.1, and does where it
/// is 3.
inline CsrMatrix<> chain(Index n, double below)
{
    EntryList entries;
    for (Index i = 0; i < n; ++i) {
        entries.add(i, i, 1);
        for (Index j = std::max(i - 2, 0); j < i; ++j) entries.add(i, j, below);
    }
    return entries.matrix(n, n);
}

/// The rows of a level, accepted ones first.
inline std::vector<Index> new_order(const CroutLevel<>& level)
{
    auto order = level.accepted;
    order.insert(order.end(), level.postponed.begin(), level.postponed.end());
    return order;
}

/// [L_B 0; L_G I] [D 0; 0 S] [U_B U_F; 0 I].
inline Dense product(const CroutLevel<>& level, const Dense& S)
{
    const auto nB = static_cast<Index>(level.accepted.size()), n = nB + S.rows;
    Dense      L = zeros(n, n), D = zeros(n, n), U = zeros(n, n);
    put(L, 0, 0, to_dense(level.L_B));
    put(L, nB, 0, to_dense(level.L_G));
    put(U, 0, 0, to_dense(level.U_B));
    put(U, 0, nB, to_dense(level.U_F));
    put(D, 0, 0, diagonal(level.d));
    put(D, nB, nB, S);
    return multiply(multiply(with_unit_diagonal(L), D), with_unit_diagonal(U));
}

inline Vector applied(Preconditioner<Cpu>& M, const Vector& r, bool transpose = false, int threads = 1)
{
    Cpu    be(threads);
    Vector z(r.size(), std::nan(""));  // so that a component left out shows
    if (transpose) M.apply_adjoint(be, r, z);
    else M.apply(be, r, z);
    return z;
}

/// M⁻¹ (or M⁻ᵀ) column by column.
inline Dense as_dense(Preconditioner<Cpu>& M, bool transpose = false)
{
    Dense X = zeros(M.size(), M.size());
    for (Index j = 0; j < M.size(); ++j) {
        Vector e(M.size());
        e[j] = 1;
        const Vector z = applied(M, e, transpose);
        for (Index i = 0; i < M.size(); ++i) X(i, j) = z[i];
    }
    return X;
}

inline MlIlu<> build(const CsrMatrix<>& A, const MlIluOptions& options = {}, int threads = 1)
{
    Cpu be(threads);
    return MlIlu<>::build(be, A, options);
}

/// Random entries around a random transversal of ±1: no structure, diagonal entries mostly missing, hardly ever
/// singular.
inline CsrMatrix<> random_regular(Index n, Index per_row, std::uint64_t seed, bool transversal_on_diagonal = false)
{
    Dense      A = to_dense(random_matrix(n, n, per_row, seed));
    const auto column = random_permutation(n, seed + 1);
    for (Index i = 0; i < n; ++i) A(i, transversal_on_diagonal ? i : column[i]) += i % 2 == 0 ? 1 : -1;
    return to_csr(A);
}

inline CsrMatrix<> times(CsrMatrix<> A, double factor)
{
    for (double& value : A.val()) value *= factor;
    return A;
}

/// Powers of two, log-uniform over 10^±decades.
inline Vector sizes(Index n, double decades, std::uint64_t seed)
{
    Vector exponent = random_vector(n, seed);
    for (double& e : exponent) e = std::exp2(std::round(std::log2(10.) * decades * e));
    return exponent;
}

/// Row 0 and every third, column 3 and every fourth lost.
inline CsrMatrix<> with_empty_lines(const CsrMatrix<>& A)
{
    Dense D = to_dense(A);
    for (Index i = 0; i < A.rows(); ++i)
        for (Index j = 0; j < A.cols(); ++j)
            if (i % 3 == 0 || j % 4 == 3) D(i, j) = 0;
    return to_csr(D);
}

struct Named {
    std::string name;
    CsrMatrix<> A;
};

/// Square matrices of order n that a solver may meet; those of singular_matrices have no inverse.
inline std::vector<Named> regular_matrices(Index n, std::uint64_t seed)
{
    return {{"dominant", random_dominant(n, 4, seed)},
            {"unsymmetric", random_regular(n, 3, seed, true)},
            {"zero diagonal", random_regular(n, 2, seed)},
            {"nearly full", random_regular(n, n, seed)},
            {"spd", random_spd(n, 3, seed)},
            {"huge", times(random_regular(n, 3, seed, true), 1e150)},
            {"tiny", times(random_regular(n, 3, seed, true), 1e-150)}};
}

inline std::vector<Named> singular_matrices(Index n, std::uint64_t seed)
{
    Dense copied = to_dense(random_regular(n, 3, seed));
    for (Index j = 0; j < n; ++j) copied(n - 1, j) = n > 1 ? copied(0, j) : 0;
    return {{"all zero", CsrMatrix<>::from_triplets(n, n, {}, {}, {})},
            {"empty lines", with_empty_lines(random_regular(n, 3, seed))},
            {"last row a copy", to_csr(copied)}};
}

constexpr Index awkward_sizes[] = {0, 1, 2, 3, 31, 32, 33, 60};

/// The sweep of the hand example: nothing permuted or scaled, κ = 11/4, τ in the sweep's own rule.
inline MlIluOptions by_hand(double sweep_tol, OffDiagonal off_diagonal)
{
    return {.drop_tol = sweep_tol * 2.75,
            .schur_drop_tol = 0,
            .setup = MlIluSetup::crout,
            .inverse_bound = 2.75,
            .growth_bound = 0,
            .matching = MatchingChoice::off,
            .ordering = Ordering::none,
            .off_diagonal = off_diagonal,
            .scaling = false};
}

}  // namespace ilux::test::precond

// Pairs of rows as pivots: M = L |D| Lᴴ of a symmetric A whose diagonal says nothing.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "ilux/base/cpu.hpp"
#include "ilux/base/matrix/spmv.hpp"
#include "ilux/gallery/gallery.hpp"
#include "ilux/precond/gpu/apply_systems.hpp"
#include "ilux/precond/mlilu/mlilu.hpp"
#include "ilux/tests/support/complex_on_device.hpp"

namespace ilux::test {
namespace {

template <Scalar S>
std::vector<S> random_of(Index n, int seed)
{
    if constexpr (is_complex<S>) return random_complex_vector(n, seed);
    else return random_vector(n, seed);
}

template <Scalar S>
std::vector<S> inverse_times(const MlIlu<S>& mlilu, const std::vector<S>& r)
{
    Cpu                    cpu(2);
    MlIluPreconditioner<S> M(mlilu);
    std::vector<S>         z(r.size());
    M.apply(cpu, r, z);
    return z;
}

template <Scalar S>
std::vector<S> A_times(const CsrMatrix<S>& A, const std::vector<S>& x)
{
    Cpu            cpu(1);
    std::vector<S> y(x.size());
    spmv<S>(cpu, 1, A, x, 0, y);
    return y;
}

/// kron(I, [0 1; 1 0]) of 2 n rows, in a random numbering.
CsrMatrix<double> exchange(Index n)
{
    std::vector<Index>  row, col;
    std::vector<double> val;
    for (Index k = 0; k < n; ++k)
        for (const Index first : {0, 1}) {
            row.push_back((2 * k + first) * 7 % (2 * n));
            col.push_back((2 * k + 1 - first) * 7 % (2 * n));
            val.push_back(1 + k % 3);
        }
    return CsrMatrix<>::from_triplets(2 * n, 2 * n, row, col, val);
}

/// [0 B; Bᴴ 0] for a B with a dominant diagonal in a random column order.
template <Scalar S>
CsrMatrix<S> bipartite(Index n, Index per_row, int seed)
{
    const auto         random = random_of<S>(n * (per_row + 1), seed);
    std::vector<Index> row, col;
    std::vector<S>     val;
    const auto         add = [&](Index i, Index j, S value) {
        row.insert(row.end(), {i, n + j});
        col.insert(col.end(), {n + j, i});
        val.insert(val.end(), {value, S(conj(value))});
    };
    for (Index i = 0; i < n; ++i) {
        add(i, (i * 11 + 3) % n, random[i * (per_row + 1)] + S(2));
        for (Index k = 1; k <= per_row; ++k)
            add(i, static_cast<Index>((i * 5L + k * k * 17L + seed) % n), random[i * (per_row + 1) + k] * S(0.3));
    }
    return CsrMatrix<S>::from_triplets(2 * n, 2 * n, row, col, val);
}

/// Complete factors: then M⁻¹ A = L⁻ᴴ sign(D) Lᴴ, and twice that is the identity. M is Hermitian and positive definite.
template <Scalar S>
void expect_sign_of_A(const CsrMatrix<S>& A, const char* what)
{
    Cpu        cpu(2);
    const auto M = MlIlu<S>::build(cpu, A, {.drop_tol = 0, .absolute = true});
    Cpu        be(1);
    for (int seed = 1; seed <= 3; ++seed) {
        const auto x = random_of<S>(A.rows(), seed), y = random_of<S>(A.rows(), 50 + seed);
        const auto once = inverse_times(M, A_times(A, x)), twice = inverse_times(M, A_times(A, once));
        for (std::size_t i = 0; i < x.size(); ++i) ASSERT_LE(std::abs(twice[i] - x[i]), 1e-8) << what << ' ' << i;
        const auto z = inverse_times(M, x);
        EXPECT_GT(real_part(dot<S>(be, x, z)), 0) << what;
        EXPECT_LE(std::abs(dot<S>(be, y, z) - dot<S>(be, inverse_times(M, y), x)),
                  1e-10 * norm2<S>(be, y) * norm2<S>(be, z))
            << what;
    }
}

bool takes_pairs(const MlIluReport& report)
{
    const std::string said = "pairs of rows serve as pivots where the diagonal is small";
    return std::ranges::count(report.decisions, said) == 1;
}

TEST(PairPivots, MakeTheExchangeMatrixOneLevel)
{
    Cpu        cpu(1);
    const auto A = exchange(999);
    const auto M = MlIlu<>::build(cpu, A, {.absolute = true});
    ASSERT_EQ(M.report().levels.size(), 1U);
    EXPECT_EQ(M.report().levels[0].accepted, A.rows());
    EXPECT_TRUE(takes_pairs(M.report()));
    expect_sign_of_A<double>(A, "exchange");
    // |A| is diagonal, and so is M.
    const auto x = random_vector(A.rows(), 4), z = inverse_times(M, x);
    for (Index i = 0; i < A.rows(); ++i) {
        const double size = std::abs(A.val()[A.row_ptr()[i]]);
        EXPECT_NEAR(z[i], x[i] / size, 1e-14) << i;
    }
}

TEST(PairPivots, GiveTheSignOfBipartiteMatrices)
{
    for (const Index n : {1, 2, 7, 60, 300})
        for (const int seed : {1, 2}) {
            expect_sign_of_A<double>(bipartite<double>(n, std::min<Index>(n - 1, 3), seed), "real");
            expect_sign_of_A<Complex>(bipartite<Complex>(n, std::min<Index>(n - 1, 3), seed), "complex");
        }
}

TEST(PairPivots, LeaveNoLargeDenseEnd)
{
    Cpu        cpu(2);
    const auto M = MlIlu<>::build(cpu, bipartite<double>(950, 3, 5), {.absolute = true});
    EXPECT_TRUE(takes_pairs(M.report()));
    EXPECT_LE(M.report().levels.back().n, 500);
}

TEST(PairPivots, AreNotTakenWhereTheDiagonalServes)
{
    Cpu cpu(2);
    for (const char* spec : {"poisson2d:n=20", "stokes2d:n=10"}) {
        const auto A = gallery::build(spec);
        EXPECT_FALSE(takes_pairs(MlIlu<>::build(cpu, A, {.absolute = true}).report())) << spec;
    }
    // Without `absolute`, a matching or postponing serves.
    EXPECT_FALSE(takes_pairs(MlIlu<>::build(cpu, exchange(20), {}).report()));
}

TEST(PairPivots, OfAGpuAreThoseOfTheHost)
{
    Cpu        cpu(2);
    const auto A = bipartite<double>(200, 3, 7);
    const auto M = MlIlu<>::build(cpu, A, for_gpu({.absolute = true}));
    ASSERT_TRUE(takes_pairs(M.report()));
    const auto          systems = apply_systems<double>(cpu, M.factors(), false);
    const auto          r = random_vector(A.rows(), 8), z = inverse_times(M, r);
    std::vector<double> other(r.size()), work(systems.work);
    solve_serial<double>(systems, r, other, work);
    for (std::size_t i = 0; i < z.size(); ++i) EXPECT_NEAR(other[i], z[i], 1e-9 * (1 + std::abs(z[i])));
}

TEST(PairPivots, DoNotBreakOnASingularMatrix)
{
    // An empty row, and a bipartite graph with fewer columns than rows.
    auto A = bipartite<double>(30, 2, 3);
    for (Index i = 0; i < A.rows(); ++i)
        for (Offset p = A.row_ptr()[i]; p < A.row_ptr()[i + 1]; ++p)
            if (i < 4 || A.col()[p] < 4) A.val()[p] = 0;
    Cpu        cpu(1);
    const auto M = MlIlu<>::build(cpu, A, {.absolute = true});
    const auto x = random_vector(A.rows(), 1), z = inverse_times(M, x);
    Cpu        be(1);
    EXPECT_GT(dot(be, x, z), 0);
    EXPECT_TRUE(std::isfinite(norm2(be, z)));
}

}  // namespace
}  // namespace ilux::test

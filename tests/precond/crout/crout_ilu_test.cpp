#include "ilux/precond/crout/crout_ilu.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "ilux/gallery/gallery.hpp"
#include "ilux/precond/crout/schur.hpp"
#include "ilux/sptrsv/level_set.hpp"
#include "ilux/tests/precond/mlilu/level_checks.hpp"
#include "ilux/tests/support/checks.hpp"

namespace ilux {
namespace {

using namespace test::precond;

using test::Dense;
using test::eps;
using test::identical;
using test::to_dense;

using test::infinity;

CsrMatrix<> postponed_block(const CsrMatrix<>& A, const CroutLevel<>& level)
{
    const auto order = new_order(level);
    const auto nB = static_cast<Index>(level.accepted.size()), nC = static_cast<Index>(level.postponed.size());
    return test::to_csr(block(permuted(to_dense(A), order, order), nB, nC, nB, nC));
}

CsrMatrix<> exact_schur(const CsrMatrix<>& A, const CroutLevel<>& level)
{
    Cpu be(1);
    return schur_complement(be, postponed_block(A, level), level.L_G, level.d, level.U_F, 0, false);
}

void expect_close(const CsrMatrix<>& A, const Dense& B, double tolerance, const char* what)
{
    ASSERT_EQ(A.rows(), B.rows) << what;
    ASSERT_EQ(A.cols(), B.cols) << what;
    EXPECT_LE(largest_difference(to_dense(A), B), tolerance) << what;
    for (Index i = 0; i < B.rows; ++i)
        for (Index j = 0; j < B.cols; ++j) EXPECT_EQ(A.at(i, j) != 0, B(i, j) != 0) << what << " " << i << " " << j;
}

TEST(CroutIlu, GivesTheFactorsComputedByHand)
{
    // k=0: d 2, u (2, 1), l (1, 1), z = y = 1.  k=1: z = 1 + 2 > 11/4, postponed.
    // k=2: d 4, u12 ½, l12 ¼, l32 ½, z = y = 1.  k=3: d 5, u −1/5, l 1/5, z = −2, y = −5/2.
    const auto A = hand_example();
    const auto level = level_of(A, {.drop_tol = 0, .inverse_bound = 2.75});
    EXPECT_EQ(level.accepted, (std::vector<Index>{0, 2, 3}));
    EXPECT_EQ(level.postponed, (std::vector<Index>{1}));
    EXPECT_EQ(level.d, (Vector{2, 4, 5}));
    EXPECT_TRUE(identical(level.U_B, test::to_csr({3, 3, {0, 0, 1, 0, 0, 0, 0, 0, 0}})));
    EXPECT_TRUE(identical(level.L_B, test::to_csr({3, 3, {0, 0, 0, 0, 0, 0, 1, 0.5, 0}})));
    EXPECT_TRUE(identical(level.U_F, test::to_csr({3, 1, {2, 0.5, -1. / 5}})));
    EXPECT_TRUE(identical(level.L_G, test::to_csr({1, 3, {1, 0.25, 1. / 5}})));
    EXPECT_EQ(level.inverse_U, 2);
    EXPECT_EQ(level.inverse_L, 2.5);
    EXPECT_FALSE(level.truncated);
    const auto S = exact_schur(A, level);
    EXPECT_EQ(S.nnz(), 1);
    EXPECT_NEAR(S.at(0, 0), 0.7, 4 * eps);  // 5 → 1 → ½ → 7/10
}

TEST(CroutIlu, LookingAheadPostponesAlsoThePivotThatSpoilsAnother)
{
    // k=3 would make the component of 1 in wU 5/2 + (−1/5)(−2) = 29/10 > 11/4.
    const auto A = hand_example();
    const auto level = level_of(A, {.drop_tol = 0, .inverse_bound = 2.75, .look_ahead = true});
    EXPECT_EQ(level.accepted, (std::vector<Index>{0, 2}));
    EXPECT_EQ(level.postponed, (std::vector<Index>{1, 3}));
    EXPECT_EQ(level.d, (Vector{2, 4}));
    EXPECT_EQ(to_dense(exact_schur(A, level)), (Dense{2, 2, {0.5, 1, -1, 5}}));
}

TEST(CroutIlu, DropsByTheInverseRuleAndUpdatesTheDiagonalAfterwards)
{
    // τ = 3/10: ¼·1 goes; ⅕·5/2 and ⅕·2 stay. d of row 1: 5 → 1 → 1 → 6/5.
    const auto A = hand_example();
    const auto level = level_of(A, {.drop_tol = 0.3, .inverse_bound = 2.75});
    EXPECT_EQ(level.accepted, (std::vector<Index>{0, 2, 3}));
    EXPECT_EQ(level.d, (Vector{2, 4, 5}));
    EXPECT_TRUE(identical(level.L_G, test::to_csr({1, 3, {1, 0, 1. / 5}})));
    EXPECT_TRUE(identical(level.U_F, test::to_csr({3, 1, {2, 0.5, -1. / 5}})));
    EXPECT_EQ(level.U_B.nnz(), 1);
    EXPECT_EQ(level.L_B.nnz(), 2);
    EXPECT_NEAR(exact_schur(A, level).at(0, 0), 1.2, 4 * eps);
}

/// The sweep on dense arrays, step by step as its paper states it; greedy signs. Entries of accepted rows in A's
/// numbering.
struct SlowLevel {
    std::vector<Index> accepted, postponed;
    Dense              L, U;
    Vector             d;
    double             inverse_L = 0, inverse_U = 0;
    std::vector<Index> chain_L, chain_U;  // of accepted rows: 1 + the longest among those they read
};

SlowLevel slow_level(const Dense& A, const CroutOptions& opt)
{
    const Index n = A.rows;
    SlowLevel   s{{}, {}, zeros(n, n), zeros(n, n), Vector(n), 0, 0, std::vector<Index>(n), std::vector<Index>(n)};
    Vector      wL(n), wU(n);
    std::vector<char> eliminated(n, 0);
    for (Index i = 0; i < n; ++i) s.d[i] = A(i, i);
    for (Index k = 0; k < n; ++k) {
        const double y = 1 + std::abs(wL[k]), z = 1 + std::abs(wU[k]), d = s.d[k];
        Vector       l(n), u(n);
        double       max_l = 0, max_u = 0;
        for (Index j = 0; j < n; ++j) {
            if (eliminated[j] || j == k) continue;
            u[j] = A(k, j);
            l[j] = A(j, k);
            for (Index m : s.accepted) {
                u[j] -= s.L(k, m) * s.d[m] * s.U(m, j);
                l[j] -= s.L(j, m) * s.d[m] * s.U(m, k);
            }
            max_u = std::max(max_u, std::abs(u[j] /= d));
            max_l = std::max(max_l, std::abs(l[j] /= d));
        }
        const bool grows = opt.growth_bound > 0 && max_l * std::abs(d) * max_u > opt.growth_bound;
        const bool wrong_sign = opt.positive && d <= 0;
        Index      chain_L = 1, chain_U = 1;
        for (Index m : s.accepted) {
            if (s.L(k, m) != 0) chain_L = std::max(chain_L, s.chain_L[m] + 1);
            if (s.U(m, k) != 0) chain_U = std::max(chain_U, s.chain_U[m] + 1);
        }
        const bool too_deep = opt.depth_bound > 0 && std::max(chain_L, chain_U) > opt.depth_bound;
        if (k >= opt.candidates || std::abs(d) <= opt.pivot_floor || y > opt.inverse_bound || z > opt.inverse_bound ||
            grows || wrong_sign || too_deep) {
            s.postponed.push_back(k);
            continue;
        }
        s.accepted.push_back(k);
        s.chain_L[k] = chain_L;
        s.chain_U[k] = chain_U;
        eliminated[k] = 1;
        s.inverse_L = std::max(s.inverse_L, y);
        s.inverse_U = std::max(s.inverse_U, z);
        for (Index j = 0; j < n; ++j) {
            if (std::abs(u[j]) * z > opt.drop_tol) s.U(k, j) = u[j];
            if (std::abs(l[j]) * y > opt.drop_tol) s.L(j, k) = l[j];
            wU[j] += s.U(k, j) * (wU[k] > 0 ? -z : z);
            wL[j] += s.L(j, k) * (wL[k] > 0 ? -y : y);
            s.d[j] -= s.L(j, k) * d * s.U(k, j);
        }
        s.d[k] = d;
    }
    return s;
}

void expect_same_level(const CroutLevel<>& level, const SlowLevel& slow, double tolerance)
{
    ASSERT_EQ(level.accepted, slow.accepted);
    ASSERT_EQ(level.postponed, slow.postponed);
    const auto  order = new_order(level);
    const auto  nB = static_cast<Index>(level.accepted.size()), nC = static_cast<Index>(level.postponed.size());
    const Dense L = permuted(slow.L, order, order), U = permuted(slow.U, order, order);
    expect_close(level.L_B, block(L, 0, nB, 0, nB), tolerance, "L_B");
    expect_close(level.U_B, block(U, 0, nB, 0, nB), tolerance, "U_B");
    expect_close(level.L_G, block(L, nB, nC, 0, nB), tolerance, "L_G");
    expect_close(level.U_F, block(U, 0, nB, nB, nC), tolerance, "U_F");
    for (Index t = 0; t < nB; ++t) EXPECT_NEAR(level.d[t], slow.d[order[t]], tolerance);
    EXPECT_NEAR(level.inverse_L, slow.inverse_L, tolerance);
    EXPECT_NEAR(level.inverse_U, slow.inverse_U, tolerance);
}

TEST(CroutIlu, EqualsTheSlowDenseSweep)
{
    Index postponed = 0, accepted = 0;
    for (Index n : awkward_sizes)
        for (std::uint64_t seed : {1, 2, 3}) {
            const auto A = random_regular(n, 4, seed, true);
            for (const auto& options :
                 {CroutOptions{.drop_tol = 0, .inverse_bound = 3}, CroutOptions{.drop_tol = 0.01, .inverse_bound = 2},
                  CroutOptions{.drop_tol = 0.1, .inverse_bound = 5, .growth_bound = 2},
                  CroutOptions{.drop_tol = 0.05, .inverse_bound = 4, .pivot_floor = 0.2},
                  CroutOptions{.drop_tol = 0, .inverse_bound = 10, .pivot_floor = 0.01, .depth_bound = 1},
                  CroutOptions{.drop_tol = 0.02, .inverse_bound = 10, .pivot_floor = 0.01, .depth_bound = 3},
                  CroutOptions{.drop_tol = 0.02, .inverse_bound = 4, .positive = true}}) {
                const auto level = level_of(A, options);
                expect_same_level(level, slow_level(to_dense(A), all_of(A, options)), 1e-10);
                postponed += static_cast<Index>(level.postponed.size());
                accepted += static_cast<Index>(level.accepted.size());
            }
        }
    EXPECT_GT(postponed, 200);  // both happened often: the comparison was of something
    EXPECT_GT(accepted, 200);
}

TEST(CroutIlu, WithoutABoundIsThePlainCroutIluOfOneLevel)
{
    for (Index n : awkward_sizes) {
        const auto         A = test::random_dominant(n, 5, 7);
        const CroutOptions options{.drop_tol = 0.02, .inverse_bound = infinity};
        const auto         level = level_of(A, options);
        EXPECT_TRUE(level.postponed.empty());
        expect_same_level(level, slow_level(to_dense(A), all_of(A, options)), 1e-12);
    }
}

TEST(CroutIlu, PostponesWhatIsNoCandidate)
{
    const auto         A = test::random_dominant(20, 3, 2);
    const CroutOptions options{.drop_tol = 0, .inverse_bound = 100, .candidates = 12};
    const auto         level = crout_ilu(A, transpose(A), options);
    EXPECT_EQ(level.accepted.size(), 12);
    expect_same_level(level, slow_level(to_dense(A), options), 1e-12);
}

TEST(CroutIlu, IsExactWithoutDroppingWhateverIsPostponed)
{
    for (Index n : awkward_sizes)
        for (std::uint64_t seed : {1, 2, 3, 4})
            for (double kappa : {1., 1.5, 3., 1e300})
                for (bool look_ahead : {false, true}) {
                    const auto  A = random_regular(n, 3, seed, true);
                    const auto  level = level_of(A, {.drop_tol = 0,
                                                     .inverse_bound = kappa,
                                                     .pivot_floor = 0.01,
                                                     .growth_bound = 10,
                                                     .look_ahead = look_ahead});
                    const auto  order = new_order(level);
                    const Dense S = to_dense(exact_schur(A, level)), LDU = product(level, S);
                    EXPECT_LE(largest_difference(LDU, permuted(to_dense(A), order, order)), 1e-10 * (1 + largest(S)))
                        << "n = " << n << ", seed " << seed << ", bound " << kappa << ", look ahead " << look_ahead;
                }
}

TEST(CroutIlu, LookAheadDropsNothingWithoutATolerance)
{
    // k=0 with y = 1 leaves w = (·, 1, 4). For k=1 the sign + gives y = 1 − 1 = 0 and Σ|w| = 4; the sign − only 2.
    // ‖e_1ᵀ L⁻¹‖₁ ≥ 1 all the same, so l_21 = 2 is no small entry.
    const auto A = dense(3, {1, 0, 0, 1, 1, 0, 4, 2, 1});
    const auto level = level_of(A, {.drop_tol = 0, .inverse_bound = 100, .look_ahead = true});
    EXPECT_TRUE(level.postponed.empty());
    EXPECT_TRUE(identical(level.L_B, dense(3, {0, 0, 0, 1, 0, 0, 4, 2, 0})));
}

TEST(CroutIlu, KeepsTheDiagonalWhateverIsDropped)
{
    for (Index n : awkward_sizes)
        for (double drop_tol : {0.01, 0.1, 0.5, 1.}) {
            const auto A = random_regular(n, 5, n, true);
            const auto level = level_of(A, {.drop_tol = drop_tol, .inverse_bound = 5, .pivot_floor = 0.01});
            const auto nB = static_cast<Index>(level.accepted.size());
            const auto LDU = product(level, zeros(n - nB, n - nB));
            for (Index t = 0; t < nB; ++t) {
                const Index i = level.accepted[t];
                EXPECT_NEAR(LDU(t, t), A.at(i, i), 1e-10) << "n = " << n << ", drop_tol " << drop_tol;
            }
        }
}

/// max_k ‖e_kᵀ L⁻¹‖₁ of a unit lower triangular L.
double largest_inverse_row(const Dense& L)
{
    const Dense X = inverse(L);
    double      norm = 0;
    for (Index i = 0; i < X.rows; ++i) {
        double sum = 0;
        for (Index j = 0; j < X.cols; ++j) sum += std::abs(X(i, j));
        norm = std::max(norm, sum);
    }
    return norm;
}

TEST(CroutIlu, EstimatesAreLowerBoundsWithinTheBound)
{
    for (Index n : awkward_sizes)
        for (double kappa : {1.5, 3., 10.})
            for (bool look_ahead : {false, true}) {
                const auto   A = random_regular(n, 4, 11, true);
                const auto   level = level_of(A, {.drop_tol = 0.01, .inverse_bound = kappa, .look_ahead = look_ahead});
                const double true_L = largest_inverse_row(with_unit_diagonal(to_dense(level.L_B)));
                const double true_U = largest_inverse_row(test::transposed(with_unit_diagonal(to_dense(level.U_B))));
                EXPECT_LE(level.inverse_L, std::min(kappa, true_L * (1 + 1e-12)));
                EXPECT_LE(level.inverse_U, std::min(kappa, true_U * (1 + 1e-12)));
                if (!look_ahead && !level.accepted.empty()) {
                    EXPECT_GE(std::min(level.inverse_L, level.inverse_U), 1);
                }
            }
}

TEST(CroutIlu, EstimatesAreExactForMMatrices)
{
    for (const auto& A : {gallery::poisson2d(7, 7), gallery::convdiff2d({.n = 7, .peclet = 40})})
        for (double kappa : {2., 3., 100.}) {
            const auto level = level_of(A, {.drop_tol = 1e-3, .inverse_bound = kappa});
            const auto L = with_unit_diagonal(to_dense(level.L_B)), U = with_unit_diagonal(to_dense(level.U_B));
            EXPECT_NEAR(level.inverse_L, largest_inverse_row(L), 1e-12);
            EXPECT_NEAR(level.inverse_U, largest_inverse_row(test::transposed(U)), 1e-12);
        }
}

TEST(CroutIlu, SymmetricGivesWhatTheGeneralSweepGives)
{
    for (Index n : awkward_sizes)
        for (bool look_ahead : {false, true}) {
            const auto   A = test::random_spd(n, 3, n);
            CroutOptions options{.drop_tol = 0.01, .inverse_bound = 3, .depth_bound = n % 7, .look_ahead = look_ahead};
            const auto   general = level_of(A, options);
            options.mirror = Mirror::hermitian;
            options.positive = true;
            const auto symmetric = crout_ilu(A, A, all_of(A, options));
            EXPECT_EQ(symmetric.accepted, general.accepted);
            EXPECT_TRUE(identical(symmetric.L_B, transpose(symmetric.U_B)));
            EXPECT_TRUE(identical(symmetric.L_G, transpose(symmetric.U_F)));
            expect_close(symmetric.U_B, to_dense(general.U_B), 1e-12, "U_B");
            expect_close(symmetric.U_F, to_dense(general.U_F), 1e-12, "U_F");
            EXPECT_LE(test::relative_difference(symmetric.d, general.d), 1e-12);
            for (double d : symmetric.d) EXPECT_GT(d, 0);
        }
}

TEST(CroutIlu, PostponesExactlyWhatWouldPassTheDepthBound)
{
    for (const auto& A : {gallery::poisson2d(12, 12), gallery::convdiff2d({.n = 12, .peclet = 40}),
                          random_regular(60, 3, 1, true), random_regular(33, 3, 2, true)}) {
        CroutOptions options{.drop_tol = 1e-3, .inverse_bound = 1e300, .pivot_floor = 1e-3};
        const auto   free = level_of(A, options);
        const Index  depth =
            std::max(dependency_depth(free.L_B, Triangle::lower), dependency_depth(free.U_B, Triangle::upper));
        ASSERT_GT(depth, 5);
        EXPECT_EQ(free.too_deep, 0);
        for (Index bound : {1, 2, 3, 5, depth - 1}) {
            options.depth_bound = bound;
            const auto level = level_of(A, options);
            EXPECT_LE(dependency_depth(level.L_B, Triangle::lower), bound);
            EXPECT_LE(dependency_depth(level.U_B, Triangle::upper), bound);
            EXPECT_GT(level.too_deep, 0);
            EXPECT_LE(level.too_deep, level.postponed.size());
        }
        options.depth_bound = depth;
        const auto same = level_of(A, options);
        EXPECT_EQ(same.too_deep, 0);
        EXPECT_TRUE(identical(same.L_B, free.L_B) && identical(same.U_B, free.U_B));
    }
}

TEST(CroutIlu, CountsTheChainsOfUFromItsOtherEnd)
{
    // A bidiagonal U: row 1 of the backward solve waits for 2, 2 for 3, ...; every fourth row is postponed at bound 3.
    Vector bidiagonal(11 * 11, 0.);
    for (Index i = 0; i < 11 * 11; i += 12) bidiagonal[i] = 1;
    for (Index i = 1; i < 11 * 11; i += 12) bidiagonal[i] = 0.5;
    const auto upper = dense(11, bidiagonal), lower = transpose(upper);
    for (const auto& A : {upper, lower}) {
        const auto level = level_of(A, {.drop_tol = 0, .inverse_bound = 100, .depth_bound = 3});
        EXPECT_EQ(level.postponed, (std::vector<Index>{3, 7}));
        EXPECT_EQ(level.too_deep, 2);
    }
}

TEST(CroutIlu, PostponesEveryRowOfAZeroMatrixAndOfAZeroDiagonal)
{
    const auto zero = CsrMatrix<>::from_triplets(5, 5, {}, {}, {});
    EXPECT_EQ(level_of(zero, {}).postponed.size(), 5);
    const auto hollow = dense(3, {0, 1, 2, 3, 0, 4, 5, 6, 0});
    const auto level = level_of(hollow, {});
    EXPECT_EQ(level.postponed, (std::vector<Index>{0, 1, 2}));
    EXPECT_EQ(to_dense(exact_schur(hollow, level)), to_dense(hollow));
}

TEST(CroutIlu, RepeatsItselfBitForBitAndTellsItsProgress)
{
    const auto         A = gallery::convdiff2d({.n = 40, .peclet = 300, .scheme = gallery::Scheme::central});
    const auto         At = transpose(A);
    std::vector<Index> told;
    const auto         one = crout_ilu(A, At, all_of(A, {}), [&](Index k) { told.push_back(k); });
    const auto         two = crout_ilu(A, At, all_of(A, {}));
    EXPECT_EQ(one.accepted, two.accepted);
    EXPECT_TRUE(identical(one.L_B, two.L_B) && identical(one.U_B, two.U_B));
    EXPECT_TRUE(identical(one.L_G, two.L_G) && identical(one.U_F, two.U_F));
    EXPECT_TRUE(identical(one.d, two.d));
    EXPECT_FALSE(told.empty());
    EXPECT_TRUE(std::ranges::is_sorted(told));
    for (Index k : told) EXPECT_TRUE(k >= 0 && k <= A.rows());
}

TEST(CroutIlu, FactorsKeepTheInvariantsOfTheirFormat)
{
    for (Index n : awkward_sizes) {
        const auto level = level_of(random_regular(n, 6, 5, true), {.drop_tol = 0.01, .inverse_bound = 2.5});
        for (const auto* factor : {&level.L_B, &level.U_B, &level.L_G, &level.U_F})
            EXPECT_EQ(test::broken_invariant(*factor), "");
    }
}

}  // namespace
}  // namespace ilux

#include "ilux/precond/rounds/round_set.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "ilux/gallery/gallery.hpp"
#include "ilux/tests/precond/rounds/round_checks.hpp"

namespace ilux {
namespace {

using namespace test::precond;

using test::Dense;
using test::to_dense;

using Rows = std::vector<Index>;

bool holds(const Rows& rows, Index k) { return std::ranges::binary_search(rows, k); }

/// |row k| · |column k|, by which rows come first.
Offset degree(const OwnedSystem& of, Index k)
{
    const auto length = [&](const CsrMatrix<>& A) { return A.row_ptr()[k + 1] - A.row_ptr()[k]; };
    return length(of.S) * length(of.St);
}

std::vector<CsrMatrix<>> set_matrices()
{
    std::vector<CsrMatrix<>> all{gallery::poisson2d(60, 50), gallery::convdiff3d({.n = 12}),
                                 gallery::recirculating2d({.n = 40}), random_regular(500, 5, 1, true)};
    for (Index n : awkward_sizes) all.push_back(test::random_dominant(n, 4, n + 1));
    return all;
}

/// Pivots that row k sees, or that see it; of them those that come before it.
std::pair<int, int> pivots_around(const OwnedSystem& of, const Dense& S, const Rows& pivots, Index k)
{
    std::pair<int, int> found{0, 0};
    for (Index j : pivots)
        if (S(k, j) != 0 || S(j, k) != 0) {
            ++found.first;
            found.second += degree(of, j) <= degree(of, k);
        }
    return found;
}

TEST(RoundSet, HoldsNoTwoCoupledRowsAndFewFurtherOnesFit)
{
    for (const auto& A : set_matrices()) {
        const OwnedSystem system(A);
        const auto        set = system.set(lenient);
        const Dense       S = to_dense(A);
        EXPECT_EQ(static_cast<Index>(set.pivots.size() + set.rest.size()), A.rows());
        EXPECT_TRUE(std::ranges::is_sorted(set.pivots) && std::ranges::is_sorted(set.rest));
        for (Index k : set.pivots)
            for (Index j : set.pivots) EXPECT_TRUE(j == k || S(k, j) == 0) << "rows " << k << " and " << j;
        Index further = 0;
        for (Index k : set.rest) {
            const auto [pivots, before] = pivots_around(system, S, set.pivots, k);
            further += S(k, k) != 0 && pivots == 0;
            EXPECT_TRUE(!is_symmetric(A) || pivots == 0 || before > 0)
                << "row " << k << " comes before all pivots that it sees";
        }
        EXPECT_LE(further, A.rows() / 100) << "of " << A.rows() << " rows";
    }
}

TEST(RoundSet, LetsWeakCouplingsOfADominantRowAddUpToThetaAndTakesMorePivots)
{
    for (const auto& A : set_matrices())
        for (double theta : {0.05, 0.3}) {
            const OwnedSystem system(A);
            RoundBounds       bounds = lenient;
            const auto        strict = system.set(bounds);
            bounds.weak_coupling = theta;
            const auto  set = system.set(bounds);
            const Dense S = to_dense(A);
            for (Index k : set.pivots) {
                double among_pivots = 0, all = 0;
                for (Index j = 0; j < A.rows(); ++j) {
                    if (j == k) continue;
                    all += std::abs(S(k, j));
                    if (holds(set.pivots, j)) among_pivots += std::abs(S(k, j));
                }
                const bool dominant = all <= std::abs(S(k, k)) * (1 + 1e-7);
                EXPECT_LE(among_pivots, (dominant ? theta : 0) * std::abs(S(k, k)) + 1e-14) << "row " << k;
            }
            EXPECT_GE(set.pivots.size() * 1.01, strict.pivots.size());
        }
    // A chain with couplings of 1 % of the diagonal: every other row without, all rows with θ = 2 %.
    const Index n = 1000;
    Rows        row, col;
    Vector      val;
    for (Index i = 0; i < n; ++i)
        for (Index j = std::max(0, i - 1); j <= std::min(n - 1, i + 1); ++j) {
            row.push_back(i);
            col.push_back(j);
            val.push_back(i == j ? 1 : 0.01);
        }
    const OwnedSystem chain(CsrMatrix<>::from_triplets(n, n, row, col, val));
    RoundBounds       bounds = lenient;
    EXPECT_LE(chain.set(bounds).pivots.size(), 500u);
    bounds.weak_coupling = 0.0201;
    EXPECT_GE(chain.set(bounds).pivots.size(), 990u);
    bounds.weak_coupling = 0.015;  // one neighbour, not both
    EXPECT_LT(chain.set(bounds).pivots.size(), 700u);
}

TEST(RoundSet, OfFewSweepsAreBegunAsOfMany)
{
    const auto A = gallery::poisson2d(40, 40);
    for (double theta : {0., 0.2}) {
        const OwnedSystem system(A);
        RoundBounds       bounds = lenient;
        bounds.weak_coupling = theta;
        const auto         all = system.set(bounds).pivots;
        std::vector<Index> before;
        for (int sweeps : {1, 2, 4, 100}) {
            bounds.most_sweeps = sweeps;
            const auto some = system.set(bounds).pivots;
            EXPECT_TRUE(std::ranges::includes(some, before)) << sweeps;
            EXPECT_TRUE(std::ranges::includes(all, some)) << sweeps;
            EXPECT_TRUE(sweeps > 1 || some.size() < all.size()) << theta;
            before = some;
        }
        EXPECT_EQ(before, all);
    }
}

TEST(RoundSet, MeasuresWeakCouplingsInTheTestVector)
{
    OwnedSystem two(dense(2, {1, 0.05, 0.05, 1}));
    RoundBounds bounds = lenient;
    bounds.weak_coupling = 0.2;
    EXPECT_EQ(two.set(bounds).pivots.size(), 2u);
    for (const Vector& t : {Vector{1, 0.1}, Vector{0.1, 1}}) {  // for the smaller unknown it is half of the diagonal
        two.t = t;
        EXPECT_EQ(two.set(bounds).pivots.size(), 1u);
    }
}

/// Rows 0 and 1, with a tie of 0.1 between them; the others are no pivots, having no diagonal.
Index pivots_tied(const CsrMatrix<>& A, const Vector& t = {})
{
    OwnedSystem system(A);
    if (!t.empty()) system.t = t;
    RoundBounds bounds = lenient;
    bounds.weak_coupling = 0.2;
    return static_cast<Index>(system.set(bounds).pivots.size());
}

TEST(RoundSet, KeepsPivotsApartWhoseTieAloneHoldsTwoPartsTogether)
{
    const auto bridge = dense(4, {1, -0.1, -0.9, 0, -0.1, 1, 0, -0.9, -0.9, 0, 0, 0, 0, -0.9, 0, 0});
    const auto triangle = dense(3, {1, -0.1, -0.9, -0.1, 1, -0.9, -0.9, -0.9, 0});
    const auto grounded = dense(4, {1.1, -0.1, -0.9, 0, -0.1, 1.1, 0, -0.9, -0.9, 0, 0, 0, 0, -0.9, 0, 0});
    EXPECT_EQ(pivots_tied(bridge), 1);
    EXPECT_EQ(pivots_tied(triangle), 2);
    EXPECT_EQ(pivots_tied(grounded), 2);
    for (double by : {0.0499, 0.0501}) {  // two in a row carry half, and a fourth of the tie is asked for
        const double rest = 0.9 - by;
        EXPECT_EQ(pivots_tied(dense(5, {1, -0.1, -by,   -rest, 0, -0.1, 1, -by, 0,     -rest, -by, -by, 0,
                                        0, 0,    -rest, 0,     0, 0,    0, 0,   -rest, 0,     0,   0})),
                  by > 0.05 ? 2 : 1);
    }
}

TEST(RoundSet, MeasuresTiesInTheTestVector)
{
    const Vector t{1, 0.5, 4, 0.25, 2};
    for (double by : {0.0499, 0.0501}) {
        Dense A{5, 5, {1, -0.1, -by,      by - 0.9, 0, -0.1, 1, -by, 0,        by - 0.9, -by, -by, 0,
                       0, 0,    by - 0.9, 0,        0, 0,    0, 0,   by - 0.9, 0,        0,   0}};
        for (Index i = 0; i < 5; ++i)
            for (Index j = 0; j < 5; ++j) A(i, j) /= t[i] * t[j];
        EXPECT_EQ(pivots_tied(test::to_csr(A), t), by > 0.05 ? 2 : 1);
    }
}

TEST(RoundSet, RefusesAPivotThatFailsOneOfItsTests)
{
    const auto  fit = [](const OwnedSystem& system, const RoundBounds& bounds) { return system.set(bounds).pivots; };
    OwnedSystem diagonal(dense(3, {2, 0, 0, 0, -1, 0, 0, 0, 1e-3}));
    EXPECT_EQ(fit(diagonal, lenient), (Rows{0, 1, 2}));
    RoundBounds bounds = lenient;
    bounds.pivot_floor = 1e-3;
    EXPECT_EQ(fit(diagonal, bounds), (Rows{0, 1}));
    bounds.positive = true;
    EXPECT_EQ(fit(diagonal, bounds), Rows{0});
    bounds = lenient;
    bounds.inverse = 3;
    diagonal.w_L = {2, -2.1, 0};
    diagonal.w_U = {-2, 0, 2.1};
    EXPECT_EQ(fit(diagonal, bounds), Rows{0});
    const OwnedSystem growing(
        dense(3, {1, 0, 3, 0, 1, 1, 0.5, 1, 0}));  // max|l| max|u| |d|: 1.5 and 1; no pivot in row 2
    bounds = lenient;
    bounds.growth = 1.4;
    EXPECT_EQ(fit(growing, bounds), Rows{1});
    bounds.growth = 1.5;
    EXPECT_EQ(fit(growing, bounds), (Rows{0, 1}));
    EXPECT_EQ(growing.set(bounds).fit, 2);
    for (double bad : {test::nan, test::infinity}) {
        OwnedSystem broken(CsrMatrix<>::identity(2));
        broken.w_L[1] = bad;
        EXPECT_EQ(fit(broken, lenient), Rows{0});
    }
}

TEST(RoundSet, LeavesLongRowsForLater)
{
    const Index n = 100;
    Rows        row(n), col(n);
    std::iota(row.begin(), row.end(), 0);
    std::iota(col.begin(), col.end(), 0);
    for (Index j = 1; j < n; ++j) row.push_back(0), col.push_back(j);  // a full row, which nothing else couples to
    const OwnedSystem hub(CsrMatrix<>::from_triplets(n, n, row, col, Vector(row.size(), 1.)));
    EXPECT_FALSE(holds(hub.set(lenient).pivots, 0));
    EXPECT_EQ(hub.set(lenient).pivots.size(), 99u);
    const OwnedSystem transposed(transpose(hub.S));
    EXPECT_EQ(transposed.set(lenient).pivots.size(), 99u);
}

TEST(RoundSet, IsTheSameForAnyNumberOfThreads)
{
    for (const auto& A : {gallery::poisson2d(150, 130), gallery::convdiff3d({.n = 20})})
        for (double theta : {0., 0.2}) {
            const OwnedSystem system(A);
            RoundBounds       bounds = lenient;
            bounds.weak_coupling = theta;
            const auto one = system.set(bounds);
            for (int threads : {2, 3, 8})
                for (int repeat = 0; repeat < 5; ++repeat) EXPECT_EQ(system.set(bounds, threads).pivots, one.pivots);
        }
}

TEST(DominantRows, AreCountedInTheTestVector)
{
    Cpu        be(1);
    const auto count = [&](const CsrMatrix<>& A, const Vector& t) {
        return dominant_rows<double>(be, A, TestVectors(t, A.rows()));
    };
    EXPECT_EQ(count(gallery::poisson2d(50, 40), Vector(2000, 1.)), 2000);  // with equality inside
    const auto A = dense(3, {2, -1, 1, 0, 1, 2, 1, 1, 0});
    EXPECT_EQ(count(A, {1, 1, 1}), 1);
    EXPECT_EQ(count(A, {1, -4, 1}), 1);  // row 0 no longer, row 1 now
    EXPECT_EQ(count(A, {3, 3, 1}), 2);
    EXPECT_EQ(count(CsrMatrix<>(), {}), 0);
}

}  // namespace
}  // namespace ilux

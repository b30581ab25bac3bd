#include "ilux/precond/rounds/rounds_ilu.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "ilux/gallery/gallery.hpp"
#include "ilux/precond/crout/inverse_norms.hpp"
#include "ilux/sptrsv/level_set.hpp"
#include "ilux/tests/precond/mlilu/level_checks.hpp"

namespace ilux {
namespace {

using namespace test::precond;

using test::Dense;
using test::identical;
using test::to_dense;

RoundsLevel<> level_in_rounds(const CsrMatrix<>& A, const RoundsOptions& options, int threads = 1)
{
    Cpu be(threads);
    return rounds_ilu(be, A, Vector(A.rows(), 1.), options);
}

/// Entries of about 1, as after scaling.
CsrMatrix<> of_order_one(CsrMatrix<> A)
{
    double largest = 0;
    for (double a : A.val()) largest = std::max(largest, std::abs(a));
    for (double& a : A.val()) a /= largest;
    return A;
}

/// As the multilevel ILU would use them, with compensation.
RoundsOptions usual()
{
    return {.bounds = {.inverse = 5, .growth = 2, .weak_coupling = 0.2},
            .dropping = {.drop_tol = 5e-3, .compensate = true},
            .enough = 20};
}

std::vector<CsrMatrix<>> level_matrices()
{
    std::vector<CsrMatrix<>> all{gallery::poisson2d(14, 11), gallery::convdiff3d({.n = 6}), gallery::stokes2d({.n = 4}),
                                 random_regular(150, 4, 3, true)};
    for (Index n : awkward_sizes) all.push_back(test::random_dominant(n, 4, n + 1));
    return all;
}

TEST(RoundsIlu, IsExactWithoutDroppingWhateverIsPostponed)
{
    for (const auto& A : level_matrices())
        for (double kappa : {1.5, 5., 1e300})
            for (Index enough : {0, 10}) {
                const auto level =
                    level_in_rounds(A, {.bounds = {.inverse = kappa, .growth = 10}, .dropping = {}, .enough = enough});
                const auto order = new_order(level.factors);
                const auto expected = permuted(to_dense(A), order, order);
                EXPECT_LE(largest_difference(product(level.factors, to_dense(level.S)), expected),
                          1e-12 * (1 + largest(expected)))
                    << "n = " << A.rows() << ", bound " << kappa;
                EXPECT_TRUE(std::ranges::is_sorted(level.factors.postponed));
                EXPECT_EQ(level.t.size(), level.factors.postponed.size());
            }
}

/// The estimates that one pivot after another would give in the order of the rounds.
double serial_estimate(const CsrMatrix<>& L_B)
{
    const auto   columns = transpose(L_B);
    InverseNorms norms(L_B.rows());
    double       largest = 0;
    for (Index k = 0; k < L_B.rows(); ++k) {
        const double y = norms.greedy(k);
        largest = std::max(largest, std::abs(y));
        const auto begin = columns.row_ptr()[k], count = columns.row_ptr()[k + 1] - begin;
        norms.accept(y, columns.col().subspan(begin, count), columns.val().subspan(begin, count));
    }
    return largest;
}

TEST(RoundsIlu, EstimatesWhatOnePivotAfterAnotherWouldInThatOrder)
{
    for (const auto& A :
         {gallery::poisson2d(30, 30), of_order_one(gallery::convdiff3d({.n = 10})), random_regular(300, 4, 3, true)})
        for (double kappa : {2., 5., 1e300}) {
            RoundsOptions options = usual();
            options.bounds.inverse = kappa;
            const auto level = level_in_rounds(A, options);
            ASSERT_FALSE(level.factors.accepted.empty());
            EXPECT_NEAR(level.factors.inverse_L, serial_estimate(level.factors.L_B), 1e-12 * level.factors.inverse_L);
            EXPECT_NEAR(level.factors.inverse_U, serial_estimate(transpose(level.factors.U_B)),
                        1e-12 * level.factors.inverse_U);
            EXPECT_LE(std::max(level.factors.inverse_L, level.factors.inverse_U), kappa);
        }
}

TEST(RoundsIlu, HasNoLongerChainsThanRounds)
{
    const auto level = level_in_rounds(of_order_one(gallery::convdiff3d({.n = 14})), usual());
    EXPECT_GT(level.rounds(), 4);
    EXPECT_LE(dependency_depth(level.factors.L_B, Triangle::lower), level.rounds());
    EXPECT_LE(dependency_depth(level.factors.U_B, Triangle::upper), level.rounds());
}

TEST(RoundsIlu, EndsWhereItIsTold)
{
    const auto    A = gallery::poisson2d(40, 40);
    RoundsOptions options = usual();
    options.bounds.inverse = 1e300;
    const auto whole = level_in_rounds(A, options);
    EXPECT_LE(whole.S.rows(), 20);
    options.most_rounds = 3;
    EXPECT_EQ(level_in_rounds(A, options).rounds(), 3);
    options.most_rounds = 0;
    options.enough = 400;
    const auto tail = level_in_rounds(A, options);
    EXPECT_LE(tail.S.rows(), 400);
    EXPECT_GT(tail.S.rows(), 200);
    options.enough = 0;
    options.least_share = 0.4;  // later rounds find fewer
    EXPECT_LT(level_in_rounds(A, options).rounds(), whole.rounds());
    options.most_entries = 1;
    EXPECT_EQ(level_in_rounds(A, options).rounds(), 0);
    options.most_entries = static_cast<double>(2 * A.nnz());
    const auto limited = level_in_rounds(A, options).factors;
    EXPECT_LE(limited.L_B.nnz() + limited.U_B.nnz() + limited.L_G.nnz() + limited.U_F.nnz(), 4 * A.nnz());
}

TEST(RoundsIlu, DropsMoreFromRoundToRound)
{
    const auto    A = of_order_one(gallery::poisson2d(30, 30));
    RoundsOptions options{.bounds = {}, .dropping = {.drop_tol = 0.02, .lump = true, .mirror = Mirror::hermitian}};
    options.most_rounds = 3;
    const auto alike = level_in_rounds(A, options);
    options.drop_growth = 3;
    for (Index round : {0, 1, 4}) EXPECT_DOUBLE_EQ(options.dropping_in(round).drop_tol, 0.02 * std::pow(3, round));
    const auto grown = level_in_rounds(A, options);
    EXPECT_EQ(grown.round_ends.front(), alike.round_ends.front());
    EXPECT_LT(grown.S.nnz(), 0.7 * static_cast<double>(alike.S.nnz()));
    options.drop_growth = 1e6;  // after the second round nothing is left but diagonals
    options.most_rounds = 2;
    const auto diagonal = level_in_rounds(A, options).S;
    EXPECT_EQ(diagonal.nnz(), diagonal.rows());
}

TEST(RoundsIlu, GivesBackWhatHasNoPivot)
{
    const auto level = level_in_rounds(dense(3, {0, 1, 2, 3, 0, 4, 5, 6, 0}), usual());
    EXPECT_EQ(level.rounds(), 0);
    EXPECT_EQ(level.factors.postponed, (std::vector<Index>{0, 1, 2}));
    EXPECT_TRUE(identical(level.S, dense(3, {0, 1, 2, 3, 0, 4, 5, 6, 0})));
}

TEST(RoundsIlu, GivesTheSameBitsForAnyNumberOfThreads)
{
    const auto A = of_order_one(gallery::convdiff3d({.n = 24}));
    const auto one = level_in_rounds(A, usual());
    for (int threads : {2, 3, 8}) {
        const auto  again = level_in_rounds(A, usual(), threads);
        const auto &a = one.factors, &b = again.factors;
        EXPECT_TRUE(a.accepted == b.accepted && identical(a.L_B, b.L_B) && identical(a.U_B, b.U_B));
        EXPECT_TRUE(identical(a.L_G, b.L_G) && identical(a.U_F, b.U_F) && identical(a.d, b.d));
        EXPECT_TRUE(identical(again.S, one.S));
    }
}

}  // namespace
}  // namespace ilux

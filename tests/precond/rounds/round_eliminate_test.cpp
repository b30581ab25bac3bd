#include "ilux/precond/rounds/round_eliminate.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "ilux/gallery/gallery.hpp"
#include "ilux/tests/precond/rounds/round_checks.hpp"

namespace ilux {
namespace {

using namespace test::precond;

using test::Dense;
using test::identical;
using test::to_dense;

EliminatedRound<double> eliminated(const OwnedSystem& system, const RoundSet<double>& set,
                                   const RoundDropping& dropping = {}, int threads = 1)
{
    Cpu be(threads);
    return eliminate(be, system.system(), set, dropping);
}

/// S in the order (pivots, rest).
Dense in_order(const OwnedSystem& system, const RoundSet<double>& set)
{
    std::vector<Index> order = set.pivots;
    order.insert(order.end(), set.rest.begin(), set.rest.end());
    return permuted(to_dense(system.S), order, order);
}

/// [I 0; L I] [D 0; 0 next] [I U; 0 I].
Dense round_product(const EliminatedRound<double>& round)
{
    const auto nB = static_cast<Index>(round.d.size()), nC = round.next.rows();
    Dense      lower = diagonal(Vector(nB + nC, 1.)), middle = zeros(nB + nC, nB + nC), upper = lower;
    put(lower, nB, 0, to_dense(round.L));
    put(middle, 0, 0, diagonal(round.d));
    put(middle, nB, nB, to_dense(round.next));
    put(upper, 0, nB, to_dense(round.U));
    return multiply(multiply(lower, middle), upper);
}

TEST(EliminateRound, IsExactWithoutDropping)
{
    std::vector<CsrMatrix<>> matrices{gallery::poisson2d(12, 9), gallery::stokes2d({.n = 4}),
                                      random_regular(80, 5, 3, true)};
    for (Index n : awkward_sizes) matrices.push_back(test::random_dominant(n, 4, n + 1));
    for (const auto& A : matrices) {
        const OwnedSystem system(A);
        RoundBounds       bounds = lenient;
        bounds.growth = 100;
        const auto set = system.set(bounds);
        EXPECT_LE(largest_difference(round_product(eliminated(system, set)), in_order(system, set)), 1e-11) << A.rows();
    }
}

TEST(EliminateRound, CarriesTheEstimatesOn)
{
    OwnedSystem system(dense(3, {2, 0, 1, 0, -4, 2, 1, 1, 5}));
    system.w_L = {0.5, 0, -1};
    system.w_U = {0, -0.25, 0};
    const auto set = system.set(lenient);
    ASSERT_EQ(set.pivots, (std::vector<Index>{0, 1}));
    const auto round = eliminated(system, set);
    EXPECT_EQ(round.inverse_L, 1.5);
    EXPECT_EQ(round.inverse_U, 1.25);
    ASSERT_EQ(round.w_L.size(), 1u);
    EXPECT_DOUBLE_EQ(round.w_L[0], -1 + 0.5 * -1.5 - 0.25 * 1);  // l = (1/2, -1/4), y = (-1.5, 1)
    EXPECT_DOUBLE_EQ(round.w_U[0], 0.5 * 1 - 0.5 * 1.25);        // u = (1/2, -1/2), z = (1, 1.25)
}

/// Row sums against t: what compensation keeps.
Vector times(const CsrMatrix<>& A, const Vector& t) { return multiply(to_dense(A), t); }

TEST(EliminateRound, CompensationKeepsTheProductWithTheTestVectorOfAnMMatrix)
{
    for (bool hermitian : {false, true})
        for (double theta : {0., 0.2}) {
            OwnedSystem system(gallery::poisson3d(8, 7, 6));
            RoundBounds bounds = lenient;
            bounds.weak_coupling = theta;
            for (int rounds = 0; rounds < 4; ++rounds) {
                const auto set = system.set(bounds);
                const auto exact = eliminated(system, set);
                const auto plain =
                    eliminated(system, set, {.drop_tol = 0.04, .mirror = hermitian ? Mirror::hermitian : Mirror::none});
                const auto kept = eliminated(system, set,
                                             {.drop_tol = 0.04,
                                              .compensate = true,
                                              .mirror = hermitian ? Mirror::hermitian : Mirror::none});
                Vector     t;
                for (Index k : set.rest) t.push_back(system.t[k]);
                // The rows of pivots keep it, too: d + Σ of weak couplings. So S t is kept as by the exact elimination
                // of S t.
                Vector right = times(system.S, system.t), expected;
                for (std::size_t i = 0; i < set.rest.size(); ++i) {
                    double sum = right[set.rest[i]];
                    for (Offset p = kept.L.row_ptr()[i]; p < kept.L.row_ptr()[i + 1]; ++p)
                        sum -= kept.L.val()[p] * right[set.pivots[kept.L.col()[p]]];
                    expected.push_back(sum);
                }
                const Vector sums = times(kept.next, t);
                for (std::size_t i = 0; i < sums.size(); ++i) EXPECT_NEAR(sums[i], expected[i], 1e-12);
                EXPECT_LT(kept.next.nnz(), exact.next.nnz() + (rounds == 0));
                EXPECT_TRUE(rounds == 0 || test::relative_difference(times(plain.next, t), sums) > 1e-3);
                OwnedSystem next(kept.next);
                next.t = t;
                system = next;
            }
        }
}

TEST(EliminateRound, CompensationStopsWhereTheRowWouldNoLongerBeDominant)
{
    // Rows 1 to 3 remain; entries of 0.2 and -0.2 go. Row 1 keeps 1 beside 3: 2.8 is dominant. Row 2 keeps 2
    // beside 2.1: 1.9 would not be, so 2 remains. Row 3 is not dominant anyway, and is left alone.
    const auto        A = dense(4, {1, 0, 0, 0, 0, 3, -1, -0.2, 0, -2, 2.1, -0.2, 0, 1.2, 0.2, 1});
    const OwnedSystem system(A);
    RoundSet<double>  set = system.set(lenient);
    set.pivots = {0};
    set.rest = {1, 2, 3};
    const auto next = to_dense(eliminated(system, set, {.drop_tol = 0.3, .compensate = true}).next);
    const auto expected = Dense{3, 3, {2.8, -1, 0, -2, 2, 0, 1.2, 0, 1}};
    EXPECT_LE(largest_difference(next, expected), 1e-15);
    // A diagonal that would turn over keeps a tenth of itself.
    Dense B = diagonal(Vector(6, 1.));
    for (Index j = 2; j < 6; ++j) B(1, j) = -0.3;
    const OwnedSystem turned(test::to_csr(B));
    RoundSet<double>  five = turned.set(lenient);
    five.pivots = {0};
    five.rest = {1, 2, 3, 4, 5};
    EXPECT_NEAR(to_dense(eliminated(turned, five, {.drop_tol = 0.5, .compensate = true}).next)(0, 0), 0.1, 1e-15);
}

TEST(EliminateRound, CompensatesNoTieThatIsStrongForOneOfItsUnknowns)
{
    // In the user's unknowns rows 1 and 2 are (1, -1.8e-5) and (-1.8e-5, 3.6e-5): half of what holds the second one.
    OwnedSystem system(dense(3, {1, 0, 0, 0, 1, -0.003, 0, -0.003, 1}));
    system.t = {1, 1, 0.006};
    RoundSet<double> set = system.set(lenient);
    set.pivots = {0};
    set.rest = {1, 2};
    for (const bool hermitian : {false, true}) {
        EXPECT_EQ(eliminated(system, set, {.drop_tol = 0.01, .mirror = hermitian ? Mirror::hermitian : Mirror::none})
                      .next.nnz(),
                  2);
        const RoundDropping compensated{.drop_tol = 0.01,
                                        .compensate = true,
                                        .mirror = hermitian ? Mirror::hermitian : Mirror::none};
        EXPECT_EQ(eliminated(system, set, compensated).next.nnz(), 4);
        system.t[2] = 1;
        EXPECT_EQ(eliminated(system, set, compensated).next.nnz(), 2);
        system.t[2] = 0.006;
    }
}

TEST(EliminateRound, DropsByRowsOrByRowsAndColumnsAlike)
{
    const auto        A = test::random_spd(200, 4, 5);
    const OwnedSystem system(A);
    const auto        set = system.set(lenient);
    const auto        exact = to_dense(eliminated(system, set).next);
    const auto        by_rows = eliminated(system, set, {.drop_tol = 0.05}).next;
    for (Index i = 0; i < exact.rows; ++i) {
        double largest = 0;
        for (Index j = 0; j < exact.cols; ++j) largest = std::max(largest, std::abs(exact(i, j)));
        for (Index j = 0; j < exact.cols; ++j)
            EXPECT_EQ(by_rows.at(i, j), std::abs(exact(i, j)) <= 0.05 * largest && i != j ? 0 : exact(i, j));
    }
    for (bool compensate : {false, true}) {
        const auto both =
            eliminated(system, set, {.drop_tol = 0.05, .compensate = compensate, .mirror = Mirror::hermitian}).next;
        EXPECT_LT(both.nnz(), eliminated(system, set).next.nnz());
        EXPECT_TRUE(is_symmetric(both));
    }
}

TEST(EliminateRound, DropsRoundingNoiseAndKeepsWhatIsInfinite)
{
    const auto        A = dense(2, {1. / 3, 1. / 7, 1. / 11, 1. / 11 * (1. / 7) * 3 * (1 + test::eps)});
    const OwnedSystem system(A);
    RoundSet<double>  set = system.set(lenient);
    set.pivots = {0};
    set.rest = {1};
    EXPECT_EQ(eliminated(system, set).next.nnz(), 0);
    const OwnedSystem large(dense(2, {1e-300, 1e200, 1e200, 1}));
    set = large.set(lenient);
    set.pivots = {0};
    set.rest = {1};
    EXPECT_EQ(eliminated(large, set, {.drop_tol = 1, .compensate = true}).next.at(0, 0), -test::infinity);
}

TEST(EliminateRound, GivesTheSameBitsForAnyNumberOfThreads)
{
    const OwnedSystem system(gallery::convdiff3d({.n = 22}));
    RoundBounds       bounds = lenient;
    bounds.weak_coupling = 0.2;
    const auto          set = system.set(bounds);
    const RoundDropping dropping{.drop_tol = 0.02, .compensate = true};
    const auto          one = eliminated(system, set, dropping);
    for (int threads : {2, 3, 8}) {
        const auto again = eliminated(system, set, dropping, threads);
        EXPECT_TRUE(identical(again.next, one.next) && identical(again.L, one.L) && identical(again.U, one.U));
        EXPECT_TRUE(identical(again.d, one.d) && identical(again.w_L, one.w_L) && identical(again.w_U, one.w_U));
    }
}

/// S̃ − S is diagonally dominant with a diagonal that is not negative, so that S̃ ≥ S.
TEST(EliminateRound, LumpingOnlyAddsToAPositiveDefiniteMatrix)
{
    for (const auto& A : {gallery::poisson2d(12, 11), gallery::elasticity2d({.n = 9}), test::random_spd(60, 3, 4)}) {
        const OwnedSystem system(A);
        const auto        set = system.set(lenient);
        RoundDropping     dropping{.drop_tol = 0.2, .mirror = Mirror::hermitian};
        dropping.lump = true;
        const Dense made = round_product(eliminated(system, set, dropping)), S = in_order(system, set);
        for (Index i = 0; i < A.rows(); ++i) {
            double others = 0;
            for (Index j = 0; j < A.rows(); ++j)
                if (j != i) others += std::abs(made(i, j) - S(i, j));
            EXPECT_GE(made(i, i) - S(i, i), others - 1e-12) << i;
        }
    }
}

}  // namespace
}  // namespace ilux

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "ilux/direct/lu/lu.hpp"
#include "ilux/tests/direct/small_matrix.hpp"
#include "ilux/tests/support/checks.hpp"
#include "ilux/tests/support/stop_at.hpp"

namespace ilux {
namespace {

using test::as_given;
using test::says;
using test::Small;
using Vector = std::vector<double>;

using test::infinity;
using test::nan;

class EveryLayout : public testing::TestWithParam<MatrixLayout> {
protected:
    Small matrix(std::vector<std::vector<double>> rows) const { return {std::move(rows), GetParam()}; }
};
INSTANTIATE_TEST_SUITE_P(Lu, EveryLayout, testing::Values(MatrixLayout::rows, MatrixLayout::columns),
                         [](const auto& info) {
                             return info.param == MatrixLayout::rows ? std::string("rows") : std::string("columns");
                         });

TEST_P(EveryLayout, RepivotsWhereTheFormerPivotsWouldGiveAWrongAnswer)
{
    Cpu         be(1);
    const Small first = matrix({{1, 1}, {1, 2}}), second = matrix({{1e-16, 1}, {1, 2}});
    Lu          lu(be, analyse(first.view(), as_given));
    ASSERT_EQ(lu.refactor_or_factor(first.view().val).action, LuAction::factor);

    const LuReport report = lu.refactor_or_factor(second.view().val);
    EXPECT_EQ(report.outcome, Outcome::converged);
    EXPECT_EQ(report.action, LuAction::repivot);
    EXPECT_EQ(report.state, PivotState::large_growth);
    EXPECT_EQ(report.column, 1);
    EXPECT_TRUE(says(report.reason, "column 2 (counted from 1)") && says(report.reason, "growth") &&
                says(report.reason, "6.7e+07"))
        << report.reason;
    EXPECT_EQ(lu.status().repivots, 1);

    Vector x(2);
    EXPECT_EQ(lu.solve(Vector{3, 5}, x).outcome, Outcome::converged);  // x = (−1, 3) + O(1e-16)
    EXPECT_NEAR(x[0], -1, 1e-14);
    EXPECT_NEAR(x[1], 3, 1e-14);
}

TEST_P(EveryLayout, FindsTheRightAnswerOfTheSamePairWhateverTheAnalysisChose)
{
    for (const auto scaling : {LuScaling::rows, LuScaling::none})
        for (const auto ordering : {LuOrdering::automatic, LuOrdering::none}) {
            Cpu         be(1);
            const Small first = matrix({{1, 1}, {1, 2}}), second = matrix({{1e-16, 1}, {1, 2}});
            Lu          lu(be, analyse(first.view(), {.ordering = ordering, .scaling = scaling}));
            (void)lu.refactor_or_factor(first.view().val);
            (void)lu.refactor_or_factor(second.view().val);
            Vector x(2);
            EXPECT_EQ(lu.solve(Vector{3, 5}, x).outcome, Outcome::converged);
            EXPECT_NEAR(x[0], -1, 1e-14);
            EXPECT_NEAR(x[1], 3, 1e-14);
        }
}

TEST_P(EveryLayout, SolveRepivotsOnceWhereRefactorKeptStalePivots)
{
    Cpu         be(1);
    const Small first = matrix({{4, 1, 1}, {1, 2, 3}, {1, 5, 8}}),
                second = matrix({{1e-16, 1, 1}, {1, 2, 3}, {1, 5, 8}});
    Lu lu(be, analyse(first.view(), as_given));
    (void)lu.factor(first.view().val);
    const LuReport kept = lu.refactor(second.view().val);
    EXPECT_EQ(kept.outcome, Outcome::converged);
    EXPECT_EQ(kept.action, LuAction::refactor);
    EXPECT_EQ(kept.state, PivotState::large_growth);

    // Refined by those factors alone it is no success, and says so.
    const Vector  b{2, 6, 14}, solution{1, 1, 1};
    Vector        x(3);
    LuWorkspace<> ws(3);
    const auto    honest = std::as_const(lu).solve(be, b, x, ws);
    EXPECT_EQ(honest.outcome, Outcome::stagnated);
    EXPECT_TRUE(says(honest.reason, "backward error")) << honest.reason;

    const LuSolveReport report = lu.solve(b, x);
    EXPECT_EQ(report.outcome, Outcome::converged);
    EXPECT_TRUE(report.repivoted);
    EXPECT_EQ(report.reason, honest.reason);
    EXPECT_LE(test::relative_difference(x, solution), 1e-14);
    EXPECT_EQ(lu.status().repivots, 1);
    EXPECT_FALSE(lu.solve(b, x).repivoted);
}

TEST_P(EveryLayout, ASingularMatrixInTheMiddleIsSaidAndForgotten)
{
    Cpu                      be(1);
    const Small              good = matrix({{1, 1}, {1, 2}}), next = matrix({{2, 1}, {1, 3}});
    const std::vector<Small> singular{matrix({{1, 1}, {1, 1}}), matrix({{0, 0}, {0, 0}}), matrix({{1, 0}, {1, 0}})};
    for (const Small& bad : singular) {
        Lu lu(be, analyse(good.view(), as_given));
        (void)lu.refactor_or_factor(good.view().val);
        Vector x{7, 8};
        for (int twice = 0; twice < 2; ++twice) {
            const LuReport report = lu.refactor_or_factor(bad.view().val);
            EXPECT_EQ(report.outcome, Outcome::singular);
            EXPECT_TRUE(says(report.reason, "column " + std::to_string(report.column + 1) + " (counted from 1)"))
                << report.reason;
            EXPECT_TRUE(says(report.reason, "the pivot is 0; with new pivots: ")) << report.reason;
            EXPECT_TRUE(says(report.reason, "no pivot is left but 0")) << report.reason;
            EXPECT_GE(report.row, 0);
            const auto failed = lu.solve(Vector{1, 1}, x);
            EXPECT_EQ(failed.outcome, Outcome::singular);
            EXPECT_FALSE(failed.reason.empty());
            EXPECT_EQ(x, (Vector{7, 8}));
            EXPECT_THROW(static_cast<void>(lu.factors()), InvalidInput);
        }
        const LuReport report = lu.refactor_or_factor(next.view().val);
        EXPECT_EQ(report.outcome, Outcome::converged);
        EXPECT_EQ(report.action, LuAction::refactor);
        EXPECT_EQ(lu.solve(Vector{3, 4}, x).outcome, Outcome::converged);
        EXPECT_NEAR(x[0], 1, 1e-15);
        EXPECT_NEAR(x[1], 1, 1e-15);
        EXPECT_EQ(lu.status().repivots, 0);
    }
}

TEST_P(EveryLayout, ASingularFirstMatrixLeavesTheNextToFactor)
{
    Cpu         be(1);
    const Small bad = matrix({{1, 1}, {1, 1}}), next = matrix({{2, 1}, {1, 3}});
    Lu          lu(be, analyse(bad.view()));
    EXPECT_EQ(lu.refactor_or_factor(bad.view().val).outcome, Outcome::singular);
    EXPECT_EQ(lu.refactor_or_factor(next.view().val).action, LuAction::factor);
    Vector x(2);
    EXPECT_EQ(lu.solve(Vector{3, 4}, x).outcome, Outcome::converged);
    EXPECT_NEAR(x[0], 1, 1e-15);
    EXPECT_NEAR(x[1], 1, 1e-15);
}

TEST_P(EveryLayout, NamesTheEntryThatIsNotFiniteAndGoesOn)
{
    Cpu         be(1);
    const Small good = matrix({{4, 1, 2}, {1, 5, 1}, {0, 1, 6}});
    for (Index i = 0; i < 3; ++i)
        for (Index j = 0; j < 3; ++j)
            for (const double value : {nan, infinity, -infinity})
                for (const bool first : {true, false}) {
                    Lu lu(be, analyse(good.view()));
                    if (!first) (void)lu.refactor_or_factor(good.view().val);
                    Small bad = good;
                    bad.val[GetParam() == MatrixLayout::rows ? i * 3 + j : j * 3 + i] = value;
                    const LuReport report = lu.refactor_or_factor(bad.view().val);
                    EXPECT_EQ(report.outcome, Outcome::not_finite);
                    EXPECT_EQ(report.row, i);
                    EXPECT_EQ(report.column, j);
                    EXPECT_TRUE(
                        says(report.reason, "row " + std::to_string(i + 1) + ", column " + std::to_string(j + 1)));
                    EXPECT_TRUE(says(report.reason, std::isnan(value) ? "nan" : "inf")) << report.reason;
                    Vector x(3);
                    EXPECT_EQ(lu.solve(Vector{1, 1, 1}, x).outcome, Outcome::not_finite);
                    EXPECT_EQ(lu.refactor_or_factor(good.view().val).outcome, Outcome::converged);
                    EXPECT_EQ(lu.solve(Vector{7, 7, 7}, x).outcome, Outcome::converged);
                    for (const double one : x) EXPECT_NEAR(one, 1, 1e-15);
                }
}

TEST_P(EveryLayout, NamesTheEntryThatIsNotFiniteOutsideTheDiagonalBlocks)
{
    // Upper triangular: every unknown is a block of its own.
    const std::vector<Index> row{0, 0, 1, 0, 1, 2}, col{0, 1, 1, 2, 2, 2};
    auto                     by_rows = CsrMatrix<double>::from_triplets(3, 3, row, col, Vector{2, 1, 3, 1, 1, 4});
    const bool               rows = GetParam() == MatrixLayout::rows;
    auto                     stored = rows ? by_rows : transpose(by_rows);
    MatrixView<>             A = view(stored);
    A.layout = GetParam();
    Cpu be(1);
    Lu  lu(be, analyse(A));
    for (int q = 0; q < 12; ++q) {
        ASSERT_EQ(lu.refactor_or_factor(A.val).outcome, Outcome::converged);
        EXPECT_EQ(lu.factors().pattern->nnz_F(), 3);
        const double   good = std::exchange(stored.val()[q % 6], q < 6 ? nan : infinity);
        const LuReport report = lu.refactor_or_factor(A.val);
        EXPECT_EQ(report.outcome, Outcome::not_finite);
        EXPECT_FALSE(std::isfinite(rows ? stored.at(report.row, report.column) : stored.at(report.column, report.row)));
        stored.val()[q % 6] = good;
    }
}

TEST_P(EveryLayout, ReturnsToThePivotsOfAnEarlierSystem)
{
    Cpu         be(1);
    const Small odd = matrix({{1e-16, 1}, {1, 2}}), even = matrix({{1, 2}, {1e-16, 1}});
    Lu          lu(be, analyse(odd.view(), as_given));
    for (int k = 0; k < 8; ++k) {
        const Small&   A = k % 2 == 0 ? odd : even;
        const LuReport report = lu.refactor_or_factor(A.view().val);
        EXPECT_EQ(report.outcome, Outcome::converged);
        EXPECT_EQ(report.action, k == 0 ? LuAction::factor : LuAction::repivot);
        EXPECT_EQ(says(report.reason, "earlier system"), k > 1) << report.reason;
        const Vector b = k % 2 == 0 ? Vector{1, 3} : Vector{3, 1};
        Vector       x(2);
        EXPECT_EQ(lu.solve(b, x).outcome, Outcome::converged);
        EXPECT_NEAR(x[0], 1, 1e-14);
        EXPECT_NEAR(x[1], 1, 1e-14);
    }
    EXPECT_EQ(lu.status().repivots, 7);
}

TEST_P(EveryLayout, EndsWhereTheTimeIsOverAndGoesOnWithTheFormerPivots)
{
    Cpu         be(1);
    const Small A = matrix({{4, 1}, {1, 5}}), next = matrix({{8, 2}, {2, 10}});
    Lu          lu(be, analyse(A.view()));
    bool        over = false;
    Vector      x{7, 8};
    for (int call = 0; call < 5; ++call) {
        over = call % 2 == 0;
        lu.stop_by(over ? StopToken().within(0) : StopToken());
        const LuReport report = call == 0 ? lu.factor(A.view().val) : lu.refactor_or_factor(next.view().val);
        EXPECT_EQ(report.action, call < 2 ? LuAction::factor : LuAction::refactor);
        EXPECT_EQ(report.outcome, over ? Outcome::time_limit : Outcome::converged);
        EXPECT_EQ(report.reason, over ? "told to stop after 0 of 2 columns" : "");
        const Vector before = x;
        EXPECT_EQ(lu.solve(Vector{10, 12}, x).outcome, report.outcome);
        EXPECT_LE(test::relative_difference(x, over ? before : Vector{1, 1}), over ? 0 : 1e-15);
    }
    lu.stop_by(StopToken().within(0));
    EXPECT_EQ(lu.refactor(A.view().val).outcome, Outcome::time_limit);
    EXPECT_EQ(lu.factor(A.view().val).outcome, Outcome::time_limit);
    EXPECT_THROW(static_cast<void>(lu.factors()), InvalidInput);
    lu.stop_by(test::at_once());
    EXPECT_EQ(lu.refactor(A.view().val).outcome, Outcome::cancelled);
    lu.stop_by({});
    EXPECT_EQ(lu.refactor(A.view().val).outcome, Outcome::converged);
    EXPECT_EQ(lu.status().repivots, 0);
}

TEST_P(EveryLayout, StalePivotsAndNoTimeForOthersAreBothTold)
{
    Cpu         be(1);
    const Small first = matrix({{4, 1, 1}, {1, 2, 3}, {1, 5, 8}}),
                second = matrix({{1e-16, 1, 1}, {1, 2, 3}, {1, 5, 8}});
    Lu               lu(be, analyse(first.view(), as_given));
    std::atomic<int> questions;
    const auto       allow = [&](int no) { lu.stop_by(test::stop_at(no + 1, questions)); };
    allow(1);
    ASSERT_EQ(lu.factor(first.view().val).outcome, Outcome::converged);
    allow(1);
    const LuReport report = lu.refactor_or_factor(second.view().val);
    EXPECT_EQ(report.outcome, Outcome::cancelled);
    EXPECT_EQ(report.action, LuAction::repivot);
    EXPECT_TRUE(says(report.reason, "growth") && says(report.reason, "; with new pivots: told to stop after 0 of 3"))
        << report.reason;

    allow(1);
    ASSERT_EQ(lu.refactor(second.view().val).outcome, Outcome::converged);
    const Vector b{2, 6, 14};
    Vector       x(3);
    const auto   stale = lu.solve(b, x);
    EXPECT_EQ(stale.outcome, Outcome::stagnated);
    EXPECT_TRUE(says(stale.reason, "backward error") && says(stale.reason, "told to stop")) << stale.reason;
    EXPECT_EQ(lu.status().repivots, 0);
    allow(1);
    EXPECT_EQ(lu.solve(b, x).outcome, Outcome::converged);
    EXPECT_LE(test::relative_difference(x, Vector{1, 1, 1}), 1e-14);
    EXPECT_EQ(lu.status().repivots, 1);
}

TEST_P(EveryLayout, RefusesAnotherNumberOfValuesAndKeepsWhatItHas)
{
    Cpu         be(1);
    const Small A = matrix({{4, 1}, {1, 5}});
    Lu          lu(be, analyse(A.view()));
    (void)lu.factor(A.view().val);
    const Vector three{1, 2, 3};
    for (int call = 0; call < 3; ++call)
        test::expect_refusal(
            [&] {
                if (call == 0) (void)lu.factor(three);
                if (call == 1) (void)lu.refactor(three);
                if (call == 2) (void)lu.refactor_or_factor(three);
            },
            {"3 values", "4 entries"});
    Vector x(2);
    EXPECT_EQ(lu.solve(Vector{5, 6}, x).outcome, Outcome::converged);
    EXPECT_NEAR(x[0], 1, 1e-15);
    EXPECT_NEAR(x[1], 1, 1e-15);
}

TEST_P(EveryLayout, ALargeMultiplierAloneIsHarmless)
{
    Cpu         be(1);
    const Small first = matrix({{1, 0.5}, {1, 2}}), small_row = matrix({{1e-6, 1e-8}, {1, 2}}),
                smaller_row = matrix({{1e-10, 1e-12}, {1, 2}});
    Lu lu(be, analyse(first.view(), as_given));
    (void)lu.refactor_or_factor(first.view().val);

    const LuReport kept = lu.refactor_or_factor(small_row.view().val);  // l = 1e6, U(:,1) = (1e-8, 1.99)
    EXPECT_EQ(kept.action, LuAction::refactor);
    EXPECT_EQ(kept.state, PivotState::large_multiplier);
    EXPECT_EQ(kept.reason, "");
    Vector     x(2);
    const auto solved = lu.solve(Vector{1e-6, 1}, x);  // x = (1, 0)
    EXPECT_EQ(solved.outcome, Outcome::converged);
    EXPECT_FALSE(solved.repivoted);
    EXPECT_NEAR(x[0], 1, 1e-12);
    EXPECT_NEAR(x[1], 0, 1e-12);

    const LuReport left = lu.refactor_or_factor(smaller_row.view().val);
    EXPECT_EQ(left.action, LuAction::repivot);
    EXPECT_EQ(left.column, 0);
    EXPECT_TRUE(says(left.reason, "multiplier 1.0e+10")) << left.reason;
}

}  // namespace
}  // namespace ilux

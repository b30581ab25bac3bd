#include "ilux/engine/report/solver_report.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <utility>

#include "ilux/tests/solver/failed_attempts.hpp"

namespace ilux {
namespace {

using namespace test;

SolverReport report_of(Attempt tried)
{
    SolverReport report;
    report.attempts.push_back(std::move(tried));
    return report;
}

TEST(SolverReport, IsSingularOnlyForAFailureWithMissingRank)
{
    Attempt tried = failed(plan_for({}), Outcome::stagnated);
    EXPECT_EQ(report_of(tried).outcome(), Outcome::stagnated);
    tried.mlilu->deficiency = 1;
    EXPECT_EQ(report_of(tried).outcome(), Outcome::singular);
    tried.report.outcome = Outcome::converged;
    EXPECT_EQ(report_of(tried).outcome(), Outcome::converged);
    tried.report.outcome = Outcome::out_of_memory;
    EXPECT_EQ(report_of(tried).outcome(), Outcome::out_of_memory);
}

TEST(Attempt, WasSolvedWhereAnXWasMeasuredOrIterated)
{
    constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
    const struct {
        MethodChoice method;
        SolverAction action;
        double       rowwise;
        const char*  failure;
        bool         solved;
    } table[] = {
        {MethodChoice::gmres, SolverAction::factor, unknown, "", true},
        {MethodChoice::gmres, SolverAction::factor, 1e-9, "no memory", false},
        {MethodChoice::lu, SolverAction::factor, unknown, "", false},
        {MethodChoice::lu, SolverAction::factor, 1e-16, "", true},
        {MethodChoice::lu, SolverAction::stale, unknown, "", true},
        {MethodChoice::lu, SolverAction::stale, unknown, "no memory", false},
    };
    for (const auto& row : table) {
        Attempt tried;
        tried.plan.method = row.method;
        tried.action = row.action;
        tried.accuracy.rowwise = row.rowwise;
        tried.failure = row.failure;
        tried.x.of<double>() = {1, 2};
        EXPECT_EQ(tried.solved(), row.solved) << &row - table;
        EXPECT_EQ(tried.has_x(), row.solved) << &row - table;
        tried.x.of<double>()[1] = unknown;
        EXPECT_FALSE(tried.has_x());
    }
}

TEST(SolverReport, OfAGivenUpFactorizationIsTheTimeLimit)
{
    Attempt tried = failed(plan_for({}), Outcome::time_limit);
    tried.mlilu->deficiency = 1;
    EXPECT_EQ(report_of(tried).outcome(), Outcome::time_limit);
}

TEST(SolverReport, IsNotSingularWhereTheStructuralRankIsUnknown)
{
    Attempt tried = failed(plan_for({}), Outcome::stagnated);
    tried.mlilu->structural_rank.reset();
    EXPECT_EQ(report_of(tried).outcome(), Outcome::stagnated);
    tried.mlilu->structural_rank = n - 1;
    EXPECT_EQ(report_of(tried).outcome(), Outcome::singular);
}

}  // namespace
}  // namespace ilux

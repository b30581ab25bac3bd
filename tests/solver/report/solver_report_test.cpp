#include "ilux/solver/report/solver_report.hpp"

#include <gtest/gtest.h>

#include <utility>

#include "ilux/tests/solver/tries.hpp"

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

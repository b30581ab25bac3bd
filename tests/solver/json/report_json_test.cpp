#include "ilux/solver/json/report_json.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "ilux/gallery/gallery.hpp"
#include "ilux/solver/linear_solver.hpp"
#include "ilux/tests/solver/failed_attempts.hpp"

namespace ilux {
namespace {

using namespace test;

TEST(ReportJson, OfADirectSolutionSaysWhatTheReportSays)
{
    const auto                A = gallery::build("convdiff3d:n=4");
    const std::vector<double> b(A.rows(), 1.0);
    std::vector<double>       x(A.rows());
    LinearSolver              solver({.method = MethodChoice::lu, .device = DeviceChoice::cpu});
    solver.analyse(A);
    solver.factor();
    const SolverReport report = solver.solve(b, x);
    const auto         json = to_json(report);
    EXPECT_EQ(json["method"], "lu");
    EXPECT_EQ(json["precond"], "none");
    EXPECT_EQ(json["outcome"], "converged");
    EXPECT_EQ(json["device"]["kind"], "cpu");
    EXPECT_EQ(json["relative_residual"], report.relative_residual());
    EXPECT_EQ(json["lu"]["nnz"], report.result().lu->nnz);
    EXPECT_EQ(json["seconds"]["total"], report.seconds);
    EXPECT_EQ(json["decisions"].size(), all_decisions(report).size());
    EXPECT_EQ(json["attempts"].size(), 1u);
    EXPECT_TRUE(json["mlilu"].is_null());
    EXPECT_TRUE(json["gpu"].is_null());
}

TEST(ReportJson, OfAFailureHasAnAttemptEachAndNullForWhatIsNotFinite)
{
    SolverReport report;
    report.attempts = {failed(plan_for({}), Outcome::stagnated), failed(plan_for({}), Outcome::max_steps)};
    report.attempts[0].report.relative_residual = std::numeric_limits<double>::infinity();
    report.attempts[1].mlilu.reset();
    const auto json = to_json(report);
    EXPECT_EQ(json["outcome"], "stagnated");
    EXPECT_TRUE(json["relative_residual"].is_null());
    ASSERT_EQ(json["attempts"].size(), 2u);
    EXPECT_EQ(json["attempts"][1]["outcome"], "max_steps");
    EXPECT_EQ(json["mlilu"]["structural_rank"], n);
    report.best = 1;
    EXPECT_EQ(to_json(report)["mlilu"]["structural_rank"], n) << "of the last try that has it";
    report.attempts[0].mlilu->structural_rank.reset();
    EXPECT_TRUE(to_json(report)["mlilu"]["structural_rank"].is_null());
}

TEST(ErrorJson, IsNullWhereNothingIsEstimated)
{
    EXPECT_TRUE(error_json({}).is_null());
    EXPECT_EQ(error_json({.error = 0.5, .worst_error = 0.25, .worst = 3, .uncertain = 1})["worst_unknown"], 3);
}

}  // namespace
}  // namespace ilux

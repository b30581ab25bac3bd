#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "ilux/apps/program/command.hpp"
#include "ilux/apps/program/progress.hpp"
#include "ilux/apps/report/report_json.hpp"
#include "ilux/tests/apps/runs.hpp"
#include "ilux/tests/solver/failed_attempts.hpp"

namespace ilux::app {
namespace {

using namespace ilux::test;
using namespace app::test;

TEST(JsonReport, LeavesAnUnknownStructuralRankNull)
{
    Problem<> problem;
    problem.take(CsrMatrix<double>::identity(n));
    auto run = run_of(failed(plan_for({})));
    EXPECT_EQ(nlohmann::json::parse(json_report(run, problem))["mlilu"]["structural_rank"], n);
    run.attempts[0].mlilu->structural_rank.reset();
    EXPECT_TRUE(nlohmann::json::parse(json_report(run, problem))["mlilu"]["structural_rank"].is_null());
}

TEST(ExitCode, OfATimeLimitIsThatOfNoConvergence) { EXPECT_EQ(exit_code(Outcome::time_limit), not_converged); }

TEST(ProgressText, TellsTheColumnDuringSetupAndTheRateDuringTheSolve)
{
    EXPECT_EQ(progress_text({.phase = Progress::Phase::setup, .level = 2, .done = 5, .total = 9}, {}),
              "level 2: column 5 of 9");
    const Progress before{.phase = Progress::Phase::solve, .done = 10, .total = 100, .residual = 1e-2};
    const Progress now{.phase = Progress::Phase::solve, .done = 12, .total = 100, .residual = 1e-4};
    EXPECT_EQ(progress_text(now, before), "step 12 of 100  residual 1.0e-04  ×0.1 a step");
    EXPECT_EQ(progress_text(before, before), "step 10 of 100  residual 1.0e-02");
}

}  // namespace
}  // namespace ilux::app

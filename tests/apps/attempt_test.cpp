// What a try hands on to the next, and what follows a direct solution that failed.

#include "ilux/apps/attempt.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "ilux/apps/advice.hpp"
#include "ilux/apps/retry.hpp"
#include "ilux/gallery/gallery.hpp"

namespace ilux::app {
namespace {

constexpr Index n = 10;

Plan plan_for(const SolveOptions& options, bool symmetric = false, bool positive = false)
{
    std::vector<std::string> decisions;
    return first_plan(options, symmetric, positive, decisions);
}

/// A direct try that failed as `outcome`.
Attempt failed(const Plan& plan, Outcome outcome)
{
    Attempt tried;
    tried.plan = plan;
    tried.x.assign(n, 0.0);
    tried.report.outcome = outcome;
    tried.report.relative_residual = 1e-17;
    tried.lu.emplace().symbolic.structural_rank = n;
    return tried;
}

bool suggests(const Attempt& tried, std::string_view text)
{
    Run run;
    run.attempts = {tried};
    Problem problem;
    problem.A = CsrMatrix<double>::identity(n);
    for (const std::string& line : advice(run, problem))
        if (line.find(text) != std::string::npos) return true;
    return false;
}

/// All tries of a direct solution where each ends as `outcome`.
std::vector<Attempt> direct_tries(const LuOptions& lu, Outcome outcome = Outcome::stagnated)
{
    SolveOptions options;
    options.method = MethodChoice::lu;
    options.lu = lu;
    std::string          why_not;
    std::vector<Attempt> tried{failed(plan_for(options, true, true), outcome)};
    while (const auto plan = next_plan(options, tried, 1, why_not)) {
        EXPECT_EQ(plan->method, MethodChoice::lu);
        tried.push_back(failed(*plan, outcome));
        if (tried.size() > 10) break;
    }
    EXPECT_FALSE(why_not.empty());
    return tried;
}

TEST(NextPlan, ScalesADirectSolutionByAMatchingThenTakesTheLargestPivots)
{
    const auto tried = direct_tries({.scaling = LuScaling::none, .pivot_tol = 0.5});
    ASSERT_EQ(tried.size(), 3u);
    EXPECT_EQ(tried[0].plan.lu.pivot_tol, 0.5);
    EXPECT_EQ(tried[1].plan.lu.scaling, LuScaling::matching);
    EXPECT_EQ(tried[1].plan.lu.pivot_tol, 0.5);
    EXPECT_EQ(tried[1].plan.change, "lu.scaling matching");
    EXPECT_EQ(tried[2].plan.lu.scaling, LuScaling::none);
    EXPECT_EQ(tried[2].plan.lu.pivot_tol, 1);
    EXPECT_EQ(tried[2].plan.change, "lu.pivot_tol 1, lu.scaling none");
    EXPECT_EQ(direct_tries({}, Outcome::singular).size(), 1u);
    EXPECT_EQ(direct_tries({}, Outcome::out_of_memory).size(), 1u);
}

TEST(NextPlan, TriesNothingOfADirectSolutionTwice)
{
    EXPECT_EQ(direct_tries({.scaling = LuScaling::matching, .pivot_tol = 1}).size(), 1u);
    const auto scaled = direct_tries({.scaling = LuScaling::matching});
    ASSERT_EQ(scaled.size(), 2u);
    EXPECT_EQ(scaled[1].plan.lu.scaling, LuScaling::matching);
    EXPECT_EQ(scaled[1].plan.change, "lu.pivot_tol 1");
    const auto largest = direct_tries({.pivot_tol = 1});
    ASSERT_EQ(largest.size(), 2u);
    EXPECT_EQ(largest[1].plan.change, "lu.scaling matching");
}

TEST(Advice, AfterADirectSolutionNamesNoPreconditioner)
{
    SolveOptions options;
    options.method = MethodChoice::lu;
    Attempt tried = failed(plan_for(options), Outcome::stagnated);
    for (const char* option : {"lu.scaling=matching", "lu.matching=on", "lu.pivot_tol=1"})
        EXPECT_TRUE(suggests(tried, option)) << option;
    Attempt scaled = tried;
    scaled.plan.lu = {.matching = LuMatching::on, .scaling = LuScaling::matching, .pivot_tol = 1};
    EXPECT_FALSE(suggests(scaled, "-p lu."));
    EXPECT_TRUE(suggests(tried, "--method gmres"));
    EXPECT_FALSE(suggests(tried, "precond"));
    tried.report.outcome = Outcome::singular;
    EXPECT_FALSE(suggests(tried, "ilux info"));
    tried.lu->symbolic.structural_rank = n - 1;
    EXPECT_TRUE(suggests(tried, "ilux info"));
    tried.report.outcome = Outcome::out_of_memory;
    EXPECT_FALSE(suggests(tried, "lu.memory_limit"));  // the machine has no more
    tried.plan.lu.memory_limit = {1000};
    EXPECT_TRUE(suggests(tried, "lu.memory_limit"));
    tried.report.outcome = Outcome::converged;
    EXPECT_FALSE(suggests(tried, ""));
}

TEST(RunAttempt, KeepsAPreconditionerForTheNextSystemWhereAsked)
{
    Problem problem;
    problem.A = gallery::poisson2d(10, 10);
    problem.b.assign(100, 1.0);
    Machine      machine{.cpu = Cpu(1)};
    ProgressLine silent(false);
    const double norm = norm_frobenius(problem.A);
    for (const PrecondKind kind : {PrecondKind::mlilu, PrecondKind::ilu0, PrecondKind::jacobi, PrecondKind::none}) {
        SolveOptions options;
        options.precond.kind = kind;
        Carried    carried;
        const auto attempt = [&] {
            return run_attempt(machine, problem, plan_for(options), {}, norm, silent, false, INFINITY, &carried);
        };
        const Attempt first = attempt();
        EXPECT_TRUE(carried.usable);
        const Attempt second = attempt();  // the same system by the same preconditioner: the same steps and bits
        EXPECT_EQ(second.report.outcome, Outcome::converged);
        EXPECT_EQ(second.seconds_factor, 0);
        EXPECT_EQ(second.report.steps, first.report.steps);
        EXPECT_EQ(second.x, first.x);
        carried.x = first.x;
        EXPECT_EQ(attempt().report.steps, 0);
    }
}

}  // namespace
}  // namespace ilux::app

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

TEST(NextPlan, OfADirectSolutionTakesTheLargestPivotsOnce)
{
    SolveOptions options;
    options.method = MethodChoice::lu;
    const auto next = [&](Outcome outcome, const Plan& plan) {
        std::string why_not;
        const auto  planned = next_plan(options, std::vector{failed(plan, outcome)}, 1, why_not);
        EXPECT_EQ(!planned, !why_not.empty());
        return planned;
    };
    const Plan first = plan_for(options, true, true);
    EXPECT_EQ(first.method, MethodChoice::lu);
    EXPECT_EQ(first.lu.pivot_tol, 1e-3);
    const auto second = next(Outcome::stagnated, first);
    ASSERT_TRUE(second);
    EXPECT_EQ(second->method, MethodChoice::lu);
    EXPECT_EQ(second->lu.pivot_tol, 1);
    EXPECT_FALSE(next(Outcome::stagnated, *second));
    EXPECT_FALSE(next(Outcome::singular, first));
    EXPECT_FALSE(next(Outcome::out_of_memory, first));
}

TEST(Advice, AfterADirectSolutionNamesNoPreconditioner)
{
    SolveOptions options;
    options.method = MethodChoice::lu;
    Attempt tried = failed(plan_for(options), Outcome::stagnated);
    EXPECT_TRUE(suggests(tried, "lu.matching=on"));
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

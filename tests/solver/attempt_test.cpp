// What a try hands on to the next, and what follows a direct solution that failed.

#include "ilux/solver/iterative_solver.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "ilux/gallery/gallery.hpp"
#include "ilux/solver/retry.hpp"

namespace ilux {
namespace {

constexpr Index n = 10;

Plan plan_for(const SolverOptions& options, bool symmetric = false, bool positive = false)
{
    std::vector<std::string> decisions;
    return first_plan(options, options.method == MethodChoice::lu, symmetric, positive, decisions);
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

/// All tries of a direct solution where each ends as `outcome`.
std::vector<Attempt> direct_tries(const LuOptions& lu, Outcome outcome = Outcome::stagnated)
{
    SolverOptions options;
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

TEST(IterativeSolver, KeepsAPreconditionerForTheNextSystemWhereAsked)
{
    const auto                A = gallery::poisson2d(10, 10);
    const std::vector<double> b(100, 1.0);
    for (const PrecondKind kind : {PrecondKind::mlilu, PrecondKind::ilu0, PrecondKind::jacobi, PrecondKind::none}) {
        SolverOptions options;
        options.precond.kind = kind;
        IterativeSolver solver({.cpu = Cpu(1)}, options);
        const auto      attempt = [&](bool keep, std::vector<double> guess) {
            Attempt tried;
            tried.plan = plan_for(options);
            tried.x = std::move(guess);
            if (keep) solver.keep(A, tried);
            else EXPECT_TRUE(solver.factor(A, INFINITY, {}, tried));
            solver.solve(b, options.krylov, {}, tried);
            return tried;
        };
        const std::vector<double> zeros(100, 0.0);
        const Attempt             first = attempt(false, zeros);
        const Attempt             second =
            attempt(true, zeros);  // the same system by the same preconditioner: the same steps and bits
        EXPECT_EQ(second.report.outcome, Outcome::converged);
        EXPECT_EQ(second.seconds_factor, 0);
        EXPECT_EQ(second.report.steps, first.report.steps);
        EXPECT_EQ(second.x, first.x);
        EXPECT_EQ(attempt(true, first.x).report.steps, 0);
    }
}

}  // namespace
}  // namespace ilux

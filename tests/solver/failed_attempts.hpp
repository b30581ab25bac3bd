#pragma once
// Tries that failed, as the tests of what follows them share.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "ilux/solver/policy/retry.hpp"

namespace ilux::test {

inline constexpr Index n = 10;

/// A try that failed as `outcome` after one second.
inline Attempt failed(const Plan& plan, Outcome outcome = Outcome::max_steps, double residual = 1e-3)
{
    Attempt tried;
    tried.plan = plan;
    tried.x.of<double>().assign(n, 0.0);
    tried.report.outcome = outcome;
    tried.report.relative_residual = residual;
    tried.report.backward_error = residual / 10;
    tried.seconds = 1;
    if (plan.precond.kind == PrecondKind::mlilu) {
        tried.mlilu.emplace();
        tried.mlilu->structural_rank = n;
    }
    return tried;
}

inline Plan plan_for(const SolverOptions& options, bool symmetric = false, bool positive = false)
{
    std::vector<std::string> decisions;
    return first_plan(options, options.method == MethodChoice::lu,
                      {.hermitian = symmetric, .symmetric = symmetric, .positive_diagonal = symmetric && positive},
                      decisions);
}

/// All tries when every one fails.
inline std::vector<Attempt> failures(const SolverOptions& options, bool symmetric, std::string& why_not)
{
    std::vector<Attempt> tried{failed(plan_for(options, symmetric, symmetric))};
    while (auto plan = next_plan(options, tried, 1.0 * tried.size(), why_not)) {
        EXPECT_FALSE(plan->change.empty());
        tried.push_back(failed(*plan));
        if (tried.size() > 10) break;
    }
    return tried;
}

}  // namespace ilux::test

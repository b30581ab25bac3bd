#pragma once
// A finished solve, made of tries that failed.

#include <utility>
#include <vector>

#include "ilux/apps/run/run.hpp"

namespace ilux::app::test {

inline Run run_of(const SolverOptions& options, std::vector<Attempt> tried)
{
    Run run;
    static_cast<SolverOptions&>(run.options) = options;
    run.attempts = std::move(tried);
    return run;
}

inline Run run_of(Attempt tried) { return run_of({}, std::vector{std::move(tried)}); }

}  // namespace ilux::app::test

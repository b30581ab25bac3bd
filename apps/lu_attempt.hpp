#pragma once
// One try at a system by a direct solution.

#include "ilux/apps/attempt.hpp"

namespace ilux::app {

/// Analyses, factors, solves and refines on the host. A singular matrix, lack of memory and a backward error that stays
/// too large are outcomes. @param rtol  see lu_verdict
Attempt run_lu_attempt(Machine& machine, const Problem& problem, const Plan& plan, double rtol);

/// @throws InvalidOption for method lu on device gpu
void refuse_gpu_refactorization(const SolveOptions& options);

/// As choose_machine; for method lu the host, and why.
Machine machine_for(const SolveOptions& options, const CsrMatrix<double>& A, std::vector<std::string>& decisions);

}  // namespace ilux::app

#pragma once
// The file in which options.plan has an LU keep what it prepares for one pattern.

#include <optional>
#include <string>
#include <vector>

#include "ilux/base/matrix/csr.hpp"
#include "ilux/direct/lu/lu.hpp"
#include "ilux/direct/plan/plan_file.hpp"
#include "ilux/engine/machine/options.hpp"

namespace ilux {

/// What the file holds, for these options; nothing where none is named, or none is there, which then can be written.
/// @param decisions  how long it took, beside making it
/// @throws InvalidInput where the file is damaged, or of another pattern or options; where it is not there and cannot
/// be written
template <Scalar S>
std::optional<LuPlan> load_plan(const CsrView<S>& A, const SolverOptions& options, std::vector<std::string>& decisions);

/// Writes analysis and pivots of the first factors.
/// @param made_with  what they were made by; where that is not options.lu, nothing is written
/// @param seconds  that the pivots took
/// @return what became of it  @throws InvalidInput naming the file and the system's reason
template <Scalar S>
std::string save_plan(const Lu<S>& lu, const LuSymbolic& symbolic, const LuOptions& made_with,
                      const SolverOptions& options, double seconds);

/// What is said of the file where the choice was an iteration.
std::string no_plan_needed(const std::string& file);

}  // namespace ilux

#pragma once
// Whether numbers are stored by fronts.

#include <memory>
#include <string>

#include "ilux/direct/supernodal/front_plan.hpp"

namespace ilux {

/// Flops of an LU, and for each entry of L + U, from which on fronts are likely to be faster: the more flops there are
/// for an entry, the larger fronts are and the faster their flops.
constexpr double least_front_flops = 2e6, least_front_flops_an_entry = 50;

/// A plan where numbers by fronts are expected to be faster than by entries, or where options.supernodes says on.
struct FrontChoice {
    std::shared_ptr<const FrontPlan> plan;  ///< null: by entries
    std::string                      why;   ///< a sentence with the figures that decided
};

/// By the flops of an entry of L + U that the analysis predicts, and what a pattern made symmetric adds to them; for
/// many systems on a GPU (order_for) by the times that these flops take there. docs/design/supernodes.md has the
/// measurements. The plan is only made where the first of these speaks for it. @throws OutOfMemory; InvalidOption where
/// it is asked for and there is no BLAS
FrontChoice choose_fronts(Cpu& be, const LuSymbolic& symbolic, LuSupernodes wanted);

}  // namespace ilux

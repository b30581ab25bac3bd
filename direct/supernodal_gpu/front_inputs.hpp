#pragma once
// The caller's values by front, duplicates together, those of large fronts by tile. Host only.

#include <cstdint>
#include <span>
#include <vector>

#include "ilux/direct/supernodal/front_plan.hpp"
#include "ilux/direct/supernodal_gpu/front_kernels.hpp"

namespace ilux {

/// The inputs of each entry that has some, by entry.
struct FrontInputArrays {
    std::vector<Offset>        ptr;     ///< entries + 1
    std::vector<Offset>        source;  ///< of the caller's values; those of F follow
    std::vector<double>        scale;
    std::vector<Index>         col;    ///< entries; of B
    std::vector<std::uint32_t> at;     ///< entries; row + 2¹⁶ column, within the front
    std::vector<Offset>        begin;  ///< fronts + 1; entries
    std::vector<AssemblyItem>  items;  ///< the schedule's, with inputs

    Offset entries() const { return static_cast<Offset>(at.size()); }
};

/// O(inputs log) on one thread. @param in_scale  LuPattern::in_scale
FrontInputArrays front_inputs(const FrontPlan& plan, const GpuFrontSchedule& schedule,
                              std::span<const double> in_scale);

}  // namespace ilux

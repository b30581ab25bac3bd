#pragma once
// What the tasks of a DataflowProgram compute, before any of it has a place: the first half of lay_out.

#include <algorithm>
#include <cstdint>
#include <vector>

#include "ilux/base/cpu.hpp"
#include "ilux/base/host_device.hpp"
#include "ilux/direct/dataflow/dataflow_entries.hpp"
#include "ilux/direct/dataflow/dataflow_walk.hpp"

namespace ilux {

/// Units are the entries and, behind them, the partial sums of those that have too many products for one task.
struct DataflowUnits {
    static constexpr Offset chunk = DataflowProgram::chunk;

    /// A product by entries, or −1 times a unit that is added.
    struct Product {
        DataflowEntry a, b;
    };
    static constexpr DataflowEntry minus_one = DataflowWalk::minus_one;

    /// The lanes that compute a unit, or together the members first, first + 1, … of a group.
    struct Shape {
        DataflowEntry first = 0;
        std::int32_t  level = 0;
        std::uint8_t  steps = 0, divisor_steps = 0;
        std::uint8_t  size : 6 = 1, divide : 2 = 0;
        std::uint8_t  log2_part : 4 = 0, log2_lanes : 4 = 0;

        ILUX_HOST_DEVICE constexpr int rows() const { return steps + divisor_steps; }
        /// A group that has fewer members than a power of two leaves lanes idle, and slots with them.
        ILUX_HOST_DEVICE constexpr std::uint32_t slots() const { return 1u << (log2_lanes - log2_part); }
        ILUX_HOST_DEVICE constexpr bool          same_task(const Shape& x) const
        {
            return level == x.level && log2_part == x.log2_part && log2_lanes == x.log2_lanes && divide == x.divide;
        }
    };

    /// Products of a unit: product[first[unit]], …; those that are subtracted early by the level at which they are
    /// known, then the one or two that are known last.
    UnsetVector<Offset>        first;
    UnsetVector<std::uint32_t> early;  ///< units; how many are not the last ones
    UnsetVector<std::uint8_t>  late;   ///< units; 0 to 2
    UnsetVector<Product>       product;
    UnsetVector<Shape>         shapes;        ///< sorted as tasks take them: by level, lanes, then long ones first
    double                     products = 0;  ///< as DataflowProgram has it
    Index                      depth = 0;

    Offset count() const { return static_cast<Offset>(first.size()); }
};

/// Twice through the walk, the second time by threads that wait for one another's columns. The same for any number of
/// threads.
/// @param order  of the parts, in which each comes behind those that it reaches; empty: ascending
/// @throws InvalidInput when an entry has too many products even for sums of sums
template <class Walk>
DataflowUnits find_units(Cpu& be, const DataflowEntries& entries, const Walk& walk, std::span<const Index> order);

}  // namespace ilux

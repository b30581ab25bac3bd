#pragma once
// How sums are cut, and how many lanes take them: rules that the host and a GPU share. Internal to direct/dataflow.

#include <cstdint>

#include "ilux/base/host_device.hpp"
#include "ilux/direct/dataflow/dataflow_units.hpp"

namespace ilux::sum_rule {

using Shape = DataflowUnits::Shape;

constexpr Offset        chunk = DataflowUnits::chunk;
constexpr std::uint32_t most_late = 2;
constexpr int           lanes = 32;  ///< of a task
constexpr int           most_log2 = 5;
constexpr int           pilot_distance = 4;  ///< levels; of 2, 3, 4, 5, 7, 10 the fastest on an H200

template <class T>
ILUX_HOST_DEVICE constexpr T least(T a, T b)
{
    return a < b ? a : b;
}
template <class T>
ILUX_HOST_DEVICE constexpr T most(T a, T b)
{
    return a < b ? b : a;
}
ILUX_HOST_DEVICE constexpr Offset ceil_div(Offset x, Offset y) { return (x + y - 1) / y; }
/// The logarithm of the smallest power of two that is not below `count`.
ILUX_HOST_DEVICE constexpr int ceil_log2(std::uint32_t count)
{
    int log2 = 0;
    while (log2 < 31 && (std::uint32_t{1} << log2) < count) ++log2;
    return log2;
}

/// How a long sum is cut: the first products make `parts` partial sums of `chunk`; the entry adds those, or `sums` sums
/// of `chunk` of them, and subtracts the other products itself, which are the last ones.
struct LongSum {
    Offset parts = 0, sums = 0;
    Offset early = 0;  ///< products in partial sums

    ILUX_HOST_DEVICE constexpr Offset units() const { return parts + sums; }
    ILUX_HOST_DEVICE constexpr Offset added() const { return sums > 0 ? sums : parts; }
    /// Otherwise there are too many products even for sums of sums.
    ILUX_HOST_DEVICE constexpr bool fits() const { return sums <= chunk / 2; }
};
ILUX_HOST_DEVICE constexpr LongSum cut_long_sum(Offset products)
{
    LongSum s;
    if (products <= chunk) return s;
    s.parts = ceil_div(products - chunk, chunk - 1);  // each takes `chunk` operands from the entry and gives it one
    if (s.parts > chunk / 2) {  // then their sums are added; the entry keeps half of its products for the last ones
        s.parts = ceil_div(products - chunk / 2, chunk);
        s.sums = ceil_div(s.parts, chunk);
    }
    s.early = least(products, s.parts * chunk);
    return s;
}

/// Products that an entry with `products` of them subtracts last, of those that it subtracts itself.
ILUX_HOST_DEVICE constexpr std::uint32_t late_operands(Offset products)
{
    return static_cast<std::uint32_t>(least<Offset>(products - cut_long_sum(products).early, most_late));
}
/// Its operands that are not late ones.
ILUX_HOST_DEVICE constexpr std::uint32_t early_operands(Offset products)
{
    const LongSum s = cut_long_sum(products);
    return static_cast<std::uint32_t>(s.added() + products - s.early) - late_operands(products);
}

/// The fewest lanes that need at most DataflowProgram::steps operands in each.
ILUX_HOST_DEVICE constexpr int log2_lanes(std::uint32_t operands)
{
    return ceil_log2((operands + DataflowProgram::steps - 1) / DataflowProgram::steps);
}
/// Steps of 2^log2_part lanes.
ILUX_HOST_DEVICE constexpr int rows(std::uint32_t operands, int log2_part)
{
    return static_cast<int>((operands + (1u << log2_part) - 1) >> log2_part);
}

ILUX_HOST_DEVICE constexpr std::uint8_t narrow(int small) { return static_cast<std::uint8_t>(small); }

/// An entry or partial sum alone.
/// @param first     its number  @param operands  early ones  @param divide  as DataflowProgram::Task has it
ILUX_HOST_DEVICE constexpr Shape lone_shape(Offset first, std::uint32_t operands, std::uint8_t divide)
{
    Shape made{.first = static_cast<DataflowEntry>(first), .divide = divide};
    made.log2_part = made.log2_lanes = narrow(log2_lanes(operands));
    made.steps = narrow(rows(operands, made.log2_part));
    return made;
}

/// Shape of as much of a group of `members` as one task can hold, with lanes enough for every entry that divides by its
/// leader to compute it once more. Its steps are still to be set.
/// @param own, longest  early operands of the leader, and the most of a member
ILUX_HOST_DEVICE constexpr Shape group_shape(Offset leader, Offset members, std::uint32_t own, std::uint32_t longest)
{
    int part = log2_lanes(own);
    while (part < most_log2 && rows(own, part) + rows(longest, part) > DataflowProgram::max_steps) ++part;
    Shape made{.first = static_cast<DataflowEntry>(leader)};
    made.size = narrow(static_cast<int>(least<Offset>(members, lanes >> part)));
    made.log2_part = narrow(part);
    made.log2_lanes = narrow(part + ceil_log2(made.size));
    return made;
}

/// Whether a divisor is computed once more beside what it divides. It must have the bits that it has in its slot, hence
/// its lanes: a quotient by another rounding of a pivot that suffered cancellation is not backward stable.
/// @param own, leader  early operands of both
ILUX_HOST_DEVICE constexpr bool has_twin(std::uint32_t own, std::uint32_t leader, int log2_part)
{
    return rows(own, log2_part) + rows(leader, log2_part) <= DataflowProgram::max_steps;
}
ILUX_HOST_DEVICE constexpr Shape twin_shape(Offset first, std::uint32_t own, std::uint32_t leader, int log2_part)
{
    Shape made{.first = static_cast<DataflowEntry>(first), .divide = DataflowProgram::by_twin};
    made.log2_part = made.log2_lanes = narrow(log2_part);
    made.steps = narrow(rows(own, log2_part));
    made.divisor_steps = narrow(rows(leader, log2_part));
    return made;
}

/// Shapes of a level are sorted by this: those that can share a task side by side, long ones first.
constexpr int                  lane_keys = (most_log2 + 1) * (most_log2 + 1) * 3 * (DataflowProgram::max_steps + 1);
ILUX_HOST_DEVICE constexpr int lane_key(const Shape& s)
{
    const int of_lanes = (s.log2_part * (most_log2 + 1) + s.log2_lanes) * 3 + s.divide;
    return of_lanes * (DataflowProgram::max_steps + 1) + (DataflowProgram::max_steps - s.rows());
}

}  // namespace ilux::sum_rule

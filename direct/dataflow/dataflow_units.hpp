#pragma once
// What the tasks of a DataflowProgram compute, before any of it has a place: the first half of build_dataflow.

#include <cstdint>
#include <vector>

#include "ilux/direct/dataflow/dataflow_builder.hpp"

namespace ilux {

/// Units are the entries and, behind them, the partial sums of those that have too many products for one task.
struct DataflowUnits {
    static constexpr Offset chunk = DataflowProgram::chunk;

    /// How a long sum is cut: the first products make `parts` partial sums of `chunk`; the entry adds those, or `sums` sums
    /// of `chunk` of them, and subtracts the other products itself, which are the last to be known.
    struct Split {
        Offset first = 0;  ///< unit of the first partial sum; the sums of them stand behind the last
        Offset parts = 0, sums = 0;
        Offset early = 0;  ///< products in partial sums
        Offset added() const { return sums > 0 ? sums : parts; }
        Offset sum_of(Offset part) const { return first + parts + part / chunk; }
    };

    /// Where a product belongs: a unit, and a place among its operands. No split: the entry subtracts all by itself.
    struct Position {
        Offset       unit = 0;
        Offset       number = 0;
        const Split* split = nullptr;
    };
    Position position(Offset entry, Offset product) const
    {
        const std::int32_t s = split_of[entry];
        if (s < 0) return {entry, product};
        const Split& cut = splits[s];
        if (product < cut.early) return {cut.first + product / chunk, product % chunk, &cut};
        return {entry, cut.added() + product - cut.early, &cut};
    }

    /// The two operands of a unit that are known last, as they come; −1: none.
    struct Latest {
        std::int32_t number[2] = {-1, -1}, level[2] = {-1, -1};
        bool         has(Offset n) const { return n == number[0] || n == number[1]; }
        /// How many of them come before operand n.
        int before(Offset n) const { return (number[0] >= 0 && number[0] < n) + (number[1] >= 0 && number[1] < n); }
    };

    /// The lanes that compute a unit, or together the members first, first + 1, … of a group.
    struct Shape {
        Offset       first = 0;
        std::int32_t level = 0;
        std::uint8_t size = 1, steps = 0, divisor_steps = 0, log2_part = 0, log2_lanes = 0, divide = 0;
        /// Those of one key may share a task.
        std::uint64_t key() const
        {
            return (static_cast<std::uint64_t>(level) << 24) | (std::uint64_t{log2_part} << 16) |
                   (std::uint64_t{log2_lanes} << 8) | divide;
        }
    };

    std::vector<std::int32_t>  split_of;      ///< entries; −1: whole
    std::vector<Split>         splits;        ///< by entry
    std::vector<std::int32_t>  level;         ///< units
    std::vector<Latest>        latest;        ///< units
    std::vector<std::uint32_t> operands;      ///< units; but for the latest
    std::vector<Shape>         shapes;        ///< sorted by key, then long ones first: as tasks take them
    double                     products = 0;  ///< as DataflowProgram has it

    Offset count() const { return static_cast<Offset>(level.size()); }
};

/// Two walks. @throws InvalidInput when an entry has too many products even for sums of sums
DataflowUnits find_units(const DataflowEntries& entries, const DataflowWalk& walk);

}  // namespace ilux

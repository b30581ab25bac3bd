#pragma once
// How the columns of a factorization are cut into pieces of equal work, for warps that look at the pivots of a batch.

#include <cstdint>
#include <span>
#include <vector>

#include "ilux/direct/dataflow/dataflow_program.hpp"
#include "ilux/direct/factor/lu_factors.hpp"

namespace ilux {

/// What the monitors of a batch look at: inputs, columns, and parts of the long ones.
struct BatchMonitorPlan {
    /// An entry of B(:,k) is the sum of one input or more.
    struct Input {
        double       scale = 1;
        std::int32_t source = -1;  ///< position among the caller's values
        std::int32_t more = 0;     ///< 1: the next input is of the same entry
    };
    struct Column {
        Offset        first = 0, f_first = 0;  ///< of its slots: L + U, and F
        Offset        input = 0;               ///< of its inputs; those of F are not among them
        std::uint32_t upper = 0, lower = 0, f = 0, inputs = 0;
        std::int32_t  number = -1;  ///< among the long ones, whose parts are looked at before; −1: not long
        std::uint32_t pad = 0;
    };
    enum class Kind : std::uint32_t { upper, lower, f, inputs };
    /// A part of a long column: positions first … last − 1 of `slot`, or of `input`.
    struct Part {
        Offset       first = 0, last = 0;
        Kind         kind = Kind::upper;
        std::int32_t number = 0;
    };

    std::vector<Column>    column;  ///< n
    std::vector<ValueSlot> slot;    ///< of L + U by columns, then F
    std::vector<Input>     input;
    std::vector<Index>     piece;  ///< pieces + 1; first columns
    std::vector<Part>      part;
    Index                  longs = 0;

    Index pieces() const { return static_cast<Index>(piece.size()) - 1; }
};

/// O(nnz). @param slot_of  by entry of the pattern, F included
/// @param most_pieces  at most, about  @param least_work  entries and inputs of a piece at least, and of a long
/// column's part
/// @throws InvalidInput when 32 bits cannot count the caller's values
BatchMonitorPlan batch_monitor_plan(const LuPattern& pattern, std::span<const ValueSlot> slot_of,
                                    Index most_pieces = 512, Index least_work = 64);

}  // namespace ilux

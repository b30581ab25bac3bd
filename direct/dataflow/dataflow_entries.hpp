#pragma once
// What the entries of a DataflowProgram start from and are divided by.

#include <cstdint>
#include <span>

#include "ilux/direct/dataflow/dataflow_program.hpp"
#include "ilux/base/unset_vector.hpp"

namespace ilux {

/// The divisor of an entry is an entry with an empty `given`, or else one of the given ones. In the former case it
/// leads the group of the entry's part (dataflow_walk.hpp), and the leader itself has none.
struct DataflowEntries {
    static constexpr std::int32_t none = -1;

    Offset                                 count = 0;
    UnsetVector<std::int32_t>              source;   ///< count; position of the input, or none
    UnsetVector<double>                    scale;    ///< count
    UnsetVector<std::int32_t>              divisor;  ///< count; or none
    std::span<const DataflowProgram::Slot> given =
        {};  ///< slot of each entry of the array that a and divisors come from

    bool a_given() const { return !given.empty(); }
};

}  // namespace ilux

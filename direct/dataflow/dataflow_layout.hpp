#pragma once
// A DataflowProgram before its tasks are filled: where each unit is, and what it subtracts. For the .cpp files that
// know such entries, and for what fills it (dataflow_filler.hpp).

#include <cstdint>
#include <span>

#include "ilux/base/cpu.hpp"
#include "ilux/direct/dataflow/dataflow_entries.hpp"
#include "ilux/direct/dataflow/dataflow_program.hpp"
#include "ilux/direct/dataflow/dataflow_units.hpp"
#include "ilux/direct/dataflow/dataflow_walk.hpp"

namespace ilux {

/// What tasks there are, and what is put into them.
struct DataflowLayout {
    static constexpr std::size_t many_tasks = 512;  ///< with fewer, one thread goes through them

    DataflowEntries                    entries;
    DataflowUnits                      units;
    UnsetVector<DataflowProgram::Task> task;
    UnsetVector<std::uint32_t>         first_shape;  ///< of each task in units.shapes, and the end
    UnsetVector<DataflowProgram::Slot> place;        ///< by unit
    Offset                             rows = 0;     ///< of 32 operands
    DataflowProgram::Slot              slots = 0;
};

/// Lays a program out. The layout is the same, to the last byte, for any number of threads.
/// @param walk   FactorWalk or SolveWalk
/// @param order  of its parts, as find_units has it
/// @throws InvalidInput when slots or operands pass what 32 bits can count
template <class Walk>
DataflowLayout lay_out(Cpu& be, DataflowEntries entries, const Walk& walk, std::span<const Index> order = {});

}  // namespace ilux

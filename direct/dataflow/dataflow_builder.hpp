#pragma once
// Makes a DataflowProgram of entries, their inputs, and a walk over all products. For the .cpp files that know such entries.

#include <span>

#include "ilux/base/cpu.hpp"
#include "ilux/direct/dataflow/dataflow_entries.hpp"
#include "ilux/direct/dataflow/dataflow_program.hpp"
#include "ilux/direct/dataflow/dataflow_walk.hpp"

namespace ilux {

/// The same program, to the last byte, for any number of threads.
/// @param walk   FactorWalk or SolveWalk
/// @param order  of its parts, as find_units has it
/// @throws InvalidInput when slots or operands pass what 32 bits can count
template <class Walk>
DataflowProgram build_dataflow(Cpu& be, const DataflowEntries& entries, const Walk& walk,
                               std::span<const Index> order = {});

}  // namespace ilux

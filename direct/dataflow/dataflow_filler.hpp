#pragma once
// Fills the tasks of a DataflowLayout on the host: for batches, and the twin of what a GPU does
// (gpu_factor_program.hpp).

#include "ilux/base/cpu.hpp"
#include "ilux/direct/dataflow/dataflow_layout.hpp"
#include "ilux/direct/dataflow/dataflow_program.hpp"

namespace ilux {

/// Fills the tasks. The program is the same, to the last byte, for any number of threads.
DataflowProgram fill_tasks(Cpu& be, DataflowLayout layout);

}  // namespace ilux

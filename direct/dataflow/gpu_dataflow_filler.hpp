#pragma once
// Fills the tasks of a DataflowLayout on a GPU: its memory gets each product once, and spreads them over the lanes itself.

#include "ilux/base/gpu/gpu.hpp"
#include "ilux/direct/dataflow/dataflow_layout.hpp"

namespace ilux {

/// What is filled, on the device: arrays as DataflowProgram has them, task and slots as the layout says.
struct DataflowRoom {
    const DataflowProgram::Task* task = nullptr;
    DataflowProgram::Operand*    operand = nullptr;
    DataflowProgram::Late*       late = nullptr;
    std::int32_t*                source = nullptr;
    double*                      scale = nullptr;
    DataflowProgram::Slot*       divisor = nullptr;
};

/// Of a refactorization. To the last byte what fill_tasks (dataflow_filler.hpp) makes on the host; waits. Takes 8 bytes a product and up to 60 an entry of
/// the device meanwhile. @throws OutOfMemory where they are not there
void fill_tasks(Gpu& gpu, const DataflowLayout& layout, const DataflowRoom& room);

}  // namespace ilux

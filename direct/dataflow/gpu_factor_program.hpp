#pragma once
// The program of a refactorization, made on the GPU that will run it.

#include <span>

#include "ilux/direct/dataflow/dense_tail.hpp"
#include "ilux/direct/dataflow/gpu_dataflow.hpp"
#include "ilux/direct/gpu/entry_inputs.hpp"
#include "ilux/direct/gpu/gpu_lu_pattern.hpp"

namespace ilux {

/// A program, and where entries are.
struct GpuFactorProgram {
    GpuDataflow                        dataflow;
    UnsetVector<DataflowProgram::Slot> slot_of;  ///< nnz + nnz_F
};

/// To the last byte the program that factor_dataflow (lu_dataflow.hpp) makes on the host, unless an entry of F has more than
/// DataflowProgram::chunk inputs: then slots are in another order. Waits. O(multiply-adds · log); the device's memory holds 8 bytes a
/// product and about 90 an entry more meanwhile.
/// @param inputs  of the pattern
/// @param order   n; columns, each behind those that it reads, best by levels (lu_levels, DependencyRule::left)
/// @throws InvalidInput as factor_dataflow; OutOfMemory
GpuFactorProgram gpu_factor_program(Gpu& gpu, const GpuLuPattern& pattern, const EntryInputs& inputs, TailColumns tail,
                                    std::span<const Index> order);

}  // namespace ilux

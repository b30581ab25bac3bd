#pragma once
// The program of a refactorization, made on the GPU that will run it.

#include <cstddef>
#include <optional>
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

/// To the last byte the program that factor_dataflow (lu_dataflow.hpp) makes on the host, unless an entry of F has more
/// than DataflowProgram::chunk inputs: then slots are in another order. Waits. O(multiply-adds · log). The device's
/// memory holds 8 bytes a product and about 60 an entry more meanwhile, and for a moment 60 more for each sum or group
/// of sums.
/// @param pattern     with the inputs
/// @param inputs      of the pattern
/// @param tail        as factor_dataflow
/// @param order       n; columns, each behind those that it reads, or else this never ends; best by levels (lu_levels,
///                    DependencyRule::left)
/// @param most_bytes  of the device's, for the program and what it is made of
/// @return nothing where these do not suffice, or an entry has too many products even for sums of sums
/// @throws InvalidInput when 32 bits cannot count slots or inputs, and as require_tail; OutOfMemory
std::optional<GpuFactorProgram> gpu_factor_program(Gpu& gpu, const GpuLuPattern& pattern, const EntryInputs& inputs,
                                                   TailColumns tail, std::span<const Index> order,
                                                   std::size_t most_bytes);

}  // namespace ilux

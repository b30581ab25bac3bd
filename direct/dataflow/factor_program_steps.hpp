#pragma once
// The steps by which a GPU makes the program of a refactorization (gpu_factor_program.hpp). Only .cu files include
// this.

#include <optional>

#include "ilux/direct/dataflow/factor_program_tasks.hpp"
#include "ilux/direct/dataflow/factor_program_view.hpp"
#include "ilux/direct/dataflow/gpu_dataflow.hpp"

namespace ilux {

/// Found by counting.
struct FactorProgramSize {
    Offset list = 0;   ///< products, and partial sums that are added
    Offset units = 0;  ///< entries and partial sums
    Offset saved = 0;  ///< members of groups but one each
    Offset long_entries = 0;
};

/// Fills count, divisor, long_entry and long_entries, list, sum, group and saved, which are zeros before; divisor is
/// −1. Waits. O(multiply-adds · log). @return nothing when an entry has too many products even for sums of sums
/// @throws OutOfMemory
std::optional<FactorProgramSize> count_factor_products(Gpu& gpu, const FactorProgramView& view);

/// Fills `product`, but for what is added; lists of entries without partial sums are in no order. `listed` is zeros
/// before. Only enqueued.
void list_factor_products(Gpu& gpu, const FactorProgramView& view, const FactorProgramSize& size);

/// Fills `level`, which is −1 before. Waits for what was enqueued before its last launch. @throws OutOfMemory
void find_factor_levels(Gpu& gpu, const FactorProgramView& view);

/// Sorts what each unit adds and subtracts by level; fills first, early and late. Only enqueued.
void sort_factor_products(Gpu& gpu, const FactorProgramView& view);

/// Fills the arrays of a program. Only enqueued.
void fill_factor_tasks(Gpu& gpu, const FactorProgramView& view, const FactorTasks& tasks, const DataflowRoom& room);

}  // namespace ilux

#pragma once
// Whether host threads or a GPU had better refactor, and by which method, from counts alone.

#include <string>

#include "ilux/direct/lu_factors.hpp"

namespace ilux {

/// All numbers of the choice; measured on an H200 and its 16-core host (docs/design/direct.md).
namespace refactor_rule {
constexpr double level_seconds = 0.5e-6;  // of a level of dot products, however few
constexpr double task_seconds = 2.5e-9;   // of 32 lanes' work
constexpr double call_seconds = 40e-6;    // of launches, transfers and waits of a system
constexpr double task_products = 100, task_entries = 14;
constexpr double setup_product = 40e-9, setup_entry = 250e-9;  // seconds, once for the pivots
constexpr double product_bytes = 12, entry_bytes = 60;         // of a program on the device, padding included
constexpr double host_product_bytes = 20;                      // while it is made
constexpr double most_setup = 5;                               // seconds
// Of method left: a level, a multiply-add, an update of the longest column.
constexpr double left_level = 3.2e-6, left_product = 3e-11, left_update = 0.6e-6, left_setup_entry = 25e-9;
}  // namespace refactor_rule

/// What a method needs on a GPU, estimated.
struct GpuCost {
    RefactorMethod method = RefactorMethod::automatic;  ///< automatic: dot products; or left
    double         seconds = 0;                         ///< of a refactorization
    double         setup = 0;                           ///< seconds, once for the pivots
    double         bytes = 0;
};
/// Of what `auto` takes on a GPU: dot products, or left where their program would take too long to make or too much memory.
/// O(nnz)
GpuCost gpu_cost(const LuPattern& pattern, double free_bytes);

/// Why host threads had better refactor `systems` matrices than a GPU with so much free memory, or "".
std::string why_cpu(const LuPattern& pattern, int threads, double systems, double free_bytes);

}  // namespace ilux

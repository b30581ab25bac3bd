#pragma once
// Whether host threads or a GPU had better refactor, and by which method, from counts alone.

#include <string>

#include "ilux/base/gpu/usual_device.hpp"
#include "ilux/direct/factor/lu_factors.hpp"
#include "ilux/direct/supernodal/front_plan.hpp"

namespace ilux {

/// Measured on an H200, or for the setup on an H100, and their 16-core hosts (docs/design/direct_gpu.md).
namespace refactor_rule {
// Dot products, with cold caches: a level of them, however few; a column of the dense tail; 32 lanes' work, on
// usual_multiprocessors.
constexpr double level_seconds = 0.72e-6, tail_seconds = 0.2e-6, task_seconds = 1.8e-9;
constexpr double task_products = 100, task_entries = 14;
constexpr double call_seconds = 26e-6;  // that a graph of five small kernels takes a host that waits for it
constexpr double left_over_dots =
    2;  // seconds of left over those of dot products: 1 to 1.7 on two meshes, more on circuits
constexpr double transfer_seconds = 20e-6;  // of transfers and waits of a system, around the numeric phase
// Seconds, once for the pivots: the program, which the GPU makes, all else they need, and the plan of the first solve.
// 0.74 to 1.2 times what nine circuits and a mesh took on an H100: 0.6·10³ to 1.3·10⁶ entries, up to 1.6·10⁸ products.
constexpr double setup_start = 10e-3, setup_entry = 40e-9, setup_product = 0.7e-9;
// Bytes on the device of the program, what it is made of, and the first solve. On ten systems no less than they have
// there, up to 1.35 times as many where that is more than 100 MB, 1.6 times below. A pivot of many products with
// thousands of entries below it is computed once more beside each of these, and the program may be five times as large:
// GpuRefactor then finds out.
constexpr double product_bytes = 21, entry_bytes = 200;
constexpr double left_setup_entry = 25e-9;
// Seconds of complex values over those of real ones; left takes as long as with real values.
constexpr double complex_by_dot_products = 1.35, complex_on_cpu = 1.5;
// Fronts, from the table of docs/design/supernodes_gpu.md: launches of small fronts; of a pivot after another; of
// flops. A complex multiply-add has four times the flops.
constexpr double front_start = 1e-3, front_pivot = 2e-6, front_flops = 7e12, complex_flops = 4;
constexpr double front_setup = 0.1;        // seconds
constexpr double cpu_thread_flops = 1e10;  // a second, of BLAS
// Bytes beside numbers (GpuFrontRefactor, GpuFrontSolve): of a value of the caller's, an update row, a pivot and a
// front.
constexpr double front_value_bytes = 32, front_row_bytes = 20, front_pivot_bytes = 72, front_bytes = 120;
constexpr double front_left_room = 1.3;  // for all that is left at once, over its numbers: 1.17 to 1.43 on four meshes
constexpr Index  front_inverse_pivots = 512, front_warp_pivots = 32, front_warp_rows = 64;  // front_solve_plan.hpp
}  // namespace refactor_rule

/// Dot products that wait for one another, and the dense tail.
struct DataflowPrediction {
    double waits = 0;     ///< seconds of levels and tail, however many warps there are
    double work = 0;      ///< seconds of all tasks, however few levels there are
    double products = 0;  ///< multiply-adds
};
/// O(nnz)
DataflowPrediction predict_dataflow(const LuPattern& pattern, int multiprocessors = usual_multiprocessors);

/// What a method needs on a GPU, estimated.
struct GpuCost {
    RefactorMethod method = RefactorMethod::automatic;  ///< automatic: dot products; or left
    double         seconds = 0;                         ///< of a refactorization
    double         setup = 0;                           ///< seconds, once for the pivots
    double         bytes = 0;
};
/// Cost of what `auto` takes on a GPU: dot products; or left where their program would take too much memory. glu1, glu3
/// and islu are left to those who ask for them: they were nowhere faster than the better of these, and the first two
/// repeat no bits. The two that are taken add in different orders. So `auto` repeats its bits on devices with the same
/// free memory, and between others only where the choice is the same. O(nnz)
/// @tparam S  of the values
template <Scalar S = double>
GpuCost gpu_cost(const LuPattern& pattern, double free_bytes, int multiprocessors = usual_multiprocessors);

/// Why host threads had better refactor `systems` matrices than such a GPU with so much free memory, or "".
template <Scalar S = double>
std::string why_cpu(const LuPattern& pattern, int threads, double systems, double free_bytes,
                    int multiprocessors = usual_multiprocessors);

/// Costs and choice with fronts.
template <Scalar S = double>
GpuCost gpu_cost(const FrontPlan& plan);
template <Scalar S = double>
std::string why_cpu(const FrontPlan& plan, int threads, double systems, double free_bytes);

}  // namespace ilux

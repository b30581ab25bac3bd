#pragma once
// What a refactorization takes by each method, predicted: what a choice among them needs. Host only.

#include <vector>

#include "ilux/direct/analysis/lu_options.hpp"
#include "ilux/direct/model/perf_model.hpp"

namespace ilux {

/// Set by eye to the H200's times in docs/design/direct_gpu.md, which are of cold caches.
namespace dataflow_rule {
constexpr double level_seconds = 0.72e-6;  // of a level of dot products, however few
constexpr double tail_seconds = 0.2e-6;    // of a column of the dense tail
constexpr double task_seconds = 1.8e-9;    // of 32 lanes' work, on usual_multiprocessors
constexpr double task_products = 100, task_entries = 14;
}  // namespace dataflow_rule

/// Dot products that wait for one another, and the dense tail.
struct DataflowPrediction {
    double seconds = 0;  ///< of both, and of what a call costs
    double waits = 0;    ///< of levels and tail, however many warps there are
    double work = 0;     ///< of all tasks, however few levels there are

    double products = 0;  ///< multiply-adds
};
/// O(nnz)
DataflowPrediction predict_dataflow(const LuPattern& pattern, const DeviceParameters& device);

/// Level by level, a block a column or a subcolumn: the longest column of a level, or all of them with all warps of the device,
/// whichever takes longer; accesses and steps as in LeftModel. O(nnz)
double glu1_seconds(const LuPattern& pattern, const DeviceParameters& device);
double glu3_seconds(const LuPattern& pattern, const DeviceParameters& device);
double islu_seconds(const LuPattern& pattern, const DeviceParameters& device);

/// What one method of refactorization would take.
struct MethodPrediction {
    RefactorMethod method = RefactorMethod::automatic;  ///< automatic: dot products
    double         seconds = 0;  ///< numeric phase with monitor, values on the device, caches warm
};
/// Of every method, cpu with so many threads; in the order of RefactorMethod.
std::vector<MethodPrediction> predict_methods(const LuPattern& pattern, const DeviceParameters& device, int threads);

}  // namespace ilux

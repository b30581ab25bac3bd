#pragma once
// What a refactorization takes by each method, predicted: what a choice among them needs. Host only.

#include <vector>

#include "ilux/direct/analysis/lu_options.hpp"
#include "ilux/lab/model/perf_model.hpp"

namespace ilux {

/// Level by level, a block a column or a subcolumn: the longest column of a level, or all of them with all warps of the
/// device, whichever takes longer; accesses and steps as in LeftModel. O(nnz)
double glu1_seconds(const LuPattern& pattern, const DeviceParameters& device);
double glu3_seconds(const LuPattern& pattern, const DeviceParameters& device);
double islu_seconds(const LuPattern& pattern, const DeviceParameters& device);

/// What one method of refactorization would take.
struct MethodPrediction {
    RefactorMethod method = RefactorMethod::automatic;  ///< automatic: dot products
    double         seconds = 0;  ///< numeric phase with monitor, values on the device, caches warm
};
/// Predictions for every method in the order of RefactorMethod; cpu has so many threads.
std::vector<MethodPrediction> predict_methods(const LuPattern& pattern, const DeviceParameters& device, int threads);

}  // namespace ilux

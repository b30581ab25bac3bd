#pragma once
// One matrix of the suite `lu-model`: what the performance model says of it, and what is measured.

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "ilux/lab/model/perf_model.hpp"
#include "ilux/lab/suites/bench_lu_measure.hpp"

namespace ilux::app {

/// Predictions for method left with so many warps on a multiprocessor each, and for every method: {left[{each, warps,
/// seconds, active, miss, case}], methods[{method, seconds}], model_seconds}. model_seconds is what predicting all that
/// took.
nlohmann::ordered_json predictions_json(const LuSystem<>& system, const DeviceParameters& device,
                                        const std::vector<Index>& each, int threads);

/// Measures as measure_lu does, and prints {"matrix": {..., "predicted": predictions_json}}, then the steps.
/// @param steps  dataflow, left, glu1, glu3, islu; cpu:THREADS; left:EACH
void measure_lu_model(const LuBench& bench, const std::string& path, const DeviceParameters& device,
                      const std::vector<Index>& each, const std::vector<std::string>& steps, const TakeJson& take);

}  // namespace ilux::app

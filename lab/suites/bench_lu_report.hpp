#pragma once
// What the suite `lu` found, as rates and ratios, lines of a table and a chart. Findings are JSON: one object a matrix,
// {name, source, n, …, levels, dependencies, methods[], ablation, bound, error}.

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace ilux::app {

/// Adds to each method seconds and, where we factored, gflops, bandwidth (of the least traffic: values of L + U read
/// and written once and those of A read once, 16 nnz(L + U) + 8 nnz(A) bytes) and, where a GPU's copy bandwidth is
/// known, over_bound: its time over that of max(least traffic / copy bandwidth, levels `left` × 0.26 µs). A GPU's time
/// is the one with cold caches.
void add_rates(nlohmann::ordered_json& found);

/// Ratios of times over all matrices where both were measured: [{ratio, mean, least, most, matrices}], the mean
/// geometric.
/// @param findings  an array, rates added
nlohmann::ordered_json summary_json(const nlohmann::ordered_json& findings);

std::string lu_bench_head();
std::string lu_bench_lines(const nlohmann::ordered_json& found);      ///< of one matrix
std::string lu_summary_lines(const nlohmann::ordered_json& summary);  ///< "" where there is none

/// Seconds of a refactorization by method, on a logarithmic axis. @param findings  an array
std::string lu_bench_chart(const nlohmann::ordered_json& findings, const std::string& machine);

}  // namespace ilux::app

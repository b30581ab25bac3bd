#pragma once
// Predicted against measured: errors and regrets, lines of a table and a chart. Findings are JSON: one object a matrix,
// {name, n, …, predicted{left[], methods[]}, measured{left[], methods[]}, error}.

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace ilux::app {

/// Adds left[] and methods[], where predicted and measured stand side by side with the relative error
/// |predicted − measured| / measured; and regret{warps, method}: {chosen, best, ratio}, the measured time of what is
/// predicted fastest over the least measured. Numbers of warps that the method's limits make the same are compared
/// once.
void add_comparison(nlohmann::ordered_json& found);

/// {left{points, mean_relative_error, most}, methods[{method, matrices, mean_relative_error}], regret{warps, method:
/// {matrices, mean, most}}}; means of errors arithmetic, of regrets geometric. What no matrix has is missing.
/// @param findings  an array, comparisons added
nlohmann::ordered_json lu_model_summary(const nlohmann::ordered_json& findings);

std::string lu_model_head(const nlohmann::ordered_json& parameters);
std::string lu_model_lines(const nlohmann::ordered_json& found);            ///< of one matrix
std::string lu_model_summary_lines(const nlohmann::ordered_json& summary);  ///< "" where nothing was measured

/// Predicted against measured milliseconds of every matrix. @param findings  an array
std::string lu_model_chart(const nlohmann::ordered_json& findings, const std::string& machine);

}  // namespace ilux::app

#pragma once
// What the suite `accuracy` found, as lines of a table and counts by method. Findings are JSON: one object a system,
// {path, system, name, n, nnz, rhs, truth, methods[], error}.

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace ilux::app {

/// Above the table: what the columns mean.
std::string accuracy_head();
std::string accuracy_lines(const nlohmann::ordered_json& found);  ///< of one system

/// {systems, known, partly, unknown, refused, methods[{method, systems, converged, judged, wrong, wrong_silently,
/// warned, needlessly, estimates, within_10, share_within_10, seconds}]}: known, all components that count are; partly,
/// some. Judged are converged x of systems known in part at least; needlessly warned of are those whose known
/// components are all right to 1 %.
/// @param findings  an array
nlohmann::ordered_json accuracy_summary(const nlohmann::ordered_json& findings);
std::string            accuracy_summary_lines(const nlohmann::ordered_json& summary);

}  // namespace ilux::app

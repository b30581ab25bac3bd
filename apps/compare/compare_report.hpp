#pragma once
// What `ilux compare` prints and draws.

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace ilux::app {

/// Above all tables: what the columns mean.
std::string compare_head();
/// Above the rows of one matrix. @param head  {"matrix", "n", "nnz", "complex", "symmetric", "hermitian", "rhs"}, or {"matrix", "error"}
std::string compare_matrix_line(const nlohmann::ordered_json& head);
std::string compare_line(const nlohmann::ordered_json& row);

/// Setup and solve of every run that converged, by matrix. @param rows  of all matrices  @param machine  below the title
std::string compare_chart(const nlohmann::ordered_json& rows, const std::string& machine);

}  // namespace ilux::app

#pragma once
// What `ilux compare` prints and draws.

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace ilux::app {

/// Above all tables: what the columns mean.
std::string compare_head();
/// Above the rows of one matrix. @param head  {"matrix", "n", "nnz", "complex", "symmetric", "hermitian", "rhs"}, or
/// {"matrix", "error"}
std::string compare_matrix_line(const nlohmann::ordered_json& head);
std::string compare_line(const nlohmann::ordered_json& row);
/// Adds "chosen_over_faster" to a row of auto: the seconds of the strategy that it began with over those of the faster
/// one on its device, null unless both ran and that one solved the system; and a detail that says so.
/// @param rows  those of the same matrix that came before, and others
void judge_choice(nlohmann::ordered_json& row, const nlohmann::ordered_json& rows);

/// Setup and solve of every run that converged, by matrix. @param rows  of all matrices  @param machine  below the
/// title
std::string compare_chart(const nlohmann::ordered_json& rows, const std::string& machine);

}  // namespace ilux::app

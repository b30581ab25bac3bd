#pragma once
// What the suite `setup` found, as a table and a chart. Findings are JSON: one object a system, {name, n, nnz,
// symmetric, rhs, ways[], error}, a way as measure_setup hands it out, or {way, error}.

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace ilux::app {

/// Above the table: what the columns mean. @param method  such as GMRES(30)
std::string setup_bench_head(const std::string& method, double rtol);
std::string setup_bench_lines(const nlohmann::ordered_json& found);  ///< of one system

/// @param findings  an array  @param machine  one line
std::string setup_bench_chart(const nlohmann::ordered_json& findings, const std::string& machine);

}  // namespace ilux::app

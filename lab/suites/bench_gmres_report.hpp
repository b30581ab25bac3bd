#pragma once
// What the suite ilupack-gmres found, as lines of a table and as a chart. Findings are JSON: one object a matrix,
// {name, paper, source, n, nnz, ..., setup[], variants[], error}.

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace ilux::app {

std::string bench_head();                                      ///< the table's head, and what the letters mean
std::string bench_lines(const nlohmann::ordered_json& found);  ///< of one matrix

/// Times by stage, relative to the baseline (to the CPU where there was no GPU). @param findings  an array
std::string bench_chart(const nlohmann::ordered_json& findings, const std::string& machine);

}  // namespace ilux::app

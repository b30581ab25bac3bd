#pragma once
// What a finished solve has to say, as heads and texts: the report on a terminal and the page are both made of them.

#include <string>
#include <vector>

#include "ilux/apps/run/run.hpp"

namespace ilux::app {

struct Row {
    std::string head, text;  ///< head "": goes on from the row before
};
using Rows = std::vector<Row>;

Rows problem_rows(const ProblemFacts& problem);
Rows method_rows(const Run& run);       ///< of the result: method, preconditioner, machine
Rows analysis_rows(const LuFacts& lu);  ///< before factoring
Rows factor_rows(const LuFacts& lu);    ///< empty where the factorization failed
Rows attempt_rows(const Run& run);      ///< empty where there was one
/// Right-hand sides, the worst first; empty where there was one. @param most  rows; the others are counted in another
Rows column_rows(const Run& run, std::size_t most);
Rows gpu_rows(const GpuReport& report);
Rows error_rows(const Run& run, const ProblemFacts& problem);
Rows cost_rows(const Run& run, const ProblemFacts& problem);  ///< time and memory of the result

}  // namespace ilux::app

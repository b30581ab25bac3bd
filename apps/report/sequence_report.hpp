#pragma once
// What people and programs see of a series.

#include <string>

#include "ilux/apps/report/report_rows.hpp"
#include "ilux/apps/run/sequence_run.hpp"

namespace ilux::app {

/// What is known before the first system; and in the end, factors and time.
Rows sequence_rows(const SequenceFacts& series, const SolveOptions& options, const Device& device);
Rows sequence_cost_rows(const SequenceReport& all);
/// Every choice made for the user: of the run, then of the factors.
std::vector<std::string> all_decisions(const SequenceReport& all);

/// What is known before the first system, and the heads of the lines that follow.
std::string sequence_head(const SequenceFacts& series, const SolveOptions& options, const Device& device);
/// One line, and a second one for a reason or a failure.
std::string system_line(const SystemReport& one);
/// "20 of 20 systems converged: 1 factor, 19 refactor; …" with the first that failed, if any: all there is under
/// --quiet.
std::string sequence_line(const SequenceReport& all);
std::string sequence_summary(const SequenceReport& all);

/// One JSON object on one line each; keys as docs/design/apps.md lists them.
std::string system_json(const SystemReport& one);
std::string sequence_json(const SequenceReport& all, const SequenceFacts& series);

}  // namespace ilux::app

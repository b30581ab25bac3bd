#pragma once
// What --report writes: one page on a finished solve or series, of the same data as the text and the JSON.

#include <span>
#include <string>

#include "ilux/apps/run/run.hpp"
#include "ilux/apps/run/sequence_run.hpp"

namespace ilux::app {

/// Sections outcome, convergence, time, levels, depth, pattern, decisions, options and environment, in this order. What
/// there is nothing to show of is said in words. Below 1 MB for any matrix and history.
/// @param run  with histories and structures kept (run_attempt)
/// @param pattern  of A
std::string html_report(const Run& run, const ProblemFacts& problem, const SparsityPicture& pattern);

/// A page has the same sections for a series; convergence is a point for each system. A frequency sweep has its
/// transfer curve after the outcome.
/// @param all      with the structure kept (run_sequence)
/// @param systems  all of them, in order
std::string html_report(const SequenceReport& all, std::span<const SystemReport> systems, const SequenceFacts& series,
                        const SparsityPicture& pattern);

}  // namespace ilux::app

#pragma once
// A matrix measured step by step in a process of its own: where a step does not end, or ends the process, another
// process goes on behind it.

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "ilux/apps/compare/timings.hpp"

namespace ilux::app {

/// In that process. Hands out {"begin": step}, then {"step": step, "result": {...}} or {"step": step, "error": "..."}.
void run_steps(const std::vector<std::string>&                                       steps,
               const std::function<nlohmann::ordered_json(const std::string& step)>& measured, const TakeJson& take);

/// Prints what is handed out, a line each, where measure_apart reads it.
void print_finding(const nlohmann::ordered_json& finding);

/// How the caller's report takes steps.
struct StepRules {
    std::function<void(nlohmann::ordered_json& found, const std::string& step, const nlohmann::ordered_json& result)>
                                                                                           add;
    std::function<nlohmann::ordered_json(const std::string& step, const std::string& why)> failed;
    /// Hears of a step that ended the process, with those that another one is to go on with; may be empty.
    std::function<void(const std::string& step, std::vector<std::string>& left)> ended = {};
};

/// Runs `ilux again... --steps ...`, which prints {"matrix": {...}} or {"error": "..."}, then as run_steps.
/// @param found       what is known before; gets the matrix's keys, the steps, and "error"
/// @param time_limit  seconds for one step; 0: none
void measure_apart(nlohmann::ordered_json& found, const std::vector<std::string>& again, std::vector<std::string> steps,
                   double time_limit, const StepRules& rules);

}  // namespace ilux::app

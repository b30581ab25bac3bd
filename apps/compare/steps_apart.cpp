#include "ilux/apps/compare/steps_apart.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>

#include "ilux/apps/program/child.hpp"
#include "ilux/apps/program/console.hpp"

namespace ilux::app {
namespace {

using Json = nlohmann::ordered_json;

/// What a process finds on its way through the steps.
struct Findings {
    Json&            found;
    const StepRules& rules;
    std::string      begun;  ///< the step that it is in, or ""

    void take(const Json& finding)
    {
        if (finding.contains("matrix")) found.update(finding["matrix"]);
        else if (finding.contains("begin")) begun = finding["begin"];
        else if (finding.contains("step")) {
            const std::string step = finding["step"];
            rules.add(found, step,
                      finding.contains("result") ? finding["result"] : rules.failed(step, finding["error"]));
            begun = "";
        } else if (finding.contains("error")) found["error"] = finding["error"];
    }
};

}  // namespace

void run_steps(const std::vector<std::string>& steps, const std::function<Json(const std::string& step)>& measured,
               const TakeJson& take)
{
    for (const std::string& step : steps) {
        take({{"begin", step}});
        const std::string why = failure_of([&] { take({{"step", step}, {"result", measured(step)}}); });
        if (!why.empty()) take({{"step", step}, {"error", why}});
    }
}

void print_finding(const Json& finding)
{
    write_out(finding.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n");
}

void measure_apart(Json& found, const std::vector<std::string>& again, std::vector<std::string> steps,
                   double time_limit, const StepRules& rules)
{
    Findings findings{found, rules, ""};
    while (!steps.empty()) {
        std::vector<std::string> arguments = again;
        arguments.insert(arguments.end(), {"--steps", fmt::format("{}", fmt::join(steps, ","))});
        findings.begun = "";
        const std::string ended = run_self(
            arguments, time_limit,
            [&](std::string_view line) {
                const Json finding = Json::parse(line, nullptr, false);
                if (!finding.is_discarded()) findings.take(finding);
            },
            TimeLimit::between_lines);
        if (ended.empty()) break;
        const auto at = std::ranges::find(steps, findings.begun);
        if (at == steps.end()) {
            found["error"] = ended;
            break;
        }
        const std::string lost = *at;
        rules.add(found, lost, rules.failed(lost, ended));
        steps.erase(steps.begin(), at + 1);
        if (rules.ended) rules.ended(lost, steps);
    }
}

}  // namespace ilux::app

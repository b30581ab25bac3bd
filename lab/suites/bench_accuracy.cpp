// ilux-lab accuracy: how right converged answers are, and how right what is said of their errors. Every series, file or
// gallery problem is measured by a process of its own.

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "ilux/apps/compare/compare.hpp"
#include "ilux/apps/compare/steps_apart.hpp"
#include "ilux/apps/input/option_arguments.hpp"
#include "ilux/apps/program/console.hpp"
#include "ilux/apps/program/machine.hpp"
#include "ilux/base/io/printable.hpp"
#include "ilux/lab/suites/bench_accuracy_measure.hpp"
#include "ilux/lab/suites/bench_accuracy_report.hpp"
#include "ilux/lab/suites/suites.hpp"
#include "ilux/engine/machine/device.hpp"

namespace ilux::app {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

struct AccuracyArguments {
    std::vector<std::string> paths, methods, steps;
    SolveOptions             options = compare_defaults();
    Index                    systems = 0;
    bool                     json = false, in_process = false;
    std::string              commit = build_commit();
};

constexpr const char* accuracy_help =
    "PATHS are folders of a series as of ilux sequence, other folders (every Matrix Market file in them, but right-hand sides),\n"
    "Matrix Market files and gallery:NAME[:key=value,...]. --rhs auto: what a series brings along, NAME_b.mtx beside NAME.mtx, else\n"
    "A·1. A series goes through one solver a method, and a fixed method is not retried there.\n"
    "--time-limit is of each system and method, and of the truth; what does not keep it is ended after twice that and 10 s.\n\n";

/// @throws InvalidOption with the nearest name
std::vector<std::string> methods_to_compare(const std::string& given)
{
    std::vector<std::string> chosen;
    for (const std::string& word : split(given)) {
        MethodChoice method{};
        ilux::parse_field("methods", word, method);
        if (std::ranges::count(chosen, word) == 0) chosen.push_back(word);
    }
    return chosen;
}

/// false: only help was asked for.
bool parse_accuracy(Arguments arguments, AccuracyArguments& given)
{
    auto app = parser("accuracy", "Solves systems by several methods and tells how far each x is from the truth.");
    app->add_option("PATHS", given.paths, "folders, Matrix Market files, gallery problems; see below")
        ->type_name("FOLDER|FILE|gallery");
    const OptionArguments options(*app, given.options, {"method", "mode", "plan"});
    std::string           methods = "auto,gmres,lu", systems, steps;
    const auto option = [&](const char* name, std::string& text, const char* help, const char* group, const char* value,
                            const std::string& standard) {
        app->add_option(name, text, help)->group(group)->type_name(value)->default_str(standard);
    };
    option("--methods", methods, "some of auto, gmres, fgmres, bicg, bicgstab, cg, minres, sqmr, cocg, lu",
           "Measurement", "NAME,...", methods);
    option("--systems", systems, "of a series, so many from its first on; 0: all", "Measurement", "N", "0");
    app->add_flag("--json", given.json, "JSON objects, one a line, instead of the table")->group("Output");
    option("--commit", given.commit, "of the sources, for the JSON", "Output", "TEXT", "");
    app->add_flag("--in-process", given.in_process, "measure here, one JSON line a finding")->group("Output");
    option("--steps", steps, "of --in-process: SYSTEM:truth, SYSTEM:METHOD[:unjudged]", "Output", "NAME,...", "");
    app->nested = nested_options();
    app->footer(std::string(accuracy_help) + precedence_help);
    if (!parse(*app, arguments)) return false;

    options.apply(given.options);
    given.methods = methods_to_compare(methods);
    if (!steps.empty()) given.steps = split(steps);
    if (!systems.empty()) ilux::parse_field("systems", systems, given.systems);
    check_range("systems", given.systems, at_least(0));
    if (given.options.method != MethodChoice::automatic || given.options.mode != SolverMode::automatic)
        throw InvalidOption("accuracy: methods are chosen by --methods");
    if (given.options.rhs == "-") throw InvalidOption("accuracy: standard input can be read once; give a file");
    if (given.paths.empty()) throw InvalidOption("accuracy: PATHS are missing; see ilux-lab accuracy --help");
    for (const std::string& path : given.paths) require_path(path);
    return true;
}

/// A right-hand side by its name: NAME_b.mtx beside a NAME.mtx.
bool is_side(const fs::path& file)
{
    for (const char* ending : {"_b.mtx.gz", "_b.mtx"}) {
        const std::string name = file.string();
        if (!name.ends_with(ending)) continue;
        const std::string stem = name.substr(0, name.size() - std::string_view(ending).size());
        std::error_code   unknown;
        return fs::exists(stem + ".mtx", unknown) || fs::exists(stem + ".mtx.gz", unknown);
    }
    return false;
}

/// A series stays one path, any other folder becomes the files in it. @throws InvalidInput for a folder without any
std::vector<std::string> expanded(const std::string& path)
{
    std::error_code unknown;
    if (!fs::is_directory(path, unknown) || is_series(path)) return {path};
    std::vector<std::string> files;
    for (const auto& entry : fs::directory_iterator(path, unknown)) {
        const std::string name = entry.path().string();
        if ((name.ends_with(".mtx") || name.ends_with(".mtx.gz")) && !is_side(entry.path())) files.push_back(name);
    }
    require(!files.empty(), [&] { return fmt::format("{}: neither a series nor Matrix Market files", path); });
    std::ranges::sort(files);
    return files;
}

/// The rows of one path, each handed out when its last step is done.
class PathRows {
public:
    PathRows(const AccuracyArguments& given, std::string path, std::function<void(Json)> take)
        : given_(given), path_(std::move(path)), take_(std::move(take))
    {}

    void measure()
    {
        std::error_code unknown;
        Index           systems = 1;
        if (fs::is_directory(path_, unknown)) {
            const std::string why = failure_of([&] { series_.emplace(std::vector{path_}, given_.options.rhs); });
            if (!why.empty()) return refuse(why);
            systems = given_.systems > 0 ? std::min(given_.systems, series_->systems()) : series_->systems();
        }
        std::vector<std::string> steps;
        for (Index k = 0; k < systems; ++k) {
            steps.push_back(AccuracyStep{k, "truth"}.text());
            for (const std::string& method : given_.methods) steps.push_back(AccuracyStep{k, method}.text());
        }
        std::vector<std::string> again{"accuracy", path_, "--in-process", "--systems", field_text(systems)};
        for (const std::string& option : changed_options(given_.options, compare_defaults()))
            again.insert(again.end(), {"-p", option});
        const double limit = given_.options.time_limit;
        Json         found{{"error", nullptr}};
        measure_apart(found, again, steps, limit > 0 ? 2 * limit + 10 : 0,
                      {.add = [&](Json& into, const std::string& step, const Json& result) { add(into, step, result); },
                       .failed = failed,
                       .ended =
                           [](const std::string& step, std::vector<std::string>& left) {
                               leave_unjudged(parse_accuracy_step(step), left);
                           }});
        if (found["error"].is_string()) refuse(found["error"]);
    }

private:
    Json head(Index k) const { return {{"path", path_}, {"system", k}, {"name", system_name(k)}}; }

    /// The last part of the path, and of a series the system's number or file.
    std::string system_name(Index k) const
    {
        if (path_.starts_with("gallery:")) return path_;
        const fs::path    clean = fs::path(path_).lexically_normal();
        const std::string last = (clean.has_filename() ? clean : clean.parent_path()).filename().string();
        return series_ ? fmt::format("{} {}", last, series_->label(k)) : last;
    }

    void refuse(const std::string& why)
    {
        Json row = head(next_);
        row["error"] = why;
        take_(std::move(row));
    }

    void add(const Json& found, const std::string& text, const Json& result)
    {
        const AccuracyStep step = parse_accuracy_step(text);
        if (step.what == "truth") {
            row_ = head(step.system);
            for (const char* key : {"n", "nnz", "rhs"}) row_[key] = found.contains(key) ? found[key] : Json(nullptr);
            row_["truth"] = result;
            row_["methods"] = Json::array();
            row_["error"] = nullptr;
            return;
        }
        row_["methods"].push_back(result);
        if (row_["methods"].size() < given_.methods.size()) return;
        next_ = step.system + 1;
        take_(std::move(row_));
    }

    static Json failed(const std::string& text, const std::string& why)
    {
        const AccuracyStep step = parse_accuracy_step(text);
        if (step.what == "truth") return {{"known", 0}, {"counting", 0}, {"why_not", why}};
        return {{"method", step.what}, {"outcome", "failed"}, {"detail", why}};
    }

    const AccuracyArguments&       given_;
    std::string                    path_;
    std::function<void(Json)>      take_;
    std::optional<SequenceInput<>> series_;  ///< where it is one
    Json                           row_;
    Index                          next_ = 0;
};

Json accuracy_head(const AccuracyArguments& given, Arguments arguments)
{
    return {{"suite", "accuracy"},
            {"version", ILUX_VERSION},
            {"commit", given.commit.empty() ? Json(nullptr) : Json(given.commit)},
            {"command", fmt::format("ilux-lab accuracy {}", fmt::join(arguments, " "))},
            {"machine",
             machine_json(given.options.threads, given.options.device != DeviceChoice::cpu && gpu_count() > 0)},
            {"methods", given.methods},
            {"options", changed_options(given.options, compare_defaults())}};
}

}  // namespace

int bench_accuracy(Arguments arguments)
{
    AccuracyArguments given;
    if (!parse_accuracy(arguments, given)) return success;
    if (given.in_process) {
        for (const std::string& path : given.paths)
            measure_accuracy(given.options, path, given.systems, given.steps, print_finding);
        return success;
    }
    require_device(given.options.device);
    std::vector<std::string> paths;
    for (const std::string& path : given.paths)
        for (std::string& one : expanded(path)) paths.push_back(std::move(one));

    if (given.json) print_finding(accuracy_head(given, arguments));
    else write_out(accuracy_head());
    Json findings = Json::array();
    for (const std::string& path : paths) {
        if (isatty(STDERR_FILENO)) write_err(fmt::format("measuring {} ...\n", printable(path)));
        PathRows rows(given, path, [&](Json found) {
            if (given.json) print_finding(found);
            else write_out(accuracy_lines(found));
            findings.push_back(std::move(found));
        });
        rows.measure();
    }
    const Json summary = accuracy_summary(findings);
    if (given.json) print_finding({{"summary", summary}});
    else write_out(accuracy_summary_lines(summary));
    return summary["known"] == 0 && summary["partly"] == 0 ? not_converged : success;
}

}  // namespace ilux::app

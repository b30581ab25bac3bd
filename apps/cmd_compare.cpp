// ilux compare: the same system solved directly, by an iteration, as mode auto chooses and by CUSP's GMRES, each in a
// process of its own, and every answer judged by its true residual.

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "ilux/apps/compare/compare.hpp"
#include "ilux/apps/compare/compare_report.hpp"
#include "ilux/apps/compare/compare_rival.hpp"
#include "ilux/apps/compare/steps_apart.hpp"
#include "ilux/apps/input/option_arguments.hpp"
#include "ilux/apps/program/child.hpp"
#include "ilux/apps/program/console.hpp"
#include "ilux/apps/program/machine.hpp"
#include "ilux/apps/subcommands.hpp"
#include "ilux/base/io/printable.hpp"
#include "ilux/engine/machine/device.hpp"

namespace ilux::app {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::array<const char*, 4> known_strategies{"direct", "iterative", "auto", "cusp"};
constexpr std::array<const char*, 4> cusp_preconds{"none", "diagonal", "nonsym_bridson_ainv", "smoothed_aggregation"};

struct CompareArguments {
    std::vector<std::string> paths, strategies, preconds;
    SolveOptions             options = compare_defaults();
    Index                    repeats = default_repeats;
    bool                     json = false;
    Output                   svg;
    std::string              commit = build_commit(), step;
};

/// The words of `given`, in the order of `known`. @throws InvalidOption with the nearest name
template <std::size_t count>
std::vector<std::string> chosen(const char* option, const std::array<const char*, count>& known,
                                const std::string& given)
{
    const std::vector<std::string> names(known.begin(), known.end()), wanted = split(given);
    for (const std::string& word : wanted) {
        if (std::ranges::count(names, word) > 0) continue;
        const std::string nearest = nearest_name(word, names);
        throw InvalidOption(fmt::format("{}: there is no '{}'; {}", option, word,
                                        nearest.empty() ? fmt::format("there are {}", fmt::join(names, ", "))
                                                        : fmt::format("did you mean '{}'?", nearest)));
    }
    std::vector<std::string> all;
    for (const std::string& name : names)
        if (std::ranges::count(wanted, name) > 0) all.push_back(name);
    return all;
}

/// What each process is told anew, and so what no stream can give twice.
void require_rereadable(const CompareArguments& given)
{
    if (given.paths.empty()) throw InvalidOption("compare: MATRIX is missing; see ilux compare --help");
    if (given.options.rhs == "-" || std::ranges::count(given.paths, "-") > 0)
        throw InvalidOption("compare: standard input can be read once, but every run reads the system; give a file");
    if (given.options.mode != SolverMode::automatic)
        throw InvalidOption(
            fmt::format("mode={}: compare runs both strategies; see --strategies", field_text(given.options.mode)));
    if (given.options.method == MethodChoice::lu)
        throw InvalidOption("method=lu: it is compared anyway; --method is of the iteration");
    if (!given.options.plan.empty()) throw InvalidOption("plan: compare measures what it takes to make one");
    for (const std::string& path : given.paths) require_path(path);
}

/// false: only help was asked for.
bool parse_compare(Arguments arguments, CompareArguments& given)
{
    auto app = parser(
        "compare",
        "Solves the same system directly, by an iteration, as mode auto chooses and by CUSP's GMRES, side by side.");
    app->add_option(
           "MATRIX", given.paths,
           "files of any kind that ilux solve takes, gallery:NAME[:key=value,...], folders as of ilux sequence (the first system)")
        ->type_name("FILE|FOLDER|gallery");
    const OptionArguments options(*app, given.options, {"plan"});
    std::string           strategies = fmt::format("{}", fmt::join(known_strategies, ",")),
                preconds = fmt::format("{}", fmt::join(cusp_preconds, ","));
    std::string repeats;
    const auto option = [&](const char* name, std::string& text, const char* help, const char* group, const char* value,
                            const std::string& standard) {
        app->add_option(name, text, help)->group(group)->type_name(value)->default_str(standard);
    };
    option("--strategies", strategies, "some of these strategies and programs", "Comparison", "NAME,...", strategies);
    option("--cusp-preconds", preconds, "CUSP's, some of them", "Comparison", "NAME,...", preconds);
    option("--repeats", repeats, "of what takes at most a second; the median is given", "Comparison", "VALUE",
           field_text(given.repeats));
    app->add_flag("--json", given.json, "JSON objects, one a line, instead of the tables")->group("Output");
    app->add_output("--svg", given.svg, "a chart of the times", "FILE");
    option("--commit", given.commit, "of the sources, for the JSON", "Output", "TEXT", "");
    option("--in-process", given.step, "measure one run here, one JSON line a finding", "Output", "STRATEGY:DEVICE",
           "");
    app->nested = nested_options({"sequence."});
    app->footer(
        "--time-limit ends each run (counted from when its matrix is read), setup included; 0: none.\n"
        "--device auto: each of our strategies on the CPU and, where there is one, on a GPU. CUSP runs on a GPU.\n" +
        std::string(precedence_help));
    const auto settle = [&]() -> std::vector<std::string> {
        return options.apply(given.options), files_read(given.options);
    };
    if (!parse(*app, arguments, settle)) return false;

    given.strategies = chosen("--strategies", known_strategies, strategies);
    given.preconds = chosen("--cusp-preconds", cusp_preconds, preconds);
    if (!repeats.empty()) {
        ilux::parse_field("repeats", repeats, given.repeats);
        if (given.repeats < 1) throw InvalidOption(fmt::format("repeats={}: expected at least 1", given.repeats));
    }
    require_rereadable(given);
    return true;
}

/// What the machine and the build allow, in the order in which it is run, and why the rest is not.
struct Plans {
    std::vector<Strategy> strategies;
    Json                  unavailable = Json::array();
    std::string           cusp;  ///< the program

    void lack(const std::string& strategy, const std::string& reason)
    {
        unavailable.push_back({{"strategy", strategy}, {"reason", reason}});
    }
};

Plans plans_of(const CompareArguments& given)
{
    Plans             plans;
    const auto        device = given.options.device;
    const std::string no_gpu = why_no_gpu_rows(device);
    for (const std::string& strategy : given.strategies) {
        if (strategy == "cusp") continue;
        if (device != DeviceChoice::gpu) plans.strategies.push_back({strategy, "", "cpu"});
        if (no_gpu.empty()) plans.strategies.push_back({strategy, "", "gpu"});
        else plans.lack(strategy + " on a GPU", no_gpu);
    }
    if (std::ranges::count(given.strategies, "cusp") == 0) return plans;
    if (device == DeviceChoice::cpu) plans.lack("cusp", "it runs on a GPU, and --device cpu was given");
    else if (plans.cusp = find_compare_cusp(); plans.cusp.empty()) plans.lack("cusp", how_to_get_cusp);
    else
        for (const std::string& precond : given.preconds) plans.strategies.push_back({"cusp", precond, "gpu"});
    return plans;
}

/// The command that measures one strategy of ours in a process of its own: every option that is not at its default.
std::vector<std::string> again(const CompareArguments& given, const std::string& path, const Strategy& strategy)
{
    std::vector<std::string> arguments{"compare",       path,        "--in-process",
                                       strategy.step(), "--repeats", field_text(given.repeats)};
    for (const std::string& option : changed_options(given.options, compare_defaults()))
        if (!option.starts_with("device=")) arguments.insert(arguments.end(), {"-p", option});
    return arguments;
}

void show(const Json& json, bool as_json, std::string (*line)(const Json&))
{
    if (as_json) print_finding(json);
    else write_out(line(json));
}

/// Adds its rows. @return whether one run solved it
bool compare_matrix(const CompareArguments& given, const Plans& plans, const std::string& path, Json& rows)
{
    const AnyProblem    any = load_first_system(path, given.options.rhs);
    const ProblemFacts& facts = std::visit([](const auto& one) -> const ProblemFacts& { return one; }, any);
    if (!given.json) show(row_head(path, facts, {}), false, compare_matrix_line);
    std::optional<RivalSystem> rival;
    bool                       solved = false;
    for (const Strategy& strategy : plans.strategies) {
        if (isatty(STDERR_FILENO)) write_err(fmt::format("{}: {} ...\n", printable(path), strategy.step()));
        Json row = row_head(path, facts, strategy);
        if (const auto why = why_no_complex(strategy); facts.complex && !why.empty()) {
            row["outcome"] = "not_run";
            row["detail"] = why;
        } else if (strategy.name == "cusp") {
            if (!rival) rival.emplace(plans.cusp, std::get<Problem<>>(any));
            rival->run(row, strategy, given.options, given.repeats);
        } else run_for(row, this_program, again(given, path, strategy), given.options.time_limit);
        judge_choice(row, rows);
        show(row, given.json, compare_line);
        solved = solved || row["outcome"] == name(Outcome::converged);
        rows.push_back(std::move(row));
    }
    return solved;
}

/// Options that have no effect on what was asked for. CUSP takes rtol, max_steps and restart.
std::vector<std::string> without_effect(const CompareArguments& given)
{
    const auto         asked = [&](const char* strategy) { return std::ranges::count(given.strategies, strategy) > 0; };
    const MethodChoice method = given.options.method;
    const bool         automatic = asked("auto"), iterative = asked("iterative") || automatic,
               gpu = given.options.device != DeviceChoice::cpu;
    const bool            gmres = method == MethodChoice::automatic || method == MethodChoice::gmres;
    const StrategiesTaken taken{.direct = asked("direct") || automatic,
                                .iterative = iterative || asked("cusp"),
                                .gpu_lu = gpu,
                                .gpu = gpu,
                                .mlilu = iterative,  // a retry may take it
                                .gmres = iterative && gmres,
                                .restarted = asked("cusp") || gmres || method == MethodChoice::fgmres};
    SolveOptions          options = given.options;
    if (!taken.direct) options.mode = SolverMode::iterative;
    auto remarks = options_without_effect(options, taken, false);
    std::erase_if(remarks, [](std::string_view one) { return one.starts_with("krylov.rtol="); });  // judges all here
    return remarks;
}

Json head_json(const CompareArguments& given, Arguments arguments, const Plans& plans, bool gpu)
{
    return {{"suite", "compare"},
            {"version", ILUX_VERSION},
            {"commit", given.commit.empty() ? Json(nullptr) : Json(given.commit)},
            {"command", fmt::format("ilux compare {}", fmt::join(arguments, " "))},
            {"machine", machine_json(given.options.threads, gpu)},
            {"rtol", given.options.krylov.rtol},
            {"max_steps", given.options.krylov.max_steps},
            {"restart", given.options.krylov.restart},
            {"time_limit", given.options.time_limit},
            {"repeats", given.repeats},
            {"unavailable", plans.unavailable},
            {"remarks", without_effect(given)}};
}

int measure_in_process(const CompareArguments& given)
{
    const std::size_t colon = given.step.find(':');
    const Strategy    strategy{given.step.substr(0, colon), "",
                            colon < given.step.size() ? given.step.substr(colon + 1) : ""};
    const bool        of_ours = strategy.name != "cusp" && std::ranges::count(known_strategies, strategy.name) > 0;
    if (!of_ours || (strategy.device != "cpu" && strategy.device != "gpu"))
        throw InvalidOption(
            fmt::format("--in-process {}: expected direct, iterative or auto, :, cpu or gpu", given.step));
    for (const std::string& path : given.paths)
        measure_named(strategy, path, given.options, given.repeats, print_finding);
    return success;
}

}  // namespace

int compare(Arguments arguments)
{
    CompareArguments given;
    if (!parse_compare(arguments, given)) return success;
    if (!given.step.empty()) return measure_in_process(given);
    require_device(given.options.device);
    const Plans plans = plans_of(given);
    if (plans.strategies.empty())
        throw InvalidInput("nothing is left to compare: " + plans.unavailable.back()["reason"].get<std::string>());

    const bool gpu = why_no_gpu_rows(given.options.device).empty();
    if (given.json) print_finding(head_json(given, arguments, plans, gpu));
    else {
        for (const Json& one : plans.unavailable)
            write_out(fmt::format("not compared: {} ({})\n", one["strategy"].get<std::string>(),
                                  printable(one["reason"].get<std::string>())));
        for (const std::string& remark : without_effect(given))
            write_out(fmt::format("remark: {}\n", printable(remark)));
        write_out(compare_head());
    }
    Json rows = Json::array();
    bool solved = true;  // every matrix by one run at least
    bool readable = true;
    for (const std::string& path : given.paths) {
        const std::string broken = failure_of([&] { solved = compare_matrix(given, plans, path, rows) && solved; });
        if (broken.empty()) continue;
        readable = false;
        show({{"matrix", path}, {"error", broken}}, given.json, compare_matrix_line);
    }
    if (given.svg) write_file(given.svg.file(), compare_chart(rows, gpu ? gpu_name(0) : cpu_name()));
    if (!readable) return bad_input;
    return solved ? success : not_converged;
}

}  // namespace ilux::app

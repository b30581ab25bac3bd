// ilux-lab setup: how long preconditioners take to be set up, and what they are worth. Every system is measured by a
// process of its own; where a way does not end, or ends the process, another one goes on behind it.

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "ilux/apps/compare/steps_apart.hpp"
#include "ilux/apps/input/option_arguments.hpp"
#include "ilux/apps/input/options_json.hpp"
#include "ilux/apps/program/console.hpp"
#include "ilux/apps/program/machine.hpp"
#include "ilux/base/io/printable.hpp"
#include "ilux/lab/rivals/setup_rivals.hpp"
#include "ilux/lab/suites/bench_setup_measure.hpp"
#include "ilux/lab/suites/bench_setup_report.hpp"
#include "ilux/lab/suites/suites.hpp"
#include "ilux/engine/machine/device.hpp"

namespace ilux::app {
namespace {

using Json = nlohmann::ordered_json;

/// Meshes in two and three dimensions, symmetric and not, each kind in two sizes but one; some minutes on two cores.
constexpr std::array<const char*, 5> standard_systems{
    "gallery:poisson2d:n=300", "gallery:poisson2d:n=1000", "gallery:recirculating2d:n=400",
    "gallery:convdiff3d:n=32", "gallery:convdiff3d:n=64",
};
constexpr double grace = 10;  // seconds a run beyond --time-limit, of which a run that is repeated takes half

struct SetupBenchArguments {
    std::vector<std::string> paths, setups, rivals, steps;
    SolveOptions             options = setup_defaults();
    Index                    runs = 3;
    bool                     json = false, in_process = false;
    Output                   svg;
    std::string              commit = build_commit();
};

constexpr const char* setup_help =
    "PATHS are Matrix Market files and gallery:NAME[:key=value,...]; without any, a set of gallery problems. A Krylov method (--method) is\n"
    "preconditioned by the multilevel ILU, on the host by 1, 2, 4, ... and all threads, and by --device gpu where there is one.\n"
    "--time-limit is of each setup with its solve. What does not keep it is ended 10 s a run later.\n\nRivals:\n";

std::string rivals_help()
{
    std::string text = setup_help;
    for (const Rival& rival : setup_rivals()) {
        const std::string why = rival.why_not();
        text += fmt::format("  {:<22}{}\n", rival.name, why.empty() ? rival.about() : "not here: " + why);
    }
    return text + "\n";
}

/// @throws InvalidOption with the nearest name
std::vector<std::string> chosen_setups(const std::string& given)
{
    std::vector<std::string> chosen;
    for (const std::string& word : split(given)) {
        MlIluSetup setup{};
        ilux::parse_field("setups", word, setup);
        if (std::ranges::count(chosen, word) == 0) chosen.push_back(word);
    }
    return chosen;
}

/// Such as gmres(30), of ours; a rival has its own.
std::string method_text(const SolveOptions& options)
{
    const std::string method = field_text(options.method);
    const bool        restarts = options.method == MethodChoice::gmres || options.method == MethodChoice::fgmres;
    return restarts ? fmt::format("{}({})", method, options.krylov.restart) : method;
}

/// @throws InvalidOption for what this suite settles itself, or makes no use of
void require_used(const SolveOptions& options)
{
    static constexpr std::array ours{"mode=", "retry=", "precond.kind=", "precond.setup=", "lu.", "sequence."};
    static constexpr std::array methods{MethodChoice::gmres, MethodChoice::fgmres, MethodChoice::bicgstab,
                                        MethodChoice::cg};
    for (const std::string& option : changed_options(options, setup_defaults()))
        for (const std::string_view path : ours)
            if (option.starts_with(path))
                throw InvalidOption(
                    fmt::format("setup: {} is not for this suite, which has the multilevel ILU and --setups", option));
    if (std::ranges::count(methods, options.method) == 0)
        throw InvalidOption(
            fmt::format("setup: method={} is not for this suite; it takes gmres, fgmres, bicgstab or cg",
                        field_text(options.method)));
    if (options.rhs == "-") throw InvalidOption("setup: standard input can be read once; give a file");
}

/// @param others  --setups or --rival were given
/// @throws InvalidOption
void require_steps(const SetupBenchArguments& given, bool others)
{
    if (given.steps.empty() && given.in_process) throw InvalidOption("--in-process: --steps must say what is measured");
    if (given.steps.empty()) return;
    if (others) throw InvalidOption("--steps says what is measured: --setups and --rival have no place beside it");
    const std::string no_gpu = given.in_process ? "" : why_no_gpu_rows(given.options.device);
    for (const std::string& step : given.steps) {
        const SetupWay way = parse_setup_way(step);
        const bool     gpu = way.gpu || (way.rival() && find_rival(step).on_gpu);
        if (gpu && !no_gpu.empty()) throw InvalidOption(fmt::format("--steps {}: {}", step, no_gpu));
    }
}

/// The rivals among what is measured.
std::vector<std::string> rivals_of(const SetupBenchArguments& given)
{
    std::vector<std::string> rivals = given.rivals;
    for (const std::string& step : given.steps)
        if (parse_setup_way(step).rival()) rivals.push_back(step);
    return rivals;
}

/// false: only help was asked for.
bool parse_setup_bench(Arguments arguments, SetupBenchArguments& given)
{
    auto app = parser("setup", "Times the setup of preconditioners by its phases, and the solve that follows.");
    app->add_option("PATHS", given.paths, "Matrix Market files, gallery problems; see below")
        ->type_name("FILE|gallery");
    const OptionArguments options(*app, given.options, {"precond.kind", "plan", "retry"});
    std::string           setups = "crout,rounds", steps, runs;
    const auto option = [&](const char* name, std::string& text, const char* help, const char* group, const char* value,
                            const std::string& standard) {
        app->add_option(name, text, help)->group(group)->type_name(value)->default_str(standard);
    };
    option("--setups", setups, "some of crout, rounds, auto", "Measurement", "NAME,...", setups);
    app->add_option("--rival", given.rivals, "a solver of others beside ours; may be repeated")
        ->group("Measurement")
        ->type_name("NAME")
        ->expected(1)
        ->allow_extra_args(false)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    option("--runs", runs, "of which medians are taken; one of more than 5 s is the only one", "Measurement", "N",
           field_text(given.runs));
    app->add_flag("--json", given.json, "one JSON object instead of the table")->group("Output");
    app->add_output("--svg", given.svg, "a chart of the phases", "FILE");
    option("--commit", given.commit, "of the sources, for the JSON", "Output", "TEXT", "");
    app->add_flag("--in-process", given.in_process, "measure here, one JSON line a finding")->group("Output");
    option("--steps", steps, "these and no others: SETUP:THREADS, SETUP:gpu, a rival", "Measurement", "NAME,...", "");
    app->nested = nested_options({"lu.", "sequence.", "mode", "precond.setup"});
    app->footer(rivals_help() + precedence_help);
    app->needs_input = false;
    const auto settle = [&] { return options.apply(given.options), files_read(given.options); };
    if (!parse(*app, arguments, settle)) return false;

    require_used(given.options);
    given.setups = chosen_setups(setups);
    for (const std::string& rival : given.rivals) (void)find_rival(rival);
    if (!steps.empty()) given.steps = split(steps);
    require_steps(given, app->count("--setups") + app->count("--rival") > 0);
    if (!runs.empty()) ilux::parse_field("runs", runs, given.runs);
    check_range("runs", given.runs, at_least(1));
    for (const std::string& path : given.paths) require_path(path);
    if (given.paths.empty()) given.paths.assign(standard_systems.begin(), standard_systems.end());
    return true;
}

Json report_json(const SetupBenchArguments& given, Arguments arguments, const std::string& no_gpu)
{
    Json json;
    json["suite"] = "setup";
    json["version"] = ILUX_VERSION;
    json["commit"] = given.commit.empty() ? Json(nullptr) : Json(given.commit);
    json["command"] = fmt::format("ilux-lab setup{}{}", arguments.empty() ? "" : " ", fmt::join(arguments, " "));
    json["machine"] = machine_json(given.options.threads, no_gpu.empty());
    json["no_gpu"] = no_gpu.empty() ? Json(nullptr) : Json(no_gpu);
    json["runs"] = given.runs;
    json["options"] = to_json(given.options);
    json["rivals"] = Json::array();
    for (const std::string& rival : rivals_of(given))
        json["rivals"].push_back({{"name", rival}, {"about", find_rival(rival).about()}});
    json["systems"] = Json::array();
    return json;
}

Json measured_apart(const SetupBenchArguments& given, const std::string& path, const std::vector<std::string>& steps)
{
    Json                     found{{"name", path}, {"ways", Json::array()}, {"error", nullptr}};
    std::vector<std::string> again{"setup", path, "--in-process", "--runs", field_text(given.runs)};
    for (const std::string& option : changed_options(given.options, setup_defaults()))
        again.insert(again.end(), {"-p", option});
    const double limit = given.options.time_limit;
    measure_apart(found, again, steps, limit > 0 ? limit + grace * (given.runs + 1) : 0,
                  {.add = [](Json& into, const std::string&, const Json& way) { into["ways"].push_back(way); },
                   .failed =
                       [](const std::string& step, const std::string& why) {
                           return Json{{"way", step}, {"error", why}};
                       }});
    return found;
}

/// Those asked for by name, or by --setups, threads, a GPU and --rival.
std::vector<std::string> steps_of(const SetupBenchArguments& given, bool gpu)
{
    if (!given.steps.empty()) return given.steps;
    std::vector<std::string> steps;
    for (const SetupWay& way : setup_ways(given.setups, Cpu(given.options.threads).threads(), gpu, given.rivals))
        steps.push_back(way.text());
    return steps;
}

bool any_way_measured(const Json& found)
{
    return std::ranges::any_of(found["ways"], [](const Json& way) { return way.contains("seconds"); });
}

}  // namespace

int bench_setup(Arguments arguments)
{
    SetupBenchArguments given;
    if (!parse_setup_bench(arguments, given)) return success;
    if (given.in_process) {
        for (const std::string& path : given.paths)
            measure_setup(given.options, given.runs, path, given.steps, print_finding);
        return success;
    }
    require_device(given.options.device);

    const std::string no_gpu = why_no_gpu_rows(given.options.device);
    const auto        steps = steps_of(given, no_gpu.empty());
    Json              json = report_json(given, arguments, no_gpu);
    if (!given.json)
        write_out((no_gpu.empty() ? "" : fmt::format("no rows of a GPU: {}\n", no_gpu)) +
                  setup_bench_head(method_text(given.options), given.options.krylov.rtol));
    bool measured = false;
    for (const std::string& path : given.paths) {
        if (isatty(STDERR_FILENO)) write_err(fmt::format("measuring {} ...\n", printable(path)));
        Json found = measured_apart(given, path, steps);
        if (!given.json) write_out(setup_bench_lines(found));
        measured = measured || any_way_measured(found);
        json["systems"].push_back(std::move(found));
    }
    if (given.json) write_out(json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
    if (given.svg)
        write_file(given.svg.file(), setup_bench_chart(json["systems"], no_gpu.empty() ? gpu_name(0) : cpu_name()));
    return measured ? success : not_converged;
}

}  // namespace ilux::app

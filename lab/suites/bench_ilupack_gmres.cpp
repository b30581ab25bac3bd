// ilux-lab ilupack-gmres: Tables 3 to 5 of [aliaga19], measured here. Every matrix is measured by a process of its own,
// so that none can block or end the others.

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "ilux/apps/compare/steps_apart.hpp"
#include "ilux/apps/input/options_json.hpp"
#include "ilux/apps/program/child.hpp"
#include "ilux/apps/program/console.hpp"
#include "ilux/apps/program/machine.hpp"
#include "ilux/base/io/printable.hpp"
#include "ilux/gallery/stand_ins.hpp"
#include "ilux/lab/suites/bench_gmres.hpp"
#include "ilux/lab/suites/bench_gmres_report.hpp"
#include "ilux/lab/suites/suites.hpp"

namespace ilux::app {
namespace {

using Json = nlohmann::ordered_json;

struct GmresBenchArguments {
    GmresBench               bench;
    std::vector<std::string> names;  ///< of the matrices, in the paper's order
    bool                     json = false, in_process = false;
    Output                   svg;
    std::string              commit = build_commit();
};

[[noreturn]] void throw_no_such_matrix(const std::string& name, std::span<const std::string> all)
{
    const std::string nearest = nearest_name(name, all);
    throw InvalidOption(fmt::format("--only: there is no matrix '{}' in this suite; {}", name,
                                    nearest.empty() ? fmt::format("it has {}", fmt::join(all, ", "))
                                                    : fmt::format("did you mean '{}'?", nearest)));
}

std::vector<std::string> all_names()
{
    std::vector<std::string> all;
    for (const PaperRow& row : paper_rows()) all.emplace_back(row.name);
    return all;
}

std::vector<std::string> chosen_names(const std::string& only)
{
    const std::vector<std::string> all = all_names();
    std::vector<std::string>       wanted, chosen;
    for (std::size_t begin = 0; begin <= only.size();) {
        const std::size_t end = std::min(only.find(',', begin), only.size());
        wanted.push_back(only.substr(begin, end - begin));
        begin = end + 1;
    }
    for (const std::string& name : wanted)
        if (std::ranges::count(all, name) == 0) throw_no_such_matrix(name, all);
    for (const std::string& name : all)
        if (std::ranges::count(wanted, name) > 0) chosen.push_back(name);
    return chosen;
}

/// Any option of `ilux solve` that makes a difference here.
void assign_used(SolveOptions& options, const std::string& assignment)
{
    static constexpr std::array unused{"method",          "rhs",        "near_null",    "plan",
                                       "retry",           "time_limit", "precond.kind", "precond.off_diagonal",
                                       "krylov.precision"};
    assign(options, assignment);
    const std::string path = assignment.substr(0, assignment.find('='));
    if (std::ranges::find(unused, path) != unused.end())
        throw InvalidOption(fmt::format("-p {}: this suite does not use {}", assignment, path));
}

/// false: only help was asked for.
bool parse_bench(Arguments arguments, GmresBenchArguments& given)
{
    auto                     app = parser("ilupack-gmres",
                                          "Times the stages of GMRES for the ten matrices of the paper's Table 2 by four variants.");
    std::string              only, device, rtol, threads;
    std::vector<std::string> assignments;
    const auto               option = [&](const char* name, std::string& text, std::string_view help, const char* group,
                            const char* value, const std::string& standard) {
        app->add_option(name, text, std::string(help))->group(group)->type_name(value)->default_str(standard);
    };
    std::vector<std::pair<std::string, std::string>> values;  // of the fields of GmresBench
    values.reserve(4);
    for_each_field(given.bench, [&](const std::string& path, auto& field, Range, std::string_view help) {
        auto& [name, text] = values.emplace_back(path, "");
        option(("--" + name).c_str(), text, help, "Problem", "VALUE", field_text(field));
    });
    option("--only", only, "some of the matrices, by name", "Problem", "NAME,...", "");
    option("--rtol", rtol, "stop at ‖b − A x‖₂ ≤ rtol·‖b‖₂", "Method", "VALUE", "1e-08");
    app->add_option("-p", assignments, "any option of ilux solve under krylov, precond and sptrsv; may be repeated")
        ->group("Method")
        ->type_name("PATH=VALUE")
        ->expected(1)
        ->allow_extra_args(false)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    option("--device", device, "cpu: only variant a; gpu: an error without one", "Machine", "auto|cpu|gpu", "auto");
    option("--threads", threads, "of the host; 0: as OMP_NUM_THREADS says, or all", "Machine", "N", "0");
    app->add_flag("--json", given.json, "one JSON object instead of the table")->group("Output");
    app->add_output("--svg", given.svg, "a chart of the stages", "FILE");
    option("--commit", given.commit, "of the sources, for the JSON", "Output", "TEXT", "");
    app->add_flag("--in-process", given.in_process, "measure here, one JSON line a finding")->group("Output");
    app->needs_input = false;
    if (!parse(*app, arguments)) return false;

    const auto set = [](auto& options, const std::string& path, const std::string& text) {
        if (!text.empty()) set_field(options, path, text);
    };
    for (const auto& [path, text] : values) set(given.bench, path, text);
    given.bench.options.method = MethodChoice::gmres;
    given.bench.options.precond.mlilu.setup = MlIluSetup::crout;  // as published; rounds are exact for b = A·1
    set(given.bench.options, "krylov.rtol", rtol);
    set(given.bench.options, "device", device);
    set(given.bench.options, "threads", threads);
    for (const std::string& assignment : assignments) assign_used(given.bench.options, assignment);
    const std::string& folder = given.bench.matrices;
    std::error_code    unknown;
    if (!folder.empty() && !std::filesystem::is_directory(folder, unknown))
        throw InvalidInput(fmt::format("--matrices {}: there is no such folder", folder));
    given.names = app->count("--only") > 0 ? chosen_names(only) : all_names();
    return true;
}

/// The matrix's row of the paper, and room for what will be found.
Json nothing_yet(const std::string& name)
{
    const PaperRow& row = *std::ranges::find(paper_rows(), name, &PaperRow::name);
    Json            found;
    found["name"] = name;
    found["paper"] = {{"steps", row.steps}, {"precond", row.precond}, {"ortho", row.ortho}, {"total", row.total}};
    for (const gallery::PublishedSize& size : gallery::published())
        if (size.stand_in == "like_" + name) {
            found["paper"]["n"] = size.n;
            found["paper"]["nnz"] = size.nnz;
        }
    found["setup"] = found["variants"] = Json::array();
    found["error"] = nullptr;
    return found;
}

void add_finding(Json& found, const Json& finding)
{
    if (finding.contains("matrix")) found.update(finding["matrix"]);
    else if (finding.contains("setup")) found["setup"].push_back(finding["setup"]);
    else if (finding.contains("variant")) found["variants"].push_back(finding["variant"]);
    else if (finding.contains("error")) found["error"] = finding["error"];
}

/// The arguments again for one matrix, to be measured by a process of its own.
Json measure_in_child(const GmresBenchArguments& given, Arguments arguments, const std::string& name)
{
    Json                     found = nothing_yet(name);
    std::vector<std::string> again{"ilupack-gmres"};
    for (std::size_t k = 0; k < arguments.size(); ++k) {
        const bool ours = arguments[k] == "--only" || arguments[k] == "--svg";
        if (ours) ++k;  // and its value
        else if (!arguments[k].starts_with("--only=") && !arguments[k].starts_with("--svg="))
            again.push_back(arguments[k]);
    }
    again.insert(again.end(), {"--only", name, "--in-process"});
    const std::string ended = run_self(again, given.bench.time_limit, [&](std::string_view line) {
        const Json finding = Json::parse(line, nullptr, false);
        if (!finding.is_discarded()) add_finding(found, finding);
    });
    if (!ended.empty()) found["error"] = ended;
    return found;
}

std::string command_line(Arguments arguments)
{
    std::string text = "ilux-lab ilupack-gmres";
    for (const std::string& argument : arguments) text += " " + argument;
    return text;
}

Json report_json(const GmresBenchArguments& given, Arguments arguments, bool gpu, const std::string& note)
{
    Json json;
    json["suite"] = "ilupack-gmres";
    json["version"] = ILUX_VERSION;
    json["commit"] = given.commit.empty() ? Json(nullptr) : Json(given.commit);
    json["command"] = command_line(arguments);
    json["machine"] = machine_json(given.bench.options.threads, gpu);
    json["note"] = note;
    json["repeats"] = given.bench.repeats;
    json["options"] = to_json(given.bench.options);
    json["variants"] = Json::array();
    for (const Variant& variant : variants())
        json["variants"].push_back({{"letter", variant.letter}, {"name", variant.name}, {"about", variant.about}});
    json["matrices"] = Json::array();
    return json;
}

}  // namespace

int bench_ilupack_gmres(Arguments arguments)
{
    GmresBenchArguments given;
    if (!parse_bench(arguments, given)) return success;
    const DeviceChoice device = given.bench.options.device;
    require_device(device);
    if (given.in_process) {
        for (const std::string& name : given.names) measure_matrix(given.bench, name, print_finding);
        return success;
    }

    const bool        gpu = device != DeviceChoice::cpu && gpu_count() > 0;
    const std::string note = gpu                           ? ""
                             : device == DeviceChoice::cpu ? "only variant a: --device cpu"
                                                           : "only variant a: no GPU was found";
    Json              json = report_json(given, arguments, gpu, note);
    if (!given.json) write_out((note.empty() ? "" : note + "\n") + bench_head());
    bool measured = false;
    for (const std::string& name : given.names) {
        if (isatty(STDERR_FILENO)) write_err(fmt::format("measuring {} ...\n", printable(name)));
        Json found = measure_in_child(given, arguments, name);
        if (!given.json) write_out(bench_lines(found));
        for (const Json& variant : found["variants"]) measured = measured || variant.contains("seconds");
        json["matrices"].push_back(std::move(found));
    }
    if (given.json) write_out(json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
    if (given.svg) write_file(given.svg.file(), bench_chart(json["matrices"], gpu ? gpu_name(0) : cpu_name()));
    return measured ? success : not_converged;
}

}  // namespace ilux::app

// ilux sequence: many systems of one pattern, or of one circuit at many frequencies, a line each as they are solved,
// and a summary.

#include <fmt/core.h>

#include <algorithm>
#include <type_traits>
#include <variant>

#include "ilux/apps/input/option_arguments.hpp"
#include "ilux/apps/program/console.hpp"
#include "ilux/apps/program/interrupt.hpp"
#include "ilux/apps/report/html_report.hpp"
#include "ilux/apps/report/sequence_report.hpp"
#include "ilux/apps/run/probes.hpp"
#include "ilux/apps/subcommands.hpp"
#include "ilux/base/error.hpp"
#include "ilux/base/io/matrix_market.hpp"
#include "ilux/base/io/printable.hpp"
#include "ilux/solver/frequencies.hpp"
#include "ilux/engine/machine/lu_device.hpp"

namespace ilux::app {
namespace {

struct SequenceArguments {
    std::vector<std::string> paths;
    Output                   out, report, curve;
    bool                     json = false, quiet = false, ac = false;
    Index                    batch = 1;
    std::vector<double>      frequencies;  ///< of --ac
    std::vector<Index>       probes;       ///< of --ac; empty: none were named
    SolveOptions             options;
};

/// What is said of a sweep, as text.
struct SweepTexts {
    std::string frequencies, probe;
};

constexpr const char* sequence_help =
    "PATHS is one folder, or files of any kind that ilux solve takes, in the order in which they are to be solved. A folder holds pattern.mtx,\n"
    "values.f64, rhs.f64 and meta.json (complex: values.c128, rhs.c128), or A_000.mtx, A_001.mtx and so on (.npz, .rua, ...); b_000.mtx\n"
    "beside A_000.mtx, or any b of its number, is its right-hand side; other names that differ in a number, and\n"
    "one matrix with many right-hand sides, will do. --rhs is auto here (what the series brings along, else A·1); random:SEED counts on from\n"
    "system to system, and a file has one column for all systems or one for each. --method auto takes LU or an\n"
    "iteration, by cost, and changes the strategy where it fails or proves slow; another method is kept, without retries. --rtol is\n"
    "of iterations: a direct solution counts as converged when its componentwise backward error is at most 1e-12. --time-limit is\n"
    "of each system.\n"
    "With --ac PATHS is G.mtx C.mtx, two real matrices of one order, and the systems are (G + jωC) x = b with ω = 2πf, one for\n"
    "each frequency. --rhs is then ones, a file of one column, random:SEED, or A1 (b = (G + jωC)·1), the same at every frequency\n"
    "but for A1. docs/sequences.md has the layouts and an example.\n";
constexpr const char* sequence_exit_help =
    "A system that fails does not stop the others. Exit code: the largest of all systems; 0 all converged; 2 data refused;\n"
    "3 not converged; 4 breakdown or singular; 5 out of memory. Of the command: 1 usage; 2 input; 6 device missing.";

/// @throws InvalidOption for what of it is missing, wrong, or of no use without --ac
void settle_sweep(const SweepTexts& texts, SequenceArguments& given)
{
    if (!given.ac) {
        for (const auto& [option, there] :
             {std::pair("--frequencies", !texts.frequencies.empty()), std::pair("--probe", !texts.probe.empty()),
              std::pair("--curve", bool(given.curve))})
            if (there)
                throw InvalidOption(fmt::format(
                    "{} is of a frequency sweep: ilux sequence --ac G.mtx C.mtx --frequencies 1e3:1e9:log:200",
                    option));
        return;
    }
    if (given.paths.size() != 2)
        throw InvalidOption(fmt::format("--ac: {} paths; expected two files, G.mtx and C.mtx", given.paths.size()));
    if (texts.frequencies.empty())
        throw InvalidOption("--ac: --frequencies is missing; expected one such as 1e3:1e9:log:200");
    given.frequencies = parse_frequencies(texts.frequencies);
    if (!texts.probe.empty()) given.probes = parse_probes(texts.probe);
    if (given.curve && !given.curve.name.ends_with(".csv") && !given.curve.name.ends_with(".svg"))
        throw InvalidOption(fmt::format("--curve {}: expected a name in .csv or .svg", given.curve.name));
}

void add_sweep_options(Parser& app, SweepTexts& texts, SequenceArguments& given)
{
    constexpr const char* group = "Frequency sweep";
    app.add_flag("--ac", given.ac, "PATHS is G.mtx C.mtx: solves (G + jωC) x = b, ω = 2πf")->group(group);
    app.add_option("--frequencies", texts.frequencies,
                   "in Hz, FIRST:LAST:log:COUNT, lin:COUNT or dec:COUNT (COUNT a decade), or F,F,...; 0 is G alone")
        ->group(group)
        ->type_name("SPEC");
    app.add_option("--probe", texts.probe,
                   "unknowns to report, counted from 1; without it the one that is the largest at the first frequency")
        ->group(group)
        ->type_name("NODE[,NODE...]");
    app.add_output("--curve", given.curve, "magnitude, dB and phase of the probed unknowns by frequency",
                   "FILE.csv|.svg");
}

bool parse_sequence(Arguments arguments, SequenceArguments& given)
{
    given.options.rhs = "auto";
    auto app = parser("sequence", "Solves many systems of one pattern: analyses once, refactors, solves.");
    app->add_option("PATHS", given.paths, "a folder, or matrix files; see below")
        ->expected(-1)
        ->type_name("FOLDER|FILE");
    const OptionArguments options(*app, given.options, {"retry"});
    app->add_option(
           "--batch", given.batch,
           "solve K systems together by the pivots of one factorization: on a GPU in one launch, else a thread each; "
           "systems that these pivots do not serve are solved one by one, and all with an iteration (1)")
        ->group("Method")
        ->type_name("K");
    SweepTexts sweep;
    add_sweep_options(*app, sweep, given);
    app->add_flag("--json", given.json, "one JSON object a line for each system, and a last one")->group("Output");
    app->add_output(
        "--out", given.out,
        "x_000.mtx and so on, as Matrix Market arrays; none where a system has no x. Such files of a former run go first",
        "FOLDER", OutputKind::solutions);
    app->add_output("--report", given.report, "a page with curves and pictures, for a browser", "FILE.html");
    app->add_flag("--quiet", given.quiet, "one line for all")->group("Output");
    app->nested = nested_options();
    app->footer(std::string(sequence_help) + precedence_help + sequence_exit_help);
    return parse(*app, arguments, [&]() -> std::vector<std::string> {
        if (given.paths.empty())
            throw InvalidOption("sequence: a folder or files are missing; see ilux sequence --help");
        if (given.batch < 1)
            throw InvalidOption(fmt::format("--batch {}: expected a number of systems, 1 or more", given.batch));
        settle_sweep(sweep, given);
        options.apply(given.options);
        require_consistent(given.options);
        return files_read(given.options);
    });
}

/// A system without an x leaves no file.
template <Scalar S>
void write_x(const SequenceArguments& given, const SystemReport& one, std::span<const S> x)
{
    if (one.has_x)
        write_vector(waiting_at_most(given.options.time_limit, solution_file(given.out, one.index)), x,
                     {.comment = fmt::format("x of {}, {}", printable(one.name), one.result())});
}

/// Writes what is known once all systems are done. @param systems  where a page or a curve is wanted
template <Scalar S>
void write_all(const SequenceArguments& given, const SequenceReport& all, std::span<const SystemReport> systems,
               const SequenceFacts& series, const CsrView<S>& A)
{
    const auto at_most = [&](const Output& file) { return waiting_at_most(given.options.time_limit, file.file()); };
    if (given.report) write_file(at_most(given.report), html_report(all, systems, series, picture_of<S>(A)));
    if (given.curve) {
        const TransferCurve curve = transfer_curve(all, systems);
        write_file(at_most(given.curve), given.curve.name.ends_with(".csv") ? curve_csv(curve) : curve_svg(curve));
    }
    if (given.json) write_out(sequence_json(all, series) + "\n");
    else write_out(given.quiet ? printable(sequence_line(all)) + "\n" : sequence_summary(all));
}

/// @param input  SequenceInput of either type of values, or SweepInput
template <class Input>
int sequence(SequenceArguments& given, Input& input, const StopToken& stop)
{
    using S = typename Input::Value;
    constexpr bool sweep = std::is_same_v<Input, SweepInput>;
    require_device_for_lu(given.options);
    load_near_null(given.options, input.A().rows(), {given.options.time_limit, stop});
    Probes                   probes(given.probes, input.A().rows());
    std::vector<std::string> decisions;
    if (!given.out.claimed.empty())
        decisions.push_back(fmt::format("--out: {} solutions of a former run removed from {}", given.out.claimed.size(),
                                        given.out.name));
    const SequenceFacts series = input.facts();
    const bool          table = !given.json && !given.quiet;
    if (table) write_out(sequence_head(series, given.options, likely_device<S>(given.options, input.A())));
    const bool                page = bool(given.report), keep = page || given.curve;
    std::vector<SystemReport> systems;
    const auto                each = [&](SystemReport one, std::span<const S> x) {
        if constexpr (sweep)
            one.curve = probes.at(input.frequency(one.index), one.converged() ? x : std::span<const S>());
        if (given.out) write_x<S>(given, one, x);
        if (given.json) write_out(system_json(one) + "\n");
        if (table) write_out(system_line(one));
        if (keep) systems.push_back(std::move(one));
    };
    SequenceReport all =
        run_sequence(input, given.options, stop, decisions, each, {.keep_structure = page, .batch = given.batch});
    all.probes = probes.unknowns();
    if (!probes.decision().empty()) all.decisions.push_back(probes.decision());
    write_all<S>(given, all, systems, input.facts(), input.A());
    return all.code;
}

}  // namespace

int sequence(Arguments arguments)
{
    SequenceArguments given;
    if (!parse_sequence(arguments, given)) return success;
    require_device(given.options.device);
    if (given.out) make_folder(given.out);

    const StopToken stop = stop_on_signals();
    const ReadLimit limit{given.options.time_limit, stop};
    if (given.ac) {
        SweepInput input(given.paths[0], given.paths[1], given.frequencies, given.options.rhs, limit);
        return sequence(given, input, stop);
    }
    AnySequence any = load_any_sequence(given.paths, given.options.rhs, limit);
    return std::visit([&](auto& input) { return sequence(given, input, stop); }, any);
}

}  // namespace ilux::app

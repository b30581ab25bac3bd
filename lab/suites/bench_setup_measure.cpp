#include "ilux/lab/suites/bench_setup_measure.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "ilux/apps/compare/compare.hpp"
#include "ilux/apps/compare/steps_apart.hpp"
#include "ilux/apps/input/problem.hpp"
#include "ilux/base/cpu.hpp"
#include "ilux/base/wall_clock.hpp"
#include "ilux/lab/rivals/setup_rivals.hpp"
#include "ilux/solver/json/json_number.hpp"
#include "ilux/solver/linear_solver.hpp"

namespace ilux::app {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* warm_up_problem = "gallery:convdiff2d:n=60";

/// Seconds of one run; `setup` is all of it, from A to an M that can be applied.
struct SetupSeconds {
    double       analyse = 0, factor = 0, transfer = 0, setup = 0, solve = 0;
    RoundSeconds rounds;

    double total() const { return setup + solve; }
};

using Part = std::pair<const char*, double (*)(const SetupSeconds&)>;
constexpr std::array<Part, 10> setup_parts{{
    {"analyse", [](const SetupSeconds& s) { return s.analyse; }},
    {"factor", [](const SetupSeconds& s) { return s.factor; }},
    {"sets", [](const SetupSeconds& s) { return s.rounds.sets; }},
    {"eliminate", [](const SetupSeconds& s) { return s.rounds.eliminate; }},
    {"assemble", [](const SetupSeconds& s) { return s.rounds.assemble; }},
    {"tail", [](const SetupSeconds& s) { return s.rounds.tail; }},
    {"transfer", [](const SetupSeconds& s) { return s.transfer; }},
    {"setup", [](const SetupSeconds& s) { return s.setup; }},
    {"solve", [](const SetupSeconds& s) { return s.solve; }},
    {"total", [](const SetupSeconds& s) { return s.total(); }},
}};

/// Runs as often as asked for. The first is not counted unless it is long, and then it is the only one.
std::vector<SetupSeconds> repeated_setups(Index runs, const std::function<SetupSeconds()>& run)
{
    std::vector<SetupSeconds> all{run()};
    if (all.front().total() > long_run) return all;
    all.clear();
    for (Index k = 0; k < runs; ++k) all.push_back(run());
    return all;
}

/// The median of each part by itself, so that they need not add up.
Json setup_seconds_json(const std::vector<SetupSeconds>& runs)
{
    Json                json;
    std::vector<double> setups;
    for (const auto& [name, part] : setup_parts) {
        std::vector<double> seconds;
        for (const SetupSeconds& run : runs) seconds.push_back(part(run));
        json[name] = median(seconds);
        if (std::string_view(name) == "setup") setups = std::move(seconds);
    }
    json["setup_least"] = std::ranges::min(setups);
    json["setup_most"] = std::ranges::max(setups);
    return json;
}

Json row_of(const SetupWay& way, int threads)
{
    Json row{{"way", way.text()}, {"setup", way.setup}, {"device", way.gpu ? "gpu" : "cpu"}, {"threads", threads}};
    for (const char* key : {"runs", "fill", "levels", "rounds", "bytes", "steps", "outcome", "detail",
                            "relative_residual", "backward_error", "decisions", "seconds"})
        row[key] = nullptr;
    return row;
}

/// The systems of one path by all ways asked for.
class SetupMeasurement {
public:
    SetupMeasurement(const SolveOptions& options, Index runs, const std::string& path)
        : options_(options), runs_(runs), problem_(load_problem(path, options.rhs))
    {
        load_near_null(options_, problem_.n());
    }

    Json about() const
    {
        return {{"n", problem_.n()},
                {"nnz", problem_.A.nnz()},
                {"symmetric", problem_.symmetric},
                {"rhs", problem_.rhs}};
    }
    Json run(const SetupWay& way) { return way.rival() ? by_rival(way) : by_ilux(way); }

private:
    SolverOptions options_of(const SetupWay& way) const
    {
        SolverOptions options = options_;
        options.device = way.gpu ? DeviceChoice::gpu : DeviceChoice::cpu;
        if (!way.gpu) options.threads = way.threads;
        ilux::parse_field("setups", way.setup, options.precond.mlilu.setup);
        return options;
    }
    Json by_ilux(const SetupWay& way);
    Json by_rival(const SetupWay& way);
    void warm_up();

    SolveOptions options_;
    Index        runs_;
    Problem<>    problem_;
    bool         warm_ = false;
};

/// A device's context and kernels are there before anything is counted.
void SetupMeasurement::warm_up()
{
    if (std::exchange(warm_, true)) return;
    const Problem<> small = load_problem(warm_up_problem, "A1");
    SolverOptions   options = options_of({.setup = "rounds", .gpu = true});
    options.precond.mlilu.near_null = nullptr;
    LinearSolver solver(options);
    solver.analyse(small.A);
    std::vector<double> x(small.b.size());
    solver.factor();
    (void)solver.solve(small.b, x);
}

SetupSeconds attempt_seconds(const Attempt& tried, double setup)
{
    SetupSeconds seconds{.transfer = tried.gpu ? tried.gpu->seconds_transfer : 0,
                         .setup = setup,
                         .solve = tried.report.seconds.solve,
                         .rounds = {}};
    if (!tried.mlilu) return seconds;
    seconds.analyse = tried.mlilu->seconds_analyse;
    seconds.factor = tried.mlilu->seconds_factor;
    seconds.rounds = tried.mlilu->seconds_rounds;
    return seconds;
}

void add_levels(Json& row, const MlIluReport& report)
{
    Index rounds = 0;
    for (const MlIluLevelReport& level : report.levels) rounds += level.rounds;
    row["fill"] = json_number(report.fill);
    row["levels"] = report.levels.size();
    row["rounds"] = rounds;
    row["bytes"] = report.bytes;
}

Json SetupMeasurement::by_ilux(const SetupWay& way)
{
    if (way.gpu) warm_up();
    const SolverOptions options = options_of(way);
    LinearSolver        solver(options);
    solver.analyse(problem_.A);  // starts the device; of A it looks at no more than whether it is finite
    SolverReport        report;
    std::vector<double> x(problem_.b.size());
    const auto          runs = repeated_setups(runs_, [&] {
        const WallClock clock;
        solver.factor();  // what became of it is told by solve
        const double setup = clock.seconds();
        report = solver.solve(problem_.b, x);
        return attempt_seconds(report.result(), setup);
    });
    const Attempt&      tried = report.result();
    Json                row = row_of(way, Cpu(options.threads).threads());
    row["runs"] = runs.size();
    if (tried.mlilu) add_levels(row, *tried.mlilu);
    row["steps"] = tried.report.steps;
    row["outcome"] = name(report.outcome());
    row["detail"] = report.why();
    row["decisions"] = all_decisions(report);  // why a device did not do it, too
    row["seconds"] = setup_seconds_json(runs);
    if (tried.has_x()) judge<double>(row, problem_.A, problem_.b, tried.x.of<double>(), options.krylov.rtol);
    return row;
}

Json SetupMeasurement::by_rival(const SetupWay& way)
{
    const Rival&    rival = find_rival(way.setup);
    const int       threads = Cpu(options_.threads).threads();
    const RivalTask task{.A = problem_.A,
                         .b = problem_.b,
                         .rtol = options_.krylov.rtol,
                         .restart = options_.krylov.restart,
                         .max_steps = options_.krylov.max_steps,
                         .threads = threads};
    RivalAnswer     answer;
    const auto      runs = repeated_setups(runs_, [&] {
        answer = rival.solve(task);
        return SetupSeconds{.analyse = answer.analyse,
                                 .factor = answer.factor,
                                 .setup = answer.analyse + answer.factor,
                                 .solve = answer.solve,
                                 .rounds = {}};
    });
    Json            row = row_of(way, threads);
    row["device"] = rival.on_gpu ? "gpu" : "cpu";
    row["runs"] = runs.size();
    row["fill"] = json_number(answer.fill);
    if (answer.bytes > 0) row["bytes"] = answer.bytes;
    row["steps"] = answer.steps;
    row["outcome"] = name(answer.steps < task.max_steps ? Outcome::stagnated : Outcome::max_steps);  // or as judged
    row["detail"] = "";
    row["seconds"] = setup_seconds_json(runs);
    for (const char* ours : {"sets", "eliminate", "assemble", "tail", "transfer"}) row["seconds"][ours] = nullptr;
    judge<double>(row, problem_.A, problem_.b, answer.x, task.rtol);
    return row;
}

}  // namespace

std::string SetupWay::text() const
{
    if (rival()) return setup;
    return gpu ? setup + ":gpu" : fmt::format("{}:{}", setup, threads);
}

SetupWay parse_setup_way(const std::string& text)
{
    const std::size_t colon = text.find(':');
    SetupWay          way{.setup = text.substr(0, colon)};
    if (colon == std::string::npos) {
        if (std::ranges::count(setup_rivals(), text, &Rival::name) == 0)
            throw InvalidOption(
                fmt::format("--steps: '{}' is neither SETUP:THREADS, nor SETUP:gpu, nor a rival", text));
        (void)find_rival(way.setup);
        return way;
    }
    MlIluSetup setup{};
    ilux::parse_field("steps", way.setup, setup);
    const std::string place = text.substr(colon + 1);
    way.gpu = place == "gpu";
    if (!way.gpu) {
        parse_field("steps", place, way.threads);
        check_range("steps", way.threads, within(1, 4096));
    }
    return way;
}

std::vector<SetupWay> setup_ways(const std::vector<std::string>& setups, int threads, bool gpu,
                                 const std::vector<std::string>& rivals)
{
    std::vector<SetupWay> ways;
    for (const std::string& setup : setups) {
        const int factor = setup == name(MlIluSetup::crout) ? threads : 2;  // its sweep is serial
        for (int k = 1; k < threads; k *= factor) ways.push_back({.setup = setup, .threads = k});
        ways.push_back({.setup = setup, .threads = threads});
    }
    if (gpu)
        for (const std::string& setup : setups) ways.push_back({.setup = setup, .gpu = true});
    for (const std::string& rival : rivals) ways.push_back({.setup = rival});
    return ways;
}

SolveOptions setup_defaults()
{
    SolveOptions options;
    options.method = MethodChoice::gmres;
    options.retry = false;
    options.rhs = "random:1";
    return options;
}

void measure_setup(const SolveOptions& options, Index runs, const std::string& path,
                   const std::vector<std::string>& steps, const TakeJson& take)
{
    std::optional<SetupMeasurement> measurement;
    const std::string               why = failure_of([&] { measurement.emplace(options, runs, path); });
    if (!why.empty()) return take({{"error", why}});
    take({{"matrix", measurement->about()}});
    run_steps(
        steps, [&](const std::string& step) { return measurement->run(parse_setup_way(step)); }, take);
}

}  // namespace ilux::app

// Triangular solves by every engine. One row a system and engine: the median cold solve time, and beside it
//     analysis_ms   of our plans: levels, layout and upload (chunked: host_ms, upload_ms, device_ms are its parts);
//                   of cuSPARSE: its own analysis, the matrix being there already
//     bound_ms      max(bytes of L, b and x / measured copy bandwidth, depth × one hop through L2)
//     vs_cusparse   cuSPARSE's solve time in this run / this engine's
//     error         max |x − x_serial| / max |x_serial|
// and at last chunked beside cuSPARSE over all systems.
//
// Arguments after Google Benchmark's own name matrices: a gallery spec or a Matrix Market file, whose ILU(0) factors
// are solved with; with /mlilu behind it the systems of its multilevel ILU on a GPU, which also stand in where ILU(0)
// meets a zero pivot. `stand_ins` names all like_* matrices. Without any: six grids. `tunings` adds syncfree with other
// tunings.

#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <iostream>
#include <memory>

#include "ilux/base/io/matrix_file.hpp"
#include "ilux/bench/gpu_timer.hpp"
#include "ilux/gallery/gallery.hpp"
#include "ilux/precond/gpu/apply_systems.hpp"
#include "ilux/precond/ilu0.hpp"
#include "ilux/precond/mlilu/mlilu.hpp"
#include "ilux/sptrsv/gpu/gpu_sptrsv.hpp"
#include "ilux/sptrsv/gpu/syncfree.hpp"

namespace {

using namespace ilux;

constexpr double hop = 260e-9;  // seconds, from one warp to another through L2 of an H200
constexpr int    runs = 21;

/// One factor, its solution on the host, and what engines needed for it in this run.
struct Factor {
    std::string           name;
    ForwardSystem<double> system;
    std::vector<Index>    level;
    std::vector<double>   b, x;
    double                cusparse = 0, chunked = 0, analysis = 0;  // seconds, the last of chunked; 0 until measured

    Factor(std::string name, ForwardSystem<double> of) : name(std::move(name)), system(std::move(of))
    {
        level = levels(system.L);
        b = gallery::random_vector(system.size());
        x.resize(b.size());
        solve_serial<double>(system, b, x);
    }
    Index  depth() const { return level.empty() ? 0 : *std::max_element(level.begin(), level.end()) + 1; }
    double bytes() const { return 12. * system.L.nnz() + 16. * system.size(); }
};

/// The device, its timer and its ceiling.
struct Bench {
    Gpu             gpu;
    bench::GpuTimer timer{gpu};
    double          bandwidth = timer.copy_bandwidth();
};

using Solve = std::function<void(DeviceSpan<const double> b, DeviceSpan<double> x)>;

/// An engine analysed for one factor: analysis in seconds, its parts where they are known, and how to solve.
struct Solver {
    double        analysis;
    SpTrsvSeconds parts;
    Solve         solve;
};
using Make = std::function<Solver(Gpu&, const Factor&)>;

double seconds_since(std::chrono::steady_clock::time_point begin)
{
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

Solver make_plan(Gpu& gpu, const Factor& factor, GpuSpTrsvEngine engine)
{
    auto       plan = std::make_shared<GpuSpTrsvPlan<double>>(gpu, factor.system, engine);
    const auto begin = std::chrono::steady_clock::now();
    auto       ws = std::make_shared<GpuSpTrsvPlan<double>::Workspace>(plan->workspace(gpu));
    const auto workspace = seconds_since(begin);
    return {engine == GpuSpTrsvEngine::cusparse ? workspace : plan->analysis_seconds(),
            engine == GpuSpTrsvEngine::chunked ? plan->seconds() : SpTrsvSeconds{},
            [&gpu, plan, ws](auto b, auto x) { plan->solve(gpu, b, x, *ws); }};
}

Solver make_syncfree(Gpu& gpu, const Factor& factor, const SyncFreeTuning& tuning)
{
    const auto begin = std::chrono::steady_clock::now();
    auto       engine = std::make_shared<SyncFreeEngine<double>>(gpu, factor.system, factor.level, tuning);
    const auto analysis = seconds_since(begin);  // without the levels
    auto       work = std::make_shared<DeviceBuffer<std::byte>>(engine->workspace_bytes());
    engine->prepare(gpu, *work);
    return {analysis, {}, [&gpu, engine, work](auto b, auto x) { engine->solve(gpu, b, x, *work); }};
}

double error_of(Gpu& gpu, const Factor& factor, const DeviceBuffer<double>& device)
{
    std::vector<double> x(device.size());
    download<double>(gpu, device, x);
    double error = 0, size = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
        const double apart = std::abs(x[i] - factor.x[i]);
        error = std::isnan(apart) ? apart : std::max(error, apart);
        size = std::max(size, std::abs(factor.x[i]));
    }
    return size > 0 ? error / size : error;
}

void solve_cold(benchmark::State& state, Bench& bench, Factor& factor, const std::string& name, const Make& make)
{
    Gpu& gpu = bench.gpu;
    make(gpu, factor);  // so that the pool has the memory and the kernels are loaded, as in the second of many analyses
    const Solver         solver = make(gpu, factor);
    DeviceBuffer<double> b(factor.b.size()), x(factor.b.size());
    upload<double>(gpu, factor.b, b);
    double seconds = 0;
    for (auto _ : state) {
        seconds = bench.timer.median_cold(runs, [&] { solver.solve(b, x); });
        state.SetIterationTime(seconds);
    }
    if (name == "cusparse") factor.cusparse = seconds;
    if (name == "chunked") {
        factor.chunked = seconds;
        factor.analysis = solver.analysis;
        state.counters["host_ms"] = 1e3 * solver.parts.host;
        state.counters["upload_ms"] = 1e3 * solver.parts.upload;
        state.counters["device_ms"] = 1e3 * solver.parts.device;
    }
    const double bound = std::max(factor.bytes() / bench.bandwidth, factor.depth() * hop);
    const double error = error_of(gpu, factor, x);
    if (!(error < 1e-8)) state.SkipWithError("the solution is wrong");
    state.counters["analysis_ms"] = 1e3 * solver.analysis;
    state.counters["bound_ms"] = 1e3 * bound;
    state.counters["of_bound"] = bound / seconds;
    state.counters["vs_cusparse"] = factor.cusparse / seconds;
    state.counters["error"] = error;
    state.SetLabel("n=" + std::to_string(factor.system.size()) + " nnz=" + std::to_string(factor.system.L.nnz()) +
                   " depth=" + std::to_string(factor.depth()));
}

/// What is compared: the engines, cuSPARSE first, and if asked for syncfree with other tunings.
std::vector<std::pair<std::string, Make>> solvers(bool tunings)
{
    std::vector<std::pair<std::string, Make>> all;
    for (GpuSpTrsvEngine engine : {GpuSpTrsvEngine::cusparse, GpuSpTrsvEngine::level_set, GpuSpTrsvEngine::level_graph,
                                   GpuSpTrsvEngine::syncfree, GpuSpTrsvEngine::chunked})
        all.emplace_back(std::string(name(engine)),
                         [engine](Gpu& gpu, const Factor& factor) { return make_plan(gpu, factor, engine); });
    if (!tunings) return all;
    const auto tuned = [&](const std::string& name, SyncFreeTuning tuning) {
        all.emplace_back("syncfree:" + name,
                         [tuning](Gpu& gpu, const Factor& factor) { return make_syncfree(gpu, factor, tuning); });
    };
    for (int lanes : {0, 1, 2, 4})
        for (Index ahead : {0, 2, 3, 6})
            tuned("lanes=" + std::to_string(lanes) + ",ahead=" + std::to_string(ahead),
                  {.layout = {.lanes = lanes, .ahead = ahead}});
    for (int resident : {1, 2})
        tuned("lanes=0,ahead=0,resident=" + std::to_string(resident), {.layout = {.ahead = 0}, .resident = resident});
    return all;
}

/// What the arguments ask for.
struct Request {
    std::vector<std::string> specs;
    bool                     tunings = false;
};

Request requested(int argc, char** argv)
{
    Request request;
    for (const std::string argument : std::span(argv + 1, argv + argc)) {
        if (argument == "tunings") request.tunings = true;
        else if (argument == "stand_ins")
            for (const auto& published : gallery::published()) request.specs.emplace_back(published.stand_in);
        else request.specs.push_back(argument);
    }
    if (request.specs.empty())
        request.specs = {"convdiff3d:n=64",   "convdiff3d:n=100",       "convdiff2d:n=320",
                         "convdiff2d:n=1000", "recirculating2d:n=1000", "poisson2d:n=1000"};
    return request;
}

using Systems = std::vector<std::pair<std::string, ForwardSystem<double>>>;

/// The triangular systems of a multilevel ILU as a GPU takes them: on the way down L1, L2, ..., then U2, U1.
Systems multilevel_systems(const std::string& name, const CsrMatrix<double>& A)
{
    Cpu        cpu;
    const auto mlilu = MlIlu<>::build(cpu, A, for_gpu({.setup = MlIluSetup::crout}));
    auto       made = apply_systems<double>(cpu, mlilu.factors(), false);
    std::erase_if(made.steps, [](const auto& step) { return step.dense; });
    const std::size_t count = made.steps.size(), down = (count + 1) / 2;
    Systems           systems;
    for (std::size_t s = 0; s < count; ++s) {
        const auto which = s < down ? "L" + std::to_string(s + 1) : "U" + std::to_string(count - s);
        systems.emplace_back(name + "/mlilu/" + (count <= 2 ? which.substr(0, 1) : which),
                             std::move(made.steps[s].system));
    }
    return systems;
}

Systems systems_of(const std::string& spec)
{
    const std::string suffix = "/mlilu";
    const bool        multilevel = spec.ends_with(suffix);
    const std::string name = spec.substr(0, spec.size() - (multilevel ? suffix.size() : 0));
    const auto        A = name.find(".mtx") == std::string::npos ? gallery::build(name) : read_matrix(name);
    if (multilevel) return multilevel_systems(name, A);
    const Ilu0<> factors(A);
    if (factors.zero_pivot() >= 0) return multilevel_systems(name, A);
    return {{name + "/L", forward_system<double>(factors.L(), Triangle::lower, Diagonal::unit)},
            {name + "/U", forward_system<double>(factors.U(), Triangle::upper, Diagonal::stored)}};
}

using Factors = std::vector<std::shared_ptr<Factor>>;

void register_all(const std::string& spec, bool tunings, const std::shared_ptr<Bench>& bench, Factors& factors)
{
    for (auto& [name, system] : systems_of(spec)) {
        const auto factor = std::make_shared<Factor>(name, std::move(system));
        factors.push_back(factor);
        for (const auto& solver : solvers(tunings))
            benchmark::RegisterBenchmark((name + "/" + solver.first).c_str(),
                                         [bench, factor, solver](benchmark::State& state) {
                                             solve_cold(state, *bench, *factor, solver.first, solver.second);
                                         })
                ->UseManualTime()
                ->Iterations(1)
                ->Unit(benchmark::kMillisecond);
    }
}

/// Chunked beside cuSPARSE over all systems that both solved.
void print_summary(const Factors& factors)
{
    const Factor* worst = nullptr;
    const Factor* slowest = nullptr;  // to analyse, in solves
    double        logs = 0;
    int           count = 0;
    const auto    gain = [](const Factor& f) { return f.cusparse / f.chunked; };
    const auto    solves = [](const Factor& f) { return f.analysis / f.chunked; };
    for (const auto& factor : factors) {
        if (!(factor->cusparse > 0 && factor->chunked > 0)) continue;
        logs += std::log(gain(*factor));
        ++count;
        if (!worst || gain(*factor) < gain(*worst)) worst = factor.get();
        if (!slowest || solves(*factor) > solves(*slowest)) slowest = factor.get();
    }
    if (count == 0) return;
    std::cout << "chunked solves " << std::exp(logs / count) << " times as fast as cuSPARSE (geometric mean of "
              << count << "), at worst " << gain(*worst) << " times: " << worst->name << '\n'
              << "its analysis takes at most " << solves(*slowest) << " solves: " << slowest->name << '\n';
}

}  // namespace

int main(int argc, char** argv)
{
    benchmark::Initialize(&argc, argv);
    try {
        const Request request = requested(argc, argv);
        const auto    bench = std::make_shared<Bench>();
        Factors       factors;
        benchmark::AddCustomContext("device", gpu_name(0));
        benchmark::AddCustomContext("copy_GB_per_s", std::to_string(bench->bandwidth / 1e9));
        for (const std::string& spec : request.specs) register_all(spec, request.tunings, bench, factors);
        benchmark::RunSpecifiedBenchmarks();
        print_summary(factors);
    } catch (const Error& why) {
        std::cerr << why.what() << '\n';
        return 1;
    }
    return 0;
}

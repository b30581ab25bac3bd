// Triangular solves with the ILU(0) factors of grids, by every engine. One row a factor and engine: the median cold
// solve time, and beside it
//     analysis_ms   of our plans: levels, layout and upload; of cuSPARSE: its own analysis, the matrix being there already
//     bound_ms      max(bytes of L, b and x / measured copy bandwidth, depth × one hop through L2)
//     vs_cusparse   cuSPARSE's solve time in this run / this engine's
//     error         max |x − x_serial| / max |x_serial|
// Arguments after Google Benchmark's own: gallery specs or Matrix Market files; without any, four grids.

#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <iostream>
#include <memory>

#include "ilux/base/matrix_market.hpp"
#include "ilux/bench/gpu_timer.hpp"
#include "ilux/gallery/gallery.hpp"
#include "ilux/precond/ilu0.hpp"
#include "ilux/sptrsv/gpu_sptrsv.hpp"
#include "ilux/sptrsv/syncfree.hpp"

namespace {

using namespace ilux;

constexpr double hop = 260e-9;  // seconds, from one warp to another through L2 of an H200
constexpr int    runs = 21;

/// One factor, its solution on the host, and what cuSPARSE needed for it in this run.
struct Factor {
    std::string           name;
    ForwardSystem<double> system;
    std::vector<Index>    level;
    std::vector<double>   b, x;
    double                cusparse = 0;  // seconds; 0 until measured

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

/// An engine analysed for one factor: analysis in seconds, and how to solve.
struct Solver {
    double analysis;
    Solve  solve;
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
            [&gpu, plan, ws](auto b, auto x) { plan->solve(gpu, b, x, *ws); }};
}

Solver make_syncfree(Gpu& gpu, const Factor& factor, const SyncFreeTuning& tuning)
{
    const auto begin = std::chrono::steady_clock::now();
    auto       engine = std::make_shared<SyncFreeEngine<double>>(gpu, factor.system, factor.level, tuning);
    const auto analysis = seconds_since(begin);  // without the levels
    auto       work = std::make_shared<DeviceBuffer<std::byte>>(engine->workspace_bytes());
    engine->prepare(gpu, *work);
    return {analysis, [&gpu, engine, work](auto b, auto x) { engine->solve(gpu, b, x, *work); }};
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

void solve_cold(benchmark::State& state, Bench& bench, Factor& factor, bool vendor, const Make& make)
{
    Gpu&                 gpu = bench.gpu;
    const Solver         solver = make(gpu, factor);
    DeviceBuffer<double> b(factor.b.size()), x(factor.b.size());
    upload<double>(gpu, factor.b, b);
    double seconds = 0;
    for (auto _ : state) {
        seconds = bench.timer.median_cold(runs, [&] { solver.solve(b, x); });
        state.SetIterationTime(seconds);
    }
    if (vendor) factor.cusparse = seconds;
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

/// What is compared: the engines, cuSPARSE first, and syncfree with other tunings.
std::vector<std::pair<std::string, Make>> solvers()
{
    std::vector<std::pair<std::string, Make>> all;
    for (GpuSpTrsvEngine engine : {GpuSpTrsvEngine::cusparse, GpuSpTrsvEngine::level_set, GpuSpTrsvEngine::level_graph,
                                   GpuSpTrsvEngine::syncfree, GpuSpTrsvEngine::chunked})
        all.emplace_back(std::string(names(engine)[static_cast<std::size_t>(engine)]),
                         [engine](Gpu& gpu, const Factor& factor) { return make_plan(gpu, factor, engine); });
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

CsrMatrix<double> system_of(const std::string& spec)
{
    return spec.find(".mtx") == std::string::npos ? gallery::build(spec) : read_matrix(spec);
}

void register_all(const std::string& spec, const std::shared_ptr<Bench>& bench)
{
    const Ilu0 factors(system_of(spec));
    if (factors.zero_pivot() >= 0) {
        std::cerr << spec << ": ILU(0) meets a zero pivot in row " << factors.zero_pivot() + 1 << "; left out\n";
        return;
    }
    const std::pair<std::string, ForwardSystem<double>> both[] =
        {{spec + "/L", forward_system<double>(factors.L(), Triangle::lower, Diagonal::unit)},
         {spec + "/U", forward_system<double>(factors.U(), Triangle::upper, Diagonal::stored)}};
    for (const auto& [name, system] : both) {
        const auto factor = std::make_shared<Factor>(name, system);
        for (const auto& [solver, make] : solvers())
            benchmark::RegisterBenchmark((name + "/" + solver).c_str(),
                                         [bench, factor, solver, make](benchmark::State& state) {
                                             solve_cold(state, *bench, *factor, solver == "cusparse", make);
                                         })
                ->UseManualTime()
                ->Iterations(1)
                ->Unit(benchmark::kMillisecond);
    }
}

}  // namespace

int main(int argc, char** argv)
{
    benchmark::Initialize(&argc, argv);
    std::vector<std::string> specs(argv + 1, argv + argc);
    if (specs.empty()) specs = {"convdiff3d:n=64", "convdiff3d:n=100", "convdiff2d:n=320", "convdiff2d:n=1000"};
    try {
        const auto bench = std::make_shared<Bench>();
        benchmark::AddCustomContext("device", gpu_name(0));
        benchmark::AddCustomContext("copy_GB_per_s", std::to_string(bench->bandwidth / 1e9));
        for (const std::string& spec : specs) register_all(spec, bench);
        benchmark::RunSpecifiedBenchmarks();
    } catch (const Error& why) {
        std::cerr << why.what() << '\n';
        return 1;
    }
    return 0;
}

// One application of M⁻¹ on a GPU, with none of its data in the cache: the multilevel ILU by variant, precision and
// engine of the triangular solves, ILU(0) and Jacobi, and the host's multilevel ILU beside them on all its threads. Its
// levels are Crout's, which can save L_G and U_F. Counters: systems that apply M, their depths in all, MB on the
// device, MB/s as a share of the device's copy bandwidth, seconds of conversion and of upload.

#include <benchmark/benchmark.h>

#include <chrono>
#include <functional>
#include <map>
#include <string>
#include <utility>

#include "ilux/bench/gpu_timer.hpp"
#include "ilux/gallery/gallery.hpp"
#include "ilux/precond/gpu/gpu_ilu0.hpp"
#include "ilux/precond/gpu/gpu_jacobi.hpp"
#include "ilux/precond/gpu/gpu_mlilu.hpp"
#include "ilux/precond/gpu_rounds/gpu_rounds.hpp"

namespace {

using namespace ilux;

const CsrMatrix<double>& matrix(const std::string& problem)
{
    static std::map<std::string, CsrMatrix<double>> made;
    const auto                                      found = made.find(problem);
    return found != made.end() ? found->second : made.emplace(problem, gallery::build(problem)).first->second;
}

const MlIlu<>& factors(const std::string& problem, OffDiagonal off_diagonal)
{
    static std::map<std::pair<std::string, OffDiagonal>, MlIlu<>> made;
    const auto                                                    found = made.find({problem, off_diagonal});
    if (found != made.end()) return found->second;
    Cpu be;
    return made
        .emplace(std::pair(problem, off_diagonal),
                 MlIlu<>::build(be, matrix(problem), {.setup = MlIluSetup::crout, .off_diagonal = off_diagonal}))
        .first->second;
}

Gpu& device()
{
    static Gpu gpu;
    return gpu;
}

double copy_bandwidth()
{
    static const double bytes_a_second = bench::GpuTimer(device()).copy_bandwidth();
    return bytes_a_second;
}

void measure(benchmark::State& state, Preconditioner<Gpu>& M, std::size_t bytes)
{
    Gpu&                 gpu = device();
    DeviceBuffer<double> r(M.size()), z(M.size());
    fill(gpu, 1, r);
    bench::GpuTimer timer(gpu);
    M.apply(gpu, r, z);
    double seconds = 0;
    for (auto _ : state) {
        const double once = timer.cold([&] { M.apply(gpu, r, z); });
        state.SetIterationTime(once);
        seconds += once;
    }
    const auto runs = static_cast<double>(state.iterations());
    state.counters["MB"] = static_cast<double>(bytes) / 1e6;
    state.counters["bandwidth"] = static_cast<double>(bytes) * runs / seconds / copy_bandwidth();
}

template <class T>
void measure_factors(benchmark::State& state, GpuFactors<T> gpu_factors)
{
    const auto&                report = gpu_factors.report();
    GpuFactorPreconditioner<T> M(device(), gpu_factors);
    Index                      depth = 0;
    for (const auto& system : report.systems) depth += system.facts.depth;
    measure(state, M, report.bytes);
    state.counters["systems"] = static_cast<double>(report.systems.size());
    state.counters["depth"] = depth;
    state.counters["dense"] = report.dense;
    state.counters["convert"] = report.seconds_convert;
    state.counters["upload"] = report.seconds_upload;
}

template <class T>
void GpuMlIluApply(benchmark::State& state, const std::string& problem, OffDiagonal off_diagonal,
                   GpuSpTrsvEngine engine)
{
    Cpu cpu;
    measure_factors<T>(state, gpu_mlilu<T>(cpu, device(), factors(problem, off_diagonal), {.engine = engine}));
}

/// Rounds set up on the device: one column, or eight at once or one after another.
void GpuRoundsApply(benchmark::State& state, const std::string& problem, std::size_t columns, bool at_once)
{
    Gpu&       gpu = device();
    Cpu        cpu;
    const auto rounds = GpuRounds<>::build(cpu, gpu, DeviceCsr<double>(gpu, matrix(problem)), {}, false);
    if (!rounds.made()) return state.SkipWithError(rounds.why_not().c_str());
    const auto           M = rounds.preconditioner(gpu);
    DeviceBuffer<double> r(columns * static_cast<std::size_t>(M->size())), z(r.size());
    fill(gpu, 1, r);
    const auto apply = [&] {
        if (at_once) M->apply_columns(gpu, r, z);
        else M->Preconditioner<Gpu>::apply_columns(gpu, r, z);
    };
    apply();
    bench::GpuTimer timer(gpu);
    double          seconds = 0;
    for (auto _ : state) {
        const double once = timer.cold(apply);
        state.SetIterationTime(once);
        seconds += once;
    }
    const std::size_t times = at_once ? 1 : columns;  // that L and U are read
    const double      bytes = static_cast<double>(times * rounds.bytes() + 2 * r.size() * sizeof(double));
    state.counters["MB"] = bytes / 1e6;
    state.counters["bandwidth"] = bytes * static_cast<double>(state.iterations()) / seconds / copy_bandwidth();
}

void GpuIlu0Apply(benchmark::State& state, const std::string& problem, GpuSpTrsvEngine engine)
{
    Cpu        cpu;
    const Ilu0 ilu0(matrix(problem));
    measure_factors<double>(state, gpu_ilu0<double>(cpu, device(), ilu0, {.engine = engine}));
}

void GpuJacobiApply(benchmark::State& state, const std::string& problem)
{
    GpuJacobi M(device(), Jacobi(matrix(problem)));
    measure(state, M, 3 * M.bytes());
}

void CpuMlIluApply(benchmark::State& state, const std::string& problem, OffDiagonal off_diagonal)
{
    using Clock = std::chrono::steady_clock;
    Cpu                 be;
    MlIluPreconditioner M(factors(problem, off_diagonal));
    std::vector<double> r(M.size(), 1), z(M.size());
    for (auto _ : state) {
        const auto start = Clock::now();
        M.apply(be, r, z);
        state.SetIterationTime(std::chrono::duration<double>(Clock::now() - start).count());
    }
    state.counters["threads"] = be.threads();
}

void add(const std::string& name, std::function<void(benchmark::State&)> body)
{
    benchmark::RegisterBenchmark(name.c_str(), body)->UseManualTime()->MinTime(0.05)->Unit(benchmark::kMillisecond);
}

const bool registered = [] {
    const std::pair<const char*, OffDiagonal> variants[] = {{"keep", OffDiagonal::keep}, {"save", OffDiagonal::save}};
    for (const std::string problem : {"convdiff3d:n=64", "convdiff3d:n=100", "poisson2d:n=1000"}) {
        const auto rounds = [&](const char* name, std::size_t columns, bool at_once) {
            add("rounds/" + problem + name,
                [=](benchmark::State& state) { GpuRoundsApply(state, problem, columns, at_once); });
        };
        rounds("/one", 1, false);
        rounds("/eight", 8, true);
        rounds("/eight_by_one", 8, false);
    }
    for (const std::string problem : {"convdiff3d:n=64", "convdiff3d:n=100", "recirculating2d:n=400"}) {
        for (const auto& [variant, off_diagonal] : variants) {
            const std::string name = "mlilu/" + problem + '/' + variant;
            for (auto engine : {GpuSpTrsvEngine::syncfree, GpuSpTrsvEngine::chunked, GpuSpTrsvEngine::level_graph,
                                GpuSpTrsvEngine::cusparse}) {
                const std::string by = '/' + field_text(engine);
                add(name + "/double" + by, [=, choice = off_diagonal](benchmark::State& state) {
                    GpuMlIluApply<double>(state, problem, choice, engine);
                });
                if (engine == GpuSpTrsvEngine::cusparse) continue;  // it stores doubles whatever T is
                add(name + "/single" + by, [=, choice = off_diagonal](benchmark::State& state) {
                    GpuMlIluApply<float>(state, problem, choice, engine);
                });
            }
            add(name + "/cpu",
                [=, choice = off_diagonal](benchmark::State& state) { CpuMlIluApply(state, problem, choice); });
        }
        for (auto engine : {GpuSpTrsvEngine::syncfree, GpuSpTrsvEngine::chunked})
            add("ilu0/" + problem + '/' + field_text(engine),
                [=](benchmark::State& state) { GpuIlu0Apply(state, problem, engine); });
        add("jacobi/" + problem, [=](benchmark::State& state) { GpuJacobiApply(state, problem); });
    }
    return true;
}();

}  // namespace

BENCHMARK_MAIN();

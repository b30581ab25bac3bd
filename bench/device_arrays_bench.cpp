// A solve with b and x of the GPU beside one with arrays of the host, by the same solver on the same GPU: seconds of
// the host's clock from b to an x that is there, and what crosses between host and device. Factors are made before,
// once for a problem and method; k columns, one after another. All of it takes two minutes, most of them for analysis
// and factors of the LU.

#include <benchmark/benchmark.h>

#include <optional>
#include <string>
#include <vector>

#include "ilux/base/gpu/host_transfers.hpp"
#include "ilux/base/wall_clock.hpp"
#include "ilux/gallery/gallery.hpp"
#include "ilux/solver/linear_solver.hpp"

namespace {

using namespace ilux;

struct Case {
    std::string  problem;
    MethodChoice method;
    int          columns;
    bool         on_device;
};

/// A problem and its solver, factored and refactored once.
struct Prepared {
    explicit Prepared(const Case& one)
        : of(one), A(gallery::build(one.problem)), solver({.method = one.method, .device = DeviceChoice::gpu})
    {
        solver.analyse(A, 100);
        ready = solver.factor().ready() && solver.refactor(A.val()).ready();
    }

    Case                 of;
    CsrMatrix<double>    A;
    Gpu                  gpu;
    LinearSolver<double> solver;
    bool                 ready = false;
};

/// The one made last serves as long as cases are of its problem and method.
Prepared& prepared(const Case& one)
{
    static std::optional<Prepared> last;
    if (!last || last->of.problem != one.problem || last->of.method != one.method) last.emplace(one);
    return *last;
}

void Solve(benchmark::State& state, const Case& one)
{
    Prepared& at = prepared(one);
    if (!at.ready) return state.SkipWithError("no factors");
    const auto                n = static_cast<std::size_t>(at.A.rows()), size = n * one.columns;
    const std::vector<double> b = gallery::random_vector(static_cast<Index>(size));
    std::vector<double>       x(size);
    DeviceBuffer<double>      device_b(size), device_x(size);
    std::vector<SolverReport> reports;
    upload<double>(at.gpu, b, device_b);
    const auto solve = [&] {
        reports = one.on_device ? at.solver.solve_columns({at.gpu, device_b}, {at.gpu, device_x})
                                : at.solver.solve_columns(b, x);
        at.gpu.synchronize();
    };
    solve();
    for (auto _ : state) {
        const HostTransfers before = host_transfers();
        const WallClock     clock;
        solve();
        state.SetIterationTime(clock.seconds());
        state.counters["bytes"] = double(host_transfers().total() - before.total());
        state.counters["steps"] = reports.back().steps();
        state.counters["converged"] = reports.back().converged();
    }
}

/// What a refactorization brings over.
void Refactor(benchmark::State& state, const Case& one)
{
    Prepared& at = prepared(one);
    if (!at.ready) return state.SkipWithError("no factors");
    DeviceBuffer<double> values(at.A.val().size());
    upload<double>(at.gpu, at.A.val(), values);
    const auto refactor = [&] {
        return (one.on_device ? at.solver.refactor({at.gpu, values}) : at.solver.refactor(at.A.val())).ready();
    };
    if (!refactor()) return state.SkipWithError("no factors");
    for (auto _ : state) {
        const HostTransfers before = host_transfers();
        const WallClock     clock;
        if (!refactor()) state.SkipWithError("no factors");
        at.gpu.synchronize();
        state.SetIterationTime(clock.seconds());
        state.counters["bytes"] = double(host_transfers().total() - before.total());
    }
}

void add(const std::string& name, void (*run)(benchmark::State&, const Case&), const Case& one)
{
    const std::string where = one.on_device ? "device" : "host";
    benchmark::RegisterBenchmark((name + one.problem + " k=" + std::to_string(one.columns) + " " + where).c_str(), run,
                                 one)
        ->UseManualTime()
        ->Iterations(3)
        ->Repetitions(3)
        ->ReportAggregatesOnly()
        ->Unit(benchmark::kMillisecond);
}

const bool added = [] {
    for (const auto& [problem, method] :
         {std::pair{"convdiff3d:n=100", MethodChoice::gmres}, std::pair{"poisson2d:n=1000", MethodChoice::gmres},
          std::pair{"poisson2d:n=1000", MethodChoice::lu}}) {
        const std::string name = method == MethodChoice::lu ? "lu " : "gmres ";
        for (const int columns : {1, 8})
            for (const bool on_device : {false, true}) add(name, Solve, {problem, method, columns, on_device});
        for (const bool on_device : {false, true}) add("refactor " + name, Refactor, {problem, method, 0, on_device});
    }
    return true;
}();

}  // namespace

BENCHMARK_MAIN();

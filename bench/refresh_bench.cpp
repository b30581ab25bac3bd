// A series' second system on two threads, or on a GPU: its multilevel ILU in rounds made anew, by the rounds of the
// first system, and the first one's M as it is. Steps are those of GMRES(30) to a true 1e-8, b random; 400 is the
// limit, and then they have not converged.

#include <benchmark/benchmark.h>

#include <complex>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "ilux/base/matrix/spmv.hpp"
#include "ilux/base/wall_clock.hpp"
#include "ilux/gallery/gallery.hpp"
#include "ilux/krylov/krylov.hpp"
#include "ilux/precond/gpu_rounds/gpu_rounds.hpp"
#include "ilux/precond/mlilu/mlilu.hpp"

namespace {

using namespace ilux;

Index steps_with(Cpu& be, const MlIlu<>& factors, const CsrMatrix<double>& A)
{
    const MatrixOperator op(A);
    MlIluPreconditioner  M(factors);
    KrylovOptions        options;
    options.rtol = 1e-8;
    options.max_steps = 400;
    KrylovWorkspace<Cpu> ws(Method::gmres, A.rows(), options);
    std::vector<double>  x(A.rows(), 0);
    return solve<Cpu>(be, Method::gmres, op, M, gallery::random_vector(A.rows()), x, ws, options).steps;
}

template <Scalar S>
Index steps_with(Gpu& gpu, const GpuRounds<S>& factors, const GpuMatrixOperator<S>& A)
{
    const auto    M = factors.preconditioner(gpu);
    KrylovOptions options;
    options.rtol = 1e-8;
    options.max_steps = 400;
    KrylovWorkspace<Gpu, S> ws(Method::gmres, A.size(), options);
    DeviceBuffer<S>         b(A.size()), x(A.size());
    upload<S>(gpu, gallery::random_vector<S>(A.size()), b);
    return solve<Gpu, S>(gpu, Method::gmres, A, *M, b, x, ws, options).steps;
}

/// What each M is worth to the second system.
template <class Backend, class Factors, class Matrix>
void compare(Backend& be, const Matrix& B, const Factors& replayed, const Factors& anew, const Factors& former,
             benchmark::State& state)
{
    state.counters["served"] = replayed.report().replayed;
    state.counters["fill"] = replayed.report().fill;
    state.counters["anew_fill"] = anew.report().fill;
    state.counters["steps"] = steps_with(be, replayed, B);
    state.counters["anew_steps"] = steps_with(be, anew, B);
    state.counters["former_steps"] = steps_with(be, former, B);
}

void Refresh(benchmark::State& state, const std::string& from, const std::string& to)
{
    Cpu                be(2);
    const MlIluOptions options;
    const auto         A = gallery::build(from), B = gallery::build(to);
    const auto         former = MlIlu<>::build(be, A, options);
    const auto         plan = former.rounds_plan();
    if (!plan) return state.SkipWithError("the first system's M is not made in rounds");
    for (auto _ : state) {
        WallClock  clock;
        const auto replayed = MlIlu<>::rebuild(be, B, options, *plan);
        state.SetIterationTime(clock.lap());
        const auto anew = MlIlu<>::build(be, B, options);
        state.counters["anew_ms"] = 1e3 * clock.seconds();
        compare(be, B, replayed, anew, former, state);
    }
}

template <Scalar S>
GpuMatrixOperator<S> on_gpu(Gpu& gpu, const std::string& problem)
{
    return {gpu, std::get<CsrMatrix<S>>(gallery::build_any(problem))};
}

/// The matrices are on the device already; a first setup of each kind is not counted.
template <Scalar S>
void RefreshOnGpu(benchmark::State& state, const std::string& from, const std::string& to)
{
    Cpu                        be;
    Gpu                        gpu;
    const MlIluOptions         options{.setup = is_complex<S> ? MlIluSetup::rounds : MlIluSetup::automatic};
    const GpuMatrixOperator<S> A = on_gpu<S>(gpu, from), B = on_gpu<S>(gpu, to);
    const auto                 former = GpuRounds<S>::build(be, gpu, A.matrix(), options, false);
    if (!former.made()) return state.SkipWithError(former.why_not().c_str());
    (void)GpuRounds<S>::rebuild(be, gpu, B.matrix(), options, false, former.plan());
    for (auto _ : state) {
        gpu.synchronize();
        WallClock  clock;
        const auto replayed = GpuRounds<S>::rebuild(be, gpu, B.matrix(), options, false, former.plan());
        gpu.synchronize();
        state.SetIterationTime(clock.lap());
        const auto anew = GpuRounds<S>::build(be, gpu, B.matrix(), options, false);
        gpu.synchronize();
        state.counters["anew_ms"] = 1e3 * clock.seconds();
        if (!replayed.made() || !anew.made()) return state.SkipWithError(anew.why_not().c_str());
        compare(gpu, B, replayed, anew, former, state);
    }
}

using Series = std::pair<std::string, std::string>;

template <class Run>
void add(const std::string& name, Run run, const Series& series)
{
    benchmark::RegisterBenchmark((name + series.first + " to " + series.second).c_str(), run, series.first,
                                 series.second)
        ->UseManualTime()
        ->Iterations(1)
        ->Repetitions(3)
        ->Unit(benchmark::kMillisecond);
}

const bool registered = [] {
    const Series on_cpu[] = {{"recirculating2d:n=100,peclet=100", "recirculating2d:n=100,peclet=1000"},
                             {"recirculating2d:n=100,peclet=1000", "recirculating2d:n=100,peclet=-1000"},
                             {"convdiff2d:n=300,peclet=10", "convdiff2d:n=300,peclet=1000"},
                             {"convdiff2d:n=300,peclet=1000", "convdiff2d:n=300,peclet=10"},
                             {"convdiff3d:n=40,peclet=10", "convdiff3d:n=40,peclet=100"},
                             {"convdiff3d:n=40,peclet=100", "convdiff3d:n=40,peclet=-100"},
                             {"convdiff3d:n=64,peclet=100", "convdiff3d:n=64,peclet=120"},
                             {"poisson2d:n=500", "poisson2d:n=500"},
                             {"jump2d:n=200,blocks=4,decades=0", "jump2d:n=200,blocks=4,decades=8"},
                             {"jump2d:n=200,blocks=20,decades=0", "jump2d:n=200,blocks=20,decades=8"}};
    const Series on_gpu[] = {{"convdiff3d:n=100,peclet=10", "convdiff3d:n=100,peclet=100"},
                             {"convdiff3d:n=64,peclet=2", "convdiff3d:n=64,peclet=20"},
                             {"recirculating2d:n=1000,peclet=100", "recirculating2d:n=1000,peclet=-100"},
                             {"recirculating2d:n=400,peclet=100", "recirculating2d:n=400,peclet=1000"},
                             {"convdiff2d:n=1000,peclet=10", "convdiff2d:n=1000,peclet=1000"},
                             {"poisson2d:n=1000", "poisson2d:n=1000"}};
    const Series complex_on_gpu[] = {{"ac_mesh:n=400,f=1e9", "ac_mesh:n=400,f=1.2e9"},
                                     {"ac_mesh:n=1000,f=1e10", "ac_mesh:n=1000,f=1.5e10"},
                                     {"helmholtz2d_open:n=512,kh=0.2,shift=0.5",
                                      "helmholtz2d_open:n=512,kh=0.25,shift=0.5"}};
    for (const auto& series : on_cpu) add("", Refresh, series);
    if (gpu_count() > 0) {
        for (const auto& series : on_gpu) add("gpu/", RefreshOnGpu<double>, series);
        for (const auto& series : complex_on_gpu) add("gpu/", RefreshOnGpu<std::complex<double>>, series);
    }
    return true;
}();

}  // namespace

BENCHMARK_MAIN();

// Setup and solve to a true 1e-8 on one thread, Crout's sweep and otherwise default options, b = A·1, x₀ = 0: the
// multilevel ILU beside Eigen's IncompleteLUT (droptol 1e-2, fill 5) with Eigen's GMRES(30). Both report the true
// residual; Eigen stops at 2000 steps. Rounds would be exact for this b. Then the growth of setup with the size of
// convdiff3d.

#include <benchmark/benchmark.h>

#include <Eigen/Sparse>
#include <unsupported/Eigen/IterativeSolvers>

#include <chrono>
#include <string>

#include "ilux/base/matrix/spmv.hpp"
#include "ilux/gallery/gallery.hpp"
#include "ilux/krylov/krylov.hpp"
#include "ilux/precond/mlilu/mlilu.hpp"

namespace {

using namespace ilux;
using Clock = std::chrono::steady_clock;

double since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

void SolveOurs(benchmark::State& state, const std::string& problem)
{
    const auto           A = gallery::build(problem);
    Cpu                  be(1);
    const MatrixOperator op(A);
    std::vector<double>  x(A.rows(), 1), b(A.rows());
    op.apply(be, x, b);
    for (auto _ : state) {
        const auto           start = Clock::now();
        const auto           mlilu = MlIlu<>::build(be, A, {.setup = MlIluSetup::crout});
        MlIluPreconditioner  M(mlilu);
        const double         setup = since(start);
        const KrylovOptions  options{.rtol = 1e-8, .max_steps = 2000};
        KrylovWorkspace<Cpu> ws(Method::gmres, A.rows(), options);
        fill(be, 0, x);
        const auto report = solve<Cpu>(be, Method::gmres, op, M, b, x, ws, options);
        state.SetIterationTime(since(start));
        state.counters["setup"] = setup;
        state.counters["steps"] = report.steps;
        state.counters["residual"] = report.relative_residual;
        state.counters["fill"] = mlilu.report().fill;
        if (report.outcome != Outcome::converged) state.SkipWithError("did not converge");
    }
}

void SolveEigen(benchmark::State& state, const std::string& problem)
{
    using Matrix = Eigen::SparseMatrix<double, Eigen::RowMajor>;
    const auto                          A = gallery::build(problem);
    std::vector<Eigen::Triplet<double>> entries;
    for (Index i = 0; i < A.rows(); ++i)
        for (Offset p = A.row_ptr()[i]; p < A.row_ptr()[i + 1]; ++p) entries.emplace_back(i, A.col()[p], A.val()[p]);
    Matrix E(A.rows(), A.cols());
    E.setFromTriplets(entries.begin(), entries.end());
    const Eigen::VectorXd b = E * Eigen::VectorXd::Ones(A.rows());
    for (auto _ : state) {
        const auto                                         start = Clock::now();
        Eigen::GMRES<Matrix, Eigen::IncompleteLUT<double>> gmres;
        gmres.preconditioner().setDroptol(1e-2);
        gmres.preconditioner().setFillfactor(5);
        gmres.set_restart(30);
        gmres.setTolerance(1e-8);
        gmres.setMaxIterations(2000);
        gmres.compute(E);
        const double          setup = since(start);
        const Eigen::VectorXd x = gmres.solve(b);
        state.SetIterationTime(since(start));
        state.counters["setup"] = setup;
        state.counters["steps"] = static_cast<double>(gmres.iterations());
        state.counters["residual"] = (b - E * x).norm() / b.norm();
    }
}

void SetupGrowth(benchmark::State& state)
{
    const auto A = gallery::build("convdiff3d:n=" + std::to_string(state.range(0)));
    Cpu        be(1);
    for (auto _ : state) {
        const auto start = Clock::now();
        const auto mlilu = MlIlu<>::build(be, A, {.setup = MlIluSetup::crout});
        state.SetIterationTime(since(start));
        state.counters["nnz"] = static_cast<double>(A.nnz());
        state.counters["fill"] = mlilu.report().fill;
    }
}

const bool registered = [] {
    for (const std::string problem : {"convdiff3d:n=64", "recirculating2d:n=400"}) {
        benchmark::RegisterBenchmark(("ours/" + problem).c_str(), SolveOurs, problem)
            ->UseManualTime()
            ->Iterations(1)
            ->Unit(benchmark::kMillisecond);
        benchmark::RegisterBenchmark(("eigen_ilut/" + problem).c_str(), SolveEigen, problem)
            ->UseManualTime()
            ->Iterations(1)
            ->Unit(benchmark::kMillisecond);
    }
    return true;
}();
BENCHMARK(SetupGrowth)
    ->Arg(32)
    ->Arg(46)
    ->Arg(64)
    ->Arg(80)
    ->Arg(100)
    ->UseManualTime()
    ->Iterations(1)
    ->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();

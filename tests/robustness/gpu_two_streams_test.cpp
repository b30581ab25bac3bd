// Two host threads with a Gpu, that is a stream, each: solutions and refactorizations side by side have the bits of
// lone runs.

#include <gtest/gtest.h>

#include <vector>

#include "ilux/direct/batch/gpu_lu_batch.hpp"
#include "ilux/direct/lu/lu.hpp"
#include "ilux/gallery/gallery.hpp"
#include "ilux/precond/gpu/gpu_mlilu.hpp"
#include "ilux/sptrsv/gpu/gpu_sptrsv.hpp"
#include "ilux/tests/direct/batch/batch_systems.hpp"
#include "ilux/tests/direct/repeats.hpp"
#include "ilux/tests/direct/series.hpp"
#include "ilux/tests/krylov/runs.hpp"
#include "ilux/tests/robustness/together.hpp"
#include "ilux/tests/sptrsv/systems.hpp"

namespace ilux::test {
namespace {

using Vector = std::vector<double>;

/// A series on a stream of its own: refactors, solves, and now and then repivots, which allocates beside the other.
Solver lu_on_a_stream(const CsrMatrix<>& A, RefactorMethod method, std::uint64_t seed)
{
    return [=] {
        Gpu       gpu;
        Cpu       be(1);
        Series    series(A, seed);
        LuOptions options;
        options.refactor = method;
        Lu lu(be, analyse(series.view(), options));
        lu.use_gpu(gpu);
        Answers answers;
        for (int k = 0; k < 20; ++k) {
            if (k % 5 == 4) series.toggle(1e-9);
            else series.drift(0.1);
            answers.emplace_back(series.n);
            const Vector b = random_vector(series.n, seed + static_cast<std::uint64_t>(k));
            if (k % 2 == 0) {
                EXPECT_EQ(lu.refactor_and_solve(series.val, b, answers.back()).solution.outcome, Outcome::converged);
            } else {
                EXPECT_EQ(lu.refactor_or_factor(series.view().val).outcome, Outcome::converged);
                EXPECT_EQ(lu.solve(b, answers.back()).outcome, Outcome::converged);
            }
        }
        return answers;
    };
}

Vector solved_on(Gpu& gpu, Method method, const CsrMatrix<>& A, const GpuMlIlu<>& gpu_factors, std::uint64_t seed)
{
    const GpuMatrixOperator  op(gpu, A, needs_transpose(method));
    GpuMlIluPreconditioner<> M(gpu, gpu_factors);
    KrylovWorkspace<Gpu>     ws(method, A.rows(), {});
    const auto               b = krylov::on_device(gpu, random_vector(A.rows(), seed));
    auto                     x = krylov::on_device(gpu, Vector(A.rows(), 0.));
    EXPECT_EQ(solve<Gpu>(gpu, method, op, M, b, x, ws, {}).outcome, Outcome::converged);
    Vector found(A.rows());
    download<double>(gpu, x, found);
    return found;
}

Solver multilevel_on_a_stream(const CsrMatrix<>& A, Method method)
{
    return [=] {
        Gpu     gpu;
        Cpu     be(1);
        Answers answers;
        for (std::uint64_t k = 0; k < 5; ++k) {
            const GpuFactorOptions options{.adjoinable = needs_transpose(method)};
            const auto             gpu_factors = gpu_mlilu(be, gpu, MlIlu<>::build(be, A, for_gpu({})), options);
            answers.push_back(solved_on(gpu, method, A, gpu_factors, k));
        }
        return answers;
    };
}

Solver batch_on_a_stream(const DataflowSystem& system, Index members)
{
    return [&system, members] {
        Gpu                  gpu;
        const auto           all = static_cast<std::size_t>(system.A.n) * static_cast<std::size_t>(members);
        const auto           values = krylov::on_device(gpu, member_values(system.A.val, members));
        const auto           b = krylov::on_device(gpu, Vector(all, 1.));
        DeviceBuffer<double> x(all);
        GpuLuBatch<double>   batch(gpu, system.F.pattern, members);
        Answers              answers;
        for (int k = 0; k < 20; ++k) {
            batch.refactor(gpu, values.data());
            batch.solve(gpu, b.data(), x.data(), k % 2 == 0 ? Transpose::no : Transpose::yes);
            answers.emplace_back(all);
            download<double>(gpu, x, answers.back());
        }
        return answers;
    };
}

CsrMatrix<> stream_circuit() { return gallery::build("mna_random:n=400,decades=2"); }
CsrMatrix<> steady_wind() { return gallery::build("recirculating2d:n=40"); }

/// Plans of a triangle of n rows, whose chunks take the more shared memory the larger n is; made and solved.
Solver plans_on_a_stream(Index n, int plans)
{
    return [=] {
        const Shape shape{Triangle::lower, Diagonal::stored};
        const auto  system = forward_system<double>(random_triangle(n, 4, shape, 1), shape.triangle, shape.diagonal);
        Gpu         gpu;
        const auto  b = krylov::on_device(gpu, random_vector(n, 1));
        DeviceBuffer<double> x(static_cast<std::size_t>(n));
        Answers              last(1, Vector(static_cast<std::size_t>(n)));
        for (int k = 0; k < plans; ++k) {
            const GpuSpTrsvPlan<> plan(gpu, system, GpuSpTrsvEngine::chunked);
            auto                  ws = plan.workspace(gpu);
            plan.solve(gpu, b, x, ws);
            download<double>(gpu, x, last.front());
        }
        return last;
    };
}

/// What a launch may ask for is told to the driver beforehand, and for all threads.
TEST(GpuTwoStreams, PlansOfSmallAndLargeChunks)
{
    ILUX_SKIP_WITHOUT_GPU();
    expect_same_answers_together(plans_on_a_stream(300, 2000), plans_on_a_stream(3000, 2000), repeats(3));
}

TEST(GpuTwoStreams, TwoSeriesAtOnce)
{
    ILUX_SKIP_WITHOUT_GPU();
    expect_same_answers_together(lu_on_a_stream(stream_circuit(), RefactorMethod::automatic, 1),
                                 lu_on_a_stream(gallery::build("convdiff2d:n=30"), RefactorMethod::automatic, 2),
                                 repeats(10));
    expect_same_answers_together(lu_on_a_stream(stream_circuit(), RefactorMethod::left, 1),
                                 lu_on_a_stream(stream_circuit(), RefactorMethod::islu, 2), repeats(10));
}

TEST(GpuTwoStreams, TwoMultilevelSolutionsAtOnce)
{
    ILUX_SKIP_WITHOUT_GPU();
    expect_same_answers_together(multilevel_on_a_stream(steady_wind(), Method::gmres),
                                 multilevel_on_a_stream(steady_wind(), Method::bicg), repeats(10));
}

TEST(GpuTwoStreams, ASeriesBesideAMultilevelSolution)
{
    ILUX_SKIP_WITHOUT_GPU();
    expect_same_answers_together(lu_on_a_stream(stream_circuit(), RefactorMethod::automatic, 1),
                                 multilevel_on_a_stream(steady_wind(), Method::bicgstab), repeats(10));
}

TEST(GpuTwoStreams, ABatchBesideASeries)
{
    ILUX_SKIP_WITHOUT_GPU();
    const DataflowSystem system = dataflow_system("circuit", stream_circuit());
    expect_same_answers_together(batch_on_a_stream(system, 64),
                                 lu_on_a_stream(stream_circuit(), RefactorMethod::automatic, 1), repeats(10));
}

/// The factors on the device are immutable: one copy serves both streams, a workspace each.
TEST(GpuTwoStreams, OnePreconditionerServesTwo)
{
    ILUX_SKIP_WITHOUT_GPU();
    const auto A = steady_wind();
    Gpu        make;
    Cpu        be(1);
    const auto gpu_factors = gpu_mlilu(be, make, MlIlu<>::build(be, A, for_gpu({})), {.adjoinable = true});
    make.synchronize();
    const auto with = [&](Method method) -> Solver {
        return [&, method] {
            Gpu     gpu;
            Answers answers;
            for (std::uint64_t k = 0; k < 10; ++k) answers.push_back(solved_on(gpu, method, A, gpu_factors, k));
            return answers;
        };
    };
    expect_same_answers_together(with(Method::gmres), with(Method::bicg), repeats(10));
}

}  // namespace
}  // namespace ilux::test

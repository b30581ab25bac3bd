// What only a solve on a device can get wrong: the same work as on the host, memory, streams, times.

#include <gtest/gtest.h>

#include <ostream>
#include <string>
#include <thread>
#include <vector>

#include "ilux/gallery/gallery.hpp"
#include "ilux/tests/krylov/runs.hpp"

namespace ilux {
namespace {

using namespace test::krylov;

class GpuKrylov : public testing::TestWithParam<Variant> {
protected:
    void   SetUp() override { ILUX_SKIP_WITHOUT_GPU(); }
    Method method() const { return GetParam().method; }
};
INSTANTIATE_TEST_SUITE_P(Gpu, GpuKrylov, testing::ValuesIn(variants),
                         [](const auto& info) { return std::string(info.param.name); });

TEST_P(GpuKrylov, TakesTheStepsOfTheHost)
{
    const Index one = method() == Method::bicgstab ? 2 : 1;  // steps an iteration
    for (const std::string problem :
         {"poisson2d:n=16", "poisson3d:n=10", "convdiff2d:n=16", "convdiff3d:n=10", "anisotropic2d:n=8"}) {
        const auto& traits = gallery::find_problem(problem.substr(0, problem.find(':'))).traits;
        if (method() == Method::cg && !traits.positive_definite) continue;
        const auto A = gallery::build(problem);
        const auto b = test::random_vector(A.rows(), 2);
        for (const bool scaled : {false, true}) {
            Identity<Cpu>        I(A.rows());
            auto                 D = jacobi(A);
            Preconditioner<Cpu>& M = scaled ? static_cast<Preconditioner<Cpu>&>(D) : I;
            const auto           host = run(method(), A, M, b, Vector(A.rows()), GetParam().opt);
            const auto           device = run_on_gpu(method(), A, M, b, Vector(A.rows()), GetParam().opt);
            SCOPED_TRACE(problem + (scaled ? ", Jacobi" : ", no preconditioner"));
            ASSERT_EQ(host.report.outcome, Outcome::converged) << host.report.detail;
            EXPECT_EQ(device.report.outcome, Outcome::converged) << device.report.detail;
            EXPECT_NEAR(device.report.steps, host.report.steps, one);
            EXPECT_LE(true_residual(A, device.x, b), 1.001e-8);
        }
    }
}

TEST_P(GpuKrylov, AllocatesNothingOnHostOrDeviceWhileSolving)
{
    Gpu&                    gpu = shared_gpu();
    const auto              A = test::random_spd(1000, 3, 5);
    const auto              b = on_device(gpu, test::random_vector(1000, 2));
    const KrylovOptions     opt = GetParam().opt;
    const GpuMatrixOperator op(gpu, A, true);
    Identity<Gpu>           M(1000);
    KrylovWorkspace<Gpu>    ws(method(), 1000, opt);
    DeviceBuffer<double>    x(1000);
    ASSERT_EQ(solve<Gpu>(gpu, method(), op, M, b, x, ws, opt).outcome, Outcome::converged);  // code is loaded by now
    fill(gpu, 0, x);
    const DeviceUse         before = device_use();
    test::AllocationCounter counter;
    const auto              report = solve<Gpu>(gpu, method(), op, M, b, x, ws, opt);
    const long              on_host = counter.count();
    EXPECT_EQ(on_host, 0);
    EXPECT_EQ(device_use().allocations, before.allocations);
    EXPECT_EQ(report.outcome, Outcome::converged);
    EXPECT_GT(report.steps, 0);
}

TEST_P(GpuKrylov, RepeatsBitForBitFromSeveralThreadsAtOnce)
{
    const Index             n = 20'000;
    const auto              A = test::random_spd(n, 3, 5);
    const auto              rhs = test::random_vector(n, 2);
    const GpuMatrixOperator op(shared_gpu(), A, true);
    KrylovOptions           opt = GetParam().opt;
    opt.max_steps = 40;
    opt.rtol = 1e-13;
    const auto solve_once = [&](Gpu& gpu) {
        gpu.make_current();
        Identity<Gpu>        M(n);
        KrylovWorkspace<Gpu> ws(method(), n, opt);
        const auto           b = on_device(gpu, rhs);
        DeviceBuffer<double> x(n);
        Vector               result(n);
        (void)solve<Gpu>(gpu, method(), op, M, b, x, ws, opt);
        download<double>(gpu, x, result);
        return result;
    };
    const Vector             expected = solve_once(shared_gpu());
    std::vector<std::thread> threads;
    std::vector<int>         wrong(4);
    for (int& count : wrong)
        threads.emplace_back([&] {
            Gpu own;
            for (int repeat = 0; repeat < 5; ++repeat) count += !test::identical(solve_once(own), expected);
        });
    for (auto& thread : threads) thread.join();
    EXPECT_EQ(wrong, std::vector<int>(4));
}

TEST_P(GpuKrylov, SplitsTheSecondsOfASolve)
{
    Gpu&          gpu = shared_gpu();
    const auto    A = gallery::build("poisson2d:n=200");
    const auto    b = on_device(gpu, test::random_vector(A.rows(), 2));
    KrylovOptions opt = GetParam().opt;
    opt.max_steps = 200;  // more pieces than are kept at a time
    opt.rtol = 1e-13;
    const GpuMatrixOperator op(gpu, A, true);
    Identity<Gpu>           M(A.rows());
    KrylovWorkspace<Gpu>    ws(method(), A.rows(), opt);
    DeviceBuffer<double>    x(A.rows());
    const SolveSeconds      seconds = solve<Gpu>(gpu, method(), op, M, b, x, ws, opt).seconds;
    EXPECT_GT(seconds.spmv, 0);
    EXPECT_GT(seconds.precond, 0);
    EXPECT_EQ(seconds.ortho > 0, method() == Method::gmres || method() == Method::fgmres);
    EXPECT_GE(seconds.other(), 0);
    EXPECT_LT(seconds.solve, 10);
}

TEST_P(GpuKrylov, ServesManySolvesWithOneWorkspace)
{
    Gpu&                    gpu = shared_gpu();
    const auto              A = test::random_spd(40, 3, 5);
    const KrylovOptions     opt = GetParam().opt;
    const GpuMatrixOperator op(gpu, A, true);
    Identity<Gpu>           M(40);
    KrylovWorkspace<Gpu>    ws(method(), 40, opt);
    const auto              healthy = test::random_vector(40, 2);
    auto                    b = healthy;
    b[3] = nan;
    Vector first(40), second(40);
    for (Vector* result : {&first, &second}) {
        const auto           poisoned = on_device(gpu, b), rhs = on_device(gpu, healthy);
        DeviceBuffer<double> lost(40), x(40);
        EXPECT_EQ(solve<Gpu>(gpu, method(), op, M, poisoned, lost, ws, opt).outcome, Outcome::not_finite);
        EXPECT_EQ(solve<Gpu>(gpu, method(), op, M, rhs, x, ws, opt).outcome, Outcome::converged);
        download<double>(gpu, x, *result);
    }
    EXPECT_TRUE(test::identical(first, second));
    EXPECT_LE(true_residual(A, first, healthy), 1.001e-8);
}

/// M⁻¹ by a few steps of another solve on the same Gpu, which times its own parts.
class InnerSolve final : public Preconditioner<Gpu> {
public:
    explicit InnerSolve(const GpuMatrixOperator<>& A) : A_(A), I_(A.size()), ws_(Method::cg, A.size(), opt_) {}
    Index size() const override { return A_.size(); }
    void  apply(Gpu& be, DeviceSpan<const double> r, DeviceSpan<double> z) override
    {
        fill(be, 0, z);
        inner_steps += solve<Gpu>(be, Method::cg, A_, I_, r, z, ws_, opt_).steps;
    }
    void  apply_adjoint(Gpu& be, DeviceSpan<const double> r, DeviceSpan<double> z) override { apply(be, r, z); }
    Index inner_steps = 0;

private:
    const GpuMatrixOperator<>& A_;
    Identity<Gpu>              I_;
    const KrylovOptions        opt_{.rtol = 0.1, .max_steps = 100};
    KrylovWorkspace<Gpu>       ws_;
};

TEST(GpuFgmres, MayBePreconditionedByAnotherSolveOnTheSameStream)
{
    ILUX_SKIP_WITHOUT_GPU();
    Gpu&                    gpu = shared_gpu();
    const auto              A = gallery::build("poisson2d:n=64");
    const auto              rhs = test::random_vector(A.rows(), 2);
    const auto              b = on_device(gpu, rhs);
    const GpuMatrixOperator op(gpu, A);
    InnerSolve              M(op);
    const KrylovOptions     opt;
    KrylovWorkspace<Gpu>    ws(Method::fgmres, A.rows(), opt);
    DeviceBuffer<double>    x(A.rows());
    const auto              report = solve<Gpu>(gpu, Method::fgmres, op, M, b, x, ws, opt);
    EXPECT_EQ(report.outcome, Outcome::converged);
    EXPECT_GT(M.inner_steps, 64);  // more pieces of time than are kept at once, within one outer piece
    EXPECT_GT(report.seconds.precond, report.seconds.spmv);
    EXPECT_GE(report.seconds.other(), 0);
}

TEST(GpuKrylovMisuse, IsRefusedAsOnTheHost)
{
    ILUX_SKIP_WITHOUT_GPU();
    Gpu&                    gpu = shared_gpu();
    const auto              A = test::random_spd(4, 2, 1);
    const GpuMatrixOperator op(gpu, A), without_transpose(gpu, A);
    Identity<Gpu>           M(4), M5(5);
    KrylovWorkspace<Gpu>    ws(Method::gmres, 4, {}), bicg_ws(Method::bicg, 4, {});
    const auto              b = on_device(gpu, Vector(4, 1.));
    DeviceBuffer<double>    x(4), x5(5);
    EXPECT_THROW((void)solve<Gpu>(gpu, Method::gmres, op, M5, b, x, ws, {}), InvalidInput);
    EXPECT_THROW((void)solve<Gpu>(gpu, Method::gmres, op, M, b, x5, ws, {}), InvalidInput);
    EXPECT_THROW((void)solve<Gpu>(gpu, Method::cg, op, M, b, x, ws, {}), InvalidInput);
    EXPECT_THROW((void)solve<Gpu>(gpu, Method::bicg, without_transpose, M, b, x, bicg_ws, {}), InvalidInput);
    EXPECT_THROW(KrylovWorkspace<Gpu>(Method::gmres, Index{1} << 30, {.restart = 1 << 14}), OutOfMemory);
}

}  // namespace
}  // namespace ilux

// Where a solve runs: the rule, the estimates, and what is said of them.

#include <gtest/gtest.h>

#include "ilux/gallery/gallery.hpp"
#include "ilux/engine/machine/device.hpp"
#include "ilux/engine/gpu_system.hpp"
#include "ilux/tests/support/checks.hpp"

namespace ilux {
namespace {

CsrMatrix<double> diagonal(Index n) { return CsrMatrix<double>::identity(n); }

TEST(ChooseMachine, KeepsSmallSystemsOnTheHostAndSaysSo)
{
    std::vector<std::string> decisions;
    const Machine            machine = choose_machine({.threads = 1}, diagonal(10), decisions);
    EXPECT_EQ(machine.gpu, nullptr);
    EXPECT_FALSE(machine.gpu_by_choice);
    EXPECT_EQ(machine.device().kind, "cpu");
    EXPECT_EQ(machine.device().threads, 1);
    ASSERT_EQ(decisions.size(), 1u);
    EXPECT_TRUE(decisions[0].starts_with("device cpu: ")) << decisions[0];
}

TEST(ChooseMachine, SaysNothingWhenTheCpuWasAskedFor)
{
    std::vector<std::string> decisions;
    EXPECT_EQ(choose_machine({.device = DeviceChoice::cpu}, diagonal(10), decisions).gpu, nullptr);
    EXPECT_TRUE(decisions.empty());
}

TEST(ChooseMachine, WithoutAGpuRefusesOneThatIsAskedForAndDoesWithoutOneThatIsNot)
{
    if (gpu_count() > 0) GTEST_SKIP()
    << "there is a GPU";
    EXPECT_THROW(require_device(DeviceChoice::gpu), DeviceError);
    EXPECT_NO_THROW(require_device(DeviceChoice::automatic));
    std::vector<std::string> decisions;
    const auto               large = diagonal(static_cast<Index>(least_nnz_for_gpu(1, Rates())));
    EXPECT_THROW((void)choose_machine({.device = DeviceChoice::gpu}, large, decisions), DeviceError);
    EXPECT_EQ(choose_machine({}, large, decisions).gpu, nullptr);
    EXPECT_EQ(decisions.size(), 1u);
}

TEST(WhyNotGpu, MindsChainsOfDependentRows)
{
    PrecondFactors<> chained, wide;
    const auto       tridiagonal = gallery::build("poisson2d:n=200000,ny=1");
    chained.ilu0 = std::make_unique<Ilu0<>>(tridiagonal);
    const std::string why = why_not_gpu(tridiagonal, chained, false);
    EXPECT_NE(why.find("400000 dependent rows"), std::string::npos) << why;  // down L and up U
    wide.jacobi = std::make_unique<Jacobi<>>(tridiagonal);
    EXPECT_EQ(why_not_gpu(tridiagonal, wide, false), "");
}

TEST(DeviceNeed, IsWhatTheArraysTake)
{
    const auto          A = diagonal(100);
    const KrylovOptions krylov{.restart = 10};
    PrecondFactors<>    none, jacobi, ilu0;
    const DeviceNeed    plain = device_need(A, none, Method::cg, krylov, Precision::in_double);
    EXPECT_EQ(plain.matrix, 101u * 8 + 100 * 12);
    EXPECT_EQ(plain.factors, 0u);
    EXPECT_EQ(plain.workspace, (5 + 2) * 100u * 8);  // CG's vectors, b and x
    EXPECT_EQ(plain.total(), plain.matrix + plain.workspace);
    EXPECT_EQ(device_need(A, none, Method::gmres, krylov, Precision::in_double).workspace, (13 + 2) * 100u * 8);
    EXPECT_EQ(device_need(A, none, Method::bicg, krylov, Precision::in_double).matrix, 2 * plain.matrix);  // and Aᵀ

    jacobi.jacobi = std::make_unique<Jacobi<>>(A);
    EXPECT_EQ(device_need(A, jacobi, Method::cg, krylov, Precision::in_double).factors, 800u);

    const auto B = gallery::build("poisson2d:n=20");
    ilu0.ilu0 = std::make_unique<Ilu0<>>(B);
    const auto of = [&](Method method, Precision precision) {
        return device_need(B, ilu0, method, krylov, precision).factors;
    };
    EXPECT_GE(of(Method::cg, Precision::in_double), 12u * static_cast<std::size_t>(B.nnz() - B.rows()));
    EXPECT_LT(of(Method::cg, Precision::in_single), of(Method::cg, Precision::in_double));
    EXPECT_GT(of(Method::bicg, Precision::in_double), of(Method::cg, Precision::in_double));
}

class GpuDevice : public testing::Test {
protected:
    void SetUp() override { ILUX_SKIP_WITHOUT_GPU(); }
};

TEST_F(GpuDevice, IsRefusedMemoryBeforeAnythingIsAllocated)
{
    Gpu                    gpu;
    Cpu                    cpu;
    const auto             A = gallery::build("poisson2d:n=20");
    const PrecondFactors<> none;
    const long             before = device_use().allocations;
    test::expect_refusal<OutOfMemory>(
        [&] { GpuSystem(cpu, gpu, A, Method::cg, {}, {.memory_limit = Bytes{500}}).put(none); },
        {"500 B", "allowed", "device=cpu"});
    EXPECT_EQ(device_use().allocations, before);
}

TEST_F(GpuDevice, IsRefusedFactorsBeforeAnythingIsAllocatedForThem)
{
    Gpu              gpu;
    Cpu              cpu;
    const auto       A = gallery::build("convdiff3d:n=20");
    PrecondFactors<> factors;
    factors.mlilu = MlIlu<>::build(cpu, A, for_gpu({}));
    const DeviceNeed  need = device_need(A, factors, Method::gmres, {}, Precision::in_double);
    const std::size_t before = device_use().bytes;
    {
        GpuSystem  system(cpu, gpu, A, Method::gmres, {}, {.memory_limit = Bytes{need.matrix + need.workspace}});
        const auto put = [&] { system.put(factors); };
        test::expect_refusal<OutOfMemory>(put, {"factors", "allowed", "device=cpu"});
        EXPECT_LE(device_use().bytes - before, need.total() - need.factors / 2);
    }
    EXPECT_EQ(device_use().bytes, before);
}

TEST_F(GpuDevice, PutsTheFactorsBesideAMatrixThatIsThereAlready)
{
    Gpu                       gpu;
    Cpu                       cpu;
    const auto                A = gallery::build("convdiff3d:n=20");
    const std::vector<double> b(static_cast<std::size_t>(A.rows()), 1.);
    std::vector<double>       together(b.size()), apart(b.size());
    PrecondFactors<>          factors;
    GpuSystem                 begun(cpu, gpu, A, Method::gmres, {}, {});
    factors.mlilu = MlIlu<>::build(cpu, A, for_gpu({}));
    begun.put(factors);
    EXPECT_EQ(begun.solve(b, apart, {}).outcome, Outcome::converged);
    GpuSystem at_once(cpu, gpu, A, Method::gmres, {}, {});
    at_once.put(factors);
    (void)at_once.solve(b, together, {});
    EXPECT_TRUE(test::identical(apart, together));
    GpuSystem left(cpu, gpu, A, Method::gmres, {}, {});  // a factorization that throws leaves it so
}

TEST_F(GpuDevice, EstimateCoversWhatIsAllocated)
{
    Gpu        gpu;
    Cpu        cpu;
    const auto A = gallery::build("convdiff3d:n=20");
    for (const Method method : {Method::gmres, Method::bicg}) {
        PrecondFactors<> factors;
        factors.mlilu = MlIlu<>::build(cpu, A, for_gpu({}));
        const std::size_t before = device_use().bytes;
        GpuSystem         system(cpu, gpu, A, method, {}, {});
        system.put(factors);
        const double need = double(device_need(A, factors, method, {}, Precision::in_double).total());
        const double taken = double(device_use().bytes - before);
        EXPECT_LE(taken, need) << "method " << static_cast<int>(method);
        EXPECT_GE(taken, need / 8) << "method " << static_cast<int>(method);
    }
}

TEST_F(GpuDevice, FallsBackToDoubleWhereFloatHoldsNoFactor)
{
    Gpu                     gpu;
    Cpu                     cpu;
    const CsrMatrix<double> A = CsrMatrix<double>::from_arrays(2, 2, {0, 1, 3}, {0, 0, 1}, {1, 1e300, 1});
    PrecondFactors<>        factors;
    factors.ilu0 = std::make_unique<Ilu0<>>(A);
    GpuSystem system(cpu, gpu, A, Method::gmres, {}, {.precision = Precision::in_single});
    system.put(factors);
    EXPECT_EQ(system.report().precision, Precision::in_double);
    EXPECT_NE(system.report().remark, "");
}

}  // namespace
}  // namespace ilux

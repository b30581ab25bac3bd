// Preconditioners on a GPU against the same ones on the host.

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "ilux/gallery/gallery.hpp"
#include "ilux/precond/gpu/gpu_ilu0.hpp"
#include "ilux/precond/gpu/gpu_jacobi.hpp"
#include "ilux/precond/gpu/gpu_mlilu.hpp"
#include "ilux/precond/mlilu/mlilu_levels.hpp"
#include "ilux/tests/precond/gpu/apply_checks.hpp"
#include "ilux/tests/support/gpu_test.hpp"

namespace ilux {
namespace {

using namespace test::precond;

using test::eps;
using test::identical;

constexpr double float_eps = std::numeric_limits<float>::epsilon();

DeviceBuffer<double> on_device(Gpu& gpu, const Vector& host)
{
    DeviceBuffer<double> device(host.size());
    upload<double>(gpu, host, device);
    return device;
}

Vector applied_by(Gpu& gpu, Preconditioner<Gpu>& M, const Vector& r, bool transposed = false)
{
    const auto           dr = on_device(gpu, r);
    DeviceBuffer<double> dz = on_device(gpu, Vector(r.size(), std::nan("")));
    if (transposed) M.apply_adjoint(gpu, dr, dz);
    else M.apply(gpu, dr, dz);
    Vector z(r.size());
    download<double>(gpu, dz, z);
    return z;
}

class GpuPrecond : public test::GpuTest {
protected:
    Cpu cpu;
};

std::vector<Named> named_matrices()
{
    std::vector<Named> all{{"poisson2d", gallery::poisson2d(40, 37)},
                           {"convdiff3d", gallery::convdiff3d({.n = 12})},
                           {"recirculating2d", gallery::recirculating2d({.n = 40})},
                           {"stokes2d", gallery::stokes2d({.n = 8})},
                           {"random", random_regular(500, 4, 1)}};
    for (Index n : {0, 1, 2, 33})
        for (auto& named : regular_matrices(n, n + 3)) all.push_back(std::move(named));
    for (auto& [name, A] : all) name += " of order " + std::to_string(A.rows());
    return all;
}

/// One level and many, both variants and a mixture, with a dense level of up to some hundred rows.
std::vector<MlIluOptions> varied_options()
{
    std::vector<MlIluOptions> all;
    for (OffDiagonal off_diagonal : {OffDiagonal::keep, OffDiagonal::save, OffDiagonal::automatic}) {
        all.push_back({.off_diagonal = off_diagonal});
        all.push_back({.inverse_bound = 1.5, .off_diagonal = off_diagonal, .dense_order = 0});
        all.push_back(
            {.drop_tol = 0, .schur_drop_tol = 0, .inverse_bound = 2, .off_diagonal = off_diagonal, .dense_order = 300});
        all.push_back({.drop_tol = 0.3, .inverse_bound = 1e300, .growth_bound = 0, .off_diagonal = off_diagonal});
    }
    for (auto& options : all) options.setup = MlIluSetup::crout;
    all.push_back({.setup = MlIluSetup::rounds});
    return all;
}

TEST_F(GpuPrecond, MlIluAppliesWhatItsSystemsSay)
{
    for (const auto& [name, A] : named_matrices())
        for (const auto& options : varied_options()) {
            const auto               mlilu = build(A, options);
            GpuMlIluPreconditioner<> M(gpu(), gpu_mlilu(cpu, gpu(), mlilu, {.adjoinable = true}));
            const Vector             r = test::random_vector(A.rows(), 5);
            for (bool transposed : {false, true}) {
                const auto systems = systems_of<double>(mlilu, transposed);
                EXPECT_TRUE(within(applied_by(gpu(), M, r, transposed), applied_systems(systems, r), 20 * eps,
                                   majorant(systems, r)))
                    << name << (transposed ? ", transposed, " : ", ") << mlilu.factors().levels.size()
                    << " levels, dense " << systems.dense;
            }
        }
}

TEST_F(GpuPrecond, MlIluAppliesWhatTheCpuApplies)
{
    for (const auto& A : {gallery::convdiff3d({.n = 14}), gallery::recirculating2d({.n = 60})})
        for (OffDiagonal off_diagonal : {OffDiagonal::keep, OffDiagonal::save}) {
            const auto               mlilu = build(A, {.inverse_bound = 3, .off_diagonal = off_diagonal});
            MlIluPreconditioner      on_cpu(mlilu);
            GpuMlIluPreconditioner<> M(gpu(), gpu_mlilu(cpu, gpu(), mlilu, {.adjoinable = true}));
            const Vector             r = test::random_vector(A.rows(), 5);
            for (bool transposed : {false, true})
                EXPECT_LE(test::relative_difference(applied_by(gpu(), M, r, transposed),
                                                    test::precond::applied(on_cpu, r, transposed)),
                          A.rows() * eps);
        }
}

TEST_F(GpuPrecond, MlIluInSinglePrecisionErrsByItsRoundingAlone)
{
    for (const auto& A : {gallery::convdiff3d({.n = 12}), gallery::recirculating2d({.n = 40})})
        for (OffDiagonal off_diagonal : {OffDiagonal::keep, OffDiagonal::save}) {
            const auto                    mlilu = build(A, {.inverse_bound = 3, .off_diagonal = off_diagonal});
            const auto                    single = gpu_mlilu<float>(cpu, gpu(), mlilu, {.adjoinable = true});
            GpuMlIluPreconditioner<float> M(gpu(), single);
            const Vector                  r = test::random_vector(A.rows(), 5);
            for (bool transposed : {false, true}) {
                const auto   systems = systems_of<double>(mlilu, transposed);
                const auto   rounded = systems_of<float>(mlilu, transposed);
                const Vector z = applied_by(gpu(), M, r, transposed), bound = majorant(systems, r);
                EXPECT_TRUE(within(z, applied_systems(rounded, r), 20 * eps, bound));  // sums and vectors are double
                EXPECT_TRUE(within(z, applied_systems(systems, r), float_eps, bound));
            }
            EXPECT_LT(single.report().bytes, gpu_mlilu(cpu, gpu(), mlilu, {.adjoinable = true}).report().bytes);
        }
}

TEST_F(GpuPrecond, EveryEngineAppliesMlIlu)
{
    const auto A = gallery::recirculating2d({.n = 40});
    for (OffDiagonal off_diagonal : {OffDiagonal::keep, OffDiagonal::save}) {
        const auto   mlilu = build(A, {.inverse_bound = 3, .off_diagonal = off_diagonal});
        const auto   systems = systems_of<double>(mlilu, false);
        const Vector r = test::random_vector(A.rows(), 5), z = applied_systems(systems, r),
                     bound = majorant(systems, r);
        for (auto engine : {GpuSpTrsvEngine::automatic, GpuSpTrsvEngine::chunked, GpuSpTrsvEngine::syncfree,
                            GpuSpTrsvEngine::level_graph, GpuSpTrsvEngine::level_set, GpuSpTrsvEngine::cusparse}) {
            GpuMlIluPreconditioner<> M(gpu(), gpu_mlilu(cpu, gpu(), mlilu, {.engine = engine}));
            EXPECT_TRUE(within(applied_by(gpu(), M, r), z, 20 * eps, bound)) << field_text(engine);
        }
    }
}

TEST_F(GpuPrecond, RepeatsBitForBit)
{
    const auto A = gallery::convdiff3d({.n = 16});
    for (OffDiagonal off_diagonal : {OffDiagonal::keep, OffDiagonal::save}) {
        const auto               mlilu = build(A, {.inverse_bound = 3, .off_diagonal = off_diagonal});
        GpuMlIluPreconditioner<> M(gpu(), gpu_mlilu(cpu, gpu(), mlilu));
        const Vector             r = test::random_vector(A.rows(), 5), z = applied_by(gpu(), M, r);
        for (int run = 0; run < 100; ++run) ASSERT_TRUE(identical(applied_by(gpu(), M, r), z)) << "run " << run;
    }
}

TEST_F(GpuPrecond, SharesItsFactorsAmongStreams)
{
    const auto A = gallery::recirculating2d({.n = 60});
    for (OffDiagonal off_diagonal : {OffDiagonal::keep, OffDiagonal::save}) {
        const auto   mlilu = build(A, {.inverse_bound = 3, .off_diagonal = off_diagonal});
        const auto   shared = gpu_mlilu(cpu, gpu(), mlilu);
        const Vector r[] = {test::random_vector(A.rows(), 1), test::random_vector(A.rows(), 2)};
        Vector       alone[2], together[2][20];
        for (int k : {0, 1}) {
            GpuMlIluPreconditioner<> M(gpu(), shared);
            alone[k] = applied_by(gpu(), M, r[k]);
        }
        {
            std::vector<std::jthread> threads;
            for (int k : {0, 1})
                threads.emplace_back([&, k] {
                    Gpu                      stream;
                    GpuMlIluPreconditioner<> M(stream, shared);
                    for (auto& z : together[k]) z = applied_by(stream, M, r[k]);
                });
        }
        for (int k : {0, 1})
            for (const auto& z : together[k]) ASSERT_TRUE(identical(z, alone[k]));
    }
}

TEST_F(GpuPrecond, EndsAndSpreadsNaN)
{
    const auto A = gallery::convdiff3d({.n = 10});
    for (OffDiagonal off_diagonal : {OffDiagonal::keep, OffDiagonal::save}) {
        const auto               mlilu = build(A, {.inverse_bound = 3, .off_diagonal = off_diagonal});
        GpuMlIluPreconditioner<> M(gpu(), gpu_mlilu(cpu, gpu(), mlilu));
        const Vector             r = test::random_vector(A.rows(), 5), z = applied_by(gpu(), M, r);
        for (Index bad : {0, A.rows() / 2, A.rows() - 1}) {
            Vector broken = r;
            broken[bad] = std::nan("");
            const Vector found = applied_by(gpu(), M, broken),
                         expected = applied_systems(systems_of<double>(mlilu, false), broken);
            for (Index i = 0; i < A.rows(); ++i)
                ASSERT_EQ(std::isnan(found[i]), std::isnan(expected[i])) << "row " << i << ", NaN in " << bad;
            EXPECT_TRUE(std::ranges::any_of(found, [](double value) { return std::isnan(value); }));
        }
        EXPECT_TRUE(identical(applied_by(gpu(), M, r), z));  // nothing of it stays behind
    }
}

TEST_F(GpuPrecond, AllocatesNothingOnTheDeviceWhileSolving)
{
    const auto A = gallery::recirculating2d({.n = 30});
    for (OffDiagonal off_diagonal : {OffDiagonal::keep, OffDiagonal::save}) {
        const auto               mlilu = build(A, {.inverse_bound = 3, .off_diagonal = off_diagonal});
        GpuMlIluPreconditioner<> M(gpu(), gpu_mlilu(cpu, gpu(), mlilu, {.adjoinable = true}));
        auto                     r = on_device(gpu(), test::random_vector(A.rows(), 1));
        DeviceBuffer<double>     z(r.size());
        const long               device = device_use().allocations;
        M.apply(gpu(), r, z);
        M.apply_adjoint(gpu(), r, z);
        gpu().synchronize();
        EXPECT_EQ(device_use().allocations, device);
    }
}

TEST_F(GpuPrecond, CapturesWhileAnotherThreadFreesBuffers)
{
    const auto       A = gallery::recirculating2d({.n = 60});
    const auto       factors = gpu_mlilu(cpu, gpu(), build(A, {.inverse_bound = 2, .off_diagonal = OffDiagonal::save}));
    std::atomic<int> failures = 0;
    const auto       repeat = [&](const auto& work) {
        try {
            Gpu own;
            own.make_current();
            for (int k = 0; k < 200; ++k) work(own);
        } catch (const Error&) {
            ++failures;
        }
    };
    std::thread capturing([&] { repeat([&](Gpu& own) { GpuMlIluPreconditioner<> M(own, factors); }); });
    std::thread freeing([&] { repeat([](Gpu&) { DeviceBuffer<double> buffer(1000); }); });
    capturing.join();
    freeing.join();
    EXPECT_EQ(failures, 0);
}

TEST_F(GpuPrecond, SolvesOnTheLegacyDefaultStreamWhichNoGraphCaptures)
{
    const auto   A = gallery::recirculating2d({.n = 60});
    const auto   mlilu = build(A, {.off_diagonal = OffDiagonal::save});
    const auto   r = test::random_vector(A.rows(), 3);
    Gpu          on_default(0, nullptr);
    const Vector expected = [&] {
        GpuMlIluPreconditioner<> M(gpu(), gpu_mlilu(cpu, gpu(), mlilu));
        return applied_by(gpu(), M, r);
    }();
    for (const auto engine : {GpuSpTrsvEngine::automatic, GpuSpTrsvEngine::level_graph}) {
        GpuMlIluPreconditioner<> M(on_default, gpu_mlilu(cpu, on_default, mlilu, {.engine = engine}));
        EXPECT_LE(test::relative_difference(applied_by(on_default, M, r), expected), 1e-10);
    }
}

TEST_F(GpuPrecond, RefusesWhatDoesNotFit)
{
    const auto A = gallery::recirculating2d({.n = 60});
    const auto mlilu = build(A, for_gpu({}));
    const long before = device_use().allocations;
    test::expect_refusal<OutOfMemory>([&] { gpu_mlilu(cpu, gpu(), mlilu, {.memory_limit = {1000}}); },
                                      {"1000", "device memory", "allowed"});
    EXPECT_EQ(device_use().allocations, before);
    const auto               made = gpu_mlilu(cpu, gpu(), mlilu);
    const auto               foretold = apply_size(mlilu.factors()).bytes(sizeof(double), sizeof(double));
    GpuMlIluPreconditioner<> M(gpu(), made);
    const auto               taken = made.report().bytes + M.workspace_bytes();
    EXPECT_LE(taken, foretold);
    EXPECT_GE(taken, foretold / 8);
}

TEST_F(GpuPrecond, RefusesMisuse)
{
    const auto               mlilu = build(gallery::poisson2d(6, 6));
    GpuMlIluPreconditioner<> M(gpu(), gpu_mlilu(cpu, gpu(), mlilu));
    test::expect_refusal([&] { applied_by(gpu(), M, Vector(35)); }, {"35", "order 36"});
    test::expect_refusal([&] { applied_by(gpu(), M, Vector(36), true); }, {"adjoint"});
    const Ilu0<> broken(dense(3, {0, 2, 0, 1, 3, 1, 4, 0, 5}));
    test::expect_refusal([&] { gpu_ilu0(cpu, gpu(), broken); }, {"zero pivot"});
    GpuJacobi jacobi(gpu(), Jacobi(gallery::poisson2d(6, 6)));
    test::expect_refusal([&] { applied_by(gpu(), jacobi, Vector(35)); }, {"35", "order 36"});
}

TEST_F(GpuPrecond, ReportsWhatItPutThere)
{
    const auto  mlilu = build(gallery::recirculating2d({.n = 40}), for_gpu({}));
    const auto  made = gpu_mlilu(cpu, gpu(), mlilu);
    const auto& report = made.report();
    ASSERT_EQ(report.systems.size(), 2u);
    EXPECT_EQ(report.systems[0].facts.n, 1600);
    EXPECT_EQ(report.systems[0].facts.nnz + report.systems[1].facts.nnz, apply_size(mlilu.factors()).entries);
    EXPECT_EQ(report.dense, mlilu.factors().dense.size());
    EXPECT_GT(report.bytes, 12u * static_cast<std::size_t>(report.systems[0].facts.nnz));
    EXPECT_GT(report.seconds_upload, 0);
}

TEST_F(GpuPrecond, Ilu0AppliesWhatTheCpuApplies)
{
    for (Index n : {0, 1, 33, 2000})
        for (bool transposed : {false, true}) {
            Ilu0<>                  on_cpu(test::random_dominant(n, 4, n));
            const Vector            r = test::random_vector(n, 3), z = test::precond::applied(on_cpu, r, transposed);
            const auto              bound = majorant(apply_systems<double>(cpu, on_cpu, transposed), r);
            GpuIlu0Preconditioner<> M(gpu(), gpu_ilu0(cpu, gpu(), on_cpu, {.adjoinable = true}));
            GpuIlu0Preconditioner<float> single(gpu(), gpu_ilu0<float>(cpu, gpu(), on_cpu, {.adjoinable = true}));
            EXPECT_TRUE(within(applied_by(gpu(), M, r, transposed), z, 10 * eps, bound)) << "n = " << n;
            EXPECT_TRUE(within(applied_by(gpu(), single, r, transposed), z, 2 * float_eps, bound)) << "n = " << n;
        }
}

TEST_F(GpuPrecond, JacobiAppliesWhatTheCpuApplies)
{
    for (Index n : {0, 1, 31, 32, 33, 300'000}) {
        Jacobi<>     on_cpu(test::random_dominant(n, 1, 1));
        GpuJacobi    M(gpu(), on_cpu);
        const Vector r = test::random_vector(n, 2);
        EXPECT_EQ(M.size(), n);
        EXPECT_TRUE(identical(applied_by(gpu(), M, r), test::precond::applied(on_cpu, r)));
        EXPECT_TRUE(identical(applied_by(gpu(), M, r, true), test::precond::applied(on_cpu, r)));
    }
}

}  // namespace
}  // namespace ilux

// LinearSolver with b and x of a GPU: the bits of the host's arrays, and few bytes between host and device.

#include <gtest/gtest.h>

#include <complex>
#include <vector>

#include "ilux/base/gpu/device_copy.hpp"
#include "ilux/base/gpu/host_transfers.hpp"
#include "ilux/gallery/gallery.hpp"
#include "ilux/solver/linear_solver.hpp"
#include "ilux/tests/solver/slow_lu.hpp"
#include "ilux/tests/support/checks.hpp"
#include "ilux/tests/support/real_form.hpp"

namespace ilux {
namespace {

using namespace ilux::test;

class GpuDeviceArrays : public testing::Test {
protected:
    void SetUp() override { ILUX_SKIP_WITHOUT_GPU(); }
};

constexpr std::size_t few_bytes = 4096;

/// What becomes of arrays of the device.
enum class Path {
    stay,    ///< there, and so does x
    set_up,  ///< the same, and what stands there for later ones is brought first
    by_the_host,
    either
};

/// Two solvers of one system: arrays of the host for one, of the device for the other.
template <class S>
struct Twins {
    Twins(const CsrMatrix<S>& A, const SolverOptions& options, double systems = 1) : host(options), device(options)
    {
        host.analyse(A, systems);
        device.analyse(A, systems);
        EXPECT_TRUE(host.factor().ready());
        EXPECT_TRUE(device.factor().ready());
    }

    /// Solves by both.
    void expect_same(const std::vector<S>& b, Path path, Transpose transpose = Transpose::no,
                     const std::vector<S>& guess = {})
    {
        std::vector<S> x = guess.empty() ? std::vector<S>(b.size()) : guess;
        auto           device_b = on_device<S>(gpu, b), device_x = on_device<S>(gpu, x);
        const auto     by_host = host.solve(b, x, transpose);
        const auto     before = host_transfers();
        const auto     by_device = device.solve({gpu, device_b}, {gpu, device_x}, transpose);
        if (path == Path::stay) {
            EXPECT_LE(host_transfers().total() - before.total(), few_bytes);
        }
        EXPECT_TRUE(on_host<S>(gpu, device_x) == x);
        EXPECT_EQ(by_device.outcome(), by_host.outcome()) << by_device.why();
        EXPECT_EQ(by_device.steps(), by_host.steps());
        const double size = by_host.relative_residual();
        EXPECT_NEAR(by_device.relative_residual(), size, 1e-10 * size);
        EXPECT_EQ(by_device.result().warning, by_host.result().warning);
        if (path != Path::either) {
            EXPECT_EQ(by_device.result().x.size(), path == Path::by_the_host ? b.size() : 0);
        }
    }

    Gpu             gpu;
    LinearSolver<S> host, device;
};

SolverOptions options_of(MethodChoice method)
{
    SolverOptions options{.method = method, .device = DeviceChoice::gpu, .threads = 1};
    return options;
}

/// M⁻¹, M⁻ᵀ and M⁻ᴴ, by both; where it was all set up before.
template <class S>
void expect_same_preconditioned(Twins<S>& twins, const std::vector<S>& r)
{
    std::vector<S> z(r.size());
    const auto     device_r = on_device<S>(twins.gpu, r);
    auto           device_z = DeviceBuffer<S>(r.size());
    for (const Transpose transpose : {Transpose::no, Transpose::yes, Transpose::adjoint}) {
        twins.host.precondition(r, z, transpose);
        const auto before = host_transfers();
        twins.device.precondition({twins.gpu, device_r}, {twins.gpu, device_z}, transpose);
        EXPECT_LE(host_transfers().total() - before.total(), few_bytes);
        EXPECT_TRUE(on_host<S>(twins.gpu, device_z) == z);
    }
}

TEST_F(GpuDeviceArrays, StayThereForEveryMethod)
{
    using enum MethodChoice;
    const auto A = gallery::build("poisson2d:n=60");
    for (const auto method : {gmres, bicgstab, bicg, cg, minres, sqmr, lu}) {
        Twins<double> twins(A, options_of(method), 3);
        for (int k = 1; k <= 2; ++k) twins.expect_same(random_vector(A.rows(), k), k == 1 ? Path::set_up : Path::stay);
    }
}

TEST_F(GpuDeviceArrays, StayThereForEveryPreconditioner)
{
    const auto A = gallery::build("convdiff2d:n=60");
    for (const auto kind : {PrecondKind::mlilu, PrecondKind::ilu0, PrecondKind::jacobi, PrecondKind::none}) {
        SolverOptions options = options_of(MethodChoice::gmres);
        options.precond.kind = kind;
        Twins<double> twins(A, options);
        twins.expect_same(random_vector(A.rows(), 1), Path::stay);
    }
}

TEST_F(GpuDeviceArrays, StayThereWhileCorrectionsAreMade)
{
    const auto A = gallery::build("convdiff2d:n=60");
    for (const StopTest stop : {StopTest::rowwise, StopTest::error, StopTest::backward_error}) {
        SolverOptions options = options_of(MethodChoice::gmres);
        options.krylov.stop = stop;
        options.krylov.rtol = 1e-6;
        Twins<double> twins(A, options);
        twins.expect_same(random_vector(A.rows(), 1), Path::stay);
    }
    const test::SlowLu slow;  // so that auto iterates
    SolverOptions      automatic{.mode = SolverMode::automatic, .device = DeviceChoice::gpu, .threads = 1};
    const auto         cube = gallery::build("convdiff3d:n=24");
    Twins<double>      twins(cube, automatic);
    twins.expect_same(random_vector(24 * 24 * 24, 1), Path::set_up);
    twins.expect_same(random_vector(24 * 24 * 24, 2), Path::stay);
}

TEST_F(GpuDeviceArrays, StayThereInMixedPrecision)
{
    const auto A = gallery::build("convdiff2d:n=40");
    for (const auto kind : {PrecondKind::mlilu, PrecondKind::jacobi}) {
        SolverOptions mixed = options_of(MethodChoice::gmres);
        mixed.precond.kind = kind;
        mixed.krylov.precision = KrylovPrecision::mixed;
        Twins<double>(A, mixed).expect_same(random_vector(A.rows(), 1), Path::stay);
        Twins<Complex>(turned(A, 3), mixed).expect_same(random_complex_vector(A.rows(), 1), Path::stay);
        mixed.krylov.stop = StopTest::rowwise;  // which takes corrections
        Twins<double>(A, mixed).expect_same(random_vector(A.rows(), 1), Path::either);
        mixed.krylov.max_steps = 3;
        mixed.retry = false;
        Twins<double>(A, mixed).expect_same(random_vector(A.rows(), 1), Path::by_the_host);
    }
    SolverOptions beyond = options_of(MethodChoice::gmres);  // of what single precision reaches
    beyond.krylov.precision = KrylovPrecision::mixed;
    const auto B = gallery::build("anisotropic2d:n=60");
    Twins<double>(B, beyond).expect_same(random_vector(B.rows(), 1), Path::either);
}

TEST_F(GpuDeviceArrays, OfComplexNumbers)
{
    const auto A = turned(gallery::build("convdiff2d:n=40"), 3);
    const auto b = random_complex_vector(A.rows(), 1);
    for (const auto method : {MethodChoice::gmres, MethodChoice::lu}) {
        Twins<Complex> twins(A, options_of(method), 3);
        twins.expect_same(b, Path::set_up);
        twins.expect_same(b, Path::stay);
        twins.expect_same(b, Path::set_up, Transpose::adjoint);
        twins.expect_same(b, Path::stay, Transpose::adjoint);
        twins.expect_same(b, Path::stay, Transpose::yes);
        expect_same_preconditioned(twins, b);
    }
}

TEST_F(GpuDeviceArrays, WithTheTranspose)
{
    const auto    A = gallery::build("convdiff2d:n=40");
    const auto    b = random_vector(A.rows(), 1);
    Twins<double> iterative(A, options_of(MethodChoice::gmres)), direct(A, options_of(MethodChoice::lu), 3);
    iterative.expect_same(b, Path::set_up, Transpose::yes);
    iterative.expect_same(b, Path::stay, Transpose::yes);
    for (const auto transpose : {Transpose::yes, Transpose::adjoint}) {
        direct.expect_same(b, transpose == Transpose::yes ? Path::set_up : Path::stay, transpose);
        direct.expect_same(b, Path::stay, transpose);
    }
    std::vector<double> values(A.val().begin(), A.val().end());
    for (double& one : values) one *= 1.5;  // the rows of Aᵀ are of the last values
    EXPECT_TRUE(direct.host.refactor(values).ready());
    EXPECT_TRUE(direct.device.refactor({direct.gpu, on_device<double>(direct.gpu, values)}).ready());
    direct.expect_same(b, Path::stay, Transpose::yes);
    direct.expect_same(b, Path::set_up);
    direct.expect_same(b, Path::stay);
}

TEST_F(GpuDeviceArrays, TakeXAsAGuessWhereAsked)
{
    const auto    A = gallery::build("convdiff2d:n=40");
    SolverOptions options = options_of(MethodChoice::gmres);
    options.sequence.reuse_x = true;
    Twins<double>       twins(A, options);
    const auto          b = random_vector(A.rows(), 1);
    std::vector<double> x(b.size()), broken(b.size(), nan);
    EXPECT_TRUE(twins.host.solve(b, x).converged());
    twins.expect_same(b, Path::stay, Transpose::no, x);
    twins.expect_same(b, Path::stay, Transpose::no, broken);  // not finite: from 0
}

TEST_F(GpuDeviceArrays, PassThroughTheHostWhereItHasTheLastWord)
{
    const auto A = gallery::build("convdiff2d:n=40");
    auto       b = random_vector(A.rows(), 1);
    for (double& one : b) one *= 1e-250;  // sums of such numbers are scaled
    for (const auto method : {MethodChoice::gmres, MethodChoice::lu}) {
        Twins<double> twins(A, options_of(method), 3);
        twins.expect_same(b, Path::by_the_host);
    }
    SolverOptions few_steps = options_of(MethodChoice::gmres);
    few_steps.krylov.max_steps = 2;
    few_steps.retry = false;
    Twins<double>(A, few_steps).expect_same(random_vector(A.rows(), 1), Path::by_the_host);
    SolverOptions retried = options_of(MethodChoice::gmres);
    retried.precond.kind = PrecondKind::none;
    retried.krylov.max_steps = 5;
    Twins<double>(A, retried).expect_same(random_vector(A.rows(), 1), Path::either);
    SolverOptions cpu{.method = MethodChoice::gmres, .device = DeviceChoice::cpu, .threads = 1};
    Twins<double>(A, cpu).expect_same(random_vector(A.rows(), 1), Path::by_the_host);
}

TEST_F(GpuDeviceArrays, PassThroughTheHostWhereTheDeviceHasNoRoomToMeasure)
{
    const auto    A = gallery::build("convdiff2d:n=60");
    SolverOptions options = options_of(MethodChoice::gmres);
    options.precond.kind = PrecondKind::jacobi;  // whose bytes are known exactly
    LinearSolver roomy(options);
    roomy.analyse(A);
    std::vector<double> b = random_vector(A.rows(), 1), x(b.size());
    const auto          report = roomy.refactor_and_solve(A.val(), b, x);
    const GpuReport&    gpu = *report.result().gpu;
    const std::size_t   held = gpu.matrix_bytes + gpu.factor_bytes + gpu.workspace_bytes, room = 64 * b.size();
    options.device_memory.value = held + room / 2;
    Twins<double>(A, options).expect_same(b, Path::by_the_host);
    options.device_memory.value = held + 2 * room;
    Twins<double>(A, options).expect_same(b, Path::stay);
}

TEST_F(GpuDeviceArrays, SolveColumnsAndPrecondition)
{
    const auto A = gallery::build("convdiff2d:n=40");
    const auto n = static_cast<std::size_t>(A.rows());
    const auto B = random_vector(8 * A.rows(), 1);
    for (const auto method : {MethodChoice::gmres, MethodChoice::lu}) {
        Twins<double>       twins(A, options_of(method), 3);
        std::vector<double> X(B.size()), z(n);
        auto                device_B = on_device<double>(twins.gpu, B);
        auto                device_X = DeviceBuffer<double>(B.size()), device_z = DeviceBuffer<double>(n);
        (void)twins.host.solve_columns(B, X);
        (void)twins.device.solve({twins.gpu, DeviceSpan<const double>(device_B).first(n)}, {twins.gpu, device_z});
        auto       before = host_transfers();
        const auto reports = twins.device.solve_columns({twins.gpu, device_B}, {twins.gpu, device_X});
        EXPECT_LE(host_transfers().total() - before.total(), 8 * few_bytes);
        ASSERT_EQ(reports.size(), 8u);
        for (const auto& report : reports) EXPECT_TRUE(report.converged());
        EXPECT_TRUE(identical(on_host<double>(twins.gpu, device_X), X));
        for (const Transpose transpose : {Transpose::no, Transpose::yes}) {
            twins.host.precondition(std::span(B).first(n), z, transpose);
            twins.device.precondition({twins.gpu, DeviceSpan<const double>(device_B).first(n)}, {twins.gpu, device_z},
                                      transpose);
            before = host_transfers();
            twins.device.precondition({twins.gpu, DeviceSpan<const double>(device_B).first(n)}, {twins.gpu, device_z},
                                      transpose);
            EXPECT_LE(host_transfers().total() - before.total(), few_bytes);
            EXPECT_TRUE(identical(on_host<double>(twins.gpu, device_z), z));
        }
    }
}

TEST_F(GpuDeviceArrays, ValuesAreBroughtToTheHostOnlyOnceForAnLu)
{
    const auto    A = gallery::build("convdiff2d:n=40");
    const auto    b = random_vector(A.rows(), 1);
    Twins<double> twins(A, options_of(MethodChoice::lu), 5);
    for (int k = 1; k <= 4; ++k) {
        std::vector<double> values(A.val().begin(), A.val().end());
        for (double& one : values) one *= 1 + 0.01 * k;
        const auto there = on_device<double>(twins.gpu, values);
        EXPECT_TRUE(twins.host.refactor(values).ready());
        const HostTransfers before = host_transfers();
        EXPECT_TRUE(twins.device.refactor({twins.gpu, there}).ready());
        const HostTransfers after = host_transfers();
        EXPECT_LE(after.to_host - before.to_host, 8 * values.size() + few_bytes);
        EXPECT_LE(after.to_device - before.to_device, few_bytes);
        twins.expect_same(b, Path::set_up);
    }
    std::vector<double> bad(A.val().size(), nan);
    const auto          there = on_device<double>(twins.gpu, bad);
    expect_refusal([&] { (void)twins.device.refactor({twins.gpu, there}); }, {"nan"});
    twins.expect_same(b, Path::stay);  // the former numbers
}

TEST_F(GpuDeviceArrays, AreReadAndWrittenInTheOrderOfTheCallersStream)
{
    const auto           A = gallery::build("convdiff2d:n=100");
    const auto           n = static_cast<std::size_t>(A.rows());
    Twins<double>        twins(A, options_of(MethodChoice::gmres));
    DeviceBuffer<double> b(n), x(n), seen(n);
    std::vector<double>  ones(n, 1), of_ones(n);
    (void)twins.host.solve(ones, of_ones);
    for (int k = 0; k < 20; ++k) {
        for (int again = 0; again < 200; ++again) fill<double>(twins.gpu, again == 199 ? 1 : 7, b);
        EXPECT_TRUE(twins.device.solve({twins.gpu, b}, {twins.gpu, x}).converged());
        copy<double>(twins.gpu, x, seen);
        fill<double>(twins.gpu, nan, x);
        EXPECT_TRUE(identical(on_host<double>(twins.gpu, seen), of_ones));
        twins.device.precondition({twins.gpu, b}, {twins.gpu, x});  // returns before it is done
        fill<double>(twins.gpu, nan, b);
        copy<double>(twins.gpu, x, seen);
        std::vector<double> z(n);
        twins.host.precondition(ones, z);
        EXPECT_TRUE(identical(on_host<double>(twins.gpu, seen), z));
    }
}

TEST_F(GpuDeviceArrays, AreRefusedWhereTheHostsAre)
{
    const auto    A = gallery::build("convdiff2d:n=20");
    Twins<double> twins(A, options_of(MethodChoice::gmres));
    auto          values = random_vector(A.rows(), 1);
    values[5] = nan;
    auto bad = on_device<double>(twins.gpu, values), x = on_device<double>(twins.gpu, values);
    expect_refusal([&] { (void)twins.device.solve({twins.gpu, bad}, {twins.gpu, x}); }, {"b is not finite"});
    expect_refusal([&] { (void)twins.device.solve_columns({twins.gpu, bad}, {twins.gpu, x}); }, {"B is not finite"});
    expect_refusal(
        [&] {
            (void)twins.device.solve({twins.gpu, DeviceSpan<const double>(bad).first(3)}, {twins.gpu, x});
        },
        {"3"});
    expect_refusal(
        [&] {
            twins.device.precondition({twins.gpu, DeviceSpan<const double>(bad).first(3)}, {twins.gpu, x});
        },
        {"3"});
    LinearSolver fresh(options_of(MethodChoice::gmres));
    EXPECT_THROW((void)fresh.solve({twins.gpu, bad}, {twins.gpu, x}), InvalidInput);
}

TEST_F(GpuDeviceArrays, XMayBeB)
{
    const auto A = gallery::build("convdiff2d:n=40");
    const auto b = random_vector(A.rows(), 1);
    for (const auto method : {MethodChoice::gmres, MethodChoice::lu}) {
        Twins<double>       twins(A, options_of(method), 3);
        std::vector<double> x(b.size());
        (void)twins.host.solve(b, x);
        auto both = on_device<double>(twins.gpu, b);
        EXPECT_TRUE(twins.device.solve({twins.gpu, both}, {twins.gpu, both}).converged());
        EXPECT_TRUE(identical(on_host<double>(twins.gpu, both), x));
    }
}

}  // namespace
}  // namespace ilux

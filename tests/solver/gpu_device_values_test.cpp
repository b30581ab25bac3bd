// LinearSolver with values of a GPU for an iteration: they stay there, and the host gets them where it has to look at
// them.

#include <gtest/gtest.h>

#include <complex>
#include <vector>

#include "ilux/base/gpu/device_copy.hpp"
#include "ilux/base/gpu/host_transfers.hpp"
#include "ilux/gallery/gallery.hpp"
#include "ilux/solver/linear_solver.hpp"
#include "ilux/tests/support/checks.hpp"
#include "ilux/tests/support/real_form.hpp"

namespace ilux {
namespace {

using namespace ilux::test;

class GpuDeviceValues : public testing::Test {
protected:
    void SetUp() override { ILUX_SKIP_WITHOUT_GPU(); }
};

constexpr std::size_t bytes_of_numbers = 4096;

SolverOptions gmres_with(MlIluSetup setup, bool refreshed)
{
    SolverOptions options{.method = MethodChoice::gmres, .device = DeviceChoice::gpu, .threads = 1};
    options.precond.mlilu.setup = setup;
    options.sequence.refresh_always = refreshed;
    return options;
}

/// Two solvers of one series: values of the host for one, of the device for the other.
template <class S>
struct TwinSeries {
    TwinSeries(const CsrMatrix<S>& of, const SolverOptions& options) : A(of), host(options), device(options)
    {
        host.analyse(A, 10);
        device.analyse(A, 10);
        EXPECT_TRUE(host.factor().ready());
        EXPECT_TRUE(device.factor().ready());
    }

    std::vector<S> values(double factor) const
    {
        std::vector<S> scaled(A.val().begin(), A.val().end());
        for (S& one : scaled) one *= factor;
        return scaled;
    }

    /// By both; the caller's array changes right after. @return what crossed for that of the device
    HostTransfers refactor(const std::vector<S>& values)
    {
        auto there = on_device<S>(gpu, values);
        EXPECT_TRUE(host.refactor(values).ready());
        const HostTransfers before = host_transfers();
        EXPECT_TRUE(device.refactor({gpu, there}).ready());
        const HostTransfers after = host_transfers();
        fill<S>(gpu, S(nan), there);
        EXPECT_EQ(device.factored_by().action, host.factored_by().action);
        return {after.to_device - before.to_device, after.to_host - before.to_host};
    }

    void expect_same(const std::vector<S>& b, Transpose transpose = Transpose::no)
    {
        std::vector<S> x(b.size()), y(b.size());
        const auto     by_host = host.solve(b, x, transpose), by_device = device.solve(b, y, transpose);
        EXPECT_EQ(by_device.outcome(), by_host.outcome()) << by_device.why();
        EXPECT_EQ(by_device.steps(), by_host.steps());
        EXPECT_TRUE(x == y);
        EXPECT_EQ(by_device.result().warning, by_host.result().warning);
    }

    CsrMatrix<S>    A;
    Gpu             gpu;
    LinearSolver<S> host, device;
};

TEST_F(GpuDeviceValues, StayThereWhileMIsKept)
{
    const auto A = gallery::build("convdiff2d:n=60");
    for (const auto setup : {MlIluSetup::crout, MlIluSetup::rounds}) {
        TwinSeries<double> twins(A, gmres_with(setup, false));
        for (int k = 1; k <= 3; ++k) {
            const auto crossed = twins.refactor(twins.values(1 + 0.01 * k));
            EXPECT_EQ(twins.device.factored_by().action, SolverAction::lagged);
            EXPECT_LE(crossed.to_host + crossed.to_device, bytes_of_numbers);
            twins.expect_same(random_vector(A.rows(), k));
        }
    }
}

TEST_F(GpuDeviceValues, StayThereWhileMIsMadeInRounds)
{
    const auto         A = gallery::build("convdiff2d:n=100");
    TwinSeries<double> twins(A, gmres_with(MlIluSetup::rounds, true));
    for (int k = 1; k <= 3; ++k) {
        const auto crossed = twins.refactor(twins.values(1 + 0.01 * k));
        EXPECT_EQ(twins.device.factored_by().action, SolverAction::refresh);
        EXPECT_LE(crossed.to_host, 2 * A.val().size());  // of 8: what the rounds are chosen by
        twins.expect_same(random_vector(A.rows(), k));
    }
}

TEST_F(GpuDeviceValues, AreBroughtForAnMOfTheHost)
{
    const auto A = gallery::build("convdiff2d:n=60");
    for (const auto kind : {PrecondKind::mlilu, PrecondKind::ilu0, PrecondKind::jacobi, PrecondKind::none}) {
        SolverOptions options = gmres_with(MlIluSetup::crout, true);
        options.precond.kind = kind;
        TwinSeries<double> twins(A, options);
        for (int k = 1; k <= 2; ++k) {
            const auto crossed = twins.refactor(twins.values(1 + 0.01 * k));
            const auto expected = kind == PrecondKind::none ? 0 : 8 * A.val().size();
            EXPECT_LE(crossed.to_host, expected + bytes_of_numbers);
            if (kind == PrecondKind::jacobi || kind == PrecondKind::none) {
                EXPECT_LE(crossed.to_device, 8u * A.rows() + bytes_of_numbers);  // M alone
            }
            twins.expect_same(random_vector(A.rows(), k));
        }
    }
}

TEST_F(GpuDeviceValues, AreBroughtWhereTheHostLooksAtThem)
{
    const auto         A = gallery::build("convdiff2d:n=40");
    TwinSeries<double> twins(A, gmres_with(MlIluSetup::crout, false));
    const auto         b = random_vector(A.rows(), 1);
    auto               tiny = b;
    for (double& one : tiny) one *= 1e-250;  // sums of such numbers are scaled, by the host
    int        k = 0;
    const auto anew = [&] { EXPECT_LE(twins.refactor(twins.values(1 + 0.01 * ++k)).to_host, bytes_of_numbers); };
    anew();
    EXPECT_TRUE(identical(twins.device.matrix().val(), twins.values(1 + 0.01 * k)));
    anew();
    twins.expect_same(tiny);
    twins.expect_same(b);
    anew();
    twins.expect_same(b, Transpose::yes);
    anew();
    anew();  // nobody has asked for those before
    twins.expect_same(b);
    const auto values = twins.values(2);
    EXPECT_TRUE(twins.host.refactor(values).ready());
    EXPECT_TRUE(twins.device.refactor(values).ready());  // of the host again
    twins.expect_same(b);
    EXPECT_TRUE(identical(twins.device.matrix().val(), values));
    anew();
    EXPECT_TRUE(twins.host.factor().ready());
    EXPECT_TRUE(twins.device.factor().ready());
    twins.expect_same(b);
}

TEST_F(GpuDeviceValues, ServeWhereAKeptMDoesNot)
{
    const auto A = gallery::build("convdiff2d:n=40");
    for (const auto setup : {MlIluSetup::crout, MlIluSetup::rounds}) {
        SolverOptions options = gmres_with(setup, false);
        options.krylov.max_steps = 60;
        TwinSeries<double> twins(A, options);
        const auto         b = random_vector(A.rows(), 1);
        twins.expect_same(b);
        auto values = twins.values(1);
        for (std::size_t p = 0; p < values.size(); ++p) values[p] *= p % 7 == 0 ? 30 : 1;
        EXPECT_LE(twins.refactor(values).to_host, bytes_of_numbers);
        twins.expect_same(b);
        EXPECT_TRUE(identical(twins.device.matrix().val(), values));
    }
}

TEST_F(GpuDeviceValues, ThatAreRefusedLeaveTheFormerOnes)
{
    const auto         A = gallery::build("convdiff2d:n=40");
    TwinSeries<double> twins(A, gmres_with(MlIluSetup::crout, false));
    const auto         b = random_vector(A.rows(), 1);
    (void)twins.refactor(twins.values(1.5));
    auto bad = twins.values(1);
    bad[3] = nan;
    const auto there = on_device<double>(twins.gpu, bad);
    expect_refusal([&] { (void)twins.device.refactor({twins.gpu, there}); }, {"nan"});
    expect_refusal([&] { (void)twins.device.refactor({twins.gpu, DeviceSpan<const double>(there).first(7)}); }, {"7"});
    twins.expect_same(b);
    EXPECT_TRUE(identical(twins.device.matrix().val(), twins.values(1.5)));
}

TEST_F(GpuDeviceValues, ServeTheNormThatBackwardErrorsAreMeasuredBy)
{
    const auto    A = gallery::build("convdiff2d:n=40");
    SolverOptions options = gmres_with(MlIluSetup::crout, false);
    options.krylov.stop = StopTest::backward_error;
    TwinSeries<double> twins(A, options);
    for (const double factor : {1e-200, 3., 1e200}) {
        (void)twins.refactor(twins.values(factor));
        twins.expect_same(random_vector(A.rows(), 1));
    }
}

TEST_F(GpuDeviceValues, OfOtherMethodsAndOfMixedPrecisionPassThroughTheHost)
{
    const auto    A = gallery::build("convdiff2d:n=40");
    SolverOptions with_adjoint = gmres_with(MlIluSetup::crout, false), mixed = with_adjoint;
    with_adjoint.method = MethodChoice::bicg;
    mixed.krylov.precision = KrylovPrecision::mixed;
    for (const SolverOptions& options : {with_adjoint, mixed}) {
        TwinSeries<double> twins(A, options);
        for (int k = 1; k <= 2; ++k) {
            (void)twins.refactor(twins.values(1 + 0.01 * k));
            twins.expect_same(random_vector(A.rows(), k));
        }
    }
}

TEST_F(GpuDeviceValues, OfComplexNumbers)
{
    const auto          A = turned(gallery::build("convdiff2d:n=40"), 3);
    TwinSeries<Complex> twins(A, gmres_with(MlIluSetup::automatic, false));
    for (int k = 1; k <= 3; ++k) {
        EXPECT_LE(twins.refactor(twins.values(1 + 0.01 * k)).to_host, bytes_of_numbers);
        twins.expect_same(random_complex_vector(A.rows(), k));
    }
    twins.expect_same(random_complex_vector(A.rows(), 1), Transpose::adjoint);
}

/// Row sums of 0: what is left of the diagonal of a grid without its boundary.
std::vector<double> floating(const CsrMatrix<double>& A)
{
    std::vector<double> values(A.val().begin(), A.val().end());
    for (Index i = 0; i < A.rows(); ++i) {
        double sum = 0;
        Offset diagonal = 0;
        for (Offset p = A.row_ptr()[i]; p < A.row_ptr()[i + 1]; ++p)
            if (A.col()[p] == i) diagonal = p;
            else sum -= A.val()[p];
        values[diagonal] = sum;
    }
    return values;
}

TEST_F(GpuDeviceValues, OfManyUnknownsAreJudgedThereWhileAProofHolds)
{
    const auto          A = gallery::build("poisson2d:n=160");
    TwinSeries<double>  twins(A, gmres_with(MlIluSetup::rounds, true));
    std::vector<double> b(static_cast<std::size_t>(A.rows()));
    b.front() = 1;
    b.back() = -1;
    for (int k = 1; k <= 4; ++k) {
        (void)twins.refactor(twins.values(1 + 0.01 * k));
        const HostTransfers before = host_transfers();
        std::vector<double> x(b.size());
        EXPECT_TRUE(twins.device.solve(b, x).converged());
        if (k > 1) {
            EXPECT_LE(host_transfers().to_host - before.to_host, 8 * b.size() + 10 * bytes_of_numbers);
        }
        twins.expect_same(b);
    }
    (void)twins.refactor(floating(A));
    std::vector<double> x(b.size());
    const auto          report = twins.device.solve(b, x);
    EXPECT_TRUE(!report.converged() || report.result().warning.find("up to a constant") != std::string::npos)
        << report.result().warning;
    twins.expect_same(b);
    (void)twins.refactor(twins.values(2));
    twins.expect_same(b);
}

TEST_F(GpuDeviceValues, OfTheHostAreAllThatARefactorizationBrings)
{
    const auto   A = gallery::build("convdiff2d:n=60");
    LinearSolver solver(gmres_with(MlIluSetup::crout, false));
    solver.analyse(A, 10);
    EXPECT_TRUE(solver.factor().ready());
    const HostTransfers before = host_transfers();
    EXPECT_TRUE(solver.refactor(A.val()).ready());
    EXPECT_LE(host_transfers().total() - before.total(), 8 * A.val().size() + bytes_of_numbers);
}

/// Values of the host are copied once, to where the GPU reads them, and cross once.
TEST_F(GpuDeviceValues, OfTheHostAreCopiedOnceForALu)
{
    const auto    A = gallery::power_grid({});
    SolverOptions options{.method = MethodChoice::lu, .device = DeviceChoice::gpu, .threads = 1};
    options.lu.supernodes = LuSupernodes::off;
    LinearSolver<> solver(options);
    solver.analyse(A, 10);
    ASSERT_TRUE(solver.factor().ready());
    std::vector<double> values(A.val().begin(), A.val().end());
    for (int system = 0; system < 4; ++system) {
        for (double& one : values) one *= 1.01;
        const HostTransfers before = host_transfers();
        ASSERT_TRUE(solver.refactor(values).ready());
        EXPECT_EQ(host_transfers().to_device - before.to_device, values.size() * sizeof(double));
        EXPECT_EQ(solver.matrix().val().data(), solver.lu()->matrix().val.data());
        EXPECT_NE(solver.matrix().val().data(), values.data());
    }
}

}  // namespace
}  // namespace ilux

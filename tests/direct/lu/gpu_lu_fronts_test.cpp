// Lu on a GPU with numbers by supernodes.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "ilux/direct/lu/lu.hpp"
#include "ilux/gallery/circuit.hpp"
#include "ilux/gallery/pde.hpp"
#include "ilux/tests/direct/both_scalars.hpp"
#include "ilux/tests/direct/repeats.hpp"
#include "ilux/tests/direct/supernodal_gpu/front_cases.hpp"

namespace ilux::test {
namespace {

const LuOptions by_fronts{.supernodes = LuSupernodes::on};

template <class S>
std::vector<S> changed(std::span<const S> values, double by)
{
    std::vector<S> now(values.begin(), values.end());
    for (std::size_t p = 0; p < now.size(); ++p) now[p] *= 1 + by * std::sin(double(p));
    return now;
}

/// ‖b − op(A) x‖ of the one right-hand side, relative, with `values`.
template <class S>
double error_of(const CsrMatrix<S>& A, const std::vector<S>& values, std::span<const S> x, std::span<const S> b,
                Transpose transpose)
{
    CsrMatrix<S> now = A;
    std::ranges::copy(values, now.val().begin());
    if (transpose == Transpose::adjoint)
        for (S& v : now.val()) v = conj(v);
    return normwise_error<S>(now, x, b, transpose != Transpose::no);
}

template <class S>
struct Mesh {
    explicit Mesh(const CsrMatrix<double>& of, const LuOptions& options = by_fronts)
        : A(scalars<S>(of)), values(A.val().begin(), A.val().end()), symbolic(analyse<S>(view<S>(A), options))
    {}

    CsrMatrix<S>                      A;
    std::vector<S>                    values;
    std::shared_ptr<const LuSymbolic> symbolic;
};

template <class S>
class GpuLuFronts : public testing::Test {};
TYPED_TEST_SUITE(GpuLuFronts, BothScalars, ScalarName);

TYPED_TEST(GpuLuFronts, SolveEverySystemAndItsNeighbours)
{
    ILUX_SKIP_WITHOUT_GPU();
    using S = TypeParam;
    Gpu  gpu;
    Cpu  be(2);
    auto all = front_systems();
    all.push_back(gallery::convdiff2d({.n = 60}));
    all.push_back(gallery::convdiff3d({.n = 11}));
    for (const auto& of : all) {
        SCOPED_TRACE(of.rows());
        const Mesh<S> mesh(of);
        Lu<S>         lu(be, mesh.symbolic);
        lu.use_gpu(gpu);
        const Index    n = of.rows(), rhs = 7;
        const auto     b = random_numbers<S>(n * rhs, 3);
        std::vector<S> x(b.size());
        for (const double by : {0.0, 0.01, 0.02}) {
            const auto     values = changed<S>(mesh.values, by);
            const LuReport done = lu.refactor_or_factor(values);
            ASSERT_EQ(done.outcome, Outcome::converged) << done.reason;
            EXPECT_EQ(done.action, by == 0 ? LuAction::factor : LuAction::refactor);
            ASSERT_EQ(lu.status().method, "supernodes") << lu.status().storage;
            for (const Transpose transpose : {Transpose::no, Transpose::yes, Transpose::adjoint}) {
                const LuSolveReport solved = lu.solve(b, x, transpose);
                ASSERT_EQ(solved.outcome, Outcome::converged) << solved.reason;
                EXPECT_FALSE(solved.repivoted) << solved.reason;
                for (Index k = 0; k < rhs; ++k) {
                    const auto one = [&](const auto& v) {
                        return std::span<const S>(v).subspan(std::size_t(k) * n, std::size_t(n));
                    };
                    EXPECT_LE(error_of(mesh.A, values, one(x), one(b), transpose), 1e-14);
                }
            }
        }
        EXPECT_EQ(lu.status().repivots, 0);
    }
}

TYPED_TEST(GpuLuFronts, AStepIsARefactorizationAndASolution)
{
    ILUX_SKIP_WITHOUT_GPU();
    using S = TypeParam;
    Gpu           gpu;
    Cpu           be(2);
    const Mesh<S> mesh(gallery::convdiff3d({.n = 12}));
    Lu<S>         steps(be, mesh.symbolic), apart(be, mesh.symbolic);
    steps.use_gpu(gpu);
    apart.use_gpu(gpu);
    const auto     b = random_numbers<S>(mesh.A.rows(), 3);
    std::vector<S> x(b.size()), y(b.size());
    for (int k = 0; k < 5; ++k) {  // both slots of values, their graphs twice
        const auto values = changed<S>(mesh.values, 0.01 * k);
        const auto step = steps.refactor_and_solve(values, b, x);
        ASSERT_EQ(step.solution.outcome, Outcome::converged) << step.solution.reason;
        EXPECT_EQ(step.factors.action, k == 0 ? LuAction::factor : LuAction::refactor);
        ASSERT_EQ(apart.refactor_or_factor(values).outcome, Outcome::converged);
        ASSERT_EQ(apart.solve(b, y).outcome, Outcome::converged);
        EXPECT_TRUE(same_numbers(x, y));
        EXPECT_LE(error_of<S>(mesh.A, values, x, b, Transpose::no), 1e-14);
    }
}

TYPED_TEST(GpuLuFronts, RightHandSidesHaveTheBitsTheyHaveAlone)
{
    ILUX_SKIP_WITHOUT_GPU();
    using S = TypeParam;
    Gpu           gpu;
    Cpu           be(2);
    const Mesh<S> mesh(gallery::convdiff2d({.n = 45}));
    Lu<S>         lu(be, mesh.symbolic);
    lu.use_gpu(gpu);
    ASSERT_EQ(lu.factor(mesh.values).outcome, Outcome::converged);
    const std::size_t n = mesh.A.rows(), most = 70;  // more than are worked on together
    const auto        b = random_numbers<S>(Index(n * most), 3);
    std::vector<S>    alone(b.size());
    for (const Transpose transpose : {Transpose::no, Transpose::yes}) {
        for (std::size_t k = 0; k < most; ++k)
            ASSERT_EQ(lu.solve(std::span(b).subspan(k * n, n), std::span(alone).subspan(k * n, n), transpose).outcome,
                      Outcome::converged);
        for (const std::size_t rhs : {std::size_t{2}, std::size_t{33}, most}) {
            std::vector<S> x(rhs * n);
            ASSERT_EQ(lu.solve(std::span(b).first(rhs * n), x, transpose).outcome, Outcome::converged);
            EXPECT_TRUE(same_numbers(x, std::vector<S>(alone.begin(), alone.begin() + rhs * n))) << rhs;
        }
    }
}

TYPED_TEST(GpuLuFronts, DeviceVectorsHaveTheBitsOfTheHosts)
{
    ILUX_SKIP_WITHOUT_GPU();
    using S = TypeParam;
    Gpu           gpu, callers;
    Cpu           be(2);
    const Mesh<S> mesh(gallery::convdiff2d({.n = 45}));
    Lu<S>         lu(be, mesh.symbolic);
    lu.use_gpu(gpu);
    DeviceBuffer<S> values(mesh.values.size());
    upload<S>(gpu, mesh.values, values);
    ASSERT_EQ(lu.refactor_or_factor(Array<const S>(gpu, values)).outcome, Outcome::converged);
    ASSERT_EQ(lu.refactor_or_factor(Array<const S>(callers, values)).action, LuAction::refactor);
    const auto      b = random_numbers<S>(mesh.A.rows(), 3);
    std::vector<S>  x(b.size()), y(b.size());
    DeviceBuffer<S> device_b(b.size()), device_x(b.size());
    upload<S>(gpu, b, device_b);
    for (const Transpose transpose : {Transpose::no, Transpose::yes, Transpose::adjoint}) {
        ASSERT_EQ(lu.solve(b, y, transpose).outcome, Outcome::converged);
        for (Gpu* of : {&gpu, &callers}) {
            fill<S>(*of, 0, device_x);
            const auto report = lu.solve_as_factored(Array<const S>(*of, device_b), Array<S>(*of, device_x), transpose);
            EXPECT_EQ(report.outcome, Outcome::converged);
            download<S>(*of, device_x, x);
            EXPECT_TRUE(same_numbers(x, y));
        }
    }
    Lu<S> on_host(be, mesh.symbolic);
    ASSERT_EQ(on_host.factor(mesh.values).outcome, Outcome::converged);
    const auto report = on_host.solve_as_factored(Array<const S>(gpu, device_b), Array<S>(gpu, device_x));
    EXPECT_EQ(report.outcome, Outcome::converged);
    download<S>(gpu, device_x, x);
    ASSERT_EQ(on_host.solve(b, y).outcome, Outcome::converged);
    EXPECT_TRUE(same_numbers(x, y));
}

/// Numbers come to the host as they are: its substitution solves with them.
TYPED_TEST(GpuLuFronts, AreDownloaded)
{
    ILUX_SKIP_WITHOUT_GPU();
    using S = TypeParam;
    Gpu           gpu;
    Cpu           be(2);
    const Mesh<S> mesh(gallery::convdiff3d({.n = 9}));
    Lu<S>         lu(be, mesh.symbolic);
    lu.use_gpu(gpu);
    ASSERT_EQ(lu.factor(mesh.values).outcome, Outcome::converged);
    const LuFactors<S>& host = lu.factors();
    ASSERT_NE(host.fronts, nullptr);
    EXPECT_EQ(std::ssize(host.val), host.fronts->numbers());
    EXPECT_EQ(std::ssize(host.swap), host.fronts->n);
    const auto     b = random_numbers<S>(mesh.A.rows(), 3);
    std::vector<S> x(b.size());
    LuWorkspace<S> ws(mesh.A.rows());
    lu_solve<S>(be, host, b, x, ws, Transpose::no);
    EXPECT_LE(error_of<S>(mesh.A, mesh.values, x, b, Transpose::no), 1e-13);
}

TYPED_TEST(GpuLuFronts, MoveFromTheHost)
{
    ILUX_SKIP_WITHOUT_GPU();
    using S = TypeParam;
    Gpu            gpu;
    Cpu            be(2);
    const Mesh<S>  mesh(gallery::convdiff2d({.n = 45}));
    Lu<S>          lu(be, mesh.symbolic);
    const auto     b = random_numbers<S>(mesh.A.rows(), 3);
    std::vector<S> x(b.size());
    ASSERT_EQ(lu.factor(mesh.values).outcome, Outcome::converged);
    EXPECT_EQ(lu.status().device_bytes, 0);
    lu.use_gpu(gpu);
    EXPECT_EQ(lu.status().method, "none");
    ASSERT_EQ(lu.solve(b, x).outcome, Outcome::converged);  // the host's numbers still serve
    const auto values = changed<S>(mesh.values, 0.01);
    const auto step = lu.refactor_and_solve(values, b, x);
    EXPECT_EQ(step.factors.action, LuAction::refactor) << step.factors.reason;
    ASSERT_EQ(step.solution.outcome, Outcome::converged) << step.solution.reason;
    EXPECT_EQ(lu.status().method, "supernodes");
    EXPECT_LE(error_of<S>(mesh.A, values, x, b, Transpose::no), 1e-14);
    EXPECT_GT(lu.status().device_bytes, sizeof(S) * lu.factors().val.size());
}

TYPED_TEST(GpuLuFronts, RepeatTheirBits)
{
    ILUX_SKIP_WITHOUT_GPU();
    using S = TypeParam;
    Gpu            gpu;
    Cpu            be(2);
    const Mesh<S>  mesh(gallery::convdiff3d({.n = 14}), {});
    Lu<S>          lu(be, mesh.symbolic);
    const auto     b = random_numbers<S>(mesh.A.rows(), 3);
    std::vector<S> x(b.size()), first_x;
    LuValues<S>    first_val;
    lu.use_gpu(gpu);
    ASSERT_EQ(lu.factor(mesh.values).outcome, Outcome::converged);
    ASSERT_EQ(lu.status().method, "supernodes") << lu.status().storage;
    for (int repeat = 0; repeat < repeats(); ++repeat) {
        const auto step = lu.refactor_and_solve(mesh.values, b, x);
        ASSERT_EQ(step.factors.action, LuAction::refactor);
        ASSERT_EQ(step.solution.outcome, Outcome::converged);
        if (repeat == 0) first_x = x, first_val = lu.factors().val;
        ASSERT_TRUE(same_numbers(x, first_x)) << "repeat " << repeat;
        ASSERT_TRUE(same_numbers(lu.factors().val, first_val)) << "repeat " << repeat;
    }
}

TEST(GpuLuFrontsFail, AZeroColumnIsSingularAndNaNIsNamed)
{
    ILUX_SKIP_WITHOUT_GPU();
    Gpu                gpu;
    Cpu                be(1);
    const Mesh<double> mesh(gallery::convdiff2d({.n = 10}));
    auto               zero = mesh.values, bad = mesh.values;
    for (std::size_t p = 0; p < zero.size(); ++p)
        if (mesh.A.col()[p] == 44) zero[p] = 0;
    bad[17] = std::numeric_limits<double>::quiet_NaN();
    for (const bool factored : {false, true}) {
        Lu<> lu(be, mesh.symbolic);
        lu.use_gpu(gpu);
        if (factored) {
            ASSERT_EQ(lu.factor(mesh.values).outcome, Outcome::converged);
        }
        EXPECT_EQ(lu.refactor_or_factor(bad).outcome, Outcome::not_finite);
        if (factored) {
            EXPECT_EQ(lu.refactor_or_factor(mesh.values).action, LuAction::refactor);
        }
        const LuReport report = lu.refactor_or_factor(zero);
        EXPECT_EQ(report.outcome, Outcome::singular);
        EXPECT_EQ(report.column, 44);
        EXPECT_EQ(lu.refactor_or_factor(mesh.values).outcome, Outcome::converged);
        std::vector<double> b(mesh.A.rows(), 1), x(b.size());
        EXPECT_EQ(lu.solve(b, x).outcome, Outcome::converged);
        EXPECT_LE(error_of<double>(mesh.A, mesh.values, x, b, Transpose::no), 1e-14);
    }
}

TEST(GpuLuFrontsFail, PivotsNextToZeroAreReplacedByThoseOfAllRows)
{
    ILUX_SKIP_WITHOUT_GPU();
    Gpu       gpu;
    Cpu       be(1);
    LuOptions options = by_fronts;
    options.matching = LuMatching::off;
    options.ordering = LuOrdering::none;
    const auto          good = leaves_of_a_dense_block(4), stale = leaves_of_a_dense_block(0);
    std::vector<double> b(good.rows(), 1), x(b.size());
    const auto          symbolic = analyse(view<double>(good), options);
    for (const bool first : {true, false}) {
        Lu<> lu(be, symbolic);
        lu.use_gpu(gpu);
        if (!first) {
            ASSERT_EQ(lu.factor(good.val()).outcome, Outcome::converged);
            EXPECT_EQ(lu.status().method, "supernodes");
        }
        const LuReport      report = lu.refactor_or_factor(stale.val());
        const LuSolveReport solved = lu.solve(b, x);
        ASSERT_EQ(report.outcome, Outcome::converged) << report.reason;
        ASSERT_EQ(solved.outcome, Outcome::converged) << solved.reason;
        EXPECT_LE(error_of<double>(stale, {stale.val().begin(), stale.val().end()}, x, b, Transpose::no), 1e-13);
        EXPECT_EQ(lu.factors().fronts, nullptr);
        EXPECT_EQ(lu.status().method, "dataflow");
        if (first) {
            EXPECT_NE(lu.status().storage.find("next to 0"), std::string::npos) << lu.status().storage;
        } else {
            EXPECT_TRUE(report.action == LuAction::repivot || solved.repivoted);
        }
    }
}

TEST(GpuLuFrontsFail, StopWhenTold)
{
    ILUX_SKIP_WITHOUT_GPU();
    Gpu                gpu;
    Cpu                be(1);
    const Mesh<double> mesh(gallery::convdiff2d({.n = 20}));
    Lu<>               lu(be, mesh.symbolic);
    lu.use_gpu(gpu);
    lu.stop_by(StopToken().asking([] { return true; }));
    EXPECT_EQ(lu.factor(mesh.values).outcome, Outcome::cancelled);
    lu.stop_by({});
    EXPECT_EQ(lu.factor(mesh.values).outcome, Outcome::converged);
    EXPECT_EQ(lu.status().method, "supernodes");
}

/// Numbers that are to begin on the GPU stay on the host, where pivots by entries would take long. Those that the host
/// began with are by entries.
TEST(GpuLuFrontsFail, WithoutRoomOnTheGpuTheyStayOnTheHostOrAreByEntries)
{
    ILUX_SKIP_WITHOUT_GPU();
    Gpu                 gpu;
    Cpu                 be(2);
    const Mesh<double>  mesh(gallery::convdiff2d({.n = 300}));
    std::vector<double> b(mesh.A.rows(), 1), x(b.size());
    for (const bool moved : {false, true}) {
        Lu<> lu(be, mesh.symbolic);
        if (moved) {
            ASSERT_EQ(lu.factor(mesh.values).outcome, Outcome::converged);
        }
        lu.use_gpu(gpu);
        {
            const DeviceBuffer<char> others(gpu_memory(gpu.device()).free - (48U << 20U));
            const LuReport           report = lu.refactor_or_factor(mesh.values);
            EXPECT_TRUE(report.outcome == Outcome::converged || report.outcome == Outcome::out_of_memory);
            EXPECT_NE(lu.status().storage.find(moved ? "by entries: the device has no room" : "; on the host: "),
                      std::string::npos)
                << lu.status().storage;
        }
        const LuReport report = lu.refactor_or_factor(mesh.values);
        ASSERT_EQ(report.outcome, Outcome::converged) << report.reason;
        ASSERT_EQ(lu.solve(b, x).outcome, Outcome::converged);
        EXPECT_LE(error_of<double>(mesh.A, mesh.values, x, b, Transpose::no), 1e-14);
    }
}

TEST(GpuLuFrontsFail, AMethodOfEntriesIsObeyed)
{
    ILUX_SKIP_WITHOUT_GPU();
    Gpu       gpu;
    Cpu       be(1);
    LuOptions options;
    options.refactor = RefactorMethod::left;
    const Mesh<double> mesh(gallery::convdiff3d({.n = 10}), options);
    Lu<>               lu(be, mesh.symbolic);
    lu.use_gpu(gpu);
    ASSERT_EQ(lu.factor(mesh.values).outcome, Outcome::converged);
    EXPECT_EQ(lu.status().method, "left");
    EXPECT_EQ(lu.status().storage, "by entries: lu.refactor=left");
}

}  // namespace
}  // namespace ilux::test

// Complex systems solved on a GPU: the answers are those of the host.

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <string>

#include "ilux/gallery/gallery.hpp"
#include "ilux/solver/frequency_sweep.hpp"
#include "ilux/solver/linear_solver.hpp"
#include "ilux/tests/support/complex_on_device.hpp"

namespace ilux::test {
namespace {

class GpuLinearSolverComplex : public testing::Test {
protected:
    void SetUp() override { ILUX_SKIP_WITHOUT_GPU(); }
};

struct Solved {
    SolverReport  report;
    ComplexVector x;
};

Solved solved(const CsrMatrix<Complex>& A, const ComplexVector& b, const SolverOptions& options)
{
    LinearSolver<Complex> solver(options);
    Solved                result{{}, ComplexVector(b.size())};
    solver.analyse(A);
    solver.factor();
    result.report = solver.solve(b, result.x);
    return result;
}

SolverOptions by(const char* method, PrecondKind kind, DeviceChoice device)
{
    SolverOptions options{.mode = SolverMode::iterative, .device = device, .threads = 1, .retry = false};
    parse_field("method", method, options.method);
    options.precond.kind = kind;
    return options;
}

TEST_F(GpuLinearSolverComplex, SolvesByEveryMethodAndPreconditioner)
{
    const auto A = turned(gallery::build("convdiff3d:n=12"), 1),
               H = turned_hermitian(gallery::build("poisson2d:n=40"), 2);
    for (const char* method : {"gmres", "fgmres", "bicg", "bicgstab", "cg", "minres"})
        for (const PrecondKind kind : {PrecondKind::mlilu, PrecondKind::ilu0, PrecondKind::jacobi, PrecondKind::none}) {
            const bool cg = std::string(method) == "cg" || std::string(method) == "minres";
            if (cg && kind == PrecondKind::ilu0) continue;  // not Hermitian
            const auto& matrix = cg ? H : A;
            const auto  b = random_complex_vector(matrix.rows(), 3);
            const auto  there = solved(matrix, b, by(method, kind, DeviceChoice::gpu)),
                       here = solved(matrix, b, by(method, kind, DeviceChoice::cpu));
            EXPECT_EQ(there.report.converged(), here.report.converged()) << method << static_cast<int>(kind);
            if (!here.report.converged()) continue;
            EXPECT_EQ(there.report.result().device.kind, "gpu");
            EXPECT_LE(backward_error(real_form(matrix), real_form(there.x), real_form(b)), 1e-8) << method;
            EXPECT_LE(relative_difference(there.x, here.x), 1e-5) << method << static_cast<int>(kind);
        }
}

TEST_F(GpuLinearSolverComplex, TakesTheStepsOfTheRealSystemWithoutImaginaryParts)
{
    const auto A = gallery::build("recirculating2d:n=60");
    const auto b = random_vector(A.rows(), 3);
    auto       options = by("gmres", PrecondKind::mlilu, DeviceChoice::gpu);
    options.precond.mlilu.setup = MlIluSetup::crout;
    LinearSolver<double> by_crout(options);
    std::vector<double>  x(b.size());
    by_crout.analyse(A);
    (void)by_crout.factor();
    const auto expected = by_crout.solve(b, x);
    const auto found = solved(as_complex(A), as_complex(b), options);
    EXPECT_TRUE(expected.converged() && found.report.converged());
    EXPECT_EQ(found.report.steps(), expected.steps());
    EXPECT_LE(relative_difference(real_parts(found.x), x), 1e-10);
}

TEST_F(GpuLinearSolverComplex, KeepsFactorsInSinglePrecision)
{
    const auto A = turned(gallery::build("convdiff3d:n=12"), 1);
    const auto b = random_complex_vector(A.rows(), 3);
    auto       options = by("gmres", PrecondKind::mlilu, DeviceChoice::gpu);
    const auto in_double = solved(A, b, options);
    options.precond.precision = Precision::in_single;
    const auto in_single = solved(A, b, options);
    ASSERT_TRUE(in_single.report.converged());
    EXPECT_LT(in_single.report.result().gpu->factor_bytes, in_double.report.result().gpu->factor_bytes);
    EXPECT_LE(backward_error(real_form(A), real_form(in_single.x), real_form(b)), 1e-8);
}

TEST_F(GpuLinearSolverComplex, SolvesASeriesWithArraysOfTheDevice)
{
    Gpu                   gpu;
    auto                  A = turned(gallery::build("convdiff2d:n=30"), 1);
    const auto            b = random_complex_vector(A.rows(), 3);
    LinearSolver<Complex> solver(by("gmres", PrecondKind::mlilu, DeviceChoice::gpu));
    solver.analyse(A, 4);
    for (int k = 0; k < 4; ++k) {
        for (Complex& value : A.val()) value *= Complex(1, 1e-3 * k);
        const auto val = on_device(gpu, {A.val().begin(), A.val().end()}), rhs = on_device(gpu, b);
        auto       x = on_device(gpu, ComplexVector(b.size()));
        EXPECT_TRUE(solver.refactor_and_solve({gpu, val}, {gpu, rhs}, {gpu, x}).converged());
        EXPECT_LE(backward_error(real_form(A), real_form(on_host(gpu, x)), real_form(b)), 1e-8) << k;
    }
}

SolverOptions lu_on_gpu(RefactorMethod method)
{
    SolverOptions options{.mode = SolverMode::direct, .device = DeviceChoice::gpu, .threads = 1};
    options.lu.refactor = method;
    return options;
}

TEST_F(GpuLinearSolverComplex, RefactorsASeriesByEveryMethod)
{
    const auto first = turned(gallery::build("convdiff2d:n=30"), 1);
    const auto b = random_complex_vector(first.rows(), 3);
    for (const RefactorMethod method : {RefactorMethod::automatic, RefactorMethod::left, RefactorMethod::glu1,
                                        RefactorMethod::glu3, RefactorMethod::islu}) {
        SCOPED_TRACE(name(method));
        auto                  A = first;
        LinearSolver<Complex> solver(lu_on_gpu(method));
        solver.analyse(A, 4);
        for (int k = 0; k < 4; ++k) {
            for (Complex& value : A.val()) value *= Complex(1, 1e-3 * k);
            ComplexVector x(b.size());
            (void)(k == 0 ? solver.factor() : solver.refactor(A.val()));
            const auto report = solver.solve(b, x);
            ASSERT_TRUE(report.converged()) << k;
            EXPECT_EQ(report.result().device.kind, "gpu");
            EXPECT_LE(backward_error(real_form(A), real_form(x), real_form(b)), 1e-12) << k;
        }
    }
}

TEST_F(GpuLinearSolverComplex, ChoosesLuOnAGpuOfItself)
{
    const auto A = turned(gallery::build("convdiff2d:n=30"), 1);
    const auto b = random_complex_vector(A.rows(), 3);
    const auto automatic = solved(A, b, {.device = DeviceChoice::gpu, .threads = 1});
    EXPECT_TRUE(automatic.report.converged());
    EXPECT_EQ(automatic.report.result().device.kind, "gpu");
    EXPECT_LE(backward_error(real_form(A), real_form(automatic.x), real_form(b)), 1e-8);
}

TEST_F(GpuLinearSolverComplex, SweepsFrequenciesByLu)
{
    const auto                G = gallery::build("poisson2d:n=20");
    std::vector<double>       capacity(static_cast<std::size_t>(G.rows()));
    const std::vector<double> frequencies{1e3, 1e4, 1e5, 1e6}, b(capacity.size(), 1.);
    for (std::size_t i = 0; i < capacity.size(); ++i) capacity[i] = 1e-6 * static_cast<double>(1 + i % 3);
    std::vector<Offset> ptr(capacity.size() + 1);
    std::vector<Index>  diagonal(capacity.size());
    std::iota(ptr.begin(), ptr.end(), 0);
    std::iota(diagonal.begin(), diagonal.end(), 0);
    const auto C = CsrMatrix<double>::from_arrays(G.rows(), G.rows(), ptr, diagonal, capacity);
    const auto on = [&](DeviceChoice device) {
        std::vector<ComplexVector> found;
        FrequencySweep             sweep(G, C, {.method = MethodChoice::lu, .device = device, .threads = 1});
        const auto                 report = sweep.run(frequencies, b, [&](const SweepPoint& point) {
            EXPECT_EQ(point.report.result().device.kind == "gpu", device == DeviceChoice::gpu);
            found.emplace_back(point.x.begin(), point.x.end());
        });
        EXPECT_EQ(report.converged, std::ssize(frequencies));
        return found;
    };
    const auto there = on(DeviceChoice::gpu), here = on(DeviceChoice::cpu);
    ASSERT_EQ(there.size(), frequencies.size());
    for (std::size_t k = 0; k < there.size(); ++k) EXPECT_LE(relative_difference(there[k], here[k]), 1e-10) << k;
}

TEST_F(GpuLinearSolverComplex, WorksOnABatchOneByOneAndSaysSo)
{
    const auto          first = turned(gallery::build("convdiff2d:n=20"), 1);
    constexpr Index     members = 5;
    const auto          n = static_cast<std::size_t>(first.rows());
    const ComplexVector b = random_complex_vector(first.rows() * members, 3);
    ComplexVector       x(b.size()), values;
    for (Index m = 0; m < members; ++m)
        for (const Complex a : first.val()) values.push_back(a * Complex(1, 1e-3 * m));
    LinearSolver<Complex> solver(lu_on_gpu(RefactorMethod::automatic));
    solver.analyse(first, members);
    solver.factor();
    const auto report = solver.solve_batch(members, values, b, x);
    EXPECT_TRUE(report.converged());
    for (std::size_t m = 0; m < std::size_t{members}; ++m) {
        auto A = first;
        std::ranges::copy(std::span(values).subspan(m * A.val().size(), A.val().size()), A.val().begin());
        const ComplexVector own_x(x.begin() + m * n, x.begin() + (m + 1) * n),
            own_b(b.begin() + m * n, b.begin() + (m + 1) * n);
        EXPECT_LE(backward_error(real_form(A), real_form(own_x), real_form(own_b)), 1e-12) << m;
    }
    bool said = false;
    for (const auto& decision : all_decisions(report))
        said = said || decision.find("batches of real values alone") != std::string::npos;
    EXPECT_TRUE(said);
}

/// Without a device: LU there is never replaced silently.
TEST(LinearSolverComplexDevice, LuOnAGpuNeedsOne)
{
    if (why_no_gpu().empty()) GTEST_SKIP()
    << "there is a GPU";
    const auto A = turned(gallery::build("convdiff2d:n=5"), 1);
    const auto b = random_complex_vector(A.rows(), 3);
    EXPECT_THROW((void)solved(A, b, {.lu = {.refactor = RefactorMethod::glu3}}), DeviceError);
    EXPECT_THROW((void)solved(A, b, {.mode = SolverMode::direct, .device = DeviceChoice::gpu}), DeviceError);
}

}  // namespace
}  // namespace ilux::test

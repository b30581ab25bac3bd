#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "ilux/direct/lu/lu.hpp"
#include "ilux/tests/direct/both_scalars.hpp"
#include "ilux/tests/direct/complex_systems.hpp"
#include "ilux/tests/direct/repeats.hpp"
#include "ilux/tests/direct/small_matrix.hpp"

namespace ilux::test {
namespace {

using Vector = std::vector<double>;

LuOptions by(RefactorMethod method)
{
    LuOptions options = as_given;
    options.refactor = method;
    return options;
}

class GpuLuBy : public testing::TestWithParam<RefactorMethod> {};
INSTANTIATE_TEST_SUITE_P(Methods, GpuLuBy,
                         testing::Values(RefactorMethod::automatic, RefactorMethod::left, RefactorMethod::glu1,
                                         RefactorMethod::glu3, RefactorMethod::islu),
                         [](const auto& info) { return std::string(name(info.param)); });

/// x solves A x = b, Aᵀ x = b or Aᴴ x = b by the host's measure.
template <class S>
double error_by_the_host(Cpu& be, Lu<S>& lu, const std::vector<S>& b, std::vector<S> x, Transpose transpose)
{
    LuWorkspace<S> ws(static_cast<Index>(b.size()));
    return lu_refine<S>(be, lu.factors(), lu.matrix(), b, x, ws, transpose).backward_error;
}

template <class S>
void expect_to_solve_every_system(RefactorMethod method)
{
    Gpu gpu;
    Cpu be(1);
    for (const SystemOf<S>& system : systems_of<S>(dataflow_systems())) {
        SCOPED_TRACE(system.name);
        LuOptions options;
        options.refactor = method;
        Lu<S> lu(be, analyse(system.view(), options));
        lu.use_gpu(gpu);
        const auto     b = random_numbers<S>(system.A.n, 3);
        std::vector<S> x(b.size());
        for (const double factor : {1.0, 1.25, -0.5}) {
            auto values = system.A.val;
            for (S& v : values) v *= factor;
            const LuReport done = lu.refactor_or_factor(values);
            ASSERT_EQ(done.outcome, Outcome::converged) << done.reason;
            EXPECT_EQ(done.action, factor == 1 ? LuAction::factor : LuAction::refactor);
            for (const Transpose transpose : {Transpose::no, Transpose::yes, Transpose::adjoint}) {
                const LuSolveReport solved = lu.solve(b, x, transpose);
                ASSERT_EQ(solved.outcome, Outcome::converged) << solved.reason;
                EXPECT_FALSE(solved.repivoted) << solved.reason;
                EXPECT_LE(error_by_the_host(be, lu, b, x, transpose), 1e-14);
                EXPECT_LE(solved.refine.backward_error, 4 * eps);
            }
        }
    }
}

TEST_P(GpuLuBy, SolvesEverySystemAndItsNeighbours)
{
    ILUX_SKIP_WITHOUT_GPU();
    expect_to_solve_every_system<double>(GetParam());
    expect_to_solve_every_system<Complex>(GetParam());
}

template <class S>
void expect_the_monitor_of_the_host(RefactorMethod method)
{
    Gpu               gpu;
    Cpu               be(1);
    const SystemOf<S> system = system_of<S>(dataflow_system("circuit", gallery::mna_random({.n = 300, .decades = 6})));
    LuOptions         options;
    options.refactor = method;
    const auto symbolic = analyse(system.view(), options);
    Lu<S>      on_host(be, symbolic), on_gpu(be, symbolic);
    on_gpu.use_gpu(gpu);
    for (int k = 0; k < 3; ++k) {
        auto values = system.A.val;
        for (std::size_t p = 0; p < values.size(); ++p) values[p] *= 1 + 0.01 * k * std::sin(double(p));
        ASSERT_EQ(on_host.refactor_or_factor(values).outcome, Outcome::converged);
        ASSERT_EQ(on_gpu.refactor_or_factor(values).outcome, Outcome::converged);
        const PivotMonitor &host = on_host.pivots().monitor, &device = on_gpu.pivots().monitor;
        EXPECT_NEAR(device.min_pivot / host.min_pivot, 1, 1e-6);
        EXPECT_NEAR(device.max_pivot / host.max_pivot, 1, 1e-6);
        EXPECT_NEAR(device.rgrowth / host.rgrowth, 1, 1e-6);
        EXPECT_NEAR(device.max_multiplier / host.max_multiplier, 1, 1e-6);
    }
}

TEST_P(GpuLuBy, HasTheMonitorOfTheHost)
{
    ILUX_SKIP_WITHOUT_GPU();
    expect_the_monitor_of_the_host<double>(GetParam());
    expect_the_monitor_of_the_host<Complex>(GetParam());
}

/// The bits of a refactorization that is repeated, and of its x, are the same.
TEST_P(GpuLuBy, RepeatsComplexBitsUnlessItAddsInNoFixedOrder)
{
    ILUX_SKIP_WITHOUT_GPU();
    if (GetParam() == RefactorMethod::glu1 || GetParam() == RefactorMethod::glu3) return;
    Gpu                     gpu;
    Cpu                     be(1);
    const SystemOf<Complex> system = system_of<Complex>(dataflow_system("grid", gallery::power_grid({})));
    LuOptions               options;
    options.refactor = GetParam();
    Lu<Complex> lu(be, analyse(system.view(), options));
    lu.use_gpu(gpu);
    const auto        b = random_numbers<Complex>(system.A.n, 3);
    ComplexVector     x(b.size()), first_x;
    LuValues<Complex> first_val;
    ASSERT_EQ(lu.factor(system.A.val).outcome, Outcome::converged);
    for (int repeat = 0; repeat < repeats(); ++repeat) {
        ASSERT_EQ(lu.refactor_or_factor(system.A.val).action, LuAction::refactor);
        ASSERT_EQ(lu.solve(b, x).outcome, Outcome::converged);
        if (repeat == 0) first_x = x, first_val = lu.factors().val;
        ASSERT_TRUE(same_numbers(x, first_x)) << "repeat " << repeat;
        ASSERT_TRUE(same_numbers(lu.factors().val, first_val)) << "repeat " << repeat;
    }
}

/// Without imaginary parts factors are those of the real values, and so is x.
TEST_P(GpuLuBy, HasTheRealFactorsWhereImaginaryPartsAreZero)
{
    ILUX_SKIP_WITHOUT_GPU();
    Gpu                  gpu;
    Cpu                  be(1);
    const DataflowSystem system = dataflow_system("circuit", gallery::mna_random({.n = 400}));
    LuOptions            options;
    options.refactor = GetParam();
    const auto          symbolic = analyse(system.view(), options);
    const ComplexVector values = widened(system.A.val);
    const auto          b = random_vector(system.A.n, 3);
    Lu<>                real(be, symbolic);
    Lu<Complex>         complex(be, symbolic);
    Vector              x(b.size());
    ComplexVector       z(b.size());
    real.use_gpu(gpu);
    complex.use_gpu(gpu);
    ASSERT_EQ(real.refactor_or_factor(system.A.val).outcome, Outcome::converged);
    ASSERT_EQ(complex.refactor_or_factor(values).outcome, Outcome::converged);
    ASSERT_EQ(real.refactor_and_solve(system.A.val, b, x).solution.outcome, Outcome::converged);
    ASSERT_EQ(complex.refactor_and_solve(values, widened(b), z).solution.outcome, Outcome::converged);
    const bool bitwise = GetParam() == RefactorMethod::left || GetParam() == RefactorMethod::islu;
    for (std::size_t e = 0; e < real.factors().val.size(); ++e) {
        const double  expected = real.factors().val[e];
        const Complex found = complex.factors().val[e];
        ASSERT_EQ(found.imag(), 0) << "entry " << e;
        if (bitwise) {
            ASSERT_EQ(found.real(), expected) << "entry " << e;
        }
    }
    for (std::size_t i = 0; i < x.size(); ++i) ASSERT_NEAR(z[i].real(), x[i], 1e-6 * (1 + std::abs(x[i])));
}

TEST_P(GpuLuBy, RepivotsComplexValuesAndTellsBadOnes)
{
    ILUX_SKIP_WITHOUT_GPU();
    Gpu                       gpu;
    Cpu                       be(1);
    const Complex             i{0, 1};
    const std::vector<Offset> ptr{0, 2, 4};
    const std::vector<Index>  col{0, 1, 0, 1};
    const ComplexVector first{i, 1, 1, 2.0 * i}, second{1e-16 * i, 1, 1, 2.0 * i}, broken{i, Complex(0, nan), 1, 1},
        zeros(4), b{2.0 + i, 5.0 * i};
    Lu<Complex>   lu(be, analyse(MatrixView<Complex>{2, ptr, col, first, MatrixLayout::rows}, by(GetParam())));
    ComplexVector x(2);
    lu.use_gpu(gpu);
    for (int round = 0; round < 3; ++round) {
        ASSERT_EQ(lu.refactor_or_factor(first).outcome, Outcome::converged);
        EXPECT_EQ(lu.refactor_or_factor(second).outcome, Outcome::converged);
        if (round == 0) {
            EXPECT_EQ(lu.status().repivots, 1);
        }
        EXPECT_EQ(lu.solve(b, x).outcome, Outcome::converged);  // x₁ = 2 + i + O(1e-16), x₀ = 5i − 2i x₁ = 2 + i
        EXPECT_NEAR(std::abs(x[0] - (2.0 + i)), 0, 1e-14);
        EXPECT_NEAR(std::abs(x[1] - (2.0 + i)), 0, 1e-14);
        EXPECT_EQ(lu.refactor_or_factor(broken).outcome, Outcome::not_finite);
        EXPECT_EQ(lu.refactor_or_factor(zeros).outcome, Outcome::singular);
        EXPECT_EQ(lu.refactor_and_solve(zeros, b, x).solution.outcome, Outcome::singular);
    }
}

TEST_P(GpuLuBy, RepivotsWhereTheFormerPivotsWouldGiveAWrongAnswer)
{
    ILUX_SKIP_WITHOUT_GPU();
    Gpu         gpu;
    Cpu         be(1);
    const Small first{{{1, 1}, {1, 2}}, MatrixLayout::rows}, second{{{1e-16, 1}, {1, 2}}, MatrixLayout::rows};
    Lu          lu(be, analyse(first.view(), by(GetParam())));
    lu.use_gpu(gpu);
    ASSERT_EQ(lu.refactor_or_factor(first.view().val).action, LuAction::factor);
    const LuReport report = lu.refactor_or_factor(second.view().val);
    EXPECT_EQ(report.outcome, Outcome::converged);
    EXPECT_EQ(report.action, LuAction::repivot);
    EXPECT_EQ(report.state, PivotState::large_growth);
    EXPECT_EQ(lu.status().repivots, 1);
    Vector x(2);
    EXPECT_EQ(lu.solve(Vector{3, 5}, x).outcome, Outcome::converged);  // x = (−1, 3) + O(1e-16)
    EXPECT_NEAR(x[0], -1, 1e-14);
    EXPECT_NEAR(x[1], 3, 1e-14);
    EXPECT_EQ(lu.refactor_or_factor(first.view().val).outcome, Outcome::converged);
}

TEST_P(GpuLuBy, EndsSingularAndNotFiniteValuesAsTypedOutcomesAndGoesOn)
{
    ILUX_SKIP_WITHOUT_GPU();
    Gpu         gpu;
    Cpu         be(1);
    const auto  rows = MatrixLayout::rows;
    const Small good{{{2, 1, 0}, {1, 3, 1}, {0, 1, 4}}, rows}, singular{{{2, 1, 0}, {4, 2, 1e-300}, {0, 0, 0}}, rows},
        broken{{{2, 1, 0}, {1, nan, 1}, {0, 1, 4}}, rows};
    Lu     lu(be, analyse(good.view(), by(GetParam())));
    Vector x(3);
    lu.use_gpu(gpu);
    for (int round = 0; round < 3; ++round) {
        ASSERT_EQ(lu.refactor_or_factor(good.view().val).outcome, Outcome::converged);
        EXPECT_EQ(lu.solve(Vector{4, 10, 14}, x).outcome, Outcome::converged);
        EXPECT_NEAR(x[0], 1, 1e-14);
        EXPECT_NEAR(x[2], 3, 1e-14);
        const LuReport nans = lu.refactor_or_factor(broken.view().val);
        EXPECT_EQ(nans.outcome, Outcome::not_finite);
        EXPECT_EQ(nans.row, 1);
        EXPECT_EQ(nans.column, 1);
        EXPECT_EQ(lu.solve(Vector{4, 10, 14}, x).outcome, Outcome::not_finite);
        const auto zeros = Vector(good.view().val.size(), 0.0);
        EXPECT_EQ(lu.refactor_or_factor(zeros).outcome, Outcome::singular);
        EXPECT_EQ(lu.refactor_and_solve(zeros, Vector{4, 10, 14}, x).solution.outcome, Outcome::singular);
    }
}

TEST(GpuLu, DoesInOneLaunchWhatItDoesInTwo)
{
    ILUX_SKIP_WITHOUT_GPU();
    Gpu gpu;
    Cpu be(1);
    for (const DataflowSystem& system : dataflow_systems()) {
        SCOPED_TRACE(system.name);
        const auto symbolic = analyse(system.view());
        Lu         once(be, symbolic), twice(be, symbolic);
        once.use_gpu(gpu);
        twice.use_gpu(gpu);
        const auto b = random_vector(system.A.n, 3);
        Vector     x(b.size()), y(b.size());
        for (int k = 0; k < 5; ++k) {
            auto values = system.A.val;
            for (std::size_t p = 0; p < values.size(); ++p) values[p] *= 1 + 0.001 * k * std::cos(double(p));
            const LuStepReport step = once.refactor_and_solve(values, b, x);
            ASSERT_EQ(step.factors.outcome, Outcome::converged) << step.factors.reason;
            ASSERT_EQ(step.solution.outcome, Outcome::converged) << step.solution.reason;
            ASSERT_EQ(twice.refactor_or_factor(values).outcome, Outcome::converged);
            ASSERT_EQ(twice.solve(b, y).outcome, Outcome::converged);
            EXPECT_TRUE(identical(x, y)) << "system " << k;
        }
    }
}

TEST(GpuLu, TakesValuesFromTheDeviceAndFromItsOwnMemory)
{
    ILUX_SKIP_WITHOUT_GPU();
    Gpu                  gpu;
    Cpu                  be(1);
    const DataflowSystem system = dataflow_system("grid", gallery::power_grid({}));
    const auto           symbolic = analyse(system.view());
    Lu                   plain(be, symbolic), from_device(be, symbolic), in_place(be, symbolic);
    for (Lu<>* one : {&plain, &from_device, &in_place}) one->use_gpu(gpu);
    const auto b = random_vector(system.A.n, 3);
    Vector     x(b.size()), y(b.size()), z(b.size());
    for (int k = 0; k < 4; ++k) {
        auto values = system.A.val;
        for (double& v : values) v *= 1 + 0.1 * k;
        DeviceBuffer<double> device(values.size());
        upload<double>(gpu, values, device);
        ASSERT_EQ(plain.refactor_or_factor(values).outcome, Outcome::converged);
        ASSERT_EQ(from_device.refactor_or_factor(Array<const double>(gpu, device)).outcome, Outcome::converged);
        const std::span<double> next = in_place.values().next();
        std::ranges::copy(values, next.begin());
        ASSERT_EQ(in_place.refactor_or_factor(next).outcome, Outcome::converged);
        ASSERT_EQ(plain.solve(b, x).outcome, Outcome::converged);
        ASSERT_EQ(from_device.solve(b, y).outcome, Outcome::converged);
        ASSERT_EQ(in_place.solve(b, z).outcome, Outcome::converged);
        EXPECT_TRUE(identical(x, y));
        EXPECT_TRUE(identical(x, z));
    }
    EXPECT_THROW((void)from_device.refactor_or_factor(Array<const double>(gpu, {})), InvalidInput);
}

/// One by one, and the worst of what came of them.
LuSolveReport solved_one_by_one(Lu<>& lu, const Vector& b, Vector& x, Transpose transpose, std::size_t n)
{
    LuSolveReport worst;
    for (std::size_t at = 0; at < b.size(); at += n) {
        const auto one = lu.solve(std::span(b).subspan(at, n), std::span(x).subspan(at, n), transpose);
        if (at == 0 || worse(one.refine, worst.refine)) worst = one;
    }
    return worst;
}

TEST(GpuLu, SolvesSeveralWithTheBitsOfEach)
{
    ILUX_SKIP_WITHOUT_GPU();
    Gpu gpu;
    Cpu be(1);
    for (const DataflowSystem& system : dataflow_systems()) {
        SCOPED_TRACE(system.name);
        if (system.A.n == 0) continue;
        const auto n = static_cast<std::size_t>(system.A.n);
        Lu         alone(be, analyse(system.view())), together(be, analyse(system.view()));
        for (Lu<>* one : {&alone, &together}) {
            one->use_gpu(gpu);
            ASSERT_EQ(one->refactor_or_factor(system.A.val).outcome, Outcome::converged);
        }
        for (const Index count : {0, 1, 2, 3, 33, 2, 67, 33})  // 67 is beyond most_together
            for (const Transpose transpose : {Transpose::no, Transpose::yes}) {
                SCOPED_TRACE(count);
                const Vector b = random_vector(static_cast<Index>(n) * count, 3);
                Vector       x(b.size()), expected(b.size());
                const auto   one_by_one = solved_one_by_one(alone, b, expected, transpose, n);
                const auto   solved = together.solve(b, x, transpose);
                EXPECT_EQ(solved.outcome, Outcome::converged) << solved.reason;
                EXPECT_TRUE(identical(x, expected));
                EXPECT_EQ(solved.refine.steps, one_by_one.refine.steps);
                EXPECT_EQ(solved.refine.backward_error, one_by_one.refine.backward_error);
            }
    }
}

TEST(GpuLu, SolvesTheOthersWhereOneIsNotFinite)
{
    ILUX_SKIP_WITHOUT_GPU();
    Gpu                  gpu;
    Cpu                  be(1);
    const DataflowSystem system = dataflow_system("circuit", gallery::mna_random({.n = 400, .decades = 6}));
    const auto           n = static_cast<std::size_t>(system.A.n);
    Lu                   lu(be, analyse(system.view()));
    lu.use_gpu(gpu);
    ASSERT_EQ(lu.refactor_or_factor(system.A.val).action, LuAction::factor);
    for (const double bad : {nan, std::numeric_limits<double>::infinity()})
        for (const Transpose transpose : {Transpose::no, Transpose::yes})
            for (const std::size_t at : {0, 1, 32}) {
                Vector b = random_vector(static_cast<Index>(33 * n), 4), x(b.size()), expected(b.size());
                b[at * n + 7] = bad;
                EXPECT_EQ(solved_one_by_one(lu, b, expected, transpose, n).outcome, Outcome::not_finite);
                const auto solved = lu.solve(b, x, transpose);
                EXPECT_EQ(solved.outcome, Outcome::not_finite);
                EXPECT_FALSE(solved.refine.finite);
                for (std::size_t k = 0; k < 33; ++k) {
                    if (k == at) continue;
                    EXPECT_TRUE(identical(std::span(x).subspan(k * n, n), std::span(expected).subspan(k * n, n)))
                        << "system " << k;
                }
            }
    EXPECT_EQ(lu.status().repivots, 0);
}

TEST(GpuLu, AllocatesForSeveralOnlyWhenMoreComeThanBefore)
{
    ILUX_SKIP_WITHOUT_GPU();
    Gpu                  gpu;
    Cpu                  be(1);
    const DataflowSystem system = dataflow_system("circuit", gallery::mna_random({.n = 400}));
    const auto           n = static_cast<std::size_t>(system.A.n);
    Lu                   lu(be, analyse(system.view()));
    lu.use_gpu(gpu);
    const Vector b = random_vector(static_cast<Index>(33 * n), 3);
    const auto   first = std::span(b).first(n);
    Vector       x(b.size()), before(n), after(n);
    for (int k = 0; k < 3; ++k) (void)lu.refactor_and_solve(system.A.val, first, before);
    const auto allocations_of = [&](std::size_t count) {
        const long start = device_use().allocations;
        EXPECT_EQ(lu.solve(std::span(b).first(count * n), std::span(x).first(count * n)).outcome, Outcome::converged);
        return device_use().allocations - start;
    };
    EXPECT_GT(allocations_of(3), 0);
    EXPECT_GT(allocations_of(33), 0);
    for (const std::size_t count : {33, 1, 2, 3, 32, 33}) EXPECT_EQ(allocations_of(count), 0) << count;
    EXPECT_GT(lu.status().device_bytes, std::size_t{33} * 4 * n * sizeof(double));
    // what graphs know has stayed where it was
    ASSERT_EQ(lu.refactor_and_solve(system.A.val, first, after).solution.outcome, Outcome::converged);
    EXPECT_TRUE(identical(before, after));
}

TEST(GpuLu, AllocatesNothingOnTheDeviceAfterTheFirstSystems)
{
    ILUX_SKIP_WITHOUT_GPU();
    Gpu                  gpu;
    Cpu                  be(1);
    const DataflowSystem system = dataflow_system("circuit", gallery::mna_random({.n = 400}));
    Lu                   lu(be, analyse(system.view()));
    lu.use_gpu(gpu);
    const auto b = random_vector(system.A.n, 3);
    Vector     x(b.size());
    for (int k = 0; k < 3; ++k) (void)lu.refactor_and_solve(system.A.val, b, x);
    const long before = device_use().allocations;
    for (int k = 0; k < 10; ++k)
        ASSERT_EQ(lu.refactor_and_solve(system.A.val, b, x).solution.outcome, Outcome::converged);
    EXPECT_EQ(device_use().allocations, before);
}

TEST(GpuLu, RefusesAMethodOfTheHost)
{
    ILUX_SKIP_WITHOUT_GPU();
    Gpu         gpu;
    Cpu         be(1);
    const Small A{{{1, 1}, {1, 2}}, MatrixLayout::rows};
    Lu          lu(be, analyse(A.view(), by(RefactorMethod::cpu)));
    EXPECT_THROW(lu.use_gpu(gpu), InvalidOption);
}

}  // namespace
}  // namespace ilux::test

// Factors in single precision: slots, monitor, solves, and what Lu does where refinement needs more.

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "ilux/direct/dataflow/lu_dataflow.hpp"
#include "ilux/direct/lu/lu.hpp"
#include "ilux/tests/direct/klu/both_ways.hpp"
#include "ilux/tests/direct/pattern_systems.hpp"
#include "ilux/tests/direct/repeats.hpp"
#include "ilux/tests/direct/same_monitor.hpp"
#include "ilux/tests/direct/serial_in_float.hpp"
#include "ilux/tests/direct/series.hpp"
#include "ilux/tests/direct/small_matrix.hpp"
#include "ilux/tests/direct/solve/forward_systems.hpp"

namespace ilux::test {
namespace {

using Vector = std::vector<double>;

std::vector<float> rounded(const Vector& values) { return {values.begin(), values.end()}; }

LuOptions in_single(LuOptions options = {})
{
    options.precision = LuPrecision::in_single;
    return options;
}

/// 1 / (i + j + 1): of condition 5·10⁵ for n = 5, where single precision serves, and 2·10¹³ for n = 10, where it does not.
Small hilbert(Index n)
{
    std::vector<std::vector<double>> rows(n, Vector(n));
    for (Index i = 0; i < n; ++i)
        for (Index j = 0; j < n; ++j) rows[i][j] = 1.0 / (i + j + 1);
    return {rows, MatrixView::Layout::rows};
}

TEST(GpuDataflowInSingle, HaveTheBitsOfTheirSerialTwinEveryTime)
{
    ILUX_SKIP_WITHOUT_GPU();
    Gpu gpu;
    for (const DataflowSystem& system : dataflow_systems()) {
        SCOPED_TRACE(system.name);
        const DataflowProgram program = factor_dataflow(*system.F.pattern);
        const auto            expected = FloatSlots(program, system.A.val).slots();
        const GpuDataflow     dataflow(gpu, program);
        DeviceBuffer<double>  input(system.A.val.size());
        auto                  v = dataflow.workspace<float>(gpu);
        upload<double>(gpu, system.A.val, input);
        for (int repeat = 0; repeat < repeats(); ++repeat) {
            dataflow.run(gpu, input.data(), nullptr, v, nullptr);
            std::vector<float> found(v.size());
            download<float>(gpu, v, found);
            for (std::size_t s = 0; s < expected.size(); ++s)
                ASSERT_EQ(found[s], expected[s]) << "slot " << s << ", repeat " << repeat;
        }
    }
}

/// What overflows float, and every NaN, comes out as one that is not the flag.
TEST(GpuDataflowInSingle, EndWhateverTheValues)
{
    ILUX_SKIP_WITHOUT_GPU();
    Gpu                   gpu;
    const DataflowSystem  system = dataflow_system("circuit", gallery::mna_random({.n = 200}));
    const DataflowProgram program = factor_dataflow(*system.F.pattern);
    const GpuDataflow     dataflow(gpu, program);
    for (const double bad : {0.0, 1e300, 1e-60, 1e-44, infinity, nan, -nan}) {
        SCOPED_TRACE(bad);
        auto values = system.A.val;
        for (std::size_t p = 0; p < values.size(); p += 3) values[p] = bad;
        DeviceBuffer<double> input(values.size());
        auto                 v = dataflow.workspace<float>(gpu);
        upload<double>(gpu, values, input);
        dataflow.run(gpu, input.data(), nullptr, v, nullptr);
        std::vector<float> found(v.size());
        download<float>(gpu, v, found);
        const auto expected = FloatSlots(program, values).slots();
        for (const auto slot : program.slot_of) {
            ASSERT_EQ(std::isnan(found[slot]), std::isnan(expected[slot])) << "slot " << slot;
            if (!std::isnan(expected[slot])) {
                ASSERT_EQ(found[slot], expected[slot]) << "slot " << slot;
            }
        }
    }
}

TEST(GpuPivotMonitorInSingle, SeesWhatItSeesInDoubleOfTheSameNumbers)
{
    ILUX_SKIP_WITHOUT_GPU();
    Gpu gpu;
    for (const DataflowSystem& system : pattern_systems()) {
        SCOPED_TRACE(system.name);
        GpuPivotMonitor      monitor(gpu, std::make_shared<const GpuLuPattern>(gpu, system.F.pattern));
        const auto           single = rounded(factor_entries(system.F));
        const Vector         widened(single.begin(), single.end()), &values = system.A.val;
        DeviceBuffer<double> input(values.size()), in_double(single.size());
        DeviceBuffer<float>  in_float(single.size());
        upload<double>(gpu, values, input);
        upload<double>(gpu, widened, in_double);
        upload<float>(gpu, single, in_float);
        monitor.watch(gpu, input.data(), in_double.data());
        const PivotMonitor expected = monitor.result(gpu);
        monitor.watch(gpu, input.data(), in_float.data());
        const PivotMonitor found = monitor.result(gpu);
        expect_same_monitor(found, expected);
    }
}

/// Factors that are exact in float, so that the host's in double are the same ones.
TEST(GpuLuSolveInSingle, SolvesWithTheNumbersAsTheyAreStored)
{
    ILUX_SKIP_WITHOUT_GPU();
    Gpu gpu;
    Cpu cpu(1);
    for (FactoredSystem& system : factored_systems()) {
        SCOPED_TRACE(system.name);
        for (double& value : system.F.val) value = static_cast<float>(value);
        for (double& value : system.F.f_val) value = static_cast<float>(value);
        const auto           values = rounded(system.values());
        const Vector         b = random_vector(2 * system.A.rows(), 3);
        LuWorkspace          ws(system.A.rows());
        DeviceBuffer<float>  val(values.size());
        DeviceBuffer<double> right(b.size()), x(b.size());
        upload<float>(gpu, values, val);
        upload<double>(gpu, b, right);
        for (const Transpose transpose : both_ways)
            for (const GpuSpTrsvEngine engine : {GpuSpTrsvEngine::chunked, GpuSpTrsvEngine::syncfree}) {
                GpuLuSolve solve(gpu, *system.F.pattern, {}, transpose, engine, LuPrecision::in_single);
                GpuLuSolve in_double(gpu, *system.F.pattern, {}, transpose, engine);
                if (!values.empty()) {
                    EXPECT_THROW(solve.run(gpu, right.data(), x.data()), InvalidInput);  // before its numbers
                }
                solve.refill(gpu, val.data());
                solve.run(gpu, right.data(), x.data(), 2);
                Vector found(b.size()), expected(b.size());
                download<double>(gpu, x, found);
                lu_solve(cpu, system.F, b, expected, ws, transpose);
                EXPECT_LE(relative_difference(found, expected), 1e-10);
                EXPECT_LE(solve.bytes(), in_double.bytes());
                if (values.size() > 1000) {  // small arrays are rounded up
                    EXPECT_LT(solve.bytes(), in_double.bytes());
                }
            }
    }
}

TEST(GpuLuInSingle, IsAsGoodAfterRefinement)
{
    ILUX_SKIP_WITHOUT_GPU();
    Gpu gpu;
    Cpu be(1);
    for (const DataflowSystem& system : dataflow_systems()) {
        SCOPED_TRACE(system.name);
        const bool easy = !system.name.starts_with("circuit") && !system.name.starts_with("grid");
        Lu         lu(be, analyse(system.view(), in_single()));
        lu.use_gpu(gpu);
        const auto n = static_cast<std::size_t>(system.A.n);
        const auto b = random_vector(3 * system.A.n, 3);
        Vector     x(b.size());
        for (const double factor : {1.0, 1.25, -0.5}) {
            auto values = system.A.val;
            for (double& v : values) v *= factor;
            MatrixView scaled = system.view();
            scaled.val = values;
            ASSERT_EQ(lu.refactor_or_factor(values).outcome, Outcome::converged);
            for (const Transpose transpose : both_ways) {
                const LuSolveReport solved = lu.solve(b, x, transpose);
                ASSERT_EQ(solved.outcome, Outcome::converged) << solved.reason;
                EXPECT_EQ(solved.reason.empty(), !says(solved.reason, "lu.precision=single"));
                for (std::size_t at = 0; at < b.size(); at += n)
                    EXPECT_LE(componentwise_error(scaled, std::span(x).subspan(at, n), std::span(b).subspan(at, n),
                                                  transpose == Transpose::yes),
                              2e-12);
            }
        }
        EXPECT_EQ(lu.repivots(), 0);
        EXPECT_EQ(lu.precision() == LuPrecision::in_single, lu.returns_to_double() == 0) << lu.why_double();
        if (easy) {
            EXPECT_EQ(lu.returns_to_double(), 0) << lu.why_double();
        }
    }
}

TEST(GpuLuInSingle, TakesLessMemoryAndRepeatsBitForBit)
{
    ILUX_SKIP_WITHOUT_GPU();
    Gpu                  gpu;
    Cpu                  be(1);
    const DataflowSystem system = dataflow_system("mesh", gallery::poisson2d(24, 19));
    Lu single(be, analyse(system.view(), in_single())), again(be, analyse(system.view(), in_single())),
        twice(be, analyse(system.view()));
    const auto b = random_vector(system.A.n, 3);
    Vector     x(b.size()), y(b.size());
    for (Lu* lu : {&single, &again, &twice}) {
        lu->use_gpu(gpu);
        ASSERT_EQ(lu->refactor_or_factor(system.A.val).outcome, Outcome::converged);
        ASSERT_EQ(lu->solve(b, x).outcome, Outcome::converged);
    }
    EXPECT_LT(single.device_bytes(), twice.device_bytes());
    EXPECT_EQ(twice.precision(), LuPrecision::in_double);
    for (int k = 0; k < 5; ++k) {
        auto values = system.A.val;
        for (std::size_t p = 0; p < values.size(); ++p) values[p] *= 1 + 0.001 * k * std::cos(double(p));
        ASSERT_EQ(single.refactor_and_solve(values, b, x).solution.outcome, Outcome::converged);  // in one launch
        ASSERT_EQ(again.refactor_or_factor(values).outcome, Outcome::converged);
        ASSERT_EQ(again.solve(b, y).outcome, Outcome::converged);
        EXPECT_TRUE(identical(x, y)) << "system " << k;
    }
    EXPECT_EQ(single.precision(), LuPrecision::in_single);
}

TEST(GpuLuInSingle, ReturnsToDoubleWhereRefinementDoesNotReachTheTolerance)
{
    ILUX_SKIP_WITHOUT_GPU();
    Gpu         gpu;
    Cpu         be(1);
    const Small easy = hilbert(5), hard = hilbert(10);
    Vector      x5(5), x(10), y(10), z(20);
    Lu          serves(be, analyse(easy.view(), in_single(as_given)));
    serves.use_gpu(gpu);
    ASSERT_EQ(serves.refactor_or_factor(easy.view()).outcome, Outcome::converged);
    ASSERT_EQ(serves.solve(random_vector(5, 1), x5).outcome, Outcome::converged);
    EXPECT_EQ(serves.returns_to_double(), 0) << serves.why_double();

    for (const bool in_one_launch : {false, true}) {
        const auto b = random_vector(10, 1);
        Lu         lu(be, analyse(hard.view(), in_single(as_given))), twin(be, analyse(hard.view(), as_given));
        for (Lu* one : {&lu, &twin}) {
            one->use_gpu(gpu);
            ASSERT_EQ(one->refactor_or_factor(hard.view()).outcome, Outcome::converged);
        }
        EXPECT_EQ(lu.precision(), LuPrecision::in_single);
        const LuSolveReport solved =
            in_one_launch ? lu.refactor_and_solve(hard.view().val, b, x).solution : lu.solve(b, x);
        EXPECT_EQ(solved.outcome, Outcome::converged) << solved.reason;
        EXPECT_LE(solved.refine.backward_error, 1e-12);
        EXPECT_TRUE(says(solved.reason, "lu.precision=single")) << solved.reason;
        EXPECT_TRUE(says(solved.reason, "double from here on")) << solved.reason;
        EXPECT_FALSE(solved.repivoted);
        EXPECT_EQ(lu.precision(), LuPrecision::in_double);
        EXPECT_EQ(lu.returns_to_double(), 1);
        EXPECT_EQ(lu.why_double(), solved.reason);
        ASSERT_EQ(twin.solve(b, y).outcome, Outcome::converged);
        EXPECT_TRUE(identical(x, y));
        // and stays there
        const LuReport next = lu.refactor_or_factor(hard.view());
        EXPECT_EQ(next.action, LuAction::refactor);
        EXPECT_EQ(next.reason, "");
        EXPECT_EQ(lu.solve(b, y).reason, "");
        EXPECT_EQ(lu.returns_to_double(), 1);
        // but for new pivots
        ASSERT_EQ(lu.factor(hard.view()).outcome, Outcome::converged);
        EXPECT_EQ(lu.precision(), LuPrecision::in_single);
        Vector two(20, 0);  // b = 0 is solved as it is
        std::ranges::copy(b, two.begin() + 10);
        EXPECT_EQ(lu.solve(two, z).outcome, Outcome::converged);
        EXPECT_EQ(lu.returns_to_double(), 2);
        EXPECT_TRUE(identical(std::span(z).first(10), Vector(10, 0)));
        EXPECT_TRUE(identical(std::span(z).last(10), x));
    }
}

/// 1 + 2⁻³⁰ is 1 in single precision, which leaves 1 − 1·1 for the second pivot, −2⁻³⁰ in truth.
TEST(GpuLuInSingle, ReturnsToDoubleWhereAPivotVanishesInSingleAlone)
{
    ILUX_SKIP_WITHOUT_GPU();
    Gpu         gpu;
    Cpu         be(1);
    const auto  rows = MatrixView::Layout::rows;
    const Small close{{{1, 1}, {1 + 0x1p-30, 1}}, rows}, apart{{{1, 1}, {0.5, 1}}, rows};
    const auto  expect_solved = [&](Lu& lu) {
        Vector x(2);
        EXPECT_EQ(lu.precision(), LuPrecision::in_double);
        EXPECT_EQ(lu.returns_to_double(), 1);
        EXPECT_EQ(lu.repivots(), 0);
        const auto solved = lu.solve(Vector{2, 2 + 0x1p-30}, x);
        EXPECT_EQ(solved.outcome, Outcome::converged) << solved.reason;
        EXPECT_NEAR(x[0], 1, 1e-5);
        EXPECT_NEAR(x[1], 1, 1e-5);
    };
    Lu at_once(be, analyse(close.view(), in_single(as_given)));
    at_once.use_gpu(gpu);
    const LuReport first = at_once.refactor_or_factor(close.view());
    ASSERT_EQ(first.outcome, Outcome::converged) << first.reason;
    EXPECT_TRUE(says(first.reason, "lu.precision=single")) << first.reason;
    EXPECT_TRUE(says(first.reason, "pivot is 0")) << first.reason;
    expect_solved(at_once);

    Lu later(be, analyse(apart.view(), in_single(as_given)));
    later.use_gpu(gpu);
    ASSERT_EQ(later.refactor_or_factor(apart.view()).outcome, Outcome::converged);
    EXPECT_EQ(later.precision(), LuPrecision::in_single);
    const LuReport report = later.refactor(close.view());
    ASSERT_EQ(report.outcome, Outcome::converged) << report.reason;
    EXPECT_EQ(report.action, LuAction::refactor);
    EXPECT_TRUE(says(report.reason, "pivot is 0")) << report.reason;
    expect_solved(later);
}

TEST(GpuLuInSingle, EndsNaNAndSingularValuesAsTypedOutcomes)
{
    ILUX_SKIP_WITHOUT_GPU();
    Gpu         gpu;
    Cpu         be(1);
    const auto  rows = MatrixView::Layout::rows;
    const Small good{{{2, 1, 0}, {1, 3, 1}, {0, 1, 4}}, rows}, broken{{{2, 1, 0}, {1, nan, 1}, {0, 1, 4}}, rows},
        singular{{{2, 1, 0}, {4, 2, 0}, {0, 0, 0}}, rows};
    Vector x(3);
    Lu     lu(be, analyse(good.view(), in_single(as_given)));
    lu.use_gpu(gpu);
    ASSERT_EQ(lu.refactor_or_factor(good.view().val).outcome, Outcome::converged);
    for (const double bad : {nan, infinity}) EXPECT_EQ(lu.solve(Vector{4, bad, 14}, x).outcome, Outcome::not_finite);
    EXPECT_EQ(lu.precision(), LuPrecision::in_single);
    EXPECT_EQ(lu.refactor_or_factor(broken.view().val).outcome, Outcome::not_finite);
    EXPECT_EQ(lu.returns_to_double(), 0) << lu.why_double();  // NaN is none of its faults
    const LuReport zero = lu.refactor_or_factor(singular.view().val);
    EXPECT_EQ(zero.outcome, Outcome::singular);
    EXPECT_EQ(lu.returns_to_double(), 1);  // a zero pivot might be
    EXPECT_TRUE(says(zero.reason, "lu.precision=single")) << zero.reason;
    ASSERT_EQ(lu.refactor_or_factor(good.view().val).outcome, Outcome::converged);
    EXPECT_EQ(lu.solve(Vector{4, 10, 14}, x).outcome, Outcome::converged);
    EXPECT_NEAR(x[0], 1, 1e-14);
    EXPECT_NEAR(x[2], 3, 1e-14);
}

TEST(LuPrecision, IsRefusedByMethodsThatStoreDouble)
{
    Cpu         be(1);
    const Small A{{{1, 1}, {1, 2}}, MatrixView::Layout::rows};
    for (const auto method : {RefactorMethod::cpu, RefactorMethod::left, RefactorMethod::glu1, RefactorMethod::glu3,
                              RefactorMethod::islu}) {
        LuOptions options = in_single(as_given);
        options.refactor = method;
        const std::string name(names(method)[static_cast<std::size_t>(method)]);
        expect_refusal<InvalidOption>([&] { Lu(be, analyse(A.view(), options)); },
                                      {"lu.precision=single", "lu.refactor=" + name});
    }
}

TEST(LuPrecision, SaysNothingToFactorsOfTheHost)
{
    Cpu         be(1);
    const Small A{{{1, 1}, {1, 2}}, MatrixView::Layout::rows};
    Vector      x(2), y(2);
    Lu          single(be, analyse(A.view(), in_single(as_given))), twice(be, analyse(A.view(), as_given));
    for (Lu* lu : {&single, &twice}) ASSERT_EQ(lu->refactor_or_factor(A.view()).outcome, Outcome::converged);
    EXPECT_EQ(single.precision(), LuPrecision::in_double);
    EXPECT_TRUE(identical(single.factors().val, twice.factors().val));
    EXPECT_EQ(single.solve(Vector{3, 5}, x).reason, "");
    EXPECT_EQ(single.returns_to_double(), 0);
}

}  // namespace
}  // namespace ilux::test

#include "ilux/direct/solve/gpu_lu_refine.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "ilux/tests/direct/both_scalars.hpp"
#include "ilux/tests/direct/dense_factors.hpp"
#include "ilux/tests/direct/pattern_systems.hpp"
#include "ilux/tests/direct/series.hpp"
#include "ilux/tests/direct/solve/residual_systems.hpp"

namespace ilux::test {
namespace {

template <class S>
class GpuResidualOf : public testing::Test {};
TYPED_TEST_SUITE(GpuResidualOf, BothScalars, ScalarName);

template <class S>
MatrixView<S> view_of(const EntriesOf<S>& A, MatrixLayout layout)
{
    return {A.n, A.ptr, A.col, A.val, layout};
}

template <class S>
EntriesOf<S> turned_entries(const Entries& A)
{
    return {A.n, A.ptr, A.col, turned_numbers<S>(A.val, 9)};
}

/// b − op(A) x and |op(A)||x| + |b| in long double.
template <class S>
struct Exact {
    using Wide = std::conditional_t<is_complex<S>, std::complex<long double>, long double>;

    Exact(const MatrixView<S>& A, Transpose way, const std::vector<S>& x, const std::vector<S>& b)
        : r(b.begin(), b.end()), size(b.size()), terms(b.size(), 1)
    {
        for (std::size_t i = 0; i < size.size(); ++i) size[i] = std::abs(r[i]);
        const bool by_rows = (A.layout == MatrixLayout::rows) == (way == Transpose::no);
        for (Index k = 0; k < A.n; ++k)
            for (Offset p = A.ptr[k]; p < A.ptr[k + 1]; ++p) {
                const Index i = by_rows ? k : A.idx[p], j = by_rows ? A.idx[p] : k;
                r[i] -= Wide(A.val[p]) * Wide(x[j]);
                size[i] += std::abs(Wide(A.val[p]) * Wide(x[j]));
                ++terms[i];
            }
    }
    std::vector<Wide>        r;
    std::vector<long double> size;
    std::vector<Offset>      terms;
};

/// A residual on the device, with its vectors.
template <class S = double>
struct Measured {
    Measured(Gpu& gpu, const LuSymbolic& symbolic, Transpose way, std::span<const S> values, std::span<const S> x,
             std::span<const S> b)
        : residual(gpu, symbolic, way),
          values(on_device<S>(gpu, values)),
          x(on_device<S>(gpu, x)),
          b(on_device<S>(gpu, b)),
          r(on_device<S>(gpu, std::vector<S>(x.size(), nan)))
    {}
    double run(Gpu& gpu)
    {
        residual.run(gpu, values.data(), x.data(), b.data(), r.data());
        return residual.backward_errors(gpu)[0];
    }

    GpuResidual<S>  residual;
    DeviceBuffer<S> values, x, b, r;
};

/// Every order of additions keeps |r̂ − r| ≤ γ_m (|A||x| + |b|), m the number of terms [higham_02, lemma 8.4].
TYPED_TEST(GpuResidualOf, IsWithinItsBoundOfTheExactOne)
{
    ILUX_SKIP_WITHOUT_GPU();
    using S = TypeParam;
    Gpu gpu;
    for (const Entries& real : residual_systems())
        for (const auto layout : both_layouts)
            for (const Transpose way : both_ways) {
                SCOPED_TRACE("n = " + std::to_string(real.n) + ", nnz = " + std::to_string(real.col.size()));
                const auto     A = turned_entries<S>(real);
                const auto     x = random_numbers<S>(A.n, 1), b = random_numbers<S>(A.n, 2);
                Measured<S>    measured(gpu, *only_pattern(real, layout), way, A.val, x, b);
                const auto     view = view_of(A, layout);
                const Exact<S> exact(view, way, x, b);
                const double   error = measured.run(gpu),
                             expected = componentwise_error<S>(view, x, b, way == Transpose::yes);
                const auto r = on_host(gpu, measured.r);
                Offset     most = 1;
                for (Index i = 0; i < A.n; ++i) {
                    most = std::max(most, exact.terms[i]);
                    ASSERT_LE(std::abs(typename Exact<S>::Wide(r[i]) - exact.r[i]),
                              (is_complex<S> ? 6 : 2) * exact.terms[i] * eps * exact.size[i])
                        << "row " << i;
                }
                EXPECT_NEAR(error, expected, 4 * static_cast<double>(most) * eps);
            }
}

TEST(GpuResidual, HasTheSameBitsEveryTimeOnTwoStreamsAtOnce)
{
    ILUX_SKIP_WITHOUT_GPU();
    Gpu           first, second;
    const Entries A = vectors_of({3, 100'000, 0, 2, 70, 300}, 3000, 3), B = entries_of(random_dominant(5000, 5, 6));
    const auto    x = random_vector(3000, 1), b = random_vector(3000, 2), y = random_vector(5000, 1),
               c = random_vector(5000, 2);
    Measured<> one(first, *only_pattern(A, both_layouts[0]), Transpose::no, A.val, x, b),
        two(second, *only_pattern(B, both_layouts[1]), Transpose::no, B.val, y, c);
    const double error_one = one.run(first), error_two = two.run(second);
    const auto   r_one = on_host(first, one.r), r_two = on_host(second, two.r);
    for (int repeat = 0; repeat < repeats(); ++repeat) {
        one.residual.run(first, one.values.data(), one.x.data(), one.b.data(), one.r.data());
        two.residual.run(second, two.values.data(), two.x.data(), two.b.data(), two.r.data());
        ASSERT_EQ(one.residual.backward_errors(first)[0], error_one);
        ASSERT_EQ(two.residual.backward_errors(second)[0], error_two);
        ASSERT_TRUE(identical(on_host(first, one.r), r_one));
        ASSERT_TRUE(identical(on_host(second, two.r), r_two));
    }
}

/// Long double has the exponents that double lacks. Long rows, pieces and short ones all.
TYPED_TEST(GpuResidualOf, ScalesRowsAtTheEndsOfTheRange)
{
    ILUX_SKIP_WITHOUT_GPU();
    using S = TypeParam;
    Gpu           gpu;
    const Entries unit = vectors_of({3, 600, 0, 2, 70, 300, 5, 0}, 40, 3);
    for (const int exponent : {-1070, -1030, 900, 1020}) {
        SCOPED_TRACE(exponent);
        auto A = turned_entries<S>(unit);
        for (S& value : A.val) value = times_power(value, exponent);
        auto x = random_numbers<S>(A.n, 1), b = random_numbers<S>(A.n, 2);
        for (S& x_i : x) x_i = times_power(x_i, exponent > 0 ? 0 : 10);
        for (S& b_i : b) b_i = times_power(b_i, exponent > 0 ? exponent : exponent + 2);
        Measured<S>    measured(gpu, *only_pattern(unit, both_layouts[0]), Transpose::no, A.val, x, b);
        const auto     view = view_of(A, both_layouts[0]);
        const Exact<S> exact(view, Transpose::no, x, b);
        const double   error = measured.run(gpu);
        const bool     overflows =
            std::ranges::any_of(exact.r, [](auto r_i) { return std::abs(r_i) > std::numeric_limits<double>::max(); });
        if (overflows) {
            EXPECT_EQ(error, infinity);
        } else {
            EXPECT_NEAR(error, componentwise_error<S>(view, x, b), 1e-12);
        }
    }
}

TYPED_TEST(GpuResidualOf, OfWhatIsNotFiniteIsInfinite)
{
    ILUX_SKIP_WITHOUT_GPU();
    using S = TypeParam;
    Gpu          gpu;
    const auto   real = vectors_of({3, 600, 0, 2, 70, 300, 5, 0}, 40, 3);
    const auto   A = turned_entries<S>(real);
    const auto   symbolic = only_pattern(real, both_layouts[0]);
    const auto   x = random_numbers<S>(A.n, 1), b = random_numbers<S>(A.n, 2);
    Measured<S>  measured(gpu, *symbolic, Transpose::no, A.val, x, b);
    const double sound = measured.run(gpu);
    EXPECT_LT(sound, infinity);
    for (const double bad : {nan, infinity, -infinity})
        for (const Index i : {0, 1, 2, 4, 5, 39}) {
            auto bad_x = x, bad_b = b, values = A.val;
            bad_x[i] = bad_b[i] = bad;
            values[values.size() - 1 - i] = bad;
            EXPECT_EQ(Measured<S>(gpu, *symbolic, Transpose::no, A.val, bad_x, b).run(gpu), infinity);
            EXPECT_EQ(Measured<S>(gpu, *symbolic, Transpose::no, A.val, x, bad_b).run(gpu), infinity);
            EXPECT_EQ(Measured<S>(gpu, *symbolic, Transpose::no, values, x, b).run(gpu), infinity);
            upload<S>(gpu, bad_b, measured.b);
            EXPECT_EQ(measured.run(gpu), infinity);
            upload<S>(gpu, b, measured.b);
            EXPECT_EQ(measured.run(gpu), sound);  // nothing is left of it
        }
}

TEST(GpuResidual, CountsZeroOverZeroAsZero)
{
    ILUX_SKIP_WITHOUT_GPU();
    Gpu           gpu;
    const Entries A{3, {0, 1, 1, 2}, {0, 2}, {2, 1}};
    const auto    error = [&](std::vector<double> x, std::vector<double> b) {
        return Measured<>(gpu, *only_pattern(A, both_layouts[0]), Transpose::no, A.val, x, b).run(gpu);
    };
    EXPECT_EQ(error({0.5, 7, 0}, {1, 0, 0}), 0);
    EXPECT_EQ(error({0.5, 7, 0}, {1, 1, 0}), 1);  // the second row is empty
    EXPECT_EQ(error({1, 0, 0}, {1, 0, 0}), 1. / 3);
}

TEST(GpuResidual, MeasuresProductsThatVanishOrLeavesThemToTheHost)
{
    ILUX_SKIP_WITHOUT_GPU();
    Gpu gpu;
    // Row 1: −2ᵉ (3·1 − 1·2) of 5·2ᵉ; row 2 is solved.
    const auto error = [&](int of_a, int of_x) {
        const double  one = std::ldexp(1, of_a), x = std::ldexp(1, of_x);
        const Entries A{2, {0, 2, 3}, {0, 1, 1}, {3 * one, -one, 1}};
        return Measured<>(gpu, *only_pattern(A, both_layouts[0]), Transpose::no, A.val, std::vector<double>{x, 2 * x},
                          std::vector<double>{0, 2 * x})
            .run(gpu);
    };
    for (const auto& [of_a, of_x] : {std::pair{-540, -400}, {-540, -540}, {-1074, -100}, {-100, -950}, {-900, -950}})
        EXPECT_DOUBLE_EQ(error(of_a, of_x), 0.2) << of_a << ' ' << of_x;
    EXPECT_EQ(error(-1074, -900), infinity);
}

/// All x refined on the device, by factors on the host.
/// @param b, x  vector after vector
std::vector<RefineReport> refined_together(Gpu& gpu, const LuFactors<>& factors, const LuSymbolic& symbolic,
                                           std::span<const double> values, std::span<const double> b,
                                           std::vector<double>& x, Transpose way, bool measured)
{
    Cpu           cpu(1);
    LuWorkspace<> ws(symbolic.n);
    const auto    n = static_cast<std::size_t>(symbolic.n), count = n == 0 ? 1 : x.size() / n;
    Measured<>    m(gpu, symbolic, way, values, x, b);
    auto          d = on_device(gpu, x);
    m.residual.make_room(gpu, static_cast<Index>(count));
    if (measured) m.residual.run(gpu, m.values.data(), m.x.data(), m.b.data(), m.r.data(), static_cast<Index>(count));
    std::vector<GpuRefined>   going;
    std::vector<RefineReport> reports(count, {.steps = -1});
    gpu_refine(
        gpu, m.residual, std::as_const(m.values).data(),
        GpuRefineSystems<>{m.b, m.x, m.r, d, n, static_cast<Index>(count)}, measured, symbolic.options, going,
        [&](const double* r, double* to, Index systems) {
            EXPECT_EQ(r, m.r.data());
            EXPECT_EQ(to, d.data());
            EXPECT_LE(systems, static_cast<Index>(count));
            auto host = on_host(gpu, m.r);
            host.resize(static_cast<std::size_t>(systems) * n);
            lu_solve(cpu, factors, host, host, ws, way);
            upload<double>(gpu, host, DeviceSpan<double>(d).first(host.size()));
        },
        [&](std::size_t k, DeviceSpan<const double> found, const RefineReport& report) {
            EXPECT_EQ(reports.at(k).steps, -1) << "finished twice";
            reports[k] = report;
            download<double>(gpu, found, std::span(x).subspan(k * n, n));
        });
    return reports;
}
RefineReport refined(Gpu& gpu, const LuFactors<>& factors, const LuSymbolic& symbolic, std::span<const double> values,
                     std::span<const double> b, std::vector<double>& x, Transpose way, bool measured)
{
    return refined_together(gpu, factors, symbolic, values, b, x, way, measured)[0];
}

Entries entries_of(const Held& A) { return {A.n, A.ptr, A.idx, A.val}; }

/// The same bits, whatever NaN is among them.
bool same_bits(std::span<const double> x, std::span<const double> y)
{
    return x.size() == y.size() && (x.empty() || std::memcmp(x.data(), y.data(), x.size_bytes()) == 0);
}

/// Of n values each, every one other; one NaN in the second.
std::vector<double> several_vectors(Index n, Index count, std::uint64_t seed)
{
    auto all = random_vector(n * count, seed);
    if (n > 0 && count > 1) all[static_cast<std::size_t>(n) + n / 2] = nan;
    return all;
}

TEST(GpuResidual, HasTheBitsOfEachSystemAmongSeveral)
{
    ILUX_SKIP_WITHOUT_GPU();
    Gpu gpu;
    for (const Entries& A : residual_systems())
        for (const Transpose way : both_ways) {
            const auto symbolic = only_pattern(A, both_layouts[0]);
            for (const Index count : {2, 3, 33, 2}) {
                SCOPED_TRACE("n = " + std::to_string(A.n) + ", systems " + std::to_string(count));
                const auto x = several_vectors(A.n, count, 1), b = random_vector(A.n * count, 2);
                Measured<> together(gpu, *symbolic, way, A.val, x, b);
                together.residual.make_room(gpu, count);
                const std::size_t bytes = together.residual.bytes();
                together.residual.make_room(gpu, count - 1);
                EXPECT_EQ(together.residual.bytes(), bytes);
                together.residual.run(gpu, together.values.data(), together.x.data(), together.b.data(),
                                      together.r.data(), count);
                const auto errors = together.residual.backward_errors(gpu, count);
                ASSERT_EQ(std::ssize(errors), count);
                const auto r = on_host(gpu, together.r);
                for (Index k = 0; k < count; ++k) {
                    const auto part = [&](std::span<const double> of) {
                        return of.subspan(static_cast<std::size_t>(k) * A.n, A.n);
                    };
                    Measured<> alone(gpu, *symbolic, way, A.val, part(x), part(b));
                    EXPECT_EQ(errors[k], alone.run(gpu)) << "system " << k;
                    EXPECT_TRUE(same_bits(part(r), on_host(gpu, alone.r))) << "system " << k;
                }
            }
        }
}

TEST(GpuResidual, RefusesMoreSystemsThanThereIsRoomFor)
{
    ILUX_SKIP_WITHOUT_GPU();
    Gpu           gpu;
    const Entries A{1, {0, 1}, {0}, {2}};
    Measured<>    m(gpu, *only_pattern(A, both_layouts[0]), Transpose::no, A.val, std::vector<double>(5, 1.),
                    std::vector<double>(5, 1.));
    const auto    run = [&](Index count) {
        m.residual.run(gpu, m.values.data(), m.x.data(), m.b.data(), m.r.data(), count);
    };
    expect_refusal([&] { run(2); }, {"2", "1"});
    m.residual.make_room(gpu, 4);
    EXPECT_NO_THROW(run(4));
    expect_refusal([&] { run(5); }, {"5", "4"});
    expect_refusal([&] { run(0); }, {"0", "4"});
}

TEST(GpuLuRefine, UndoesAPerturbationOfTheFactors)
{
    ILUX_SKIP_WITHOUT_GPU();
    Gpu gpu;
    for (const auto& shape : std::vector<std::vector<Index>>{{}, {1}, {31}, {32}, {33}, {20, 1, 30}})
        for (const auto layout : both_layouts)
            for (const Transpose way : both_ways) {
                auto       made = random_factors(shape, 0.3, 6);
                const Held A(made.A, layout);
                Random     random(1);
                for (double& v : made.factors.val) v *= 1 + 1e-6 * random.uniform();
                const auto    b = random_vector(A.n, 2);
                Cpu           cpu(1);
                LuWorkspace<> ws(A.n);
                for (const bool measured : {false, true}) {
                    std::vector<double> x(A.n), twin;
                    lu_solve(cpu, made.factors, b, x, ws, way);
                    twin = x;
                    const auto symbolic = only_pattern(entries_of(A), layout);
                    const auto report = refined(gpu, made.factors, *symbolic, A.val, b, x, way, measured);
                    const auto expected = lu_refine(cpu, made.factors, A.view(), b, twin, ws, way);
                    EXPECT_TRUE(report.finite);
                    EXPECT_NEAR(report.steps, expected.steps, 1);
                    EXPECT_LE(report.backward_error, 4 * eps);
                    EXPECT_LE(componentwise_error(A.view(), x, b, way == Transpose::yes), 4 * eps);
                    EXPECT_LE(relative_difference(x, twin), 1e-12);
                }
            }
}

/// Solutions that are off by more and more, so that each ends after steps of its own; one is not finite.
TEST(GpuLuRefine, RefinesSeveralTogetherWithTheBitsOfEach)
{
    ILUX_SKIP_WITHOUT_GPU();
    Gpu gpu;
    for (const auto layout : both_layouts)
        for (const Transpose way : both_ways)
            for (const Index count : {2, 3, 33}) {
                SCOPED_TRACE(count);
                auto                made = random_factors({20, 1, 30}, 0.3, 6);
                const Held          A(made.A, layout);
                Random              random(1);
                const auto          symbolic = only_pattern(entries_of(A), layout);
                const auto          n = static_cast<std::size_t>(A.n);
                const auto          b = random_vector(A.n * count, 2);
                Cpu                 cpu(1);
                LuWorkspace<>       ws(A.n);
                std::vector<double> x(b.size());
                lu_solve(cpu, made.factors, b, x, ws, way);
                for (std::size_t at = 0; at < x.size(); ++at)
                    x[at] *= 1 + std::ldexp(random.uniform(), -static_cast<int>(at / n * 7 % 60));
                x[(static_cast<std::size_t>(count) / 2) * n + 3] = nan;
                for (double& v : made.factors.val) v *= 1 + 1e-6 * random.uniform();
                for (const bool measured : {false, true}) {
                    auto       together = x;
                    const auto reports =
                        refined_together(gpu, made.factors, *symbolic, A.val, b, together, way, measured);
                    Index least = 100, most = 0;
                    for (std::size_t k = 0; k < reports.size(); ++k) {
                        std::vector<double> alone(x.begin() + k * n, x.begin() + (k + 1) * n);
                        const auto          expected = refined(gpu, made.factors, *symbolic, A.val,
                                                               std::span(b).subspan(k * n, n), alone, way, measured);
                        EXPECT_TRUE(same_bits(alone, std::span(together).subspan(k * n, n))) << "system " << k;
                        EXPECT_EQ(reports[k].steps, expected.steps);
                        EXPECT_EQ(reports[k].backward_error, expected.backward_error);
                        EXPECT_EQ(reports[k].finite, k != reports.size() / 2);
                        least = std::min(least, expected.steps);
                        most = std::max(most, expected.steps);
                    }
                    EXPECT_EQ(least, 0);  // that which is not finite
                    EXPECT_GT(most, 0);
                }
            }
}

TEST(GpuLuRefine, EndsAsLuRefineDoesWhereFactorsMislead)
{
    ILUX_SKIP_WITHOUT_GPU();
    Gpu gpu;
    // Factors of f A: those of A/4 turn an error e into −3 e, those of 4 A into 3/4 e, those of −A/4 into 5 e.
    for (const double f : {0.25, 4.0, -0.25, 1.0})
        for (const Index steps : {0, 1, 5}) {
            const auto          made = factored({.B = dense(1, {2 * f})});
            const Held          A(dense(1, {2}), both_layouts[0]);
            const auto          symbolic = only_pattern(entries_of(A), both_layouts[0]);
            std::vector<double> x{1.0 + 1.0 / 64}, twin = x, b{2};
            LuFactors<>         factors = made.factors;
            symbolic->options.refine_steps = steps;
            factors.symbolic = symbolic;
            Cpu           cpu(1);
            LuWorkspace<> ws(1);
            const auto    report = refined(gpu, factors, *symbolic, A.val, b, x, Transpose::no, false);
            const auto    expected = lu_refine(cpu, factors, A.view(), b, twin, ws);
            EXPECT_EQ(report.steps, expected.steps);
            EXPECT_EQ(report.backward_error, expected.backward_error);
            EXPECT_EQ(x, twin);
        }
}

TEST(GpuLuRefine, ReportsWhatIsNotFinite)
{
    ILUX_SKIP_WITHOUT_GPU();
    Gpu        gpu;
    const auto made = factored({.B = dense(2, {2, 0, 0, 1})});
    const Held A(dense(2, {2, 0, 0, 1}), both_layouts[0]);
    for (const double bad : {nan, infinity}) {
        std::vector<double> x{bad, 1}, b{1, 1};
        const auto report = refined(gpu, made.factors, *only_pattern(entries_of(A), both_layouts[0]), A.val, b, x,
                                    Transpose::no, false);
        EXPECT_FALSE(report.finite);
        EXPECT_EQ(report.backward_error, infinity);
        EXPECT_EQ(report.steps, 0);
    }
}

}  // namespace
}  // namespace ilux::test

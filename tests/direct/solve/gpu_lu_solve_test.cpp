#include "ilux/direct/solve/gpu_lu_solve.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "ilux/base/gpu/gpu_graph.hpp"
#include "ilux/direct/solve/lu_forward_system.hpp"
#include "ilux/tests/direct/both_scalars.hpp"
#include "ilux/tests/direct/complex_systems.hpp"
#include "ilux/tests/direct/klu/both_ways.hpp"
#include "ilux/tests/direct/repeats.hpp"
#include "ilux/tests/direct/series.hpp"
#include "ilux/tests/direct/solve/forward_systems.hpp"

namespace ilux::test {
namespace {

using Vector = std::vector<double>;

template <class S>
class GpuLuSolveOf : public testing::Test {};
TYPED_TEST_SUITE(GpuLuSolveOf, BothScalars, ScalarName);

/// D A E with factors D L D⁻¹ and D U E, D and E of numbers 1, i, −1, −i: exact.
template <class S>
FactoredSystemOf<S> turned_system(const FactoredSystem& real)
{
    if constexpr (is_complex<S>) {
        const LuPattern& P = *real.F.pattern;
        Random           random(9);
        const auto       turn = [&] { return std::array<Complex, 4>{1., {0, 1}, -1., {0, -1}}[random.below(4)]; };
        ComplexVector    d(P.n), e(P.n), val = widened(real.A.val());
        std::ranges::generate(d, turn);
        std::ranges::generate(e, turn);
        for (Index i = 0; i < P.n; ++i)
            for (Offset p = real.A.row_ptr()[i]; p < real.A.row_ptr()[i + 1]; ++p) val[p] *= d[i] * e[real.A.col()[p]];
        const ComplexVector wide = widened(real.F.val);
        LuFactors<S> F{real.F.symbolic, real.F.pattern, {wide.begin(), wide.end()}, widened(real.F.f_val), nullptr, {},
                       real.F.monitor};
        const auto   left = [&](Index r) { return d[P.row_perm[r]]; };
        for (Index k = 0; k < P.n; ++k) {
            const Complex right = e[P.col_perm[k]];
            for (Offset p = P.col_ptr[k]; p < P.col_ptr[k + 1]; ++p)
                F.val[p] *= left(P.row[p]) * (p <= P.diag[k] ? right : std::conj(left(k)));
            for (Offset p = P.f_col_ptr[k]; p < P.f_col_ptr[k + 1]; ++p) F.f_val[p] *= left(P.f_row[p]) * right;
        }
        return {real.name,
                CsrMatrix<S>::from_arrays(P.n, P.n, {real.A.row_ptr().begin(), real.A.row_ptr().end()},
                                          {real.A.col().begin(), real.A.col().end()}, val),
                F};
    } else return real;
}

/// A solve, its factors and its vectors on the device.
template <class S = double>
struct SystemOnDevice {
    using Vector = std::vector<S>;

    SystemOnDevice(Gpu& gpu, const FactoredSystemOf<S>& system, Transpose transpose,
                   GpuSpTrsvEngine engine = GpuSpTrsvEngine::automatic, Index rhs = 1)
        : val(system.values().size()),
          solve(gpu, *system.F.pattern, val.data(), {}, transpose, engine),
          b(static_cast<std::size_t>(system.A.rows()) * rhs),
          x(b.size()),
          rhs(rhs)
    {
        refill(gpu, system.values());
    }
    void refill(Gpu& gpu, const Vector& values)
    {
        upload<S>(gpu, values, val);
        solve.refill(gpu);
    }
    Vector run(Gpu& gpu)
    {
        solve.run(gpu, b.data(), x.data(), rhs);
        Vector found(x.size());
        download<S>(gpu, x, found);
        return found;
    }
    Vector run(Gpu& gpu, const Vector& right)
    {
        upload<S>(gpu, right, b);
        return run(gpu);
    }

    DeviceBuffer<S> val;
    GpuLuSolve<S>   solve;
    DeviceBuffer<S> b, x;
    Index           rhs;
};

TYPED_TEST(GpuLuSolveOf, SolvesEverySystemAndItsTransposeByEveryEngineThatItMayTake)
{
    ILUX_SKIP_WITHOUT_GPU();
    using S = TypeParam;
    Gpu gpu;
    Cpu cpu(1);
    for (const FactoredSystem& real : factored_systems()) {
        const auto system = turned_system<S>(real);
        SCOPED_TRACE(system.name);
        const auto     b = random_numbers<S>(system.A.rows(), 3);
        LuWorkspace<S> ws(system.A.rows());
        for (const Transpose transpose : both_ways) {
            std::vector<S> expected(b.size());
            lu_solve<S>(cpu, system.F, b, expected, ws, transpose);
            for (const GpuSpTrsvEngine engine :
                 {GpuSpTrsvEngine::automatic, GpuSpTrsvEngine::chunked, GpuSpTrsvEngine::syncfree}) {
                SystemOnDevice<S>    device(gpu, system, transpose, engine);
                const std::vector<S> x = device.run(gpu, b);
                EXPECT_LE(relative_difference(parts_of(x), parts_of(expected)), 1e-10);
                EXPECT_LE(componentwise_error<S>(system.view(), x, b, transpose == Transpose::yes), 1e-12);
                EXPECT_GE(device.solve.bytes(), device.val.size() * sizeof(S));  // a copy
            }
        }
    }
}

TEST(GpuLuSolve, RepeatsBitForBitWhateverWasSolvedBetween)
{
    ILUX_SKIP_WITHOUT_GPU();
    Gpu gpu;
    for (const FactoredSystem& system : factored_systems()) {
        SCOPED_TRACE(system.name);
        const Vector b = random_vector(system.A.rows(), 3), other = random_vector(system.A.rows(), 4);
        for (const Transpose transpose : both_ways) {
            SystemOnDevice<> device(gpu, system, transpose);
            const Vector     first = device.run(gpu, b);
            for (int repeat = 0; repeat < repeats(); ++repeat) {
                if (repeat % 10 == 0) {
                    device.run(gpu, other);
                    upload<double>(gpu, b, device.b);
                }
                ASSERT_TRUE(identical(device.run(gpu), first)) << "repeat " << repeat;
            }
        }
    }
}

TEST(GpuLuSolve, SolvesSeveralRightHandSidesWithTheBitsOfEach)
{
    ILUX_SKIP_WITHOUT_GPU();
    Gpu         gpu;
    const Index rhs = 5;
    for (const FactoredSystem& system : factored_systems())
        for (const Transpose transpose : both_ways)
            for (const GpuSpTrsvEngine engine : {GpuSpTrsvEngine::chunked, GpuSpTrsvEngine::syncfree}) {
                SCOPED_TRACE(system.name);
                const auto       n = static_cast<std::size_t>(system.A.rows());
                const Vector     b = random_vector(static_cast<Index>(rhs * n), 3);
                SystemOnDevice<> together(gpu, system, transpose, engine, rhs), one(gpu, system, transpose, engine);
                for (const Index room : {1, 2, 5, 4}) {  // five launches, three, one
                    together.solve.make_room(gpu, room);
                    EXPECT_EQ(together.solve.room(), std::max(room, room == 4 ? rhs : 1));
                    const Vector x = together.run(gpu, b);
                    for (std::size_t at = 0; at < x.size(); at += n)
                        EXPECT_TRUE(identical(std::span(x).subspan(at, n),
                                              one.run(gpu, Vector(b.begin() + at, b.begin() + at + n))));
                }
            }
}

TYPED_TEST(GpuLuSolveOf, TakesNewNumbersAndForgetsBadOnes)
{
    ILUX_SKIP_WITHOUT_GPU();
    using S = TypeParam;
    Gpu gpu;
    for (const FactoredSystem& real : factored_systems()) {
        const auto system = turned_system<S>(real);
        SCOPED_TRACE(system.name);
        const LuPattern& P = *system.F.pattern;
        if (P.n == 0) continue;
        const auto b = random_numbers<S>(P.n, 3), good = system.values();
        for (const Transpose transpose : both_ways) {
            SystemOnDevice<S> device(gpu, system, transpose);
            const auto        first = device.run(gpu, b);
            for (const double bad :
                 {0.0, std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()}) {
                auto values = good;
                values[static_cast<std::size_t>(P.diag[P.n / 2])] = bad;
                device.refill(gpu, values);
                const std::vector<S> x = device.run(gpu, b);
                std::vector<S>       expected(b.size());
                solve_serial<S>(with_values<S>(lu_forward_system(P, {}, transpose), values), b, expected);
                for (std::size_t i = 0; i < x.size(); ++i)
                    ASSERT_EQ(is_finite(x[i]), is_finite(expected[i])) << "pivot " << bad << ", row " << i;
            }
            auto halved = good;  // U and F only, so that A is halved
            for (Index k = 0; k < P.n; ++k)
                for (Offset p = P.col_ptr[k]; p <= P.diag[k]; ++p) halved[static_cast<std::size_t>(p)] /= 2;
            for (Offset p = P.nnz(); p < std::ssize(halved); ++p) halved[static_cast<std::size_t>(p)] /= 2;
            device.refill(gpu, halved);
            auto twice = first;
            for (S& value : twice) value *= 2;
            EXPECT_TRUE(same_numbers(device.run(gpu, b), twice));  // scaling by 2 is exact
            device.refill(gpu, good);
            EXPECT_TRUE(same_numbers(device.run(gpu, b), first));
        }
    }
}

TEST(GpuLuSolve, MayStandInAGraphAndAllocatesNothing)
{
    ILUX_SKIP_WITHOUT_GPU();
    Gpu        gpu;
    const auto systems = factored_systems();
    for (const FactoredSystem& system : systems) {
        SCOPED_TRACE(system.name);
        const Vector     b = random_vector(system.A.rows(), 3);
        SystemOnDevice<> device(gpu, system, Transpose::no);
        const Vector     expected = device.run(gpu, b);
        const long       before = device_use().allocations;
        const GpuGraph   graph(gpu, [&] {
            device.solve.refill(gpu);
            device.solve.run(gpu, device.b.data(), device.x.data());
        });
        for (int repeat = 0; repeat < 3; ++repeat) {
            fill(gpu, 0, device.x);
            graph.launch(gpu);
            Vector found(b.size());
            download<double>(gpu, device.x, found);
            EXPECT_TRUE(identical(found, expected));
        }
        EXPECT_EQ(device_use().allocations, before);
    }
}

TEST(GpuLuSolve, RunsOnTwoStreamsAtOnce)
{
    ILUX_SKIP_WITHOUT_GPU();
    Gpu        first, second;
    const auto systems = factored_systems();
    for (const FactoredSystem& system : systems) {
        if (system.name != "circuit" && system.name != "grid" && system.name != "arrow") continue;
        SCOPED_TRACE(system.name);
        SystemOnDevice<> a(first, system, Transpose::no), b(second, system, Transpose::yes);
        const Vector     right = random_vector(system.A.rows(), 3);
        const Vector     expected_a = a.run(first, right), expected_b = b.run(second, right);
        for (int repeat = 0; repeat < 50; ++repeat) {
            a.solve.refill(first);
            b.solve.refill(second);
            a.solve.run(first, a.b.data(), a.x.data());
            b.solve.run(second, b.b.data(), b.x.data());
        }
        EXPECT_TRUE(identical(a.run(first), expected_a));
        EXPECT_TRUE(identical(b.run(second), expected_b));
    }
}

TEST(GpuLuSolve, WaitsForItsNumbers)
{
    ILUX_SKIP_WITHOUT_GPU();
    Gpu                  gpu;
    const auto           system = dataflow_system("random", random_dominant(10, 3, 5));
    GpuLuSolve<>         solve(gpu, *system.F.pattern, nullptr, {}, Transpose::no);
    DeviceBuffer<double> b(10), x(10);
    EXPECT_THROW(solve.run(gpu, b.data(), x.data()), InvalidInput);
}

}  // namespace
}  // namespace ilux::test

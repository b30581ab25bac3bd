// Complex triangular systems on a device, by every engine: what the serial substitution gives, up to the order of sums;
// the bits of real systems where imaginary parts are zero.

#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include "ilux/gallery/pde.hpp"
#include "ilux/sptrsv/gpu/gpu_sptrsv.hpp"
#include "ilux/tests/sptrsv/engine_cases.hpp"
#include "ilux/tests/sptrsv/systems.hpp"
#include "ilux/tests/support/complex_on_device.hpp"
#include "ilux/tests/support/gpu_test.hpp"

namespace ilux::test {
namespace {

/// Permutations and scales on both sides, those of x complex.
SolveFrame<Complex> random_complex_frame(Index n)
{
    SolveFrame<Complex> frame{random_permutation(n, 3), random_vector(n, 4), random_permutation(n, 5), {}};
    for (const Complex& z : random_complex_vector(n, 6)) frame.out_scale.push_back(z + 2.);
    return frame;
}

class GpuComplexSpTrsv : public testing::TestWithParam<EngineCase> {
protected:
    void SetUp() override
    {
        ILUX_SKIP_WITHOUT_GPU();
        gpu_ = std::make_unique<Gpu>();
    }
    Gpu& gpu() { return *gpu_; }

    template <class T>
    ComplexVector solve(const ForwardSystem<T>& system, const ComplexVector& b)
    {
        const GpuSpTrsvPlan<T> plan(gpu(), system, GetParam().engine);
        auto                   ws = plan.workspace(gpu());
        const auto             db = on_device(gpu(), b);
        auto                   dx = on_device(gpu(), ComplexVector(b.size(), {nan, nan}));
        plan.solve(gpu(), db, dx, ws);
        EXPECT_TRUE(identical(on_host(gpu(), db), b)) << "b was written to";
        return on_host(gpu(), dx);
    }

    /// Calls body with the system of A in the precision under test.
    template <class Body>
    void with_system(const CsrMatrix<Complex>& A, Shape shape, SolveFrame<Complex> frame, Body body)
    {
        if (GetParam().single)
            body(forward_system<std::complex<float>>(A, shape.triangle, shape.diagonal, std::move(frame)));
        else body(forward_system<Complex>(A, shape.triangle, shape.diagonal, std::move(frame)));
    }

    void expect_accurate(const CsrMatrix<double>& pattern, Shape shape, SolveFrame<Complex> frame = {})
    {
        with_system(turned(pattern, 9), shape, std::move(frame), [&]<class T>(const ForwardSystem<T>& system) {
            const auto    b = random_complex_vector(pattern.rows(), 11);
            ComplexVector expected(b.size());
            solve_serial<T>(system, b, expected);
            EXPECT_LE(relative_difference(solve(system, b), expected), 1e-12) << "n = " << pattern.rows();
        });
    }
    void expect_accurate_lower(const CsrMatrix<double>& L) { expect_accurate(L, {Triangle::lower, Diagonal::unit}); }

private:
    std::unique_ptr<Gpu> gpu_;
};

INSTANTIATE_TEST_SUITE_P(Engines, GpuComplexSpTrsv, testing::ValuesIn(engine_cases()),
                         [](const auto& i) { return i.param.name(); });

/// Strictly lower entries of A, divided by 4.
CsrMatrix<double> lower_of(const CsrMatrix<double>& A)
{
    EntryList entries;
    for (Index i = 0; i < A.rows(); ++i)
        for (Offset p = A.row_ptr()[i]; p < A.row_ptr()[i + 1]; ++p)
            if (A.col()[p] < i) entries.add(i, A.col()[p], A.val()[p] / 4);
    return entries.matrix(A.rows(), A.rows());
}

TEST_P(GpuComplexSpTrsv, SolvesAwkwardSizesAndShapes)
{
    for (Index n : {0, 1, 31, 32, 33, 1000})
        for (const Shape& shape : shapes()) expect_accurate(random_triangle(n, 5, shape, n), shape);
}

TEST_P(GpuComplexSpTrsv, SolvesChainsDiagonalsLongRowsAndGrids)
{
    expect_accurate_lower(lower_from(3000, [](Index i) { return i ? std::vector{i - 1} : std::vector<Index>(); }));
    expect_accurate_lower(lower_from(50'000, [](Index) { return std::vector<Index>(); }));
    expect_accurate_lower(lower_from(5000, [](Index i) { return i == 4999 ? identity(i) : std::vector<Index>(); }));
    expect_accurate_lower(lower_from(10'100, [](Index i) {  // rows of 10⁴ that read one another and short ones
        if (i >= 10'000 && i % 20 == 0) return identity(i);
        return i ? std::vector{i - 1 - i % 5 % i} : std::vector<Index>();
    }));
    expect_accurate_lower(lower_of(gallery::poisson2d({.n = 300})));
    expect_accurate_lower(lower_of(gallery::convdiff3d({.n = 40})));
}

TEST_P(GpuComplexSpTrsv, ReadsAndWritesThroughFramesForManyRightHandSides)
{
    const Index n = 500;
    for (const Shape& shape : shapes())
        with_system(turned(random_triangle(n, 4, shape, 3), 4), shape, random_complex_frame(n),
                    [&]<class T>(const ForwardSystem<T>& system) {
                        const auto b = random_complex_vector(3 * n, 5), x = solve(system, b);
                        for (Index r = 0; r < 3; ++r) {
                            const ComplexVector one(b.begin() + r * n, b.begin() + (r + 1) * n);
                            const ComplexVector of_one(x.begin() + r * n, x.begin() + (r + 1) * n);
                            ComplexVector       expected(n);
                            solve_serial<T>(system, one, expected);
                            EXPECT_LE(relative_difference(of_one, expected), 1e-12);
                            EXPECT_TRUE(GetParam().vendor() || identical(solve(system, one), of_one));
                        }
                    });
}

TEST_P(GpuComplexSpTrsv, HasTheBitsOfARealSystemWithoutImaginaryParts)
{
    if (GetParam().vendor()) GTEST_SKIP()
    << "the vendor promises no bits";
    const Index n = 20'000;
    const Shape shape{Triangle::lower, Diagonal::stored};
    const auto  A = random_triangle(n, 4, shape, 3);
    const auto  b = random_vector(n, 5);
    const auto  real = [&]<class T>(const ForwardSystem<T>& system) {
        const GpuSpTrsvPlan<T> plan(gpu(), system, GetParam().engine);
        auto                   ws = plan.workspace(gpu());
        DeviceBuffer<double>   db(n), dx(n);
        std::vector<double>    x(n);
        upload<double>(gpu(), b, db);
        plan.solve(gpu(), db, dx, ws);
        download<double>(gpu(), dx, x);
        return x;
    };
    const auto x = GetParam().single ? real(forward_system<float>(A, shape.triangle, shape.diagonal))
                                     : real(forward_system<double>(A, shape.triangle, shape.diagonal));
    with_system(as_complex(A), shape, {},
                [&](const auto& system) { EXPECT_TRUE(identical(real_parts(solve(system, as_complex(b))), x)); });
}

TEST_P(GpuComplexSpTrsv, EndsWithNaNInEitherPart)
{
    if (GetParam().vendor()) GTEST_SKIP()
    << "the vendor promises nothing of NaN";
    const double unset = std::bit_cast<double>(~std::uint64_t{0});  // "not yet known" inside the engines
    for (const Complex bad : {Complex(nan, 0), Complex(0, nan), Complex(unset, unset), Complex(1, unset)})
        with_system(turned(random_triangle(1000, 2, {Triangle::lower, Diagonal::unit}, 21), 1),
                    {Triangle::lower, Diagonal::unit}, {}, [&]<class T>(const ForwardSystem<T>& system) {
                        auto          b = random_complex_vector(1000, 6);
                        ComplexVector expected(1000);
                        b[5] = bad;
                        solve_serial<T>(system, b, expected);
                        const auto x = solve(system, b);
                        for (Index i = 0; i < 1000; ++i) ASSERT_EQ(is_nan(x[i]), is_nan(expected[i])) << "row " << i;
                    });
}

TEST_P(GpuComplexSpTrsv, RepeatsBitForBit)
{
    if (GetParam().vendor()) GTEST_SKIP()
    << "the vendor promises no repeatability";
    const Index n = 20'000;
    with_system(turned(random_triangle(n, 4, {Triangle::lower, Diagonal::unit}, 31), 1),
                {Triangle::lower, Diagonal::unit}, {}, [&]<class T>(const ForwardSystem<T>& system) {
                    const GpuSpTrsvPlan<T> plan(gpu(), system, GetParam().engine);
                    auto                   ws = plan.workspace(gpu());
                    const auto             b = on_device(gpu(), random_complex_vector(n, 1));
                    DeviceBuffer<Complex>  x(n);
                    plan.solve(gpu(), b, x, ws);
                    const auto first = on_host(gpu(), x);
                    for (int run = 0; run < 100; ++run) {
                        const auto other = on_device(gpu(), random_complex_vector(n, 100 + run));
                        plan.solve(gpu(), other, x, ws);  // a workspace remembers nothing
                        plan.solve(gpu(), b, x, ws);
                        ASSERT_TRUE(identical(on_host(gpu(), x), first)) << "run " << run;
                    }
                });
}

TEST_P(GpuComplexSpTrsv, SolvesTransposedTriangles)
{
    const Shape shape{Triangle::upper, Diagonal::stored};
    const auto  A = turned(random_triangle(300, 4, shape, 8), 2);
    const auto  b = random_complex_vector(300, 2);
    const auto  check = [&]<class T>(T) {
        const auto            plan = gpu_sptrsv<T>(gpu(), A, shape.triangle, shape.diagonal, true, GetParam().engine);
        auto                  ws = plan.workspace(gpu());
        const auto            db = on_device(gpu(), b);
        DeviceBuffer<Complex> dx(300);
        plan.solve(gpu(), db, dx, ws);
        ComplexVector expected(300);
        solve_serial<T>(forward_system<T>(transpose(A), Triangle::lower, Diagonal::stored), b, expected);
        EXPECT_LE(relative_difference(on_host(gpu(), dx), expected), 1e-12);
    };
    if (GetParam().single) check(std::complex<float>{});
    else check(Complex{});
}

/// The serial substitution itself, against a product: no device is needed.
TEST(ComplexForwardSystem, IsSolvedToItsResidual)
{
    for (const Shape& shape : shapes()) {
        const Index   n = 200;
        const auto    A = turned(random_triangle(n, 4, shape, 3), 4);
        const auto    frame = random_complex_frame(n);
        const auto    system = forward_system<Complex>(A, shape.triangle, shape.diagonal, frame);
        const auto    b = random_complex_vector(n, 5);
        ComplexVector out(n), x(n);
        solve_serial<Complex>(system, b, out);
        for (Index i = 0; i < n; ++i) x[i] = out[frame.out_index[i]] / frame.out_scale[i];
        for (Index i = 0; i < n; ++i) {
            Complex sum = shape.diagonal == Diagonal::unit ? x[i] : 0;
            for (Offset p = A.row_ptr()[i]; p < A.row_ptr()[i + 1]; ++p) sum += A.val()[p] * x[A.col()[p]];
            const Complex right = frame.in_scale[i] * b[frame.in_index[i]];
            EXPECT_LE(std::abs(sum - right), 1e-12 * (1 + std::abs(right))) << i;
        }
    }
}

}  // namespace
}  // namespace ilux::test

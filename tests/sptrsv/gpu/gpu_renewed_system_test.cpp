#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <memory>
#include <string>

#include "ilux/base/gpu/gpu_graph.hpp"
#include "ilux/sptrsv/gpu/gpu_sptrsv.hpp"
#include "ilux/tests/sptrsv/renewed.hpp"
#include "ilux/tests/support/complex_on_device.hpp"

using namespace ilux;
using Vector = std::vector<double>;

namespace {

DeviceBuffer<double> uploaded(Gpu& gpu, const Vector& host)
{
    DeviceBuffer<double> device(host.size());
    upload<double>(gpu, host, device);
    return device;
}

class GpuRenewedSystem : public testing::TestWithParam<GpuSpTrsvEngine> {
protected:
    void SetUp() override
    {
        if (const auto why = test::why_no_gpu(); !why.empty()) GTEST_SKIP()
        << why;
        gpu_ = std::make_unique<Gpu>();
    }
    Gpu& gpu() { return *gpu_; }

    template <class T>
    Vector solve(const GpuSpTrsvPlan<T>& plan, const Vector& b)
    {
        auto                 ws = plan.workspace(gpu());
        const auto           db = uploaded(gpu(), b);
        DeviceBuffer<double> dx(b.size());
        plan.solve(gpu(), db, dx, ws);
        Vector x(b.size());
        download<double>(gpu(), dx, x);
        return x;
    }
    void refill(GpuSpTrsvPlan<>& plan, const Vector& values)
    {
        const auto device = uploaded(gpu(), values);
        plan.refill(gpu(), device.data());
        gpu().synchronize();
    }
    /// A plan that never knew any others.
    Vector solve_anew(const RenewedSystem& renewed, const Vector& values, const Vector& b)
    {
        return solve(GpuSpTrsvPlan<>(gpu(), with_values(renewed, values), GetParam()), b);
    }
    void expect_bits_of_a_plan_made_anew(const ForwardSystem<double>& system)
    {
        auto            made = test::renewed_from(system, 5, 3);
        GpuSpTrsvPlan<> plan(gpu(), made.renewed, GetParam());
        for (const double factor : {1.0, -0.5, 3.0}) {
            auto values = made.values;
            for (double& value : values) value *= factor;
            refill(plan, values);
            const Vector b = test::random_vector(system.length(), 7);
            ASSERT_TRUE(test::identical(solve(plan, b), solve_anew(made.renewed, values, b)))
                << "n = " << system.size() << ", factor " << factor;
        }
    }

private:
    std::unique_ptr<Gpu> gpu_;
};

}  // namespace

INSTANTIATE_TEST_SUITE_P(Engines, GpuRenewedSystem,
                         testing::Values(GpuSpTrsvEngine::automatic, GpuSpTrsvEngine::chunked,
                                         GpuSpTrsvEngine::syncfree, GpuSpTrsvEngine::level_graph,
                                         GpuSpTrsvEngine::level_set),
                         [](const auto& info) {
                             std::string text(name(info.param));
                             std::erase(text, '_');
                             return text;
                         });

TEST_P(GpuRenewedSystem, HasTheBitsOfAPlanMadeOfTheNewValues)
{
    for (const Index n : {0, 1, 31, 32, 33, 3000})
        for (const auto& shape : test::shapes()) {
            const auto A = test::random_triangle(n, 6, shape, n + 1);
            expect_bits_of_a_plan_made_anew(
                forward_system<double>(A, shape.triangle, shape.diagonal, test::random_frame(n, 3)));
        }
    expect_bits_of_a_plan_made_anew(forward_system<double>(  // partial sums
        test::lower_from(3000, [](Index i) { return i < 2990 ? std::vector<Index>() : test::identity(i); }),
        Triangle::lower, Diagonal::unit));
}

TEST_P(GpuRenewedSystem, MayReadAndWritePartOfItsRows)
{
    const Index n = 1000, length = 300;
    auto        system = forward_system<double>(test::random_triangle(n, 3, {Triangle::lower, Diagonal::unit}, 4),
                                         Triangle::lower, Diagonal::unit);
    const auto  in = test::random_permutation(length, 1), out = test::random_permutation(length, 2);
    system.frame = {.in_index = std::vector<Index>(n, -1), .out_index = std::vector<Index>(n, -1), .length = length};
    for (Index i = 0; i < length; ++i) {
        system.frame.in_index[3 * i] = in[i];
        system.frame.out_index[3 * i + 100] = out[i];
    }
    const Vector b = test::random_vector(3 * length, 6);
    Vector       expected(b.size());
    for (std::size_t at = 0; at < b.size(); at += length)
        solve_serial<double>(system, std::span(b).subspan(at, length), std::span(expected).subspan(at, length));
    const Vector x = solve(GpuSpTrsvPlan<>(gpu(), system, GetParam()), b);  // three systems
    EXPECT_LE(test::relative_difference(x, expected), 1e-12);
    expect_bits_of_a_plan_made_anew(system);
}

TEST_P(GpuRenewedSystem, PassesOnZeroPivotsAndNaNAndForgetsThem)
{
    const test::Shape shape{Triangle::lower, Diagonal::stored};
    const auto system = forward_system<double>(test::random_triangle(500, 3, shape, 8), shape.triangle, shape.diagonal);
    const auto made = test::renewed_from(system, 2);
    GpuSpTrsvPlan<> plan(gpu(), made.renewed, GetParam());
    const Vector    b = test::random_vector(500, 9);
    for (const double bad : {0.0, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
        auto values = made.values;
        values[renewed_position(made.renewed.system.inv_diag[40])] = bad;
        values[renewed_position(made.renewed.system.L.val()[900])] = bad;
        refill(plan, values);
        const Vector x = solve(plan, b);
        Vector       expected(500);
        solve_serial<double>(with_values(made.renewed, values), b, expected);
        for (Index i = 0; i < 500; ++i) ASSERT_EQ(std::isfinite(x[i]), std::isfinite(expected[i])) << "row " << i;
    }
    refill(plan, made.values);
    EXPECT_TRUE(test::identical(solve(plan, b), solve_anew(made.renewed, made.values, b)));
}

TEST_P(GpuRenewedSystem, IsRefilledAndSolvedInsideAGraph)
{
    const auto   system = forward_system<double>(test::random_triangle(2000, 3, {Triangle::lower, Diagonal::stored}, 8),
                                               Triangle::lower, Diagonal::stored);
    const auto   made = test::renewed_from(system, 2);
    const Vector b = test::random_vector(2000, 9);
    GpuSpTrsvPlan<>      plan(gpu(), made.renewed, GetParam());
    auto                 ws = plan.workspace(gpu());
    auto                 values = uploaded(gpu(), made.values), db = uploaded(gpu(), b);
    DeviceBuffer<double> dx(b.size());
    const long           before = device_use().allocations;
    const GpuGraph       graph(gpu(), [&] {
        plan.refill(gpu(), values.data());
        plan.solve(gpu(), db, dx, ws);
    });
    const Vector         factors{1, 2, -1};
    std::vector<Vector>  found;
    for (const double factor : factors) {
        auto now = made.values;
        for (double& value : now) value *= factor;
        upload<double>(gpu(), now, values);
        graph.launch(gpu());
        Vector x(b.size());
        download<double>(gpu(), dx, x);
        found.push_back(std::move(x));
    }
    EXPECT_EQ(device_use().allocations, before);
    for (std::size_t k = 0; k < found.size(); ++k) {
        auto now = made.values;
        for (double& value : now) value *= factors[k];
        EXPECT_TRUE(test::identical(found[k], solve_anew(made.renewed, now, b))) << "factor " << factors[k];
    }
}

TEST_P(GpuRenewedSystem, WaitsForItsValuesAndOthersTakeNone)
{
    const auto system = forward_system<double>(CsrMatrix<double>::identity(3), Triangle::lower, Diagonal::stored);
    const GpuSpTrsvPlan<> plan(gpu(), test::renewed_from(system, 2).renewed, GetParam());
    test::expect_refusal([&] { solve(plan, {1, 2, 3}); }, {"refill"});
    GpuSpTrsvPlan<> given(gpu(), system, GetParam());
    test::expect_refusal([&] { given.refill(gpu(), nullptr); }, {"refill"});
    EXPECT_GT(plan.bytes(), given.bytes());
}

/// Values that float holds exactly, so that a plan made of them anew is the same one.
TEST_P(GpuRenewedSystem, HasTheBitsOfAPlanMadeAnewInFloatToo)
{
    for (const Index n : {0, 1, 33, 3000})
        for (const auto& shape : test::shapes()) {
            const auto made = test::renewed_from(forward_system<double>(test::random_triangle(n, 6, shape, n + 1),
                                                                        shape.triangle, shape.diagonal),
                                                 5);
            GpuSpTrsvPlan<float> plan(gpu(), made.renewed, GetParam());
            for (const double factor : {1.0, -0.7}) {
                std::vector<float> values(made.values.begin(), made.values.end());
                for (float& value : values) value = static_cast<float>(factor * value);
                DeviceBuffer<float> device(values.size());
                upload<float>(gpu(), values, device);
                plan.refill(gpu(), device.data());
                const auto                 anew = with_values(made.renewed, Vector(values.begin(), values.end()));
                const auto                 L = anew.L.val();
                const ForwardSystem<float> in_float{
                    CsrMatrix<float>::from_sorted(n, n, {anew.L.row_ptr().begin(), anew.L.row_ptr().end()},
                                                  {anew.L.col().begin(), anew.L.col().end()}, {L.begin(), L.end()}),
                    anew.inv_diag, anew.frame};
                const GpuSpTrsvPlan<float> expected(gpu(), in_float, GetParam());
                const Vector               b = test::random_vector(n, 7);
                ASSERT_TRUE(test::identical(solve(plan, b), solve(expected, b))) << "n = " << n;
            }
        }
}

/// Held against the serial solution: the device inverts a complex pivot by other steps than std::complex does.
template <class T>
void expect_solutions_of_new_complex_values(Gpu& gpu, GpuSpTrsvEngine engine, double tolerance)
{
    using test::Complex;
    for (const Index n : {0, 1, 31, 32, 33, 3000})
        for (const auto& shape : test::shapes()) {
            const auto       made = test::renewed_from(forward_system<double>(test::random_triangle(n, 6, shape, n + 1),
                                                                        shape.triangle, shape.diagonal),
                                                       5);
            GpuSpTrsvPlan<T> plan(gpu, made.renewed, engine);
            auto             ws = plan.workspace(gpu);
            for (const Complex factor : {Complex(1, 0), Complex(-0.5, 2)}) {
                test::ComplexVector values;
                std::vector<T>      stored;
                for (const double value : made.values) {
                    stored.push_back(T(factor * value));
                    values.push_back(Complex(stored.back()));
                }
                const auto            b = test::random_complex_vector(n, 7);
                test::ComplexVector   x(b.size()), expected(b.size());
                DeviceBuffer<T>       device(stored.size());
                DeviceBuffer<Complex> db(b.size()), dx(b.size());
                upload<T>(gpu, stored, device);
                upload<Complex>(gpu, b, db);
                plan.refill(gpu, device.data());
                plan.solve(gpu, db, dx, ws);
                download<Complex>(gpu, dx, x);
                solve_serial<Complex>(with_values<Complex>(made.renewed, values), b, expected);
                ASSERT_LE(test::relative_difference(x, expected), tolerance) << "n = " << n;
            }
        }
}

TEST_P(GpuRenewedSystem, TakesComplexValues)
{
    expect_solutions_of_new_complex_values<std::complex<double>>(gpu(), GetParam(), 1e-11);
    expect_solutions_of_new_complex_values<std::complex<float>>(gpu(), GetParam(), 1e-11);
}

TEST(GpuRenewedValues, AreNotForTheVendorsEngine)
{
    ILUX_SKIP_WITHOUT_GPU();
    Gpu gpu;
    test::expect_refusal<InvalidOption>([&] { GpuSpTrsvPlan<>(gpu, RenewedSystem{}, GpuSpTrsvEngine::cusparse); },
                                        {"cusparse"});
}

#include "ilux/sptrsv/gpu/gpu_sptrsv.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <string>

#ifdef ILUX_WITH_CUDA
#include "ilux/base/gpu/cuda.hpp"
#endif
#include "ilux/base/error.hpp"
#include "ilux/gallery/pde.hpp"
#include "ilux/tests/sptrsv/engine_cases.hpp"
#include "ilux/tests/sptrsv/systems.hpp"
#include "ilux/tests/support/checks.hpp"

using namespace ilux;
using test::eps;
using test::random_vector;
using test::Shape;
using test::worst_row;
using Vector = std::vector<double>;

namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

DeviceBuffer<double> on_device(Gpu& gpu, const Vector& host)
{
    DeviceBuffer<double> device(host.size());
    upload<double>(gpu, host, device);
    return device;
}

Vector on_host(Gpu& gpu, const DeviceBuffer<double>& device)
{
    Vector host(device.size());
    download<double>(gpu, device, host);
    return host;
}

/// Whether each row depends on row `source`, found by walking the pattern.
template <class T>
std::vector<bool> dependents(const CsrMatrix<T>& L, Index source)
{
    std::vector<bool> reached(L.rows(), false);
    reached[source] = true;
    for (Index i = source + 1; i < L.rows(); ++i)
        for (Offset p = L.row_ptr()[i]; p < L.row_ptr()[i + 1]; ++p) reached[i] = reached[i] || reached[L.col()[p]];
    return reached;
}

class GpuSpTrsv : public testing::TestWithParam<test::EngineCase> {
protected:
    void SetUp() override
    {
        if (const auto why = test::why_no_gpu(); !why.empty()) GTEST_SKIP()
        << why;
        gpu_ = std::make_unique<Gpu>();
    }
    Gpu& gpu() { return *gpu_; }

    template <class T>
    Vector solve(const ForwardSystem<T>& system, const Vector& b)
    {
        const GpuSpTrsvPlan<T> plan(gpu(), system, GetParam().engine);
        auto                   ws = plan.workspace(gpu());
        auto                   db = on_device(gpu(), b), dx = on_device(gpu(), Vector(b.size(), not_a_number));
        plan.solve(gpu(), db, dx, ws);
        EXPECT_TRUE(test::identical(on_host(gpu(), db), b)) << "b was written to";
        return on_host(gpu(), dx);
    }

    /// Calls body with a system of the precision under test.
    template <class Body>
    void with_system(const CsrMatrix<double>& A, Shape shape, SolveFrame<> frame, Body body)
    {
        if (GetParam().single) body(forward_system<float>(A, shape.triangle, shape.diagonal, std::move(frame)));
        else body(forward_system<double>(A, shape.triangle, shape.diagonal, std::move(frame)));
    }
    template <class Body>
    void with_lower(const CsrMatrix<double>& L, Body body)
    {
        with_system(L, {Triangle::lower, Diagonal::unit}, {}, body);
    }

    void expect_accurate(const CsrMatrix<double>& A, Shape shape, SolveFrame<> frame = {})
    {
        with_system(A, shape, std::move(frame), [&](const auto& system) {
            const Vector b = random_vector(A.rows(), 11);
            EXPECT_LE(worst_row(system, b, solve(system, b)), 1) << "n = " << A.rows();
        });
    }
    void expect_accurate_lower(const CsrMatrix<double>& L) { expect_accurate(L, {Triangle::lower, Diagonal::unit}); }

private:
    std::unique_ptr<Gpu> gpu_;
};

INSTANTIATE_TEST_SUITE_P(Engines, GpuSpTrsv, testing::ValuesIn(test::engine_cases()),
                         [](const auto& i) { return i.param.name(); });

/// The triangle of a matrix and its diagonal: the pattern of an ILU(0) factor.
CsrMatrix<double> triangle_of(const CsrMatrix<double>& A, Shape shape)
{
    std::vector<Index> row, col;
    Vector             val;
    for (Index i = 0; i < A.rows(); ++i)
        for (Offset p = A.row_ptr()[i]; p < A.row_ptr()[i + 1]; ++p) {
            const Index j = A.col()[p];
            const bool  inside = shape.triangle == Triangle::lower ? j < i : j > i;
            if (!inside && !(j == i && shape.diagonal == Diagonal::stored)) continue;
            row.push_back(i);
            col.push_back(j);
            val.push_back(j == i ? A.val()[p] : A.val()[p] / 4);
        }
    return CsrMatrix<double>::from_triplets(A.rows(), A.rows(), row, col, val);
}

}  // namespace

TEST_P(GpuSpTrsv, SolvesAll64PatternsOfAStrict4x4Exactly)
{
    // Block diagonal, a block for each pattern. Small integers: every product and sum is exact.
    const std::pair<Index, Index> place[] = {{1, 0}, {2, 0}, {2, 1}, {3, 0}, {3, 1}, {3, 2}};
    for (const Shape& shape : test::shapes()) {
        std::vector<Index> row, col;
        Vector             val, x(256), b(256);
        for (Index i = 0; i < 256; ++i) x[i] = i % 11 - 5;
        const auto put = [&](Index i, Index j, double a) {
            row.push_back(i);
            col.push_back(j);
            val.push_back(a);
            b[i] += a * x[j];
        };
        for (Index pattern = 0; pattern < 64; ++pattern) {
            for (Index e = 0; e < 6; ++e) {
                const Index i = 4 * pattern + place[e].first, j = 4 * pattern + place[e].second;
                if (pattern >> e & 1) shape.triangle == Triangle::lower ? put(i, j, 2. + e) : put(j, i, -1. - e);
            }
            for (Index i = 4 * pattern; i < 4 * pattern + 4; ++i) {
                if (shape.diagonal == Diagonal::stored) put(i, i, i % 2 ? 2 : -4);
                else b[i] += x[i];
            }
        }
        with_system(CsrMatrix<double>::from_triplets(256, 256, row, col, val), shape, {},
                    [&](const auto& system) { EXPECT_EQ(solve(system, b), x); });
    }
}

TEST_P(GpuSpTrsv, IsBackwardStableAcrossAwkwardSizesAndShapes)
{
    for (Index n : {0, 1, 31, 32, 33, 1000})
        for (const Shape& shape : test::shapes()) expect_accurate(test::random_triangle(n, 5, shape, n), shape);
}

TEST_P(GpuSpTrsv, SolvesTransposedTriangles)
{
    for (const Shape& shape : test::shapes()) {
        const auto   A = test::random_triangle(300, 4, shape, 8);
        const Vector b = random_vector(300, 2);
        const auto   solve_with = [&]<class T>(T) {
            const auto plan = gpu_sptrsv<T>(gpu(), A, shape.triangle, shape.diagonal, true, GetParam().engine);
            auto       ws = plan.workspace(gpu());
            auto       db = on_device(gpu(), b);
            DeviceBuffer<double> dx(b.size());
            plan.solve(gpu(), db, dx, ws);
            const auto twin = forward_system<T>(transpose(A), opposite(shape.triangle), shape.diagonal);
            EXPECT_LE(worst_row(twin, b, on_host(gpu(), dx)), 1);
        };
        GetParam().single ? solve_with(float{}) : solve_with(double{});
    }
}

TEST_P(GpuSpTrsv, SolvesChainsDiagonalsAndLongRows)
{
    expect_accurate_lower(
        test::lower_from(3000, [](Index i) { return i ? std::vector{i - 1} : std::vector<Index>(); }));
    expect_accurate_lower(test::lower_from(100000, [](Index) { return std::vector<Index>(); }));
    expect_accurate_lower(test::lower_from(5000, [](Index i) {  // an arrow
        return i == 4999 ? test::identity(i) : std::vector<Index>();
    }));
    expect_accurate_lower(test::lower_from(100300, [](Index i) {  // rows of 10⁵ that read one another
        if (i >= 100000 && i % 100 == 0) return test::identity(i);
        return i % 3 ? std::vector{i - 1} : std::vector<Index>();
    }));
    expect_accurate_lower(test::lower_from(10100, [](Index i) {  // rows of 10⁴ that read one another and short ones
        if (i >= 10000 && i % 20 == 0) return test::identity(i);
        return i ? std::vector{i - 1 - i % 5 % i} : std::vector<Index>();
    }));
    for (Index length : {255, 256, 257, 511, 512, 513, 1025})  // around what the engines split at
        expect_accurate_lower(test::lower_from(1200, [&](Index i) {
            return i > length && i % 3 == 0 ? test::identity(length) : std::vector<Index>();
        }));
}

TEST_P(GpuSpTrsv, SolvesFactorsOfGrids)
{
    for (const Shape& shape : test::shapes()) {
        expect_accurate(triangle_of(gallery::poisson2d({.n = 300}), shape), shape);
        expect_accurate(triangle_of(gallery::convdiff3d({.n = 32}), shape), shape);
    }
}

TEST_P(GpuSpTrsv, ReadsAndWritesThroughFramesForManyRightHandSides)
{
    const Index n = 500;
    for (const Shape& shape : test::shapes())
        with_system(test::random_triangle(n, 4, shape, 3), shape, test::random_frame(n, 4), [&](const auto& system) {
            const Vector b = random_vector(3 * n, 5), x = solve(system, b);
            for (Index r = 0; r < 3; ++r) {
                const Vector one(b.begin() + r * n, b.begin() + (r + 1) * n);
                const Vector of_one(x.begin() + r * n, x.begin() + (r + 1) * n);
                EXPECT_LE(worst_row(system, one, of_one), 1);
                EXPECT_TRUE(GetParam().vendor() || test::identical(solve(system, one), of_one));
            }
        });
}

TEST_P(GpuSpTrsv, LetsANaNReachExactlyTheRowsThatDependOnIt)
{
    if (GetParam().vendor()) GTEST_SKIP()
    << "the vendor promises nothing of NaN";
    const auto quiet = [](std::uint64_t bits) { return std::bit_cast<double>(bits); };
    // Every NaN terminates, the one that means "not yet known" inside the engines among them.
    for (double bad :
         {not_a_number, -not_a_number, quiet(~std::uint64_t{0}), quiet(0x7FFFFFFFFFFFFFFF), quiet(0x7FF0000000000001)})
        for (Index at : {0, 5, 500, 999})
            with_lower(test::random_triangle(1000, 2, {Triangle::lower, Diagonal::unit}, 21), [&](const auto& system) {
                Vector b = random_vector(1000, 6);
                b[at] = bad;
                const auto   expected = dependents(system.L, at);
                const Vector x = solve(system, b);
                for (Index i = 0; i < 1000; ++i) ASSERT_EQ(std::isnan(x[i]), expected[i]) << "row " << i;
            });
}

TEST_P(GpuSpTrsv, ShowsZeroPivotsInX)
{
    const Shape shape{Triangle::lower, Diagonal::stored};
    auto        A = test::random_triangle(400, 3, shape, 14);
    for (Offset p = A.row_ptr()[40]; p < A.row_ptr()[41]; ++p)
        if (A.col()[p] == 40) A.val()[p] = 0;
    with_system(A, shape, {}, [&](const auto& system) {
        const Vector b = random_vector(400, 9), x = solve(system, b);
        Vector       expected(400);
        solve_serial(system, std::span<const double>(b), std::span<double>(expected));
        EXPECT_FALSE(std::isfinite(x[40]));
        for (Index i = 0; i < 400; ++i) ASSERT_EQ(std::isfinite(x[i]), std::isfinite(expected[i])) << "row " << i;
    });
}

TEST_P(GpuSpTrsv, RepeatsBitForBit)
{
    if (GetParam().vendor()) GTEST_SKIP()
    << "the vendor promises no repeatability";
    with_lower(test::random_triangle(20000, 4, {Triangle::lower, Diagonal::unit}, 31),
               [&]<class T>(const ForwardSystem<T>& system) {
                   const GpuSpTrsvPlan<T> plan(gpu(), system, GetParam().engine);
                   auto                   ws = plan.workspace(gpu());
                   auto                   b = on_device(gpu(), random_vector(20000, 1));
                   DeviceBuffer<double>   x(20000);
                   plan.solve(gpu(), b, x, ws);
                   const Vector first = on_host(gpu(), x);
                   for (int run = 0; run < 100; ++run) {
                       auto other = on_device(gpu(), random_vector(20000, 100 + run));  // a workspace remembers nothing
                       plan.solve(gpu(), other, x, ws);
                       plan.solve(gpu(), b, x, ws);
                       ASSERT_TRUE(test::identical(on_host(gpu(), x), first)) << "run " << run;
                   }
               });
}

TEST_P(GpuSpTrsv, SolvesSeveralWithTheBitsOfEachWhateverTheRoom)
{
    if (GetParam().vendor()) GTEST_SKIP()
    << "the vendor promises no repeatability";
    for (const Index n : {1, 33, 20000})
        with_lower(test::random_triangle(n, 4, {Triangle::lower, Diagonal::unit}, 31),
                   [&]<class T>(const ForwardSystem<T>& system) {
                       const GpuSpTrsvPlan<T> plan(gpu(), system, GetParam().engine);
                       const Vector           b = random_vector(33 * n, 1);
                       const auto             right = on_device(gpu(), b);
                       Vector                 expected;
                       auto                   one = plan.workspace(gpu());
                       for (Index k = 0; k < 33; ++k) {
                           DeviceBuffer<double> x(n);
                           plan.solve(gpu(), DeviceSpan<const double>(right).subspan(std::size_t(k) * n, n), x, one);
                           const Vector found = on_host(gpu(), x);
                           expected.insert(expected.end(), found.begin(), found.end());
                       }
                       for (const Index room : {1, 2, 5, 33, 40}) {
                           auto ws = plan.workspace(gpu(), room);
                           for (const Index count : {33, 1, 2, 6, 33, 3, 33}) {  // a workspace remembers nothing
                               const std::size_t    size = std::size_t(count) * n;
                               DeviceBuffer<double> x(size);
                               plan.solve(gpu(), DeviceSpan<const double>(right).first(size), x, ws);
                               ASSERT_TRUE(test::identical(on_host(gpu(), x), std::span(expected).first(size)))
                                   << "n = " << n << ", room for " << room << ", " << count << " systems";
                           }
                       }
                   });
}

TEST_P(GpuSpTrsv, ServesTwoStreamsAtOnce)
{
    const Index n = 30000;
    with_lower(test::random_triangle(n, 3, {Triangle::lower, Diagonal::unit}, 41),
               [&]<class T>(const ForwardSystem<T>& system) {
                   const GpuSpTrsvPlan<T>               plan(gpu(), system, GetParam().engine);
                   Gpu                                  second;
                   Gpu*                                 streams[] = {&gpu(), &second};
                   typename GpuSpTrsvPlan<T>::Workspace ws[] = {plan.workspace(gpu()), plan.workspace(second)};
                   const Vector                         b[] = {random_vector(n, 1), random_vector(n, 2)};
                   DeviceBuffer<double>                 db[] = {on_device(gpu(), b[0]), on_device(gpu(), b[1])};
                   DeviceBuffer<double>                 dx[] = {DeviceBuffer<double>(n), DeviceBuffer<double>(n)};
                   for (int run = 0; run < 20; ++run)
                       for (int s = 0; s < 2; ++s) plan.solve(*streams[s], db[s], dx[s], ws[s]);
                   for (int s = 0; s < 2; ++s)
                       EXPECT_LE(worst_row(system, b[s], on_host(*streams[s], dx[s])), 1) << "stream " << s;
               });
}

#ifdef ILUX_WITH_CUDA  // a caller's capture takes CUDA's own calls
TEST_P(GpuSpTrsv, MayStandInACallersGraph)
{
    if (GetParam().vendor()) GTEST_SKIP()
    << "the vendor promises nothing of captures";
    const Index n = 3000;
    with_lower(test::random_triangle(n, 3, {Triangle::lower, Diagonal::unit}, 51),
               [&]<class T>(const ForwardSystem<T>& system) {
                   const GpuSpTrsvPlan<T> plan(gpu(), system, GetParam().engine);
                   auto                   ws = plan.workspace(gpu());
                   DeviceBuffer<double>   b(n), x(n);
                   const auto             stream = cuda::stream(gpu());
                   cudaGraph_t            graph = nullptr;
                   cudaGraphExec_t        exec = nullptr;
                   cuda::check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "begin");
                   plan.solve(gpu(), b, x, ws);
                   cuda::check(cudaStreamEndCapture(stream, &graph), "end");
                   cuda::check(cudaGraphInstantiate(&exec, graph, 0), "instantiate");
                   for (int run = 0; run < 3; ++run) {
                       const Vector values = random_vector(n, run);
                       upload<double>(gpu(), values, b);
                       cuda::check(cudaGraphLaunch(exec, stream), "launch");
                       EXPECT_LE(worst_row(system, values, on_host(gpu(), x)), 1) << "launch " << run;
                   }
                   cudaGraphExecDestroy(exec);
                   cudaGraphDestroy(graph);
               });
}
#endif

TEST_P(GpuSpTrsv, FinishesWhenFarMoreRowsWaitThanFitOnTheDevice)
{
    // 16 levels of 62,500 rows; each row's predecessor lies in the last quarter of its level or anywhere.
    const Index n = 1000000, width = n / 16;
    expect_accurate_lower(test::lower_from(n, [&](Index i) {
        if (i < width) return std::vector<Index>();
        const Index below = (i / width - 1) * width;
        return std::vector{below + (i % 3 ? (i * Index{7}) % width : width - 1 - i % (width / 4))};
    }));
    // The same with the levels interleaved: row i reads row i − 1 unless 16 divides i.
    expect_accurate_lower(
        test::lower_from(n, [](Index i) { return i % 16 ? std::vector{i - 1} : std::vector<Index>(); }));
}

TEST_P(GpuSpTrsv, RefusesWrongLengthsForeignWorkspacesAndIndicesOutOfRange)
{
    const auto            I = CsrMatrix<double>::identity(3);
    const GpuSpTrsvPlan<> plan =
        gpu_sptrsv<double>(gpu(), I, Triangle::lower, Diagonal::stored, false, GetParam().engine);
    const GpuSpTrsvPlan<> other =
        gpu_sptrsv<double>(gpu(), I, Triangle::lower, Diagonal::stored, false, GetParam().engine);
    auto                 ws = plan.workspace(gpu()), foreign = other.workspace(gpu());
    DeviceBuffer<double> three(3), three_too(3), four(4), four_too(4);
    test::expect_refusal([&] { plan.solve(gpu(), three, four, ws); }, {"3", "4"});
    test::expect_refusal([&] { plan.solve(gpu(), four, four_too, ws); }, {"4", "3"});
    test::expect_refusal([&] { plan.solve(gpu(), three, three_too, foreign); }, {"workspace"});
    for (const Index rhs : {-1, 0, 65536})
        test::expect_refusal([&] { plan.workspace(gpu(), rhs); }, {std::to_string(rhs), "65535"});
    EXPECT_NO_THROW(plan.solve(gpu(), three, three_too, ws));
    const auto make = [&](const ForwardSystem<double>& system) { GpuSpTrsvPlan<>(gpu(), system, GetParam().engine); };
    test::expect_refusal([&] { make({.L = I, .inv_diag = {}, .frame = {}}); }, {"(1, 1)", "below the diagonal"});
    test::expect_refusal([&] { make({.L = {}, .inv_diag = {1}, .frame = {}}); }, {"1 values", "order 0"});
    test::expect_refusal(
        [&] {
            GpuSpTrsvPlan<double>(gpu(),
                                  forward_system<double>(I, Triangle::lower, Diagonal::stored, {.in_index = {0, 3, 1}}),
                                  GetParam().engine);
        },
        {"in_index[1]", "3"});
}

TEST_P(GpuSpTrsv, TellsWhatItIs)
{
    const auto chain = test::lower_from(50, [](Index i) { return i ? std::vector{i - 1} : std::vector<Index>(); });
    const GpuSpTrsvPlan<> plan(gpu(), forward_system<double>(chain, Triangle::lower, Diagonal::unit),
                               GetParam().engine);
    EXPECT_EQ(plan.size(), 50);
    EXPECT_EQ(plan.facts().depth, 50);
    EXPECT_EQ(plan.facts().nnz, 49);
    EXPECT_EQ(plan.facts().longest_row, 1);
    EXPECT_NE(plan.engine(), GpuSpTrsvEngine::automatic);
    EXPECT_GE(plan.bytes(), 49 * (sizeof(double) + sizeof(Index)));
    EXPECT_GT(plan.analysis_seconds(), 0);
}

TEST(GpuSpTrsvPlan, OfOrderZeroNeedsNoDevice)
{
    const GpuSpTrsvPlan<> plan;
    EXPECT_EQ(plan.size(), 0);
    EXPECT_EQ(plan.bytes(), 0u);
}

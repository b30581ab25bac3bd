#include "ilux/direct/supernodal_gpu/gpu_front_refactor.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <memory>
#include <random>
#include <vector>

#include "ilux/base/gpu/gpu_graph.hpp"
#include "ilux/direct/lu/refactor_choice.hpp"
#include "ilux/direct/supernodal_gpu/gpu_front_solve.hpp"
#include "ilux/tests/direct/supernodal_gpu/front_cases.hpp"

namespace ilux::test {
namespace {

/// A case on the device.
template <class S>
struct FrontsOnDevice {
    FrontsOnDevice(Gpu& gpu, const FrontCase<S>& one)
        : refactor(gpu, one.plan, one.pattern), values(one.values().size()), plan(one.plan)
    {
        upload<S>(gpu, one.values(), values);
    }
    LuFactors<S> run(Gpu& gpu)
    {
        refactor.run(gpu, values.data());
        return found(gpu);
    }
    LuFactors<S> found(Gpu& gpu)
    {
        LuFactors<S> F;
        refactor.download(gpu, F);
        F.monitor = refactor.monitor(gpu);
        return F;
    }

    GpuFrontRefactor<S>              refactor;
    DeviceBuffer<S>                  values;
    std::shared_ptr<const FrontPlan> plan;
};

template <class S>
std::vector<S> solved(Gpu& gpu, const FrontsOnDevice<S>& on, std::span<const S> b, Transpose transpose, Index rhs = 1)
{
    GpuFrontSolve<S> solve(gpu, on.refactor, transpose);
    DeviceBuffer<S>  device_b(b.size()), device_x(b.size());
    std::vector<S>   x(b.size());
    upload<S>(gpu, b, device_b);
    solve.run(gpu, device_b.data(), device_x.data(), rhs);
    download<S>(gpu, device_x, x);
    return x;
}

/// Off-diagonal numbers only but for a few: pivots must come from other rows.
CsrMatrix<double> zero_diagonals(Index n)
{
    std::mt19937                     random(3);
    std::uniform_real_distribution<> uniform(-1, 1);
    EntryList                        entries;
    for (Index i = 0; i < n; ++i)
        for (Index j = 0; j < n; ++j) entries.add(i, j, i == j ? 0 : uniform(random));
    return entries.matrix(n, n);
}

/// Blocks of awkward sizes, with entries of F above them.
CsrMatrix<double> blocks_with_fronts_and_F()
{
    std::mt19937                     random(5);
    std::uniform_real_distribution<> uniform(-1, 1);
    EntryList                        entries;
    Index                            first = 0;
    for (const Index n : {33, 1, 64, 1, 150}) {
        for (Index i = 0; i < n; ++i)
            for (Index j = 0; j < n; ++j)
                if (i == j || (i + 1) % n == j || uniform(random) > 0.8)
                    entries.add(first + i, first + j, i == j ? 4 : uniform(random));
        for (Index e = 0; e < 3 * n && first > 0; ++e)
            entries.add(static_cast<Index>(random() % first), first + static_cast<Index>(random() % n),
                        uniform(random));
        first += n;
    }
    return entries.matrix(first, first);
}

template <class S>
std::vector<FrontCase<S>> every_case()
{
    std::vector<FrontCase<S>> all;
    const auto add = [&](const char* name, const CsrMatrix<double>& A, const FrontMerging& merging = {}) {
        all.push_back(front_case<S>(name + std::to_string(A.rows()), scalars<S>(A), {}, merging));
    };
    for (const auto& A : front_systems()) add("random ", A);
    add("unmerged ", gallery::convdiff2d({.n = 25}), {.few = 0, .some = 0, .many = 0, .beyond = 0});
    add("convdiff2d ", gallery::convdiff2d({.n = 60}));
    add("convdiff3d ", gallery::convdiff3d({.n = 11}));
    add("blocks ", blocks_with_fronts_and_F());
    add("zeros ", zero_diagonals(70));
    add("dense ", random_matrix(300, 1, 1));
    return all;
}

template <class S>
double distance(std::span<const S> x, std::span<const S> y)
{
    double most = 0, size = 0;
    for (std::size_t i = 0; i < x.size(); ++i)
        most = std::max(most, std::abs(x[i] - y[i])), size = std::max(size, std::abs(y[i]));
    for (std::size_t i = 0; i < x.size(); ++i)
        if (std::isnan(std::abs(x[i]))) return std::abs(x[i]);
    return size > 0 ? most / size : most;
}

template <class S>
class GpuFronts : public testing::Test {};
TYPED_TEST_SUITE(GpuFronts, BothScalars, ScalarName);

TYPED_TEST(GpuFronts, NumbersAndMonitorAreThoseOfPlainLoops)
{
    ILUX_SKIP_WITHOUT_GPU();
    using S = TypeParam;
    Gpu gpu;
    for (const auto& one : every_case<S>()) {
        const PlainFronts<S> plain(*one.plan, *one.pattern, one.values());
        const auto           F = FrontsOnDevice<S>(gpu, one).run(gpu);
        EXPECT_LE(distance<S>(F.val, plain.val), 1e-10) << one.name;
        EXPECT_LE(distance<S>(F.f_val, plain.f_val), 0) << one.name;
        EXPECT_EQ(F.swap, plain.swap) << one.name;
        EXPECT_EQ(F.monitor.bad_column, -1) << one.name;
        EXPECT_EQ(F.monitor.replaced, plain.replaced) << one.name;
        EXPECT_NEAR(F.monitor.max_multiplier, plain.multiplier, 1e-9 * plain.multiplier) << one.name;
        if (one.plan->n == 0) continue;
        EXPECT_NEAR(F.monitor.min_pivot, plain.min_pivot, 1e-9 * plain.min_pivot) << one.name;
        EXPECT_NEAR(F.monitor.max_pivot, plain.max_pivot, 1e-9 * plain.max_pivot) << one.name;
        double growth = std::numeric_limits<double>::infinity();
        for (Index c = 0; c < one.plan->n; ++c) growth = std::min(growth, plain.bmax[c] / plain.umax[c]);
        EXPECT_NEAR(F.monitor.rgrowth, growth, 1e-9 * growth) << one.name;
    }
}

TYPED_TEST(GpuFronts, SolutionsHaveSmallBackwardErrors)
{
    ILUX_SKIP_WITHOUT_GPU();
    using S = TypeParam;
    Gpu gpu;
    for (const auto& one : every_case<S>()) {
        const Index       n = one.A.rows();
        FrontsOnDevice<S> on(gpu, one);
        on.run(gpu);
        for (const Transpose transpose : {Transpose::no, Transpose::yes})
            for (const Index rhs : {1, 2, 5}) {
                const auto b = random_numbers<S>(rhs * n, 3);
                const auto x = solved<S>(gpu, on, b, transpose, rhs);
                for (Index r = 0; r < rhs; ++r) {
                    const auto part = [&](const std::vector<S>& v) {
                        return std::span(v).subspan(std::size_t(r) * n, n);
                    };
                    EXPECT_LE(normwise_error<S>(one.A, part(x), part(b), transpose != Transpose::no), 1e-13)
                        << one.name << ", " << r << " of " << rhs << (transpose == Transpose::no ? "" : ", transposed");
                    const std::vector<S> alone(part(b).begin(), part(b).end());
                    if (r == rhs - 1 && n < 400) {
                        const auto single = solved<S>(gpu, on, alone, transpose);
                        EXPECT_TRUE(same_numbers(single, std::vector<S>(part(x).begin(), part(x).end()))) << one.name;
                    }
                }
            }
    }
}

TYPED_TEST(GpuFronts, OneLargeFrontIsOneDenseMatrix)
{
    ILUX_SKIP_WITHOUT_GPU();
    using S = TypeParam;
    Gpu gpu;
    for (const Index n : {129, 256, 257, 511, 512, 513, 1056, 1500}) {
        const auto        one = front_case<S>("dense", scalars<S>(zero_diagonals(n)));
        FrontsOnDevice<S> on(gpu, one);
        EXPECT_EQ(on.run(gpu).monitor.bad_column, -1);
        const auto b = random_numbers<S>(n, 8);
        for (const Transpose transpose : {Transpose::no, Transpose::yes})
            EXPECT_LE(normwise_error<S>(one.A, solved<S>(gpu, on, b, transpose), b, transpose != Transpose::no), 1e-12)
                << n;
    }
}

TYPED_TEST(GpuFronts, MemoryIsPredictedWithinATenth)
{
    ILUX_SKIP_WITHOUT_GPU();
    using S = TypeParam;
    Gpu gpu;
    for (const auto& A : {gallery::convdiff2d({.n = 100}), gallery::convdiff2d({.n = 300}),
                          gallery::convdiff3d({.n = 20}), gallery::convdiff3d({.n = 36})}) {
        const auto             one = front_case<S>("memory", scalars<S>(A));
        GpuFrontRefactor<S>    refactor(gpu, one.plan, one.pattern);
        const GpuFrontSolve<S> solve(gpu, refactor, Transpose::no);
        const double           bytes = double(refactor.bytes()) + double(solve.bytes());
        EXPECT_NEAR(gpu_cost<S>(*one.plan).bytes, bytes, 0.1 * bytes) << A.rows();
    }
}

TYPED_TEST(GpuFronts, RepeatsAndGraphsHaveTheSameBits)
{
    ILUX_SKIP_WITHOUT_GPU();
    using S = TypeParam;
    Gpu gpu;
    for (const auto& A : {gallery::convdiff3d({.n = 16}), blocks_with_fronts_and_F(), zero_diagonals(600)}) {
        const auto        one = front_case<S>("repeats", scalars<S>(A), {.ordering = LuOrdering::metis});
        FrontsOnDevice<S> on(gpu, one);
        const auto        first = on.run(gpu);
        const auto        b = random_numbers<S>(A.rows(), 8);
        const auto        x = solved<S>(gpu, on, b, Transpose::no);
        const GpuGraph    graph(gpu, [&] { on.refactor.run(gpu, on.values.data()); });
        for (int repeat = 0; repeat < 100; ++repeat) {
            graph.launch(gpu);
            const auto again = on.found(gpu);
            ASSERT_TRUE(same_numbers(again.val, first.val)) << repeat;
            ASSERT_EQ(again.swap, first.swap);
            ASSERT_EQ(again.monitor.max_multiplier, first.monitor.max_multiplier);
            ASSERT_TRUE(same_numbers(solved<S>(gpu, on, b, Transpose::no), x)) << repeat;
        }
    }
}

TYPED_TEST(GpuFronts, NamesTheFirstBadColumn)
{
    ILUX_SKIP_WITHOUT_GPU();
    using S = TypeParam;
    Gpu gpu;
    for (const auto& A : {gallery::convdiff2d({.n = 20}), gallery::convdiff3d({.n = 9}), blocks_with_fronts_and_F(),
                          random_matrix(300, 1, 2)})
        for (const double wrong :
             {0.0, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
            auto           one = front_case<S>("bad", scalars<S>(A));
            const Index    column = A.rows() / 2;
            std::vector<S> values(one.values().begin(), one.values().end());
            for (Index i = 0; i < A.rows(); ++i)
                for (Offset p = A.row_ptr()[i]; p < A.row_ptr()[i + 1]; ++p)
                    if (A.col()[p] == column && (wrong == 0 || i == column)) values[p] = wrong;
            FrontsOnDevice<S> on(gpu, one);
            upload<S>(gpu, values, on.values);
            const auto  F = on.run(gpu);
            const auto& perm = one.pattern->col_perm;
            const Index expected = static_cast<Index>(std::ranges::find(perm, column) - perm.begin());
            EXPECT_EQ(F.monitor.bad_column, expected) << wrong;
            EXPECT_EQ(F.monitor.not_finite, wrong != 0);
            upload<S>(gpu, one.values(), on.values);
            EXPECT_EQ(on.run(gpu).monitor.bad_column, -1);
        }
}

TYPED_TEST(GpuFronts, ReplacesAndCountsPivotsNextToZero)
{
    ILUX_SKIP_WITHOUT_GPU();
    using S = TypeParam;
    Gpu gpu;
    for (const Index n : {6, 20, 40, 80, 200}) {
        EntryList entries;  // of rank 2
        for (Index i = 0; i < n; ++i)
            for (Index j = 0; j < n; ++j) entries.add(i, j, 1.0 + (i % 2 == 0 && j % 2 == 0));
        const auto one =
            front_case<S>("singular",
                          [&] {
                              const auto A = entries.matrix(n, n);
                              return CsrMatrix<S>::from_arrays(n, n, {A.row_ptr().begin(), A.row_ptr().end()},
                                                               {A.col().begin(), A.col().end()},
                                                               {A.val().begin(), A.val().end()});
                          }(),
                          {.scaling = LuScaling::none});
        const auto F = FrontsOnDevice<S>(gpu, one).run(gpu);
        EXPECT_EQ(F.monitor.bad_column, -1);
        EXPECT_EQ(F.monitor.replaced, n - 2) << n;
    }
}

}  // namespace
}  // namespace ilux::test

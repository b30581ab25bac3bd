#include "ilux/direct/supernodal/front_refactor.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <limits>
#include <random>
#include <vector>

#include "ilux/direct/solve/lu_solve.hpp"
#include "ilux/direct/supernodal/front_scales.hpp"
#include "ilux/tests/direct/both_scalars.hpp"
#include "ilux/tests/direct/supernodal/front_systems.hpp"

namespace ilux {
namespace {

using Complex = std::complex<double>;

/// The real numbers, and imaginary parts of their size.
template <class S>
CsrMatrix<S> as(const CsrMatrix<>& A, unsigned seed = 3)
{
    std::mt19937                     random(seed);
    std::uniform_real_distribution<> uniform(-1, 1);
    std::vector<S>                   val;
    for (const double a : A.val())
        if constexpr (is_complex<S>) val.emplace_back(a, a * uniform(random));
        else val.push_back(a);
    return CsrMatrix<S>::from_sorted(A.rows(), A.cols(), {A.row_ptr().begin(), A.row_ptr().end()},
                                     {A.col().begin(), A.col().end()}, std::move(val));
}

template <class S>
LuFactors<S> by_fronts(const CsrMatrix<S>& A, int threads = 1, const LuOptions& options = {})
{
    Cpu          be(threads);
    LuFactors<S> F{.symbolic = analyse(view<S>(A), options)};
    F.fronts = make_front_plan(be, *F.symbolic);
    F.pattern = front_pattern<S>(be, *F.symbolic, *F.fronts, options, A.val());
    FrontRefactor<S>(F.fronts).run(be, A.val(), F);
    return F;
}

template <class S>
std::vector<S> numbers(std::size_t count, unsigned seed)
{
    std::mt19937                     random(seed);
    std::uniform_real_distribution<> uniform(-1, 1);
    std::vector<S>                   x(count);
    for (S& v : x)
        if constexpr (is_complex<S>) v = {uniform(random), uniform(random)};
        else v = uniform(random);
    return x;
}

/// max_i |b − op(A) x|_i / (|A||x| + |b|)_i, by definition.
template <class S>
double backward_error(const CsrMatrix<S>& A, std::span<const S> x, std::span<const S> b, Transpose op)
{
    std::vector<S>      r(b.begin(), b.end());
    std::vector<double> size(b.size());
    for (std::size_t i = 0; i < b.size(); ++i) size[i] = std::abs(b[i]);
    for (Index i = 0; i < A.rows(); ++i)
        for (Offset p = A.row_ptr()[i]; p < A.row_ptr()[i + 1]; ++p) {
            const Index to = op == Transpose::no ? i : A.col()[p], from = op == Transpose::no ? A.col()[p] : i;
            S           a = A.val()[p];
            if constexpr (is_complex<S>)
                if (op == Transpose::adjoint) a = std::conj(a);
            r[to] -= a * x[from];
            size[to] += std::abs(a * x[from]);
        }
    double error = 0;
    for (std::size_t i = 0; i < b.size(); ++i)
        if (r[i] != S(0)) error = std::max(error, std::abs(r[i]) / size[i]);
    return error;
}

template <class S>
class Fronts : public testing::Test {};
using Scalars = testing::Types<double, Complex>;
TYPED_TEST_SUITE(Fronts, Scalars);

TYPED_TEST(Fronts, SolveEverySystemInEveryDirection)
{
    using S = TypeParam;
    for (const auto& real : test::front_systems()) {
        const auto     A = as<S>(real);
        const auto     F = by_fronts(A);
        const auto     n = static_cast<std::size_t>(A.rows());
        Cpu            be(1);
        LuWorkspace<S> ws(A.rows(), 4);
        ASSERT_EQ(F.monitor.bad_column, -1);
        for (const std::size_t rhs : {1, 3, 9})
            for (const Transpose op : {Transpose::no, Transpose::yes, Transpose::adjoint}) {
                const auto     b = numbers<S>(n * rhs, 5);
                std::vector<S> x(b.size());
                lu_solve<S>(be, F, b, x, ws, op);
                for (std::size_t v = 0; v < rhs; ++v) {
                    const auto part = [&](const std::vector<S>& y) { return std::span<const S>(y).subspan(v * n, n); };
                    EXPECT_LT(backward_error(A, part(x), part(b), op), 1e-13);
                }
            }
    }
}

TYPED_TEST(Fronts, HaveTheSameBitsOnAnyNumberOfThreads)
{
    using S = TypeParam;
    const auto A = as<S>(gallery::convdiff2d({.n = 90}));
    const auto one = by_fronts(A, 1);
    for (const int threads : {2, 3, 8}) {
        const auto many = by_fronts(A, threads);
        EXPECT_EQ(one.val, many.val);
        EXPECT_EQ(one.swap, many.swap);
        EXPECT_EQ(one.monitor.rgrowth, many.monitor.rgrowth);
    }
}

TYPED_TEST(Fronts, SolveWithTheSameBitsOnAnyNumberOfThreads)
{
    using S = TypeParam;
    const auto A = as<S>(gallery::convdiff2d({.n = 150}));
    const auto F = by_fronts(A, 2);
    ASSERT_EQ(F.fronts->passes.size(), 1);
    const auto b = numbers<S>(static_cast<std::size_t>(A.rows()), 5);
    for (const Transpose op : {Transpose::no, Transpose::yes}) {
        std::vector<S> one(b.size());
        for (const int threads : {1, 2, 3, 8}) {
            Cpu            be(threads);
            LuWorkspace<S> ws(A.rows());
            std::vector<S> x(b.size());
            lu_solve<S>(be, F, b, x, ws, op);
            if (threads == 1) one = x;
            EXPECT_EQ(one, x);
        }
        EXPECT_LT(backward_error<S>(A, one, b, op), 1e-13);
    }
}

TYPED_TEST(Fronts, ALargeFrontIsCutIntoTasks)
{
    using S = TypeParam;
    const auto A = as<S>(test::random_matrix(700, 0.9, 4));
    const auto F = by_fronts(A, 2);
    EXPECT_GT(std::ssize(FrontRefactor<S>(F.fronts).schedule().tasks), 20);
    Cpu            be(1);
    LuWorkspace<S> ws(A.rows());
    const auto     b = numbers<S>(A.rows(), 5);
    std::vector<S> x(b.size());
    lu_solve<S>(be, F, b, x, ws);
    EXPECT_LT(backward_error<S>(A, x, b, Transpose::no), 1e-12);
    const auto again = by_fronts(A, 3);
    EXPECT_EQ(F.val, again.val);
}

TYPED_TEST(Fronts, PivotAmongTheirOwnRows)
{
    using S = TypeParam;
    // Zeros on the diagonal of a dense matrix: one front, so every pivot is found.
    test::EntryList entries;
    const auto      random = numbers<double>(40 * 40, 8);
    for (Index i = 0; i < 40; ++i)
        for (Index j = 0; j < 40; ++j) entries.add(i, j, i == j ? 1e-300 : random[40 * i + j]);
    const auto A = as<S>(entries.matrix(40, 40));
    const auto F = by_fronts(A, 1, {.ordering = LuOrdering::none, .matching = LuMatching::off});
    EXPECT_EQ(F.monitor.replaced, 0);
    EXPECT_LE(F.monitor.max_multiplier, std::sqrt(2) + 1e-12);
    Cpu            be(1);
    LuWorkspace<S> ws(A.rows());
    const auto     b = numbers<S>(40, 5);
    std::vector<S> x(b.size());
    lu_solve<S>(be, F, b, x, ws);
    EXPECT_LT(backward_error<S>(A, x, b, Transpose::no), 1e-11);
}

TEST(FrontMonitor, IsThatOfTheNumbers)
{
    const auto          A = gallery::convdiff2d({.n = 20});
    const auto          F = by_fronts(A);
    const auto&         plan = *F.fronts;
    const auto&         tree = plan.tree;
    std::vector<double> B(plan.n), U(plan.n);
    for (std::size_t q = 0; q < plan.in_source.size(); ++q)
        B[plan.in_col[q]] = std::max(B[plan.in_col[q]], std::abs(A.val()[plan.in_source[q]] * F.pattern->in_scale[q]));
    double least = INFINITY, multiplier = 0;
    for (Index f = 0; f < tree.fronts(); ++f) {
        const Offset  m = tree.size(f), k = tree.pivots(f);
        const double* L = F.val.data() + plan.val_ptr[f];
        for (Index j = 0; j < m; ++j)
            for (Index i = 0; i < (j < k ? m : k); ++i) {
                const Index  column = j < k ? tree.pivot_ptr[f] + j : tree.row[tree.row_ptr[f] + j - k];
                const double size = std::abs(j < k ? L[i + j * m] : L[m * k + i + (j - k) * k]);
                if (i <= j) U[column] = std::max(U[column], size);
                else multiplier = std::max(multiplier, size);
                if (i == j) least = std::min(least, size);
            }
    }
    double growth = INFINITY;
    for (Index k = 0; k < plan.n; ++k) growth = std::min(growth, B[k] / U[k]);
    EXPECT_EQ(F.monitor.rgrowth, growth);
    EXPECT_EQ(F.monitor.min_pivot, least);
    EXPECT_EQ(F.monitor.max_multiplier, multiplier);
}

TEST(FrontMonitor, DuplicatesCountAsTheirSum)
{
    // 1 in two parts that are large and cancel: column 0 has a largest entry of 1, not of 1e6.
    const std::vector<Offset> ptr{0, 3, 5};
    const std::vector<Index>  idx{0, 0, 1, 0, 1};
    const std::vector<double> values{1e6 + 1, -1e6, 0.5, 0.25, 2};
    const MatrixView<>        A{2, ptr, idx, values};
    const LuOptions           options{.scaling = LuScaling::none};
    Cpu                       be(1);
    LuFactors<>               F{.symbolic = analyse(A, options)};
    F.fronts = make_front_plan(be, *F.symbolic);
    F.pattern = front_pattern<double>(be, *F.symbolic, *F.fronts, options, values);
    FrontRefactor<>(F.fronts).run(be, values, F);
    EXPECT_EQ(F.monitor.bad_column, -1);
    EXPECT_NEAR(F.monitor.rgrowth, 1, 0.1);
    const std::vector<double> b{1.25, 2.5};
    std::vector<double>       x(2);
    LuWorkspace<>             ws(2);
    lu_solve<double>(be, F, b, x, ws);
    EXPECT_NEAR(x[0] + 0.5 * x[1], 1.25, 1e-15);
    EXPECT_NEAR(0.25 * x[0] + 2 * x[1], 2.5, 1e-15);
}

TEST(FrontMonitor, NamesWhatCannotBeFactored)
{
    auto            A = gallery::convdiff2d({.n = 12});
    auto            F = by_fronts(A);
    Cpu             be(1);
    FrontRefactor<> refactor(F.fronts);

    std::vector<double> values(A.val().begin(), A.val().end());
    values[77] = std::numeric_limits<double>::quiet_NaN();
    refactor.run(be, values, F);
    EXPECT_GE(F.monitor.bad_column, 0);
    EXPECT_TRUE(F.monitor.not_finite);

    values.assign(A.val().begin(), A.val().end());
    for (Index i = 0; i < A.rows(); ++i)
        for (Offset p = A.row_ptr()[i]; p < A.row_ptr()[i + 1]; ++p)
            if (A.col()[p] == 50) values[p] = 0;
    refactor.run(be, values, F);
    ASSERT_GE(F.monitor.bad_column, 0);
    EXPECT_FALSE(F.monitor.not_finite);
    EXPECT_EQ(F.pattern->col_perm[F.monitor.bad_column], 50);

    refactor.run(be, A.val(), F);
    EXPECT_EQ(F.monitor.bad_column, -1);
}

TEST(FrontMonitor, CountsPivotsThatWereNextToZero)
{
    // The last pivot of a row of ones is 0 but for rounding.
    test::EntryList entries;
    for (Index i = 0; i < 6; ++i)
        for (Index j = 0; j < 6; ++j) entries.add(i, j, i == j && i < 4 ? 3 : 1);
    const auto F = by_fronts(entries.matrix(6, 6), 1, {.ordering = LuOrdering::none, .matching = LuMatching::off});
    EXPECT_EQ(F.monitor.bad_column, -1);
    EXPECT_EQ(F.monitor.replaced, 1);
    EXPECT_GT(F.monitor.min_pivot, 0);
}

TYPED_TEST(Fronts, MemoryIsKnownBefore)
{
    using S = TypeParam;
    for (const auto& real : {gallery::convdiff2d({.n = 120}), gallery::convdiff3d({.n = 14})}) {
        const auto       A = as<S>(real);
        auto             F = by_fronts(A);
        FrontRefactor<S> refactor(F.fronts);
        for (const int threads : {1, 2}) {
            Cpu          be(threads);
            const double predicted = refactor.schedule().run_bytes(refactor.threads(be), sizeof(S));
            F.val = {};
            F.swap = {};
            refactor.run(be, A.val(), F);
            const double taken =
                static_cast<double>(refactor.bytes() + F.bytes() + F.fronts->bytes() + F.pattern->bytes());
            EXPECT_NEAR(taken / predicted, 1, 0.1);
        }
    }
}

TEST(FrontRefactor, StopsWhenTold)
{
    const auto A = gallery::convdiff2d({.n = 60});
    auto       F = by_fronts(A);
    Cpu        be(2);
    FrontRefactor<>(F.fronts).run(be, A.val(), F, StopToken().asking([] { return true; }));
    EXPECT_EQ(F.monitor.stopped, StopReason::cancelled);
}

TEST(FrontRefactor, RefusesAnotherNumberOfValues)
{
    const auto A = gallery::convdiff2d({.n = 5});
    auto       F = by_fronts(A);
    Cpu        be(1);
    EXPECT_THROW(FrontRefactor<>(F.fronts).run(be, A.val().first(7), F), InvalidInput);
}

}  // namespace
}  // namespace ilux

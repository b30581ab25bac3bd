#include "ilux/direct/refactor_cpu/refactor.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ilux/direct/factor/gilbert_peierls.hpp"
#include "ilux/direct/factor/levels.hpp"
#include "ilux/gallery/gallery.hpp"
#include "ilux/tests/direct/dense_factors.hpp"
#include "ilux/tests/direct/hand_analysis.hpp"
#include "ilux/tests/direct/same_monitor.hpp"
#include "ilux/tests/support/checks.hpp"

namespace ilux::test {
namespace {

using Values = std::vector<double>;

LuFactors<> analysed_and_factored(const CsrMatrix<double>& A) { return gilbert_peierls(analyse(view(A)), A.val()); }
/// In the order given, as one block.
LuFactors<> factored_as_it_stands(const CsrMatrix<double>& A) { return gilbert_peierls(analysed(A), A.val()); }

Values moved(std::span<const double> values, std::uint64_t seed)
{
    Random random(seed);
    Values result(values.begin(), values.end());
    for (double& v : result) v *= random.uniform(0.7, 1.3);
    return result;
}

/// The same pattern, and nothing right in the numbers.
LuFactors<> blank(const LuFactors<>& F)
{
    LuFactors<> result{F.symbolic, F.pattern, LuValues<double>(F.val.size(), 7.0), Values(F.f_val.size(), 7.0), {}};
    result.monitor.bad_column = 99;
    return result;
}

LuFactors<> serial(const LuFactors<>& F, std::span<const double> values)
{
    LuFactors<> result = blank(F);
    refactor_serial(values, result);
    return result;
}

void expect_same(const LuFactors<>& a, const LuFactors<>& b)
{
    expect_same_monitor(a.monitor, b.monitor);
    if (b.monitor.bad_column >= 0) return;
    EXPECT_TRUE(identical(a.val, b.val));
    EXPECT_TRUE(identical(a.f_val, b.f_val));
}

struct Way {
    std::string    name;
    int            threads;
    RefactorTuning tuning;
};

/// Every arithmetic that this processor has, windows and registers of several sizes; threads forced to share even the
/// smallest matrix, in tasks of nearly one column, with every column of the top a hub, or none.
const std::vector<Way>& ways()
{
    static const std::vector<Way> all = [] {
        std::vector<Way> ways;
        Cpu              one(1);
        const auto       empty = factored_as_it_stands(CsrMatrix<double>{});
        for (const Arithmetic a : {Arithmetic::portable, Arithmetic::fma, Arithmetic::avx512}) {
            try {
                CpuRefactor<>(one, empty.pattern, {.arithmetic = a});
            } catch (const InvalidOption&) {
                continue;
            }
            const std::string name = "arithmetic " + std::to_string(static_cast<int>(a));
            for (const Index wide : {0, 8, 32}) {
                ways.push_back(
                    {name + ", wide " + std::to_string(wide), 1, {.arithmetic = a, .window = 512, .wide = wide}});
                ways.push_back({name + ", window 3", 1, {.arithmetic = a, .window = 3, .wide = wide}});
            }
            for (const int threads : {2, 3, 8})
                for (const double task : {1e-8, 1e-6, 0.0})
                    for (const Index hub : {1, 10, 1 << 30})
                        ways.push_back({name + ", threads " + std::to_string(threads) + ", task " +
                                            std::to_string(task * 1e9) + " ns, hubs from " + std::to_string(hub),
                                        threads,
                                        {.arithmetic = a,
                                         .window = 16,
                                         .hub_updates = hub,
                                         .hub_share = 0,
                                         .task_seconds = task,
                                         .least_gain = 0}});
        }
        return ways;
    }();
    return all;
}

void expect_every_way_agrees(const LuFactors<>& F, std::span<const double> values)
{
    const LuFactors<> expected = serial(F, values);
    for (std::size_t w = 0; w < ways().size(); w += thinning) {
        const Way& way = ways()[w];
        SCOPED_TRACE(way.name);
        Cpu           be(way.threads);
        CpuRefactor<> refactor(be, F.pattern, way.tuning);
        LuFactors<>   result = blank(F);
        refactor.run(be, values, result);
        expect_same(result, expected);
    }
}

TEST(Refactor, EqualsTheFirstFactorizationBitForBit)
{
    for (const char* spec :
         {"mna_random:n=300,decades=6", "power_grid:n=12", "poisson2d:n=12", "rlc_mesh:n=4,segments=3"}) {
        const auto        A = gallery::build(spec);
        const LuFactors<> F = analysed_and_factored(A);
        const LuFactors<> again = serial(F, A.val());
        EXPECT_TRUE(identical(again.val, F.val)) << spec;
        EXPECT_TRUE(identical(again.f_val, F.f_val)) << spec;
        EXPECT_EQ(again.monitor.min_pivot, F.monitor.min_pivot) << spec;
        EXPECT_EQ(again.monitor.max_multiplier, F.monitor.max_multiplier) << spec;
        EXPECT_EQ(again.monitor.rgrowth, F.monitor.rgrowth) << spec;
        EXPECT_EQ(again.monitor.growth_column, F.monitor.growth_column) << spec;
    }
}

TEST(Refactor, ReproducesTheMatrixWithinTheBoundOfElimination)
{
    for (const Index n : {1, 2, 5, 31, 32, 33, 60}) {
        const auto        A = random_dominant(n, 4, n);
        const LuFactors<> F = analysed_and_factored(A);
        const Values      values = moved(A.val(), 7 * n);
        const LuFactors<> R = serial(F, values);
        const auto&       P = *F.pattern;

        Dense B{n, n, Values(std::size_t(n) * n)}, product = B, bound = B;
        for (Index k = 0; k < n; ++k) {
            for (Offset e = P.in_ptr[k]; e < P.in_ptr[k + 1]; ++e)
                B(P.in_row[e], k) += values[P.in_source[e]] * P.in_scale[e];
            for (Offset p = P.f_col_ptr[k]; p < P.f_col_ptr[k + 1]; ++p) product(P.f_row[p], k) += R.f_val[p];
            for (Offset p = P.col_ptr[k]; p <= P.diag[k]; ++p) {
                const Index  i = P.row[p];
                const double u = R.val[p];
                product(i, k) += u;
                bound(i, k) += std::abs(u);
                for (Offset q = P.diag[i] + 1; q < P.col_ptr[i + 1]; ++q) {
                    product(P.row[q], k) += R.val[q] * u;
                    bound(P.row[q], k) += std::abs(R.val[q] * u);
                }
            }
        }
        for (Index i = 0; i < n; ++i)
            for (Index k = 0; k < n; ++k)
                EXPECT_LE(std::abs(B(i, k) - product(i, k)), 2 * n * eps * bound(i, k)) << i << ' ' << k;
    }
}

TEST(Refactor, AgreesBitForBitInEveryWay)
{
    for (const char* spec :
         {"mna_random:n=400,decades=3", "mna_random:n=150,controlled=0.5,sources=0.2", "power_grid:n=14",
          "poisson2d:n=15", "like_ASIC_320ks:scale=0.002", "rlc_mesh:n=5,segments=4"}) {
        SCOPED_TRACE(spec);
        const auto        A = gallery::build(spec);
        const LuFactors<> F = analysed_and_factored(A);
        expect_every_way_agrees(F, moved(A.val(), 1));
    }
    for (const Index n : {0, 1, 2, 31, 32, 33, 64}) {
        SCOPED_TRACE(n);
        const auto A = random_dominant(n, 6, n + 1);
        expect_every_way_agrees(analysed_and_factored(A), moved(A.val(), n));
    }
}

TEST(Refactor, AgreesOnExtremeShapes)
{
    std::vector<std::pair<std::string, CsrMatrix<double>>> shapes;
    shapes.emplace_back("diagonal", gallery::build("tridiagonal:n=200,lower=0,upper=0"));
    shapes.emplace_back("chain", gallery::build("tridiagonal:n=300"));
    shapes.emplace_back("lower bidiagonal", gallery::build("tridiagonal:n=100,upper=0"));
    shapes.emplace_back("upper bidiagonal", gallery::build("tridiagonal:n=100,lower=0"));
    shapes.emplace_back("no fill", gallery::build("arrow:n=500,tip=last"));
    shapes.emplace_back("full", gallery::build("arrow:n=70,tip=first"));
    shapes.emplace_back("triangular", gallery::random_lower(150, 6));
    for (const auto& [name, A] : shapes) {
        SCOPED_TRACE(name);
        for (const LuFactors<>& F : {analysed_and_factored(A), factored_as_it_stands(A)})
            expect_every_way_agrees(F, moved(A.val(), 3));
    }
}

TEST(Refactor, AgreesWithDuplicatesAndStoredZeros)
{
    Random  random(5);
    Entries A{.n = 120, .ptr = {0}, .col = {}, .val = {}};
    for (Index i = 0; i < A.n; ++i) {
        for (int e = 0; e < 6; ++e) {
            A.col.push_back(e == 0 ? i : random.below(A.n));
            A.val.push_back(e == 0 ? 20 : e == 1 ? -0.0 : random.uniform());
        }
        A.col.push_back(A.col.back());
        A.val.push_back(random.uniform());
        A.ptr.push_back(static_cast<Offset>(A.col.size()));
    }
    expect_every_way_agrees(gilbert_peierls(analysed(A), A.val), moved(A.val, 2));
    const auto symbolic = analyse({A.n, A.ptr, A.col, A.val});
    expect_every_way_agrees(gilbert_peierls(symbolic, A.val), moved(A.val, 2));
}

TEST(Refactor, AgreesOnAHubOfTenThousandUpdates)
{
    const auto        A = gallery::build("arrow:n=10001,tip=last");
    const LuFactors<> F = factored_as_it_stands(A);
    ASSERT_EQ(F.pattern->upper_count(10000), 10000);
    const Values      values = moved(A.val(), 4);
    const LuFactors<> expected = serial(F, values);
    for (const int threads : {2, 8}) {
        Cpu           be(threads);
        CpuRefactor<> refactor(be, F.pattern, {.hub_share = 0, .least_gain = 0});
        LuFactors<>   result = blank(F);
        refactor.run(be, values, result);
        expect_same(result, expected);
    }
}

TEST(Refactor, SeesTheGrowthThatStalePivotsBring)
{
    LuFactors<> F = gilbert_peierls(analysed(to_csr(dense(2, {1, 1, 1, 2}))), Values{1, 1, 1, 2});
    EXPECT_EQ(judge(serial(F, Values{1, 1, 1, 2}).monitor, {}), PivotState::good);
    for (const Way& way : ways()) {
        Cpu           be(way.threads);
        CpuRefactor<> refactor(be, F.pattern, way.tuning);
        refactor.run(be, Values{1e-16, 1, 1, 2}, F);
        // l = 1e16, u = 2 − 1e16
        EXPECT_EQ(F.monitor.max_multiplier, 1e16) << way.name;
        EXPECT_EQ(F.monitor.multiplier_column, 0);
        EXPECT_NEAR(F.monitor.rgrowth, 2e-16, 1e-18);
        EXPECT_EQ(F.monitor.growth_column, 1);
        EXPECT_EQ(F.monitor.min_pivot, 1e-16);
        EXPECT_EQ(judge(F.monitor, {}), PivotState::large_growth);
    }
}

/// Whatever else NaN or Inf in column k of B spoils lies behind column k.
TEST(Refactor, NamesTheFirstColumnThatIsNotFinite)
{
    const auto        A = gallery::build("mna_random:n=60,decades=3");
    const LuFactors<> F = analysed_and_factored(A);
    const auto&       P = *F.pattern;
    for (const double spoiled : {nan, infinity, -infinity})
        for (Index k = 0; k < P.n; k += 7)
            for (Offset e = P.in_ptr[k]; e < P.in_ptr[k + 1]; ++e) {
                Values values(A.val().begin(), A.val().end());
                values[P.in_source[e]] = spoiled;
                values[P.in_source[P.in_ptr[P.n - 1]]] = nan;
                const LuFactors<> S = serial(F, values);
                ASSERT_EQ(S.monitor.bad_column, k);
                ASSERT_TRUE(S.monitor.not_finite);
                for (std::size_t w = 0; w < ways().size(); w += 5 * thinning) {
                    Cpu           be(ways()[w].threads);
                    CpuRefactor<> refactor(be, P.n > 0 ? F.pattern : nullptr, ways()[w].tuning);
                    LuFactors<>   result = blank(F);
                    refactor.run(be, values, result);
                    expect_same_monitor(result.monitor, S.monitor);
                }
            }
}

TEST(Refactor, NamesTheFirstZeroPivotAndRecovers)
{
    // [1 1; 1 2] forty times over; [1 1; 1 1] has no second pivot.
    const Index blocks = 40;
    Entries     A{.n = 2 * blocks, .ptr = {0}, .col = {}, .val = {}};
    for (Index i = 0; i < A.n; ++i) {
        A.col.insert(A.col.end(), {i / 2 * 2, i / 2 * 2 + 1});
        A.val.insert(A.val.end(), {1.0, i % 2 == 0 ? 1.0 : 2.0});
        A.ptr.push_back(2 * i + 2);
    }
    const LuFactors<> F = gilbert_peierls(analysed(A), A.val);
    for (const Way& way : ways()) {
        SCOPED_TRACE(way.name);
        Cpu           be(way.threads);
        CpuRefactor<> refactor(be, F.pattern, way.tuning);
        for (const Index bad : {0, 17, blocks - 1}) {
            Values values = A.val;
            for (Index b = bad; b < blocks; b += 5) values[4 * b + 3] = 1;
            LuFactors<> result = blank(F);
            refactor.run(be, values, result);
            expect_same_monitor(result.monitor, {.bad_column = 2 * bad + 1});
            refactor.run(be, A.val, result);
            expect_same(result, serial(F, A.val));
        }
    }
}

TEST(Refactor, NeverHangsOnBadPivotsAndRepeatsItself)
{
    const auto        A = gallery::build("mna_random:n=300,decades=2");
    const LuFactors<> F = analysed_and_factored(A);
    const Values      good = moved(A.val(), 8);
    Cpu               be(4);
    for (const Index hub : {1, 1 << 30}) {
        CpuRefactor<>     refactor(be, F.pattern,
                                   {.hub_updates = hub, .hub_share = 0, .task_seconds = 1e-7, .least_gain = 0});
        LuFactors<>       result = blank(F);
        const LuFactors<> expected = serial(F, good);
        for (int repeat = 0; repeat < 100; ++repeat) {
            Values bad = good;
            bad[static_cast<std::size_t>(repeat) * bad.size() / 100] = nan;
            refactor.run(be, bad, result);
            expect_same_monitor(result.monitor, serial(F, bad).monitor);
            refactor.run(be, good, result);
            expect_same(result, expected);
        }
    }
}

TEST(Refactor, AllocatesNothingWhileItRuns)
{
    const auto        A = gallery::build("mna_random:n=500,decades=2");
    const LuFactors<> F = analysed_and_factored(A);
    for (const int threads : {1, 4}) {
        Cpu           be(threads);
        CpuRefactor<> refactor(be, F.pattern,
                               {.hub_updates = 20, .hub_share = 0, .task_seconds = 1e-7, .least_gain = 0});
        LuFactors<>   result = blank(F);
        refactor.run(be, A.val(), result);
        AllocationCounter counter;
        refactor.run(be, A.val(), result);
        EXPECT_EQ(counter.count(), 0) << threads;
        EXPECT_GT(refactor.bytes(), sizeof(Index) * static_cast<std::size_t>(F.pattern->n));
    }
}

TEST(Refactor, RunsOnFewerThreadsThanPlannedAndAfterMoving)
{
    const auto        A = gallery::build("poisson2d:n=20");
    const LuFactors<> F = analysed_and_factored(A);
    const LuFactors<> expected = serial(F, A.val());
    Cpu               eight(8), one(1);
    CpuRefactor<>     first(eight, F.pattern, {.hub_updates = 10, .hub_share = 0, .least_gain = 0});
    EXPECT_EQ(first.threads(), 8);
    CpuRefactor<> refactor = std::move(first);
    for (Cpu* be : {&one, &eight, &one}) {
        LuFactors<> result = blank(F);
        refactor.run(*be, A.val(), result);
        expect_same(result, expected);
    }
}

TEST(Refactor, LeavesSmallOrSequentialWorkToOneThread)
{
    Cpu be(8);
    for (const char* spec : {"mna_random:n=200", "tridiagonal:n=20000"})
        EXPECT_EQ(CpuRefactor<>(be, analysed_and_factored(gallery::build(spec)).pattern).threads(), 1) << spec;
    const auto mesh = factored_as_it_stands(gallery::build("poisson2d:n=40"));
    EXPECT_GT(CpuRefactor<>(be, analysed_and_factored(gallery::build("poisson2d:n=80")).pattern).threads(), 1);
    EXPECT_EQ(CpuRefactor<>(be, mesh.pattern, {.least_gain = 1e6}).threads(), 1);
}

TEST(Refactor, RefusesWhatDoesNotBelongToThePattern)
{
    const auto    A = gallery::build("poisson2d:n=5");
    LuFactors<>   F = analysed_and_factored(A), other = analysed_and_factored(A);
    Cpu           be(1);
    CpuRefactor<> refactor(be, F.pattern);
    expect_refusal([&] { refactor.run(be, A.val(), other); }, {"another pattern"});
    expect_refusal([&] { refactor.run(be, A.val().first(3), F); }, {"3 values", std::to_string(A.nnz())});
    expect_refusal([&] { refactor_serial(A.val().first(3), F); }, {"3 values"});
    F.val.pop_back();
    expect_refusal([&] { refactor.run(be, A.val(), F); },
                   {std::to_string(F.val.size()), std::to_string(F.val.size() + 1)});
    expect_refusal<InvalidOption>([&] { CpuRefactor<>(be, other.pattern, {.wide = 33}); }, {"33"});
    expect_refusal<InvalidOption>([&] { CpuRefactor<>(be, other.pattern, {.window = 0}); }, {"window = 0"});
}

}  // namespace
}  // namespace ilux::test

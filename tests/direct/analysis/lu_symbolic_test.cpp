// Oracles: the definitions of what an analysis promises, Kuhn's search for the structural rank, elimination on a dense
// matrix of bits for the counts, reachability tested in block_form_test.

#include "ilux/direct/analysis/lu_symbolic.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>

#include "ilux/gallery/gallery.hpp"
#include "ilux/tests/direct/analysis/boolean_matrix.hpp"
#include "ilux/tests/direct/worked_example.hpp"
#include "ilux/tests/support/checks.hpp"
#include "ilux/tests/support/stop_at.hpp"

namespace ilux {
namespace {

using Csr = CsrMatrix<double>;
using Layout = MatrixLayout;
using test::expect_refusal;

/// A matrix as a caller may hold it.
struct Held {
    Index               n = 0;
    std::vector<Offset> ptr{0};
    std::vector<Index>  idx;
    std::vector<double> val;
    Layout              layout = Layout::rows;

    MatrixView<> view(bool values = true) const
    {
        return {n, ptr, idx, values ? std::span<const double>(val) : std::span<const double>{}, layout};
    }
    Index row_of(Offset p) const { return layout == Layout::rows ? line_of(p) : idx[p]; }
    Index col_of(Offset p) const { return layout == Layout::rows ? idx[p] : line_of(p); }
    Index line_of(Offset p) const { return static_cast<Index>(std::ranges::upper_bound(ptr, p) - ptr.begin() - 1); }
};

Held by_rows(const Csr& A)
{
    return {A.rows(),
            {A.row_ptr().begin(), A.row_ptr().end()},
            {A.col().begin(), A.col().end()},
            {A.val().begin(), A.val().end()},
            Layout::rows};
}

Held by_columns(const Csr& A)
{
    Held held = by_rows(transpose(A));
    held.layout = Layout::columns;
    return held;
}

/// Some entries in two parts, every line in random order.
Held disordered(Held held, std::uint64_t seed)
{
    test::Random random(seed);
    Held         out;
    out.n = held.n;
    out.layout = held.layout;
    for (Index k = 0; k < held.n; ++k) {
        std::vector<std::pair<Index, double>> line;
        for (Offset p = held.ptr[k]; p < held.ptr[k + 1]; ++p) {
            line.emplace_back(held.idx[p], held.val[p]);
            if (random.below(4) > 0) continue;
            line.back().second = held.val[p] / 4;
            line.emplace_back(held.idx[p], held.val[p] * 0.75);
        }
        for (std::size_t a = line.size(); a > 1; --a) std::swap(line[a - 1], line[random.below(static_cast<Index>(a))]);
        for (const auto& [j, value] : line) {
            out.idx.push_back(j);
            out.val.push_back(value);
        }
        out.ptr.push_back(static_cast<Offset>(out.idx.size()));
    }
    return out;
}

bool is_permutation(std::vector<Index> perm, Index n)
{
    std::ranges::sort(perm);
    std::vector<Index> identity(n);
    std::iota(identity.begin(), identity.end(), Index{0});
    return perm == identity;
}

/// Entries whose value `counts`, no two in one row or column; the slow search.
Index slow_rank(const Held& A, const std::function<bool(double)>& counts)
{
    std::vector<std::vector<Index>> row(A.n);
    for (Offset p = 0; p < A.ptr[A.n]; ++p)
        if (counts(A.val[p])) row[A.row_of(p)].push_back(A.col_of(p));
    std::vector<Index>         owner(A.n, -1);
    std::vector<char>          seen;
    std::function<bool(Index)> place = [&](Index i) {
        for (const Index j : row[i]) {
            if (seen[j]) continue;
            seen[j] = 1;
            if (owner[j] >= 0 && !place(owner[j])) continue;
            owner[j] = i;
            return true;
        }
        return false;
    };
    Index rank = 0;
    for (Index i = 0; i < A.n; ++i) {
        seen.assign(A.n, 0);
        rank += place(i);
    }
    return rank;
}

std::vector<Index> blocks_of(const LuSymbolic& s)
{
    std::vector<Index> block(s.n);
    for (Index b = 0; b < s.report.blocks; ++b)
        std::fill(block.begin() + s.block_ptr[b], block.begin() + s.block_ptr[b + 1], b);
    return block;
}

/// Every promise of LuSymbolic.
void expect_analysis_of(const Held& A, const LuSymbolic& s)
{
    ASSERT_EQ(s.n, A.n);
    ASSERT_EQ(s.input_nnz, static_cast<Offset>(A.idx.size()));
    ASSERT_TRUE(is_permutation(s.row_perm, A.n));
    ASSERT_TRUE(is_permutation(s.col_perm, A.n));
    ASSERT_EQ(s.block_ptr.size(), s.report.blocks + 1u);
    ASSERT_EQ(s.block_ptr.front(), 0);
    ASSERT_EQ(s.block_ptr.back(), A.n);
    ASSERT_TRUE(std::ranges::is_sorted(s.block_ptr));
    ASSERT_NE(s.report.ordering, LuOrdering::automatic);
    Index largest = 0;
    for (Index b = 0; b < s.report.blocks; ++b) largest = std::max(largest, s.block_ptr[b + 1] - s.block_ptr[b]);
    EXPECT_EQ(s.report.largest_block, largest);

    ASSERT_EQ(s.col_ptr.size(), A.n + 1u);
    ASSERT_EQ(s.row.size(), A.idx.size());
    std::vector<Index> sources(s.source.begin(), s.source.end());
    ASSERT_TRUE(is_permutation(sources, static_cast<Index>(A.idx.size())));
    const auto        block = blocks_of(s);
    std::vector<char> on_diagonal(A.n, 0);
    for (Index k = 0; k < A.n; ++k)
        for (Offset p = s.col_ptr[k]; p < s.col_ptr[k + 1]; ++p) {
            ASSERT_EQ(A.row_of(s.source[p]), s.row_perm[s.row[p]]);
            ASSERT_EQ(A.col_of(s.source[p]), s.col_perm[k]);
            ASSERT_LE(block[s.row[p]], block[k]);
            if (p > s.col_ptr[k]) {
                ASSERT_LE(s.row[p - 1], s.row[p]);
                ASSERT_TRUE(s.row[p - 1] < s.row[p] || s.source[p - 1] < s.source[p]);
            }
            if (s.row[p] == k) on_diagonal[k] = 1;
        }
    EXPECT_EQ(std::ranges::count(on_diagonal, 1), s.report.structural_rank);
}

/// Counts of the diagonal blocks of B.
SymbolicCost slow_cost(const LuSymbolic& s)
{
    const auto         block = blocks_of(s);
    std::vector<Index> row, col, order(s.n);
    for (Index k = 0; k < s.n; ++k)
        for (Offset p = s.col_ptr[k]; p < s.col_ptr[k + 1]; ++p)
            if (block[s.row[p]] == block[k]) {
                row.push_back(s.row[p]);
                col.push_back(k);
            }
    std::iota(order.begin(), order.end(), Index{0});
    const auto B = Csr::from_triplets(s.n, s.n, row, col, std::vector<double>(row.size(), 1.));
    return test::slow_cost({s.n, B.row_ptr(), B.col()}, order);
}

std::vector<LuOptions> every_option()
{
    std::vector<LuOptions> all;
    for (const auto ordering : {LuOrdering::automatic, LuOrdering::amd, LuOrdering::colamd, LuOrdering::metis,
                                LuOrdering::none, LuOrdering::dissection})
        for (const bool blocks : {true, false})
            for (const auto matching : {LuMatching::automatic, LuMatching::on, LuMatching::off})
                all.push_back({.ordering = ordering, .matching = matching, .blocks = blocks});
    return all;
}

TEST(LuSymbolic, KeepsItsPromisesForEveryOptionAndAwkwardSize)
{
    const auto options = every_option();
    unsigned   seed = 0;
    for (const Index n : {0, 1, 2, 3, 7, 31, 32, 33, 60})
        for (const Index per_row : {0, 1, 2, 4})
            for (int layout = 0; layout < 2; ++layout)
                for (const auto& option : options) {
                    const auto A = test::random_matrix(n, n, per_row, ++seed);
                    const auto held = disordered(layout == 0 ? by_rows(A) : by_columns(A), seed);
                    const auto s = analyse(held.view(), option);
                    expect_analysis_of(held, *s);
                    ASSERT_EQ(s->report.structural_rank, slow_rank(held, [](double) { return true; }));
                    ASSERT_TRUE(option.blocks || s->report.blocks == (n > 0 ? 1 : 0));
                    ASSERT_TRUE(option.ordering == LuOrdering::automatic || s->report.ordering == option.ordering);
                    const auto slow = slow_cost(*s);
                    ASSERT_EQ(s->report.nnz, slow.nnz) << "seed " << seed;
                    ASSERT_EQ(s->report.flops, slow.flops(n)) << "seed " << seed;
                    if (::testing::Test::HasFailure()) return;
                }
}

TEST(LuSymbolic, OfAPatternAloneKeepsItsPromises)
{
    for (unsigned seed = 0; seed < 60; ++seed) {
        const auto held = by_rows(test::random_matrix(20, 20, 1 + seed % 4, seed));
        const auto s = analyse(held.view(false));
        expect_analysis_of(held, *s);
        EXPECT_EQ(s->report.nnz, slow_cost(*s).nnz);
    }
    const auto held = by_rows(test::random_dominant(5, 2, 1));
    expect_refusal<InvalidOption>([&] { analyse(held.view(false), {.matching = LuMatching::on}); },
                                  {"matching=on", "values"});
    expect_refusal<InvalidOption>([&] { analyse(held.view(false), {.scaling = LuScaling::matching}); },
                                  {"scaling=matching", "values"});
}

TEST(LuSymbolic, OfRowsAndOfColumnsOfOneMatrixAreTheSame)
{
    for (unsigned seed = 0; seed < 40; ++seed) {
        const auto A = test::random_matrix(30, 30, 1 + seed % 4, seed);
        const auto rows = by_rows(A), columns = by_columns(A);
        const auto s = analyse(rows.view()), t = analyse(columns.view());
        EXPECT_EQ(s->row_perm, t->row_perm);
        EXPECT_EQ(s->col_perm, t->col_perm);
        EXPECT_EQ(s->block_ptr, t->block_ptr);
        EXPECT_EQ(s->col_ptr, t->col_ptr);
        EXPECT_EQ(s->row, t->row);
        for (std::size_t p = 0; p < s->source.size(); ++p) EXPECT_EQ(rows.val[s->source[p]], columns.val[t->source[p]]);
    }
}

TEST(LuSymbolic, DoesNotDependOnTheOrderOrTheSplittingOfEntries)
{
    for (unsigned seed = 0; seed < 40; ++seed) {
        const auto A = test::random_matrix(30, 30, 1 + seed % 4, seed);
        const auto s = analyse(view(A)), t = analyse(disordered(by_rows(A), seed).view());
        EXPECT_EQ(s->row_perm, t->row_perm);
        EXPECT_EQ(s->col_perm, t->col_perm);
        EXPECT_EQ(s->block_ptr, t->block_ptr);
    }
}

TEST(LuSymbolic, KeepsANonzeroDiagonalAndAvoidsZerosWhereTheOthersReachTheRank)
{
    const auto A = test::random_dominant(40, 3, 1);
    const auto kept = analyse(view(A));
    EXPECT_EQ(kept->row_perm, kept->col_perm);
    Index reached = 0;
    for (unsigned seed = 0; seed < 300; ++seed) {
        auto         held = by_rows(test::random_matrix(12, 12, 1 + seed % 4, seed));
        test::Random random(seed);
        for (double& value : held.val)
            if (random.below(3) == 0) value = 0;
        const auto matching = seed % 2 == 0 ? LuMatching::off : LuMatching::on;
        const auto s = analyse(held.view(), {.matching = matching});
        Index      nonzero = 0;
        for (Index k = 0; k < s->n; ++k)
            for (Offset p = s->col_ptr[k]; p < s->col_ptr[k + 1]; ++p)
                nonzero += s->row[p] == k && held.val[s->source[p]] != 0;
        const Index rank = slow_rank(held, [](double) { return true; });
        EXPECT_EQ(s->report.structural_rank, rank) << "seed " << seed;
        if (slow_rank(held, [](double value) { return value != 0; }) < rank) continue;
        EXPECT_EQ(nonzero, rank) << "seed " << seed;
        reached += rank < 12 || s->row_perm != s->col_perm;
    }
    EXPECT_GT(reached, 10);
}

TEST(LuSymbolic, MatchesByValuesWhereADiagonalEntryIsTooSmallToStayPivot)
{
    const auto small = test::to_csr({2, 2, {1e-10, 1, 1, 1}}), large = test::to_csr({2, 2, {0.1, 1, 1, 1}});
    const auto s = analyse(view(small)), t = analyse(view(large));
    EXPECT_TRUE(s->report.matched);
    EXPECT_NE(s->row_perm, s->col_perm);
    EXPECT_FALSE(t->report.matched);
    EXPECT_EQ(t->row_perm, t->col_perm);
    EXPECT_FALSE(analyse(view(small), {.matching = LuMatching::off})->report.matched);
    EXPECT_TRUE(analyse(view(large), {.matching = LuMatching::on})->report.matched);
}

TEST(LuSymbolic, ScalingOfTheMatchingIsByPowersOfTwoAndBringsEntriesToAboutOne)
{
    auto         A = test::random_dominant(25, 4, 3);
    test::Random random(5);
    for (double& value : A.val()) value *= std::exp2(random.uniform(-200, 200));
    const auto s = analyse(view(A), {.matching = LuMatching::on, .scaling = LuScaling::matching});
    ASSERT_EQ(s->row_scale.size(), 25u);
    ASSERT_EQ(s->col_scale.size(), 25u);
    for (Index k = 0; k < 25; ++k) {
        EXPECT_EQ(std::exp2(std::ilogb(s->row_scale[k])), s->row_scale[k]);
        EXPECT_EQ(std::exp2(std::ilogb(s->col_scale[k])), s->col_scale[k]);
        for (Offset p = s->col_ptr[k]; p < s->col_ptr[k + 1]; ++p) {
            const double scaled =
                std::abs(A.val()[s->source[p]]) * s->row_scale[s->row_perm[s->row[p]]] * s->col_scale[s->col_perm[k]];
            EXPECT_LE(scaled, 2 * (1 + 1e-10));
            EXPECT_TRUE(s->row[p] != k || scaled >= 0.5 * (1 - 1e-10));
        }
    }
    EXPECT_TRUE(analyse(view(A))->row_scale.empty());
}

TEST(LuSymbolic, AutomaticOrderingNeverPredictsMoreFlopsThanAmdAndTakesWhatIsBetter)
{
    for (const auto* spec : {"poisson2d:n=40", "poisson3d:n=14", "rlc_mesh:n=8,segments=6", "mna_random:n=3000",
                             "power_grid:n=32", "rlc_mesh:n=8,segments=6,analysis=dc"}) {
        const auto A = gallery::build(spec);
        const auto chosen = analyse(view(A));
        const auto amd = analyse(view(A), {.ordering = LuOrdering::amd});
        EXPECT_LE(chosen->report.flops, amd->report.flops) << spec;
        EXPECT_FALSE(chosen->report.decisions.empty());
    }
    const auto cube = gallery::build("poisson3d:n=14");
    EXPECT_EQ(analyse(view(cube))->report.ordering, LuOrdering::dissection);
    EXPECT_LT(analyse(view(cube))->report.flops, analyse(view(cube), {.ordering = LuOrdering::amd})->report.flops);
}

TEST(LuSymbolic, OfTheWorkedExampleInItsOwnOrderPredicts29Entries)
{
    const auto s = analyse(view(test::worked_example()),
                           {.ordering = LuOrdering::none, .matching = LuMatching::off, .blocks = false});
    EXPECT_EQ(s->report.nnz, 29);
    EXPECT_EQ(s->report.flops, 2 * 18 + 29 - 8);
    EXPECT_EQ(s->report.structural_rank, 8);
    const auto t = analyse(view(test::worked_example()));  // row 7 has one entry: a block of its own
    EXPECT_GT(t->report.blocks, 1);
    EXPECT_LE(t->report.nnz, 29);
}

TEST(LuSymbolic, ReportsTheRankOfEmptyRowsAndColumns)
{
    const auto A = test::to_csr({3, 3, {1, 0, 2, 0, 0, 0, 3, 0, 4}});
    const auto s = analyse(view(A));
    EXPECT_EQ(s->report.structural_rank, 2);
    expect_analysis_of(by_rows(A), *s);
    EXPECT_EQ(analyse(Held{3, {0, 0, 0, 0}, {}, {}, Layout::rows}.view())->report.structural_rank, 0);
    EXPECT_EQ(analyse(Held{}.view())->report.structural_rank, 0);
}

TEST(LuSymbolic, RefusesBrokenInputNamingThePlace)
{
    const auto refused = [](const Held& A, const std::vector<std::string>& words) {
        expect_refusal([&] { analyse(A.view()); }, words);
    };
    const Held good = by_rows(test::to_csr({3, 3, {1, 2, 0, 0, 3, 0, 4, 0, 5}}));
    expect_refusal([&] { (void)view(test::random_matrix(2, 3, 1, 1)); }, {"2 x 3", "square"});
    Held A = good;
    A.idx[3] = 3;
    refused(A, {"entry 3", "row 2", "column 3", "3 x 3"});
    A.layout = Layout::columns;
    refused(A, {"entry 3", "row 3", "column 2"});
    A = good;
    A.idx[0] = -1;
    refused(A, {"entry 0", "column -1"});
    A = good;
    A.ptr = {0, 3, 2, 5};
    refused(A, {"row_ptr", "decreases", "row 1"});
    A.ptr = {0, 2, 3};
    refused(A, {"row_ptr", "3 entries"});
    A.ptr = {0, 2, 3, 4};
    refused(A, {"0 to 4", "0 to 5"});
    A = good;
    A.val.pop_back();
    refused(A, {"5 columns", "4 values"});
    for (const double bad : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
        A = good;
        A.val[4] = bad;
        refused(A, {"row 2", "column 2", "not a finite number"});
        A.layout = Layout::columns;
        A.val[4] = 5;
        A.val[1] = bad;
        refused(A, {"row 1", "column 0", "not a finite number"});
    }
    const Held twice{1, {0, 2}, {0, 0}, {1e308, 1e308}, Layout::rows};
    refused(twice, {"duplicates", "row 1", "column 1"});
}

TEST(LuSymbolic, RefusesAnotherPatternNamingWhatDiffersFirst)
{
    const Held good = by_rows(test::to_csr({3, 3, {1, 2, 0, 0, 3, 0, 4, 0, 5}}));
    const auto s = analyse(good.view());
    require_same_pattern(*s, good.view());
    require_same_pattern(*s, good.view(false));
    const auto refused = [&](const Held& A, const std::vector<std::string>& words) {
        expect_refusal([&] { require_same_pattern(*s, A.view()); }, words);
    };
    Held A = good;
    A.layout = Layout::columns;
    refused(A, {"by columns", "by rows"});
    refused(by_rows(test::random_dominant(4, 1, 1)), {"order 4", "3"});
    A = good;
    A.idx[4] = 1;
    refused(A, {"entry 4", "row 2", "column 1", "column 2"});
    A = good;
    A.ptr = {0, 2, 2, 5};
    refused(A, {"row 1", "number of entries"});
    A = good;
    A.ptr.pop_back();
    refused(A, {"3 positions", "4"});
    A = good;
    A.idx.pop_back();
    refused(A, {"4 entries", "5"});
}

TEST(LuSymbolic, SaysSoWhenMemoryRunsOut)
{
    const auto A = gallery::build("mna_random:n=60");
    EXPECT_GT(test::fail_each_allocation([&] { (void)analyse(view(A)); }), 10);
}

TEST(LuSymbolic, ATokenEndsTheAnalysisWhereverItIsAsked)
{
    const auto A = gallery::build("convdiff2d:n=90");
    for (const LuMatching matching : {LuMatching::off, LuMatching::on}) {
        const LuOptions  options{.ordering = LuOrdering::automatic, .matching = matching};
        std::atomic<int> asked;
        const auto       whole = analyse(view(A), options, test::stop_at(0, asked));
        EXPECT_EQ(whole->col_perm, analyse(view(A), options)->col_perm);
        ASSERT_GE(asked, 3);
        for (int last = 1; last <= 3; ++last)
            EXPECT_THROW(analyse(view(A), options, test::stop_at(last, asked)), Cancelled) << last;
    }
}

}  // namespace
}  // namespace ilux

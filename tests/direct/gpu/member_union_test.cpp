#include "ilux/direct/gpu/member_union.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <numeric>
#include <utility>

#include "ilux/tests/direct/gpu/union_systems.hpp"

namespace ilux::test {
namespace {

constexpr std::size_t no_limit = std::numeric_limits<std::size_t>::max();

std::size_t bytes_of(const MemberUnion& M)
{
    return 8 * M.layout.segments + 2 * M.plain.size() + 4 * M.wide.size() + sizeof(UnionRun) * M.runs.size() +
           sizeof(UnionWord) * M.words.size();
}

/// What a search is left to find counts as found.
std::vector<Index> with_searches(const LuPattern& P, const UnionPlan& plan, std::vector<Index> found,
                                 const std::vector<Index>& expected)
{
    std::size_t at = 0;
    for (Index k = 0; k < P.n; ++k)
        for (Offset p = P.col_ptr[k]; p < P.diag[k]; ++p)
            for (Index t = 0; t < P.lower_count(P.row[p]); ++t, ++at)
                if (plan.index[k] == UnionIndex::search && found[at] == -1) found[at] = expected[at];
    return found;
}

void expect_positions(const LuPattern& P, const MemberUnion& M, const std::vector<Index>& expected)
{
    const auto found = decoded(P, M);
    ASSERT_EQ(found.size(), expected.size());
    EXPECT_TRUE(with_searches(P, M.plan, found, expected) == expected);
}

/// Everything filled; no inputs.
LuPattern full_pattern(Index n)
{
    LuPattern P;
    P.n = n;
    for (Index k = 0; k <= n; ++k) P.col_ptr.push_back(static_cast<Offset>(k) * n);
    for (Index k = 0; k < n; ++k) P.diag.push_back(P.col_ptr[k] + k);
    P.row.resize(static_cast<std::size_t>(n) * n);
    for (Index k = 0; k < n; ++k) std::iota(P.row.begin() + P.col_ptr[k], P.row.begin() + P.col_ptr[k + 1], 0);
    return P;
}

TEST(MemberUnion, OfTheWorkedExampleIsThePublishedOne)
{
    const DataflowSystem system = dataflow_system_as_it_stands("worked example", worked_example());
    const MemberUnion    M = member_union(*system.F.pattern, plan_union(*system.F.pattern, no_limit));
    EXPECT_EQ(M.layout.first, (std::vector<Offset>{0, 0, 0, 2, 2, 3, 3, 5}));
    EXPECT_EQ(M.layout.segments, 9);
    EXPECT_EQ(M.len, (std::vector<Offset>{0, 3, 5, 7, 9, 10, 13, 15, 17, 18}));
    EXPECT_EQ(M.plain, (std::vector<std::uint16_t>{1, 2, 4, 2, 3, 1, 2, 1, 3, 3, 1, 2, 4, 2, 3, 3, 4, 4}));
    EXPECT_EQ(M.plan.multiply_adds, 18);
}

TEST(MemberUnion, OfTheWorkedExampleInEveryEncoding)
{
    const DataflowSystem system = dataflow_system_as_it_stands("worked example", worked_example());
    const LuPattern&     P = *system.F.pattern;
    const auto           runs = count_runs(P);
    EXPECT_EQ(runs, (std::vector<Offset>{0, 0, 3, 0, 1, 0, 3, 5}));
    const std::pair<UnionIndex, std::size_t> expected[] = {{UnionIndex::plain, 9 * 8 + 18 * 2},
                                                           {UnionIndex::wide, 9 * 8 + 18 * 4},
                                                           {UnionIndex::runs, 9 * 8 + 12 * 4},
                                                           {UnionIndex::lookup, 4 * 8},
                                                           {UnionIndex::search, 0}};
    for (const auto& [index, bytes] : expected)
        EXPECT_EQ(plan_union(P, 0, index, runs).bytes, bytes) << "encoding " << static_cast<int>(index);
    const MemberUnion in_runs = member_union(P, plan_union(P, 0, UnionIndex::runs, runs));
    EXPECT_EQ(in_runs.len, (std::vector<Offset>{0, 2, 3, 4, 6, 7, 9, 10, 11, 12}));
    EXPECT_EQ(in_runs.runs[0], (UnionRun{0, 1}));  // 1 2 4
    EXPECT_EQ(in_runs.runs[1], (UnionRun{2, 4}));
    const MemberUnion looked_up = member_union(P, plan_union(P, 0, UnionIndex::lookup));
    EXPECT_EQ(looked_up.words[0], (UnionWord{0b10010111, 0}));  // rows 1 2 3 5 8, from 1
}

TEST(MemberUnion, IsTheSameInEveryEncoding)
{
    for (const DataflowSystem& system : union_systems()) {
        SCOPED_TRACE(system.name);
        const LuPattern& P = *system.F.pattern;
        const auto       runs = count_runs(P);
        const auto       positions = union_by_search(P);
        for (const UnionIndex index : every_union_index) {
            SCOPED_TRACE(static_cast<int>(index));
            const MemberUnion M = member_union(P, plan_union(P, 0, index, runs));
            expect_positions(P, M, positions);
            EXPECT_EQ(M.plan.bytes, bytes_of(M));
        }
    }
}

TEST(MemberUnion, KeepsItsLimit)
{
    for (const DataflowSystem& system : union_systems()) {
        SCOPED_TRACE(system.name);
        const LuPattern& P = *system.F.pattern;
        const auto       runs = count_runs(P);
        const auto       positions = union_by_search(P);
        for (const std::size_t limit : limits_of(P)) {
            SCOPED_TRACE(limit);
            const MemberUnion M = member_union(P, plan_union(P, limit, {}, runs));
            expect_positions(P, M, positions);
            EXPECT_EQ(M.plan.bytes, bytes_of(M));
            EXPECT_LE(M.plan.bytes, limit);
            EXPECT_LE(plan_union(P, limit).bytes, limit) << "with runs unknown";
        }
    }
}

TEST(MemberUnion, IsPlainWhereThereIsRoom)
{
    for (const DataflowSystem& system : union_systems()) {
        SCOPED_TRACE(system.name);
        const LuPattern& P = *system.F.pattern;
        const auto       index = plan_union(P, no_limit, {}, count_runs(P)).index;
        for (Index k = 0; k < P.n; ++k)
            ASSERT_EQ(index[k], P.col_ptr[k + 1] - P.col_ptr[k] > 65'535 ? UnionIndex::wide : UnionIndex::plain)
                << "column " << k;
    }
}

/// Columns 1 … 39 of 40 rows have two words each, and column k has 8 k bytes of segments beside its positions.
TEST(MemberUnion, GivesTheMostUsedColumnsTheCheapestWay)
{
    const LuPattern P = full_pattern(40);
    const auto      last_plain = 38 * 16 + 8 * 39 + 2 * 780;
    UnionPlan       plan = plan_union(P, last_plain);
    EXPECT_EQ(plan.bytes, last_plain);
    EXPECT_EQ(plan.index[39], UnionIndex::plain);
    for (Index k = 1; k < 39; ++k) EXPECT_EQ(plan.index[k], UnionIndex::lookup) << "column " << k;
    plan = plan_union(P, last_plain - 1);
    EXPECT_GT(plan.index[39], UnionIndex::plain);
    plan = plan_union(P, 16);  // for one column
    EXPECT_EQ(plan.index[39], UnionIndex::lookup);
    for (Index k = 1; k < 39; ++k) EXPECT_EQ(plan.index[k], UnionIndex::search) << "column " << k;
}

/// A run for each update: 12 k bytes of column k.
TEST(MemberUnion, UsesRunsThatAreLong)
{
    const LuPattern     P = full_pattern(40);
    std::vector<Offset> runs(40);
    std::iota(runs.begin(), runs.end(), 0);
    ASSERT_EQ(count_runs(P), runs);
    const std::size_t all_in_runs = 12 * 780;
    const UnionPlan   plan = plan_union(P, all_in_runs, {}, runs);
    for (Index k = 1; k < 40; ++k) EXPECT_EQ(plan.index[k], UnionIndex::runs) << "column " << k;
    for (Offset& r : runs) r *= 10;  // shorter than four on average
    for (const UnionIndex index : plan_union(P, all_in_runs, {}, runs).index) EXPECT_NE(index, UnionIndex::runs);
}

TEST(MemberUnion, CountsMultiplyAddsBeyond32Bits)
{
    const Offset        n = 2000, updates = n * (n - 1) / 2, multiply_adds = n * (n - 1) * (2 * n - 1) / 6;
    const LuPattern     P = full_pattern(n);
    std::vector<Offset> runs(n);
    std::iota(runs.begin(), runs.end(), 0);
    ASSERT_GT(multiply_adds, std::numeric_limits<std::int32_t>::max());
    const UnionPlan wide = plan_union(P, 0, UnionIndex::wide), in_runs = plan_union(P, 0, UnionIndex::runs, runs);
    EXPECT_EQ(wide.multiply_adds, multiply_adds);
    EXPECT_EQ(wide.bytes, 8 * updates + 4 * multiply_adds);
    EXPECT_EQ(in_runs.bytes, 8 * updates + 4 * updates);
    EXPECT_EQ(layout_union(P, wide).wide, multiply_adds);
    EXPECT_EQ(layout_union(P, in_runs, runs).runs, updates);
    const std::size_t most = std::size_t{1} << 32;
    const UnionPlan   plan = plan_union(P, most, {}, runs);
    const UnionLayout layout = layout_union(P, plan, runs);
    EXPECT_LE(plan.bytes, most);
    EXPECT_EQ(plan.bytes, 8 * layout.segments + 2 * layout.plain + 4 * layout.runs + 8 * layout.words);
    EXPECT_GT(layout.plain, 0);
    EXPECT_GT(layout.runs + layout.words, 0);
}

}  // namespace
}  // namespace ilux::test

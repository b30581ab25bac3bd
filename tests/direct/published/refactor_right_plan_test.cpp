#include "ilux/direct/published/refactor_right_plan.hpp"

#include <algorithm>
#include <set>

#include "ilux/tests/direct/published/right_systems.hpp"
#include "ilux/tests/direct/worked_example.hpp"

namespace ilux::test {
namespace {

using detail::plan_glu1;
using detail::plan_right;
using detail::RightPlan;
using detail::RightRoom;
using detail::RightStep;
using detail::UpperRows;
using detail::warps_per_block;

constexpr RightRoom h200{.warps = 132 * 64, .blocks = 132 * 8};

/// The kernel of a column, on one thread: a dense copy of L(:,j), and of each subcolumn all rows below j are walked.
void eliminate(const LuPattern& P, const UpperRows& U, Index j, std::vector<double>& val)
{
    std::vector<double> x(P.n);
    std::vector<char>   in_x(P.n);
    for (Offset q = P.diag[j] + 1; q < P.col_ptr[j + 1]; ++q) {
        x[P.row[q]] = val[q] /= val[P.diag[j]];
        in_x[P.row[q]] = 1;
    }
    for (Offset e = U.ptr[j]; e < U.ptr[j + 1]; ++e)
        for (Offset q = U.position[e] + 1; q < P.col_ptr[U.col[e] + 1]; ++q)
            if (in_x[P.row[q]]) val[q] -= x[P.row[q]] * val[U.position[e]];
}

/// Columns of each level in the order that `shuffle` gives them.
template <class Shuffle>
std::vector<double> eliminate_by(const RightPlan& plan, const LuPattern& P, std::vector<double> val, Shuffle&& shuffle)
{
    const UpperRows U(P);
    for (Index l = 0; l < plan.levels.depth(); ++l) {
        std::vector<Index> columns(plan.levels.column.begin() + plan.levels.level_ptr[l],
                                   plan.levels.column.begin() + plan.levels.level_ptr[l + 1]);
        shuffle(columns);
        for (const Index j : columns) eliminate(P, U, j, val);
    }
    return val;
}

/// (t, i) of one level, where column i writes what column t multiplies by.
std::set<std::pair<Index, Index>> races(const RightPlan& plan, const LuPattern& P)
{
    const UpperRows                   U(P);
    std::set<std::pair<Index, Index>> found;
    for (Index i = 0; i < P.n; ++i)
        for (Offset q = P.diag[i] + 1; q < P.col_ptr[i + 1]; ++q)
            for (Offset e = U.ptr[i]; e < U.ptr[i + 1]; ++e)
                if (const Index t = P.row[q];
                    plan.levels.level_of[t] <= plan.levels.level_of[i] && t < U.col[e] && P.lower_count(t) > 0)
                    found.emplace(t, i);
    return found;
}

constexpr auto backwards = [](std::vector<Index>& columns) { std::ranges::reverse(columns); };

TEST(UpperRows, HoldEachEntryOfUOnceByRows)
{
    for (const DataflowSystem& system : dataflow_systems()) {
        SCOPED_TRACE(system.name);
        const LuPattern& P = *system.F.pattern;
        const UpperRows  U(P);
        ASSERT_EQ(U.ptr.size(), P.n + 1);
        Offset upper = 0;
        for (Index k = 0; k < P.n; ++k) upper += P.upper_count(k);
        ASSERT_EQ(U.ptr.back(), upper);
        ASSERT_EQ(U.col.size(), upper);
        for (Index j = 0; j < P.n; ++j)
            for (Offset e = U.ptr[j]; e < U.ptr[j + 1]; ++e) {
                const Index k = U.col[e];
                ASSERT_GT(k, e == U.ptr[j] ? j : U.col[e - 1]);
                ASSERT_EQ(P.row[U.position[e]], j);
                ASSERT_GE(U.position[e], P.col_ptr[k]);
                ASSERT_LT(U.position[e], P.diag[k]);
            }
    }
}

TEST(WarpsPerBlock, AreThoseOfTheDeviceByTheColumnsOfALevel)
{
    EXPECT_EQ(warps_per_block(h200.warps, 100'000), 2);
    EXPECT_EQ(warps_per_block(h200.warps, 4224), 2);
    EXPECT_EQ(warps_per_block(h200.warps, 4223), 4);
    EXPECT_EQ(warps_per_block(h200.warps, 2112), 4);
    EXPECT_EQ(warps_per_block(h200.warps, 1056), 8);
    EXPECT_EQ(warps_per_block(h200.warps, 528), 16);
    EXPECT_EQ(warps_per_block(h200.warps, 527), 32);
    EXPECT_EQ(warps_per_block(h200.warps, 1), 32);
    EXPECT_EQ(warps_per_block(28 * 64, 900), 2);  // the card of the paper
    EXPECT_EQ(warps_per_block(1 << 30, 1), 32);
    EXPECT_EQ(warps_per_block(1, std::numeric_limits<Index>::max()), 2);
}

TEST(RightPlan, LaunchesEachColumnOnceLevelByLevelWithinItsLimits)
{
    for (const DataflowSystem& system : dataflow_systems())
        for (const auto& [name, tuning] : right_tunings(system.A.n)) {
            SCOPED_TRACE(system.name + ", " + name);
            const LuPattern& P = *system.F.pattern;
            const bool       glu1 = tuning.method == RightMethod::glu1;
            const auto       plan = plan_right(P, tuning, {.warps = 64, .blocks = 5});
            Offset           next = 0;
            for (const RightStep& step : plan.steps) {
                ASSERT_EQ(step.first, next);
                ASSERT_LT(step.first, step.end);
                next = step.end;
                const Index l = plan.levels.level_of[plan.levels.column[step.first]];
                ASSERT_LE(step.end, plan.levels.level_ptr[l + 1]);
                if (step.stream) {
                    ASSERT_LE(step.end - step.first, tuning.stream_columns);
                } else {
                    ASSERT_LE(step.end - step.first, plan.in_flight);
                    ASSERT_GE(step.warps, 2);
                    ASSERT_LE(step.warps, 32);
                }
            }
            ASSERT_EQ(next, P.n);
            ASSERT_LE(plan.streams, plan.in_flight);
            ASSERT_LE(plan.in_flight, std::max<std::size_t>(tuning.work_bytes / (8 * std::max(P.n, 1)), 1));
            const RightModes modes = plan.modes;
            ASSERT_EQ(modes.small_block + modes.large_block + modes.stream, glu1 ? 0 : plan.levels.depth());
            ASSERT_TRUE(tuning.small_blocks || modes.small_block == 0);
            ASSERT_TRUE(tuning.streams || modes.stream == 0);
            if (glu1 && P.n > 0) {
                ASSERT_LE(plan.in_flight, tuning.capacity > 0 ? tuning.capacity : 5);
            }
        }
}

TEST(RightPlan, HasAllModesWhereLevelsAreOfAllSizes)
{
    const DataflowSystem system = dataflow_system_as_it_stands("arrow", arrow_down(3000, 3));
    const RightModes     modes = plan_right(*system.F.pattern, {}, h200).modes;  // levels of 2999 columns and of one
    EXPECT_EQ(modes.small_block, 1);
    EXPECT_EQ(modes.large_block, 0);
    EXPECT_EQ(modes.stream, 1);
    const RightModes large = plan_right(*system.F.pattern, {.small_blocks = false, .streams = false}, h200).modes;
    EXPECT_EQ(large.large_block, 2);
}

TEST(RightPlan, CutsLevelsIntoChunksThatHaveWorkVectors)
{
    const DataflowSystem system = dataflow_system_as_it_stands("arrow", arrow_down(100, 3));
    const auto           plan = plan_right(*system.F.pattern, {.work_bytes = 40 * 100 * sizeof(double)}, h200);
    std::vector<Offset>  ends;
    for (const RightStep& step : plan.steps) ends.push_back(step.end);
    EXPECT_EQ(ends, (std::vector<Offset>{40, 80, 99, 100}));
    EXPECT_EQ(plan.in_flight, 40);
}

TEST(RightPlan, GivesTheFactorsWhateverTheOrderWithinALevel)
{
    Random random(5);
    for (const DataflowSystem& system : dataflow_systems()) {
        const LuPattern& P = *system.F.pattern;
        const auto       start = scattered(P, system.A.val);
        for (const auto& [name, tuning] : right_tunings(P.n)) {
            if (P.n > 1000) continue;
            SCOPED_TRACE(system.name + ", " + name);
            const auto plan = plan_right(P, tuning, {.warps = 64, .blocks = 20});
            ASSERT_EQ(races(plan, P).size(), 0);
            ASSERT_EQ(beyond_bound(P, start, eliminate_by(plan, P, start, backwards)), "");
            const auto shuffled = [&](std::vector<Index>& columns) {
                for (Index c = static_cast<Index>(columns.size()); c > 1; --c)
                    std::swap(columns[c - 1], columns[random.below(c)]);
            };
            ASSERT_EQ(beyond_bound(P, start, eliminate_by(plan, P, start, shuffled)), "");
        }
    }
}

TEST(RightPlan, KeepsBadValuesWhereEliminationTakesThem)
{
    const DataflowSystem system = dataflow_system_as_it_stands("random", random_dominant(200, 2, 8));
    const LuPattern&     P = *system.F.pattern;
    const auto           plan = plan_right(P, {}, {.warps = 64, .blocks = 20});
    std::ptrdiff_t       finite = 0, all = 0, cases = 0;
    for (const auto& [bad, start] : bad_starts(P, scattered(P, system.A.val))) {
        const auto expected = eliminated(P, start);
        EXPECT_EQ(spread(expected, eliminate_by(plan, P, start, backwards)), "") << bad;
        finite += std::ranges::count_if(expected, [](double x) { return std::isfinite(x); });
        all += std::ssize(expected);
        ++cases;
    }
    EXPECT_GT(all - finite, 10 * cases);  // so they spread,
    EXPECT_GT(finite, all / 2);           // but not everywhere
}

TEST(RightPlan, EndsInTheVeryBitsWhereSumsAreExact)
{
    const IntegerSystem system = integer_system(120, 2, 3);
    const LuPattern&    P = *system.F.pattern;
    EXPECT_EQ(beyond_bound(P, system.start, system.F.val), "");
    for (const auto& [name, tuning] : right_tunings(P.n)) {
        SCOPED_TRACE(name);
        const auto plan = plan_right(P, tuning, {.warps = 64, .blocks = 20});
        EXPECT_TRUE(identical(eliminate_by(plan, P, system.start, backwards), system.F.val));
    }
}

/// Columns 1 and 5 of the worked example multiply by what columns 0 and 3 of the same level write.
TEST(RightPlan, AsPublishedReadsWhatTheSameLevelWrites)
{
    const auto       A = worked_example();
    const LuFactors  F = factor(A);
    const LuPattern& P = *F.pattern;
    const auto       start = scattered(P, A.val());
    const auto       published = plan_glu1(P, DependencyRule::left, h200.blocks);
    EXPECT_EQ(races(published, P), (std::set<std::pair<Index, Index>>{{1, 0}, {5, 3}}));
    EXPECT_NE(beyond_bound(P, start, eliminate_by(published, P, start, backwards)), "");

    const auto exact = plan_right(P, {.method = RightMethod::glu1}, h200);
    EXPECT_TRUE(races(exact, P).empty());
    EXPECT_EQ(beyond_bound(P, start, eliminate_by(exact, P, start, backwards)), "");
}

TEST(RightPlan, RefusesWhatMakesNoSense)
{
    const LuPattern P = *factor(worked_example()).pattern;
    const auto      plan = [&](const RightTuning& tuning) { return [&P, tuning] { plan_right(P, tuning, h200); }; };
    expect_refusal<InvalidOption>(plan({.method = RightMethod::glu1, .capacity = -1}), {"capacity", "-1"});
    expect_refusal<InvalidOption>(plan({.stream_columns = -2}), {"stream_columns", "-2"});
}

}  // namespace
}  // namespace ilux::test

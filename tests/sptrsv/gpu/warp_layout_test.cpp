#include "ilux/sptrsv/gpu/warp_layout.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <string>

#include "ilux/tests/support/checks.hpp"

using namespace ilux;

namespace {

struct Pattern {
    std::string        name;
    CsrMatrix<double>  L;  // small integers, so that sums in any order are exact
    std::vector<Index> level = levels(L);
    friend void        PrintTo(const Pattern& p, std::ostream* os) { *os << p.name; }
};

template <class Has>
CsrMatrix<double> strictly_lower(Index n, Has has)
{
    std::vector<Index>  row, col;
    std::vector<double> val;
    for (Index i = 0; i < n; ++i)
        for (Index j = 0; j < i; ++j)
            if (has(i, j)) {
                row.push_back(i);
                col.push_back(j);
                val.push_back((i + 2 * j) % 3 - 1);
            }
    return CsrMatrix<double>::from_triplets(n, n, row, col, val);
}

std::vector<Pattern> patterns()
{
    std::vector<Pattern> all;
    for (Index n : {0, 1, 31, 32, 33, 200}) {
        test::Random random(n);
        all.push_back({"random" + std::to_string(n),
                       strictly_lower(n, [&](Index i, Index) { return random.below(std::max(i, 1)) < 5; })});
    }
    all.push_back({"diagonal", strictly_lower(100, [](Index, Index) { return false; })});
    all.push_back({"chain", strictly_lower(100, [](Index i, Index j) { return j + 1 == i; })});
    all.push_back({"dense", strictly_lower(70, [](Index, Index) { return true; })});
    all.push_back({"arrow", strictly_lower(150, [](Index i, Index) { return i == 149; })});
    all.push_back({"hubs", strictly_lower(150, [](Index i, Index j) { return i % 29 == 28 || j + 7 == i; })});
    return all;
}

std::vector<WarpLayoutOptions> tunings()
{
    std::vector<WarpLayoutOptions> all;
    for (int lanes : {0, 1, 2, 8, 32}) {
        all.push_back({.lanes = lanes});
        all.push_back({.lanes = lanes, .longest = 20, .segment = 7, .ahead = 1});
        all.push_back({.lanes = lanes, .longest = 3, .segment = 3, .ahead = 0});
    }
    return all;
}

/// Calls check(pattern, options, layout) for every pattern and tuning.
template <class Check>
void for_each_layout(Check check)
{
    for (const Pattern& pattern : patterns())
        for (const WarpLayoutOptions& o : tunings()) {
            SCOPED_TRACE(pattern.name + ", lanes " + std::to_string(o.lanes) + ", longest " +
                         std::to_string(o.longest));
            check(pattern, o, warp_layout(pattern.L, pattern.level, o));
        }
}

/// The level of every position.
std::vector<Index> position_levels(const WarpLayout<double>& layout)
{
    std::vector<Index> level(layout.positions(), -1);
    for (Index l = 0; l < layout.depth(); ++l)
        for (Index t = layout.level_ptr[l]; t < layout.level_ptr[l + 1]; ++t)
            for (Index r = 0; r < layout.tasks[t].rows; ++r) level[layout.tasks[t].first + r] = l;
    return level;
}

/// The solve as warps do it, one task after another; `unset` positions must not be read.
std::vector<double> run(const WarpLayout<double>& layout, const std::vector<double>& b)
{
    std::vector<double> x(layout.positions()), by_row(b.size());
    std::vector<bool>   set(layout.positions(), false);
    for (const WarpTask& task : layout.tasks) {
        std::vector<double> sum(task.rows, 0);
        for (int s = 0; s < task.steps; ++s)
            for (int lane = 0; lane < 32; ++lane) {
                const std::size_t at = 32 * (static_cast<std::size_t>(task.entries) + s) + lane;
                const int         r = lane >> task.log2_part;
                if (layout.col[at] < 0) continue;
                EXPECT_LT(r, task.rows);
                EXPECT_TRUE(set[layout.col[at]]) << "position " << layout.col[at] << " read too early";
                sum[r] += layout.val[at] * x[layout.col[at]];
            }
        for (Index r = 0; r < task.rows; ++r) {
            const Index i = layout.row[task.first + r];
            x[task.first + r] = (i < 0 ? 0 : b[i]) - sum[r];
            if (i >= 0) by_row[i] = x[task.first + r];
        }
        for (Index r = 0; r < task.rows; ++r) set[task.first + r] = true;
    }
    return by_row;
}

}  // namespace

TEST(WarpLayout, HoldsEveryRowOnceAndEveryPositionInOneTask)
{
    for_each_layout([](const Pattern& pattern, const WarpLayoutOptions&, const auto& layout) {
        std::vector<int> seen(pattern.L.rows(), 0);
        for (Index i : layout.row)
            if (i >= 0) ++seen[i];
        EXPECT_TRUE(std::ranges::all_of(seen, [](int count) { return count == 1; }));
        Index at = 0;
        for (const WarpTask& task : layout.tasks) {
            EXPECT_EQ(task.first, at);
            EXPECT_GE(task.rows, 1);
            EXPECT_LE(task.rows << task.log2_part, 32);
            at += task.rows;
        }
        EXPECT_EQ(at, layout.positions());
        EXPECT_EQ(layout.level_ptr.back(), static_cast<Index>(layout.tasks.size()));
    });
}

TEST(WarpLayout, SolvesExactlyReadingOnlyWhatIsKnown)
{
    for_each_layout([](const Pattern& pattern, const WarpLayoutOptions&, const auto& layout) {
        const auto&         L = pattern.L;
        std::vector<double> x(L.rows()), b(L.rows());
        for (Index i = 0; i < L.rows(); ++i) {
            x[i] = b[i] = i % 7 - 3;
            for (Offset p = L.row_ptr()[i]; p < L.row_ptr()[i + 1]; ++p) b[i] += L.val()[p] * x[L.col()[p]];
        }
        EXPECT_EQ(run(layout, b), x);
    });
}

TEST(WarpLayout, LetsATaskReadEarlierLevelsAlone)
{
    for_each_layout([](const Pattern&, const WarpLayoutOptions& o, const auto& layout) {
        const auto level = position_levels(layout);
        for (Index l = 0; l < layout.depth(); ++l)
            for (Index t = layout.level_ptr[l]; t < layout.level_ptr[l + 1]; ++t) {
                const WarpTask& task = layout.tasks[t];
                Index           deepest = -1;
                for (int e = 0; e < 32 * task.steps; ++e)
                    if (const Index j = layout.col[32 * task.entries + e]; j >= 0)
                        deepest = std::max(deepest, level[j]);
                EXPECT_EQ(deepest, l - 1);
                const bool piloted = o.ahead > 0 && l >= o.ahead;
                EXPECT_EQ(task.pilot < 0 ? -1 : level[task.pilot], piloted ? l - o.ahead : -1);
            }
    });
}

TEST(WarpLayout, GivesLanesByLengthAndNoLaneLongWork)
{
    for_each_layout([](const Pattern& pattern, const WarpLayoutOptions& o, const auto& layout) {
        for (const WarpTask& task : layout.tasks)
            for (Index r = 0; r < task.rows; ++r) {
                const Index i = layout.row[task.first + r];
                if (i < 0) continue;
                const Offset length = pattern.L.row_ptr()[i + 1] - pattern.L.row_ptr()[i];
                if (length > o.longest) continue;
                const int part = 1 << task.log2_part;
                if (o.lanes > 0) {
                    EXPECT_TRUE(part == 32 || length <= 16 * part);
                    EXPECT_TRUE(part == o.lanes || length > 8 * part);
                } else {
                    EXPECT_TRUE(length > 16 ? part == 32 : part >= length && (part == 1 || part / 2 < length))
                        << length << " by " << part;
                }
            }
    });
}

TEST(WarpLayout, SplitsARowLongerThanTheLimitIntoSumsOfItsEarlyAndItsLateUnknowns)
{
    // Row 6 reads 0 to 5, which are a chain from 3 on: levels 0 0 0 0 1 2. Two sums of three: {0 1 2} and {3 4 5}.
    const auto L = strictly_lower(7, [](Index i, Index j) { return i == 6 || (i > 3 && j + 1 == i); });
    const auto layout = warp_layout(L, std::span<const Index>(levels(L)), {.longest = 5, .segment = 3, .ahead = 0});
    EXPECT_EQ(layout.positions(), 9);
    EXPECT_EQ(std::ranges::count(layout.row, -1), 2);
    const auto         level = position_levels(layout);
    std::vector<Index> of_sums;
    for (Index s = 0; s < 9; ++s) {
        if (layout.row[s] < 0) of_sums.push_back(level[s]);
        EXPECT_TRUE(layout.row[s] != 6 || level[s] == 4);
    }
    EXPECT_EQ(of_sums, (std::vector<Index>{1, 3}));
}

TEST(LevelRuns, WalkThinLevelsTogetherAndLaunchWideOnesAlone)
{
    const std::vector<Index> level_ptr = {0, 2, 3, 13, 14, 15, 30, 50};  // widths 2 1 10 1 1 15 20
    EXPECT_EQ(level_runs(level_ptr, 4),
              (std::vector<LevelRun>{{0, 2, true}, {2, 3, false}, {3, 5, true}, {5, 6, false}, {6, 7, false}}));
    EXPECT_TRUE(level_runs(std::vector<Index>{0}, 4).empty());
}

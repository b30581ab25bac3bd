#include "ilux/direct/factor/levels.hpp"

#include <algorithm>
#include <functional>
#include <set>
#include <string>

#include "ilux/tests/direct/dense_factors.hpp"
#include "ilux/tests/direct/worked_example.hpp"

namespace ilux::test {
namespace {

using Edges = std::set<std::pair<Index, Index>>;  // (t, i): column t waits for column i

constexpr DependencyRule every_rule[] = {DependencyRule::left, DependencyRule::exact, DependencyRule::relaxed};

bool reads(const Stored& S, Index t)
{
    for (std::size_t r = t + 1; r < S.size(); ++r)
        if (S[r][t]) return true;
    return false;
}

/// From the definitions: column t applies L(:,i) for U(i,t) ≠ 0; column i writes (t,k) for L(t,i) U(i,k) ≠ 0, while
/// column t multiplies L(:,t) by it.
Edges brute_force(const Stored& S, DependencyRule rule)
{
    const auto n = static_cast<Index>(S.size());
    Edges      edges;
    for (Index i = 0; i < n; ++i)
        for (Index t = i + 1; t < n; ++t) {
            if (S[i][t] && reads(S, i)) edges.emplace(t, i);
            if (rule == DependencyRule::left || !S[t][i]) continue;
            bool written = rule == DependencyRule::relaxed;
            for (Index k = t + 1; k < n && reads(S, t); ++k) written |= S[i][k] != 0;
            if (written) edges.emplace(t, i);
        }
    return edges;
}

std::vector<Index> longest_paths(Index n, const Edges& edges)
{
    std::vector<Index> level(n, 0);
    for (const auto& [t, i] : edges) level[t] = std::max(level[t], level[i] + 1);  // (t, i) ascend in t
    return level;
}

/// The columns of every level, or what is wrong with them.
std::string broken(const LuLevels& levels, Index n)
{
    if (levels.level_of.size() != n || levels.column.size() != n) return "lengths";
    if (levels.level_ptr.empty() || levels.level_ptr.front() != 0 || levels.level_ptr.back() != n) return "level_ptr";
    std::set<Index> seen;
    for (Index l = 0; l < levels.depth(); ++l) {
        if (levels.level_ptr[l] >= levels.level_ptr[l + 1]) return "an empty level";
        for (Offset p = levels.level_ptr[l]; p < levels.level_ptr[l + 1]; ++p) {
            const Index k = levels.column[p];
            if (levels.level_of.at(k) != l) return "level_of";
            if (p > levels.level_ptr[l] && levels.column[p - 1] >= k) return "not ascending";
            if (!seen.insert(k).second) return "a column twice";
        }
    }
    return "";
}

std::vector<std::vector<Index>> groups(const LuLevels& levels)
{
    std::vector<std::vector<Index>> result;
    for (Index l = 0; l < levels.depth(); ++l)
        result.emplace_back(levels.column.begin() + levels.level_ptr[l],
                            levels.column.begin() + levels.level_ptr[l + 1]);
    return result;
}

Stored closed(Stored S)
{
    close_under_fill(S);
    return S;
}

/// The pattern of worked_example() with its fill.
Stored worked_pattern()
{
    const CsrMatrix<double> A = worked_example();
    Stored                  S(A.rows(), std::vector<char>(A.rows()));
    for (Index i = 0; i < A.rows(); ++i)
        for (Index j = 0; j < A.rows(); ++j) S[i][j] = A.at(i, j) != 0;
    return closed(S);
}

TEST(LuLevels, OfTheWorkedExampleAreThoseDrawn)
{
    const Stored    S = worked_pattern();
    const LuPattern P = pattern_of(S);
    EXPECT_EQ(P.nnz(), 29);

    const auto left = lu_levels(P, DependencyRule::left);
    EXPECT_EQ(brute_force(S, DependencyRule::left).size(), 9);
    EXPECT_EQ(groups(left), (std::vector<std::vector<Index>>{{0, 1, 3, 5}, {2, 6}, {4}, {7}}));
    EXPECT_EQ(left.level_of, (std::vector<Index>{0, 0, 1, 0, 2, 0, 1, 3}));

    const std::vector<std::vector<Index>> five{{0, 3}, {1, 5}, {2, 6}, {4}, {7}};
    EXPECT_EQ(brute_force(S, DependencyRule::exact).size(), 12);
    EXPECT_EQ(groups(lu_levels(P, DependencyRule::exact)), five);

    EXPECT_EQ(brute_force(S, DependencyRule::relaxed).size(), 15);
    EXPECT_EQ(groups(lu_levels(P, DependencyRule::relaxed)), five);
}

TEST(ResourceAwareLevels, OfTheWorkedExampleHoldTwoColumnsEach)
{
    const LuPattern P = pattern_of(worked_pattern());
    EXPECT_EQ(groups(resource_aware_levels(P, DependencyRule::exact, 2)),
              (std::vector<std::vector<Index>>{{0, 3}, {1, 5}, {2, 6}, {4}, {7}}));
    EXPECT_EQ(groups(resource_aware_levels(P, DependencyRule::left, 2)),
              (std::vector<std::vector<Index>>{{0, 1}, {2, 3}, {4, 5}, {6, 7}}));
}

TEST(LuLevels, AreLongestPathsOfTheDependenciesByDefinition)
{
    Random random(1);
    int    differing = 0;
    for (int round = 0; round < 400; ++round) {
        const Index  n = 1 + random.below(60);
        const Stored S = closed(random_pattern(n, random.uniform(0, 3.0 / n), random));
        const auto   P = pattern_of(S);
        for (const DependencyRule rule : every_rule) {
            const auto levels = lu_levels(P, rule);
            ASSERT_EQ(broken(levels, n), "") << "round " << round;
            ASSERT_EQ(levels.level_of, longest_paths(n, brute_force(S, rule))) << "round " << round;
        }
        const auto left = brute_force(S, DependencyRule::left), exact = brute_force(S, DependencyRule::exact),
                   relaxed = brute_force(S, DependencyRule::relaxed);
        EXPECT_TRUE(std::ranges::includes(exact, left));
        EXPECT_TRUE(std::ranges::includes(relaxed, exact));
        differing += longest_paths(n, left) != longest_paths(n, exact);
        differing += longest_paths(n, exact) != longest_paths(n, relaxed);
    }
    EXPECT_GT(differing, 100);  // else the three rules were hardly told apart
}

TEST(LuLevels, ExactIsNeverAboveRelaxedNorBelowLeft)
{
    Random random(2);
    for (int round = 0; round < 50; ++round) {
        const Index n = 1 + random.below(100);
        const auto  P = pattern_of(closed(random_pattern(n, 1.5 / n, random)));
        const auto  left = lu_levels(P, DependencyRule::left), exact = lu_levels(P, DependencyRule::exact),
                   relaxed = lu_levels(P, DependencyRule::relaxed);
        for (Index k = 0; k < n; ++k) {
            EXPECT_LE(left.level_of[k], exact.level_of[k]);
            EXPECT_LE(exact.level_of[k], relaxed.level_of[k]);
        }
    }
}

TEST(ResourceAwareLevels, PutEachColumnIntoTheFirstLevelWithRoomBehindWhatItWaitsFor)
{
    Random random(3);
    for (int round = 0; round < 150; ++round) {
        const Index  n = 1 + random.below(50);
        const Stored S = closed(random_pattern(n, random.uniform(0, 2.0 / n), random));
        const auto   P = pattern_of(S);
        for (const DependencyRule rule : every_rule)
            for (const Index capacity : {1, 2, 7, n, 2 * n}) {
                const auto         levels = resource_aware_levels(P, rule, capacity);
                const Edges        edges = brute_force(S, rule);
                std::vector<Index> expected(n), used(n + 1, 0);
                for (Index t = 0; t < n; ++t) {
                    Index l = 0;
                    for (Index i = 0; i < t; ++i)
                        if (edges.contains({t, i})) l = std::max(l, expected[i] + 1);
                    while (used[l] == capacity) ++l;
                    ++used[expected[t] = l];
                }
                ASSERT_EQ(levels.level_of, expected) << "capacity " << capacity << ", round " << round;
                ASSERT_EQ(broken(levels, n), "");
                for (Index l = 0; l < levels.depth(); ++l)
                    EXPECT_LE(levels.level_ptr[l + 1] - levels.level_ptr[l], capacity);
                if (capacity >= n) {
                    EXPECT_EQ(levels.level_of, lu_levels(P, rule).level_of);
                }
            }
    }
}

TEST(ResourceAwareLevels, RefuseNoRoomAtAll)
{
    const LuPattern P = pattern_of(worked_pattern());
    expect_refusal<InvalidOption>([&] { resource_aware_levels(P, DependencyRule::exact, 0); }, {"0 columns"});
    expect_refusal<InvalidOption>([&] { resource_aware_levels(P, DependencyRule::exact, -3); }, {"-3 columns"});
}

TEST(LuLevels, OfNothingAndOfOneColumn)
{
    for (const DependencyRule rule : every_rule) {
        const LuPattern none = pattern_of({}), one = pattern_of({{1}});
        for (const auto& levels : {lu_levels(none, rule), resource_aware_levels(none, rule, 1)}) {
            EXPECT_EQ(levels.depth(), 0);
            EXPECT_EQ(broken(levels, 0), "");
            EXPECT_TRUE(level_statistics(none, levels, 0).levels.empty());
        }
        for (const auto& levels : {lu_levels(one, rule), resource_aware_levels(one, rule, 1)}) {
            EXPECT_EQ(levels.depth(), 1);
            EXPECT_EQ(broken(levels, 1), "");
        }
    }
}

TEST(LuLevels, OfDiagonalBidiagonalAndDenseMatrices)
{
    for (const Index n : {2, 31, 32, 33}) {
        Stored diagonal(n, std::vector<char>(n)), lower = diagonal, dense(n, std::vector<char>(n, 1));
        for (Index i = 0; i < n; ++i) diagonal[i][i] = lower[i][i] = lower[i][i > 0 ? i - 1 : 0] = 1;
        for (const DependencyRule rule : every_rule) {
            EXPECT_EQ(lu_levels(pattern_of(diagonal), rule).depth(), 1);
            EXPECT_EQ(lu_levels(pattern_of(dense), rule).depth(), n);
            // Nothing is updated, so nothing is a hazard; the relaxed rule does not look.
            EXPECT_EQ(lu_levels(pattern_of(lower), rule).depth(), rule == DependencyRule::relaxed ? n : 1);
        }
    }
}

/// The longest chain among the updates of column k, by trying all.
Index slow_depth(const Stored& S, Index k)
{
    std::function<Index(Index)> chain_to = [&](Index i) {
        Index longest = 0;
        for (Index j = 0; j < i; ++j)
            if (S[j][k] && S[i][j]) longest = std::max(longest, chain_to(j));
        return longest + 1;
    };
    Index depth = 0;
    for (Index i = 0; i < k; ++i)
        if (S[i][k]) depth = std::max(depth, chain_to(i));
    return depth;
}

TEST(LevelStatistics, OfTheWorkedExample)
{
    const LuPattern P = pattern_of(worked_pattern());
    const auto      s = level_statistics(P, lu_levels(P, DependencyRule::left), 2);
    ASSERT_EQ(s.levels.size(), 4);
    const Index  columns[] = {4, 2, 1, 1};
    const double updates[] = {0, 4, 1, 4}, multiply_adds[] = {0, 8, 2, 8};  // 18 in all
    for (std::size_t l = 0; l < 4; ++l) {
        EXPECT_EQ(s.levels[l].columns, columns[l]);
        EXPECT_EQ(s.levels[l].updates, updates[l]);
        EXPECT_EQ(s.levels[l].multiply_adds, multiply_adds[l]);
    }
    ASSERT_EQ(s.hubs.size(), 3);  // columns 7, 2 and 6
    EXPECT_EQ(s.hubs[0].column, 7);
    EXPECT_EQ(s.hubs[0].updates, 4);
    EXPECT_EQ(s.hubs[0].depth, 4);  // 0 → 1 → 2 → 4
    EXPECT_EQ(s.hubs[0].multiply_adds, 8);
    EXPECT_EQ(s.hubs[1].column, 2);
    EXPECT_EQ(s.hubs[1].depth, 2);
    EXPECT_EQ(s.hubs[2].column, 6);
    EXPECT_EQ(s.hubs[2].depth, 2);
}

TEST(LevelStatistics, AgreeWithASlowCount)
{
    Random random(4);
    for (int round = 0; round < 60; ++round) {
        const Index                           n = 1 + random.below(14);
        const Stored                          S = closed(random_pattern(n, random.uniform(0, 4.0 / n), random));
        const auto                            P = pattern_of(S);
        const auto                            levels = lu_levels(P, DependencyRule::exact);
        const Index                           least = random.below(4);
        const auto                            s = level_statistics(P, levels, least);
        std::vector<LuLevelStatistics::Level> expected(levels.depth());
        std::vector<LuLevelStatistics::Hub>   hubs;
        for (Index k = 0; k < n; ++k) {
            LuLevelStatistics::Hub hub{.column = k, .depth = slow_depth(S, k)};
            for (Index i = 0; i < k; ++i) {
                hub.updates += S[i][k];
                for (Index r = i + 1; r < n; ++r) hub.multiply_adds += S[i][k] * S[r][i];
            }
            auto& level = expected[levels.level_of[k]];
            ++level.columns;
            level.updates += hub.updates;
            level.multiply_adds += hub.multiply_adds;
            if (hub.updates >= least) hubs.push_back(hub);
        }
        std::ranges::stable_sort(hubs, [](const auto& a, const auto& b) { return a.updates > b.updates; });
        ASSERT_EQ(s.levels.size(), expected.size());
        for (std::size_t l = 0; l < expected.size(); ++l) {
            EXPECT_EQ(s.levels[l].columns, expected[l].columns);
            EXPECT_EQ(s.levels[l].updates, expected[l].updates);
            EXPECT_EQ(s.levels[l].multiply_adds, expected[l].multiply_adds);
        }
        ASSERT_EQ(s.hubs.size(), hubs.size());
        for (std::size_t h = 0; h < hubs.size(); ++h) {
            EXPECT_EQ(s.hubs[h].column, hubs[h].column);
            EXPECT_EQ(s.hubs[h].updates, hubs[h].updates);
            EXPECT_EQ(s.hubs[h].depth, hubs[h].depth);
            EXPECT_EQ(s.hubs[h].multiply_adds, hubs[h].multiply_adds);
        }
    }
}

TEST(LevelStatistics, RefuseLevelsOfAnotherPattern)
{
    const auto levels = lu_levels(pattern_of({{1}}), DependencyRule::left);
    expect_refusal([&] { level_statistics(pattern_of(worked_pattern()), levels, 1); }, {"1 columns", "of 8"});
}

}  // namespace
}  // namespace ilux::test

#include "ilux/direct/published/refactor_left_plan.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "ilux/tests/direct/dataflow/dataflow_systems.hpp"

namespace ilux::test {
namespace {

constexpr Index huge = std::numeric_limits<Index>::max();

/// The first column that comes before one it waits for, or that would be computed beside it in cluster mode, or whose
/// mark lets it be read too early; or other faults. Empty: none. Waits are looked for entry by entry.
std::string broken(const detail::LeftPlan& plan, const LuPattern& P)
{
    std::vector<Index> all = plan.column, position(P.n), step(P.n);
    std::ranges::sort(all);
    for (Index k = 0; k < P.n; ++k)
        if (all.size() != P.n || all[k] != k) return "not every column once";
    if (plan.cluster_ptr.front() != 0 || plan.cluster_ptr.back() > P.n) return "cluster_ptr";
    for (Index c = 0; c < P.n; ++c) position[plan.column[c]] = c;
    const Index pipeline = plan.cluster_ptr.back();
    for (Index c = 0; c < P.n; ++c) {  // launches of cluster mode, then each column of the pipeline by itself
        const auto end = std::ranges::upper_bound(plan.cluster_ptr, c);
        step[plan.column[c]] = c < pipeline ? static_cast<Index>(end - plan.cluster_ptr.begin()) : P.n + c;
    }
    for (Index k = 0; k < P.n; ++k) {
        const bool waited_for = position[k] >= pipeline && P.col_ptr[k + 1] > P.diag[k] + 1;
        if (plan.done[k] != (waited_for ? 0 : detail::always_done)) return "mark of column " + std::to_string(k);
        for (Offset p = P.col_ptr[k]; p < P.diag[k]; ++p)
            if (const Index i = P.row[p]; P.lower_count(i) > 0 && step[i] >= step[k])
                return "column " + std::to_string(k) + " does not come after " + std::to_string(i);
    }
    return {};
}

TEST(LeftPlan, StartsNoColumnBeforeThoseItWaitsFor)
{
    for (const DataflowSystem& system : dataflow_systems())
        for (const Index pipeline_columns : {0, 1, 2, 4, 128, huge}) {
            const LuPattern& P = *system.F.pattern;
            const auto       plan = detail::plan_left(P, {.pipeline_columns = pipeline_columns});
            EXPECT_EQ(broken(plan, P), "") << system.name << ", pipeline_columns " << pipeline_columns;
        }
}

TEST(LeftPlan, EndsClusterModeAtTheFirstNarrowLevel)
{
    // Levels {0, 1, 2}, {3}, {4}, {5}: an arrow of three legs into a chain.
    const auto P = [] {
        const Index        n = 6;
        std::vector<Index> row, col;
        for (Index i = 0; i < n; ++i) row.push_back(i), col.push_back(i);
        for (const auto& [i, j] : {std::pair{3, 0}, {3, 1}, {3, 2}, {4, 3}, {5, 4}})
            row.insert(row.end(), {i, j}), col.insert(col.end(), {j, i});
        std::vector<double> val(row.size(), -1);
        std::fill_n(val.begin(), n, 8);
        return dataflow_system_as_it_stands("", CsrMatrix<double>::from_triplets(n, n, row, col, val)).F.pattern;
    }();
    const auto bounds = [&](Index pipeline_columns) {
        return detail::plan_left(*P, {.pipeline_columns = pipeline_columns}).cluster_ptr;
    };
    const auto widest = [&](Index pipeline_columns) {
        return detail::plan_left(*P, {.pipeline_columns = pipeline_columns}).widest;
    };
    EXPECT_EQ(bounds(0), (std::vector<Index>{0, 3, 4, 5, 6}));
    EXPECT_EQ(bounds(1), (std::vector<Index>{0, 3, 4, 5, 6}));
    EXPECT_EQ(bounds(2), (std::vector<Index>{0, 3}));
    EXPECT_EQ(bounds(3), (std::vector<Index>{0, 3}));
    EXPECT_EQ(bounds(4), (std::vector<Index>{0}));
    EXPECT_EQ(widest(0), 3);
    EXPECT_EQ(widest(4), 6);
}

TEST(LeftPlan, KeepsItsWarpsWithinEveryLimit)
{
    const detail::LeftPlan plan{.column = std::vector<Index>(1000), .cluster_ptr = {0}, .done = {}, .widest = 700};
    const auto warps = [&](LeftTuning tuning, Index resident) { return detail::left_warps(plan, tuning, resident); };
    EXPECT_EQ(warps({}, 500), 500);
    EXPECT_EQ(warps({}, 5000), 700);
    EXPECT_EQ(warps({.warps = 33}, 500), 33);
    EXPECT_EQ(warps({.warps = 900}, 500), 500);
    EXPECT_EQ(warps({.work_bytes = 8 * 1000 * 12 + 7}, 500), 12);
    EXPECT_EQ(warps({.warps = 5, .work_bytes = 8 * 1000 * 12}, 500), 5);
    EXPECT_EQ(warps({.work_bytes = 0}, 500), 1);
    EXPECT_EQ(detail::left_warps({}, {}, 500), 1) << "no columns";
}

TEST(LeftPlan, RefusesNegativeNumbers)
{
    const auto P = dataflow_system("", random_dominant(3, 2, 1)).F.pattern;
    expect_refusal<InvalidOption>([&] { (void)detail::plan_left(*P, {.pipeline_columns = -1}); }, {"-1"});
    expect_refusal<InvalidOption>([&] { (void)detail::plan_left(*P, {.warps = -2}); }, {"-2"});
}

}  // namespace
}  // namespace ilux::test

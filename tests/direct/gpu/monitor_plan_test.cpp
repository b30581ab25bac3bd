#include "ilux/direct/gpu/monitor_plan.hpp"

#include <gtest/gtest.h>

#include "ilux/tests/direct/pattern_systems.hpp"

namespace ilux::test {
namespace {

using Kind = MonitorPlan::Kind;

/// One of n columns has an entry in every row, the first or the last; the others have only their pivots.
LuPattern one_long_column(Index n, bool the_last = true)
{
    LuPattern P;
    P.n = n;
    P.block_ptr = {0, n};
    P.col_ptr = {0};
    P.f_col_ptr.assign(n + 1, 0);
    for (Index k = 0; k < n; ++k) {
        const bool  is_long = k == (the_last ? n - 1 : 0);
        const Index first = is_long ? 0 : k, last = is_long ? n : k + 1;
        P.diag.push_back(P.col_ptr.back() + k - first);
        for (Index i = first; i < last; ++i) P.row.push_back(i);
        P.col_ptr.push_back(static_cast<Offset>(P.row.size()));
    }
    return P;
}

/// Every entry belongs to one piece of its column, and pieces know which entries are of U.
void expect_all_entries_once(const LuPattern& P, const MonitorPlan& plan)
{
    std::vector<Index> column(P.nnz() + P.nnz_F()), met(column.size()), parts(plan.long_column.size());
    for (Index k = 0; k < P.n; ++k) {
        std::fill(column.begin() + P.col_ptr[k], column.begin() + P.col_ptr[k + 1], k);
        std::fill(column.begin() + P.nnz() + P.f_col_ptr[k], column.begin() + P.nnz() + P.f_col_ptr[k + 1], k);
    }
    for (const MonitorPlan::Task& task : plan.task)
        for (Index p = task.first; p < task.first + (MonitorPlan::warp >> task.log2_lanes); ++p) {
            const MonitorPlan::Piece& piece = plan.piece.at(p);
            ASSERT_LE(piece.count, MonitorPlan::per_lane << task.log2_lanes);
            if (piece.count == 0) continue;
            const bool  part = task.kind == Kind::part;
            const Index k = part ? plan.long_column.at(piece.column).column : piece.column;
            if (part) ++parts[piece.column];
            for (Offset e = piece.first; e < piece.first + piece.count; ++e) {
                ++met.at(e);
                ASSERT_EQ(column[e], k);
                ASSERT_EQ(task.kind == Kind::f, e >= P.nnz());
                if (e >= P.nnz()) continue;
                ASSERT_EQ(e - piece.first <=> Offset{piece.diag}, e <=> P.diag[k]);
            }
        }
    EXPECT_EQ(met, std::vector<Index>(met.size(), 1));
    for (std::size_t j = 0; j < parts.size(); ++j) {
        EXPECT_EQ(parts[j], plan.long_column[j].parts);
        EXPECT_GT(parts[j], 1);
    }
}

TEST(MonitorPlan, HoldsEveryEntryOnce)
{
    for (const DataflowSystem& system : pattern_systems()) {
        SCOPED_TRACE(system.name);
        expect_all_entries_once(*system.F.pattern, monitor_plan(*system.F.pattern));
    }
}

TEST(MonitorPlan, CutsColumnsThatAWarpDoesNotReadAtOnce)
{
    for (const bool the_last : {true, false})
        for (const Index n : {1, 8, 9, 255, 256, 257, 511, 512, 513, 3000}) {
            SCOPED_TRACE(n);
            const LuPattern   P = one_long_column(n, the_last);
            const MonitorPlan plan = monitor_plan(P);
            expect_all_entries_once(P, plan);
            EXPECT_EQ(plan.long_column.size(), n > MonitorPlan::most ? 1u : 0u);
        }
}

TEST(MonitorPlan, OfNothingIsNothing) { EXPECT_TRUE(monitor_plan(one_long_column(0)).task.empty()); }

}  // namespace
}  // namespace ilux::test

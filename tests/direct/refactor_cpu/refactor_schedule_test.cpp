#include "ilux/direct/refactor_cpu/refactor_schedule.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "ilux/direct/factor/gilbert_peierls.hpp"
#include "ilux/gallery/gallery.hpp"
#include "ilux/tests/support/checks.hpp"

namespace ilux::test {
namespace {

using detail::HubRows;
using detail::make_schedule;
using detail::RefactorSchedule;

std::shared_ptr<const LuPattern> pattern_from(const std::string& spec)
{
    const auto A = gallery::build(spec);
    return gilbert_peierls(analyse(view(A)), A.val()).pattern;
}

/// −1 for the top.
std::vector<Index> task_of(const RefactorSchedule& s, Index n)
{
    std::vector<Index> task(n, -1);
    for (Index t = 0; t < s.tasks(); ++t)
        for (Index c = s.task_ptr[t]; c < s.task_ptr[t + 1]; ++c) task[s.column[c]] = t;
    return task;
}

std::vector<RefactorTuning> tunings()
{
    std::vector<RefactorTuning> all;
    for (const Index hub : {1, 20, 1 << 30})
        for (const double task : {1e-8, 1e-7, 0.0})
            all.push_back({.hub_updates = hub, .hub_share = 0, .task_seconds = task, .least_gain = 0});
    return all;
}

template <class Check>
void for_each_schedule(Check&& check)
{
    for (const char* spec : {"mna_random:n=400,decades=3", "power_grid:n=12", "poisson2d:n=14", "tridiagonal:n=50",
                             "arrow:n=300,tip=last", "like_ASIC_320ks:scale=0.001"}) {
        const auto pattern = pattern_from(spec);
        for (const RefactorTuning& tuning : tunings()) {
            SCOPED_TRACE(testing::Message()
                         << spec << ", hubs from " << tuning.hub_updates << ", tasks of " << tuning.task_seconds);
            const RefactorSchedule s = make_schedule(*pattern, 4, tuning);
            check(*pattern, s, task_of(s, pattern->n));
        }
    }
}

TEST(RefactorSchedule, GivesEveryColumnToOneTaskOrToTheTop)
{
    for_each_schedule([](const LuPattern& P, const RefactorSchedule& s, const std::vector<Index>&) {
        std::vector<int> times(P.n, 0);
        for (const Index k : s.column) ++times[k];
        for (const Index item : s.top)
            if (item < P.n) ++times[item];
        EXPECT_EQ(std::count(times.begin(), times.end(), 1), P.n);
        for (Index t = 0; t < s.tasks(); ++t)
            EXPECT_TRUE(std::is_sorted(s.column.begin() + s.task_ptr[t], s.column.begin() + s.task_ptr[t + 1]));
        const std::size_t pieces = s.hubs ? s.hubs->piece.size() - s.hubs->hub_piece.front() : 0;
        EXPECT_EQ(s.top.size(), P.n - s.column.size() + pieces);
    });
}

TEST(RefactorSchedule, MakesTasksIndependent)
{
    for_each_schedule([](const LuPattern& P, const RefactorSchedule&, const std::vector<Index>& task) {
        for (Index k = 0; k < P.n; ++k)
            for (Offset p = P.col_ptr[k]; p < P.diag[k]; ++p) {
                const bool waits = task[k] >= 0 && P.lower_count(P.row[p]) > 0;
                ASSERT_EQ(waits ? task[P.row[p]] : task[k], task[k]) << P.row[p] << ' ' << k;
            }
    });
}

TEST(RefactorSchedule, StartsNothingInThePipelineBeforeWhatItWaitsFor)
{
    for_each_schedule([](const LuPattern& P, const RefactorSchedule& s, const std::vector<Index>& task) {
        std::set<Index> started;
        for (const Index item : s.top) {
            const auto expect_started = [&](Index i) {
                ASSERT_TRUE(started.contains(i)) << item << " waits for " << i;
            };
            if (item >= P.n) {
                const HubRows::Piece& piece = s.hubs->piece[item - P.n];
                for (Offset w = piece.wait; w < piece.waits_end; ++w) expect_started(s.hubs->waits[w]);
            } else if (s.hubs && std::ranges::binary_search(s.hubs->column, item)) {
                const auto h = std::ranges::lower_bound(s.hubs->column, item) - s.hubs->column.begin();
                for (const Index piece : s.hubs->before_division(P, static_cast<Index>(h))) expect_started(P.n + piece);
            } else
                for (Offset p = P.col_ptr[item]; p < P.diag[item]; ++p)
                    if (task[P.row[p]] < 0) expect_started(P.row[p]);
            started.insert(item);
        }
    });
}

/// Rows of a hub in a task: terms of that task only, rows ascending. In the top: in order of terms; what is not of a
/// task is waited for.
TEST(RefactorSchedule, GivesEachRowOfAHubAllItsTermsAndWaits)
{
    for_each_schedule([](const LuPattern& P, const RefactorSchedule& s, const std::vector<Index>& task) {
        if (!s.hubs) return;
        const HubRows&      H = *s.hubs;
        std::vector<Offset> next(H.term_ptr.begin(), H.term_ptr.end() - 1);
        std::set<Offset>    finished;  // positions of x_r
        for (Index number = 0; number < std::ssize(H.piece); ++number) {
            const HubRows::Piece& piece = H.piece[number];
            const std::set<Index> waits(H.waits.begin() + piece.wait, H.waits.begin() + piece.waits_end);
            for (Index row = piece.row; row < piece.rows_end; ++row) {
                const Index  r = P.row[H.position[row]];
                const Offset first = std::max(piece.term, H.term_ptr[row]),
                             end = std::min(piece.terms_end, H.term_ptr[row + 1]);
                ASSERT_EQ(first, next[row]);
                next[row] = end;
                for (Offset t = first; t < end; ++t) {
                    const Index i = P.row[H.u[t]];
                    ASSERT_EQ(P.row[H.l[t]], r);
                    ASSERT_TRUE(t == H.term_ptr[row] || P.row[H.u[t - 1]] < i);
                    ASSERT_TRUE(H.l[t] > P.diag[i] && H.l[t] < P.col_ptr[i + 1]);
                    ASSERT_TRUE(finished.contains(H.u[t]));
                    if (task[i] >= 0) ASSERT_TRUE(task[r] < 0 || task[r] == task[i]);
                    else ASSERT_TRUE(waits.contains(i));
                }
                if (end == H.term_ptr[row + 1]) finished.insert(H.position[row]);
            }
        }
        for (std::size_t row = 0; row < next.size(); ++row) ASSERT_EQ(next[row], H.term_ptr[row + 1]);
    });
}

TEST(RefactorSchedule, ExpectsMoreOfMoreThreadsOnAMeshAndNothingOnAChain)
{
    const auto mesh = pattern_from("poisson2d:n=60"), chain = pattern_from("tridiagonal:n=30000");
    double     before = std::numeric_limits<double>::infinity();
    for (const int threads : {2, 4, 8}) {
        const RefactorSchedule s = make_schedule(*mesh, threads, {.least_gain = 0});
        EXPECT_EQ(s.threads, threads);
        EXPECT_LT(s.seconds, before);
        before = s.seconds;
    }
    EXPECT_EQ(make_schedule(*chain, 8, {}).threads, 1);
    EXPECT_EQ(make_schedule(*chain, 8, {}).top.size(), 0u);
}

}  // namespace
}  // namespace ilux::test

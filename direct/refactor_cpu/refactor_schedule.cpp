#include "ilux/direct/refactor_cpu/refactor_schedule.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <numeric>
#include <queue>
#include <span>
#include <utility>

#include "ilux/direct/factor/subtrees.hpp"
#include "ilux/direct/refactor_cpu/refactor_program.hpp"

namespace ilux::detail {
namespace {

// Seconds, fitted on one core at 3 GHz to the circuits and meshes of docs/design/direct.md.
constexpr double per_column = 8e-9, per_entry = 1e-9, per_update = 4e-9, per_multiply_add = 0.25e-9;
constexpr double hop = 0.2e-6;  // from a finished column to a thread that spins on its flag
constexpr double fork = 5e-6, fork_a_thread = 0.4e-6;
constexpr double worth_looking = 50e-6;  // less work is never shared
constexpr int    tasks_a_thread = 8;

struct Work {
    std::vector<double> column;   // n; seconds
    std::vector<Index>  parent;   // n; of the elimination forest; n: a root
    std::vector<double> subtree;  // n; seconds of all descendants and the column itself
    double              total = 0;
};

/// From a column's last update to its end.
double after_last_wait(const LuPattern& P, Index k) { return hop + per_column + 2 * per_entry * P.lower_count(k); }

std::vector<double> column_seconds(const LuPattern& P)
{
    std::vector<double> seconds(P.n);
    for (Index k = 0; k < P.n; ++k) {
        Offset updates = 0, multiply_adds = 0;
        for (Offset p = P.col_ptr[k]; p < P.diag[k]; ++p) {
            ++updates;
            multiply_adds += P.lower_count(P.row[p]);
        }
        seconds[k] = per_column + per_entry * double(P.col_ptr[k + 1] - P.col_ptr[k]) + per_update * double(updates) +
                     per_multiply_add * double(multiply_adds);
    }
    return seconds;
}

/// Rows r that must not be computed before columns i, besides the dependences of columns: L(r,i) ≠ 0 where a hub has
/// both.
struct HubEdges {
    std::vector<Offset> ptr;   // n + 1, by r
    std::vector<Index>  from;  // i
};

HubEdges hub_edges(const LuPattern& P, std::span<const Index> hubs)
{
    std::vector<char> used(P.n, 0);
    for (const Index k : hubs) {
        used[k] = 1;
        for (Offset p = P.col_ptr[k]; p < P.diag[k]; ++p) used[P.row[p]] = 1;
    }
    HubEdges   E{.ptr = std::vector<Offset>(P.n + std::size_t{1}, 0), .from = {}};
    const auto each = [&](auto&& visit) {
        for (Index i = 0; i < P.n; ++i)
            for (Offset p = P.diag[i] + 1; used[i] && p < P.col_ptr[i + 1]; ++p) visit(P.row[p], i);
    };
    each([&](Index r, Index) { ++E.ptr[r + 1]; });
    std::partial_sum(E.ptr.begin(), E.ptr.end(), E.ptr.begin());
    E.from.resize(E.ptr.back());
    std::vector<Offset> next(E.ptr.begin(), E.ptr.end() - 1);
    each([&](Index r, Index i) { E.from[next[r]++] = i; });
    return E;
}

/// The elimination forest of the graph whose edges are the dependences: whatever k waits for is a descendant of k, so
/// disjoint subtrees are independent.
std::vector<Index> elimination_forest(const LuPattern& P, std::span<const Index> hubs)
{
    ForestBuilder  forest(P.n);
    const HubEdges E = hubs.empty() ? HubEdges{} : hub_edges(P, hubs);
    for (Index k = 0; k < P.n; ++k) {
        for (Offset p = P.col_ptr[k]; p < P.diag[k]; ++p)
            if (P.lower_count(P.row[p]) > 0) forest.join(P.row[p], k);
        if (!hubs.empty())
            for (Offset e = E.ptr[k]; e < E.ptr[k + 1]; ++e) forest.join(E.from[e], k);
    }
    return std::move(forest).parent();
}

/// The top as a graph of items: columns, divisions of hubs, pieces of hubs. In s.top, each stands behind what it waits
/// for.
class Top {
public:
    Top(const LuPattern& P, const Work& work, std::span<const Index> task_of, RefactorSchedule& s);
    void   order();
    double simulate() const;

private:
    template <class Visit>
    void each_wait(Index item, Visit&& visit) const;
    bool is_hub(Index k) const { return !hub_of_.empty() && hub_of_[k] >= 0; }

    const LuPattern&       P_;
    const Work&            work_;
    std::span<const Index> task_of_;
    RefactorSchedule&      s_;
    std::vector<Index>     hub_of_;   // n; −1: none
    std::vector<double>    seconds_;  // by item
};

/// What an item waits for.
template <class Visit>
void Top::each_wait(Index item, Visit&& visit) const
{
    if (item >= P_.n) {
        const HubRows::Piece& piece = s_.hubs->piece[item - P_.n];
        for (Offset w = piece.wait; w < piece.waits_end; ++w) visit(s_.hubs->waits[w]);
    } else if (is_hub(item))
        for (const Index piece : s_.hubs->before_division(P_, hub_of_[item])) visit(P_.n + piece);
    else
        for (Offset p = P_.col_ptr[item]; p < P_.diag[item]; ++p)
            if (task_of_[P_.row[p]] < 0) visit(P_.row[p]);
}

Top::Top(const LuPattern& P, const Work& work, std::span<const Index> task_of, RefactorSchedule& s)
    : P_(P), work_(work), task_of_(task_of), s_(s), hub_of_(s.hubs ? P.n : 0, -1), seconds_(P.n, 0)
{
    std::vector<double> ready(P.n, 0);
    for (Index h = 0; s.hubs && h < s.hubs->hubs(); ++h) hub_of_[s.hubs->column[h]] = h;
    for (Index k = 0; k < P.n; ++k) {
        if (task_of[k] >= 0) continue;
        if (is_hub(k)) {
            const auto first = static_cast<Index>(s.hubs->piece.size());
            ready[k] = s.hubs->cut_next_hub(P, task_of, ready);
            seconds_.resize(P.n + s.hubs->piece.size());
            for (Index p = first; p < std::ssize(s.hubs->piece); ++p) {
                s.top.push_back(P.n + p);
                seconds_[P.n + p] = s.hubs->piece[p].seconds;
            }
            seconds_[k] = per_column + 2 * per_entry * P.lower_count(k);
            ready[k] += hop + seconds_[k];
        } else {
            seconds_[k] = work.column[k];
            each_wait(k, [&](Index i) { ready[k] = std::max(ready[k], ready[i]); });
            ready[k] = std::max(work.column[k], ready[k] + after_last_wait(P, k));
        }
        s.top.push_back(k);
    }
}

/// Items with the longest chain of work behind them come first; what they wait for has a longer one.
void Top::order()
{
    std::vector<double> behind = seconds_;
    for (auto item = s_.top.rbegin(); item != s_.top.rend(); ++item)
        each_wait(*item, [&](Index i) { behind[i] = std::max(behind[i], seconds_[i] + behind[*item]); });
    std::stable_sort(s_.top.begin(), s_.top.end(), [&](Index a, Index b) { return behind[a] > behind[b]; });
}

/// Seconds until the last thread is finished.
double Top::simulate() const
{
    std::priority_queue<double, std::vector<double>, std::greater<>> free;
    double                                                           last = fork + fork_a_thread * s_.threads;
    for (int t = 0; t < s_.threads; ++t) free.push(last);
    const auto run = [&](double end) {
        free.pop();
        free.push(end);
        last = std::max(last, end);
    };
    for (Index t = 0; t < s_.tasks(); ++t) {
        double seconds = 0;
        for (Index c = s_.task_ptr[t]; c < s_.task_ptr[t + 1]; ++c) seconds += work_.column[s_.column[c]];
        run(free.top() + seconds);
    }
    const double barrier = last + hop;
    free = {};
    for (int t = 0; t < s_.threads; ++t) free.push(barrier);
    std::vector<double> finish(seconds_.size(), 0);
    for (const Index item : s_.top) {
        double waited = 0;
        each_wait(item, [&](Index i) { waited = std::max(waited, finish[i]); });
        const bool whole = item < P_.n && !is_hub(item);  // a column is at work while it waits
        finish[item] = whole ? std::max(free.top() + seconds_[item], waited + after_last_wait(P_, item))
                             : std::max(free.top(), waited + hop) + seconds_[item];
        run(finish[item]);
    }
    return last;
}

/// Row by row a hub costs up to ten times what panels of a supernode do, so its updates must be sparse.
std::vector<Index> hub_columns(const LuPattern& P, const Work& work, int threads, const RefactorTuning& tuning)
{
    constexpr double   most_entries = 16;  // of an update, on average
    std::vector<Index> hubs;
    if (P.nnz() >= std::numeric_limits<std::uint32_t>::max()) return hubs;
    for (Index k = 0; k < P.n; ++k) {
        if (P.upper_count(k) < tuning.hub_updates || work.column[k] < tuning.hub_share * work.total / threads) continue;
        double entries = 0;
        for (Offset p = P.col_ptr[k]; p < P.diag[k]; ++p) entries += P.lower_count(P.row[p]);
        if (entries <= most_entries * P.upper_count(k) || tuning.hub_share == 0) hubs.push_back(k);
    }
    return hubs;
}

RefactorSchedule one_task(const LuPattern& P, double seconds)
{
    RefactorSchedule s{.seconds = seconds};
    s.column.resize(P.n);
    std::iota(s.column.begin(), s.column.end(), 0);
    s.task_ptr = {0, P.n};
    return s;
}

}  // namespace

RefactorSchedule make_schedule(const LuPattern& P, int threads, const RefactorTuning& tuning)
{
    const bool forced = tuning.least_gain == 0;
    if (threads == 1 || P.n == 0) return one_task(P, 0);
    Work work{.column = column_seconds(P), .parent = {}, .subtree = {}};
    work.total = std::accumulate(work.column.begin(), work.column.end(), 0.0);
    if (!forced && work.total < worth_looking) return one_task(P, work.total);
    const std::vector<Index> hubs = hub_columns(P, work, threads, tuning);
    work.parent = elimination_forest(P, hubs);
    work.subtree = subtree_work(work.parent, work.column);

    RefactorSchedule best =
        one_task(P, forced ? std::numeric_limits<double>::infinity() : work.total / tuning.least_gain);
    for (int team = threads; team > 1; team = forced ? 1 : team / 2) {
        const double       limit = tuning.task_seconds > 0 ? tuning.task_seconds : work.total / (tasks_a_thread * team);
        const auto         task_of = cut_subtrees(work.parent, work.subtree, limit);
        std::vector<Index> shared;
        std::copy_if(hubs.begin(), hubs.end(), std::back_inserter(shared), [&](Index k) { return task_of[k] < 0; });
        for (const bool share_hubs : {false, true}) {
            if (share_hubs ? shared.empty() : tuning.hub_share == 0 && !shared.empty()) continue;
            RefactorSchedule s{.threads = team, .alone = work.total};
            TaskColumns      tasks = list_tasks(task_of);
            s.column = std::move(tasks.column);
            s.task_ptr = std::move(tasks.ptr);
            if (share_hubs) s.hubs.emplace(P, shared, task_of, s.tasks());
            Top top(P, work, task_of, s);
            top.order();
            s.seconds = top.simulate();
            if (s.seconds < best.seconds) best = std::move(s);
        }
    }
    return best;
}

double expected_seconds(const LuPattern& P, int threads)
{
    const RefactorSchedule schedule = make_schedule(P, threads, {});
    // Threads slow one another down more than the schedule, which only compares variants, needs to know: 16 of them
    // took 2.1 to 3.3 times its seconds on ten of eleven circuits (an H200's host).
    constexpr double thread_slowdown = 0.1;
    if (schedule.threads > 1) return schedule.seconds * (1 + thread_slowdown * (schedule.threads - 1));
    const std::vector<double> column = column_seconds(P);
    return std::accumulate(column.begin(), column.end(), 0.0);
}

std::size_t RefactorSchedule::bytes() const { return bytes_of(column, task_ptr, top) + (hubs ? hubs->bytes() : 0); }

}  // namespace ilux::detail

#include "ilux/direct/refactor_cpu/refactor.hpp"

#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include "ilux/base/error.hpp"
#include "ilux/direct/analysis/lu_input.hpp"
#include "ilux/direct/factor/elimination_step.hpp"
#include "ilux/base/instances.hpp"
#include "ilux/direct/refactor_cpu/refactor_schedule.hpp"
#include "ilux/direct/refactor_cpu/team_choice.hpp"
#include "ilux/direct/refactor_cpu/update_column.hpp"

namespace ilux {
namespace {

using namespace detail;

constexpr Index F_columns = 4096;  // of a piece of F that one thread fills at a time

template <class S>
void require_matching(const LuPattern& P, std::span<const NotDeduced<S>> values, const LuFactors<S>& factors)
{
    require(values.size() == P.in_source.size(), [&] {
        return fmt::format("refactor: {} values for a pattern of {} entries", values.size(), P.in_source.size());
    });
    require(std::ssize(factors.val) == P.nnz() && std::ssize(factors.f_val) == P.nnz_F(), [&] {
        return fmt::format("refactor: room for {} + {} factor entries where the pattern has {} + {}",
                           factors.val.size(), factors.f_val.size(), P.nnz(), P.nnz_F());
    });
}

/// F(:,k), entries added in the order of the input.
template <class S>
void fill_F(const LuPattern& P, std::span<const NotDeduced<S>> values, S* f_val, Index k)
{
    const auto first = P.f_row.begin() + P.f_col_ptr[k], end = P.f_row.begin() + P.f_col_ptr[k + 1];
    std::fill(f_val + P.f_col_ptr[k], f_val + P.f_col_ptr[k + 1], S(0));
    for (Offset e = P.in_split[k]; e < P.in_ptr[k + 1]; ++e)
        f_val[std::lower_bound(first, end, P.in_row[e]) - P.f_row.begin()] += values[P.in_source[e]] * P.in_scale[e];
}

}  // namespace

template <class S>
void refactor_serial(std::span<const NotDeduced<S>> values, LuFactors<S>& factors, BadPivots bad)
{
    const LuPattern& P = *factors.pattern;
    require_matching(P, values, factors);
    LuValues<S>&   val = factors.val;
    std::vector<S> x(P.n, S(0));
    PivotMonitor   seen;
    for (Index k = 0; k < P.n; ++k) {
        for (Offset e = P.in_ptr[k]; e < P.in_split[k]; ++e) x[P.in_row[e]] += values[P.in_source[e]] * P.in_scale[e];
        double largest_b = 0, largest_u = 0, largest_l = 0;
        bool   finite = true;
        for (Offset e = P.in_ptr[k]; e < P.in_split[k]; ++e) largest_b = std::max(largest_b, modulus(x[P.in_row[e]]));

        for (Offset p = P.col_ptr[k]; p < P.diag[k]; ++p) {
            const Index i = P.row[p];
            for (Offset q = P.diag[i] + 1; q < P.col_ptr[i + 1]; ++q)
                x[P.row[q]] = minus_product(x[P.row[q]], val[q], x[i]);
        }
        for (Offset p = P.col_ptr[k]; p <= P.diag[k]; ++p) {
            val[p] = std::exchange(x[P.row[p]], S(0));
            largest_u = std::max(largest_u, modulus(val[p]));
            finite = finite && std::isfinite(modulus(val[p]));
        }
        const S            pivot = val[P.diag[k]];
        const bool         singular = finite && pivot == S(0);
        const DividedBy<S> by_pivot(pivot);
        for (Offset p = P.diag[k] + 1; p < P.col_ptr[k + 1]; ++p) {
            val[p] = by_pivot(std::exchange(x[P.row[p]], S(0)));
            largest_l = std::max(largest_l, modulus(val[p]));
            finite = finite && std::isfinite(modulus(val[p]));
        }
        fill_F(P, values, factors.f_val.data(), k);
        for (Offset p = P.f_col_ptr[k]; p < P.f_col_ptr[k + 1]; ++p) finite = finite && is_finite(factors.f_val[p]);
        if (singular || !finite) {
            if (seen.bad_column < 0) seen.bad_column = k, seen.not_finite = !singular;
            if (bad == BadPivots::keep) continue;
            factors.monitor = {.bad_column = k, .not_finite = !singular};
            return;
        }
        seen.min_pivot = std::min(seen.min_pivot, modulus(pivot));
        seen.max_pivot = std::max(seen.max_pivot, modulus(pivot));
        if (largest_b / largest_u < seen.rgrowth) {
            seen.rgrowth = largest_b / largest_u;
            seen.growth_column = k;
        }
        if (largest_l > seen.max_multiplier) {
            seen.max_multiplier = largest_l;
            seen.multiplier_column = k;
        }
    }
    factors.monitor = seen;
}

template <class S>
struct CpuRefactor<S>::Plan {
    std::shared_ptr<const LuPattern> pattern;
    const ColumnKernels<S>&          kernels;
    RefactorSchedule                 schedule;
    RefactorProgram                  program;
    TeamChoice                       choice;
    bool                             forced;  ///< threads join in any case
    std::vector<Index>               hub_of;  ///< n; −1: none; empty without hubs
    std::vector<std::uint32_t>       done;
    std::uint32_t                    epoch = 0;
    std::vector<S>                   memory;  ///< of all threads
    std::vector<RefactorThread<S>>   thread;

    Plan(Cpu& be, std::shared_ptr<const LuPattern> p, const RefactorTuning& tuning);
    void  run_window(RefactorJob<S>& job, RefactorThread<S>& mine, const Window& w) const;
    void  check_window(RefactorJob<S>& job, RefactorThread<S>& mine, const Window& w, const ShortCursor<S>& end) const;
    void  run_F(RefactorJob<S>& job, Index piece) const;
    void  run_piece(RefactorJob<S>& job, RefactorThread<S>& mine, Index piece) const;
    void  run_hub_piece(RefactorJob<S>& job, RefactorThread<S>& mine, Index piece) const;
    void  divide_hub(RefactorJob<S>& job, RefactorThread<S>& mine, Index h) const;
    void  record_hubs(RefactorJob<S>& job);
    void  record_least_growth(RefactorJob<S>& job, PivotMonitor& monitor) const;
    void  run_top(RefactorJob<S>& job, RefactorThread<S>& mine, std::atomic<Index>& ticket) const;
    void  run_team(RefactorJob<S>& job, int threads);
    void  run_chosen(RefactorJob<S>& job, int threads);
    Index pieces() const
    {
        return schedule.tasks() + (pattern->nnz_F() > 0 ? (pattern->n + F_columns - 1) / F_columns : 0);
    }
};

template <class S>
CpuRefactor<S>::Plan::Plan(Cpu& be, std::shared_ptr<const LuPattern> p, const RefactorTuning& tuning)
    : pattern(std::move(p)),
      kernels(column_kernels<S>(tuning.arithmetic)),
      schedule(make_schedule(*pattern, be.threads(), tuning)),
      program(*pattern, schedule.column, schedule.task_ptr, tuning, kernels.vectors),
      choice(schedule.alone),
      forced(tuning.least_gain == 0)
{
    constexpr std::uint32_t always = std::numeric_limits<std::uint32_t>::max();
    constexpr std::size_t   line = 8;  // numbers: of 8 bytes one cache line
    const auto              round_up = [](std::size_t numbers) { return (numbers + line - 1) / line * line; };
    const std::size_t       x = round_up(pattern->n + line), input = round_up(program.most_inputs + line);
    const std::size_t       pivot = round_up(program.most_shorts), mine = x + input + pivot + line;

    const Index hubs = schedule.hubs ? schedule.hubs->hubs() : 0;

    if (!schedule.top.empty()) done.assign(pattern->n + (hubs > 0 ? schedule.hubs->piece.size() : 0), always);
    for (const Index item : schedule.top) done[item] = 0;
    if (hubs > 0) hub_of.assign(pattern->n, -1);
    for (Index h = 0; h < hubs; ++h) hub_of[schedule.hubs->column[h]] = h;
    memory.assign(mine * schedule.threads + line, S(0));
    const auto address = reinterpret_cast<std::uintptr_t>(memory.data());
    S*         aligned = memory.data() + (round_up(address / sizeof(S)) - address / sizeof(S));
    for (int t = 0; t < schedule.threads; ++t, aligned += mine)
        thread.push_back({.x = aligned, .input = aligned + x, .pivot = aligned + x + input, .seen = {}});
    for (RefactorThread<S>& t : thread) t.hub.resize(hubs);
}

template <class S>
void CpuRefactor<S>::Plan::run_window(RefactorJob<S>& job, RefactorThread<S>& mine, const Window& w) const
{
    if (!job.needs(w.first)) return;
    const std::uint64_t largest = kernels.load(job.values, program.source.data() + w.input,
                                               program.scale.data() + w.input, w.inputs_end - w.input, mine.input);
    ShortCursor<S>
        at{job,     mine,   program.shorts.data() + w.shorts, mine.input, program.update.data() + w.update, mine.pivot,
           w.first, largest};
    at.set_limits();
    const Index* wide = program.wide.data() + w.wide;
    for (Offset r = w.run; r < w.runs_end; ++r) {
        const auto [shape, count] = program.run[r];
        if (shape != Shape::wide) kernels.shorts[static_cast<int>(shape)](at, count);
        else
            for (const Index* end = wide + count; wide != end; ++wide) kernels.column(job, mine, *wide);
    }
    check_window(job, mine, w, at);
}

/// What the short columns' kernels leave: the pivots. Columns without updates do not grow.
template <class S>
void CpuRefactor<S>::Plan::check_window(RefactorJob<S>& job, RefactorThread<S>& mine, const Window& w,
                                        const ShortCursor<S>& end) const
{
    std::uint64_t least = infinite, most = 0;
    kernels.extremes(mine.pivot, end.pivot - mine.pivot, least, most);
    if (least == 0 || most >= infinite)
        for (Offset s = w.shorts; s < w.shorts_end; ++s) inspect(job, mine.seen, program.shorts[s].column);
    mine.seen.min_pivot = std::min(mine.seen.min_pivot, std::bit_cast<double>(least));
    mine.seen.max_pivot = std::max(mine.seen.max_pivot, std::bit_cast<double>(most));
}

template <class S>
void CpuRefactor<S>::Plan::run_F(RefactorJob<S>& job, Index piece) const
{
    const LuPattern& P = *pattern;
    const Index      first = piece * F_columns, end = std::min(P.n, first + F_columns);
    const Offset     begin = P.f_col_ptr[first], count = P.f_col_ptr[end] - begin;
    if (!job.needs(first)) return;
    if (!program.f_source.empty()) {
        const std::uint64_t largest = kernels.load(job.values, program.f_source.data() + begin,
                                                   program.f_scale.data() + begin, count, job.f_val + begin);
        if (largest < infinite) return;
    } else {
        for (Index k = first; k < end; ++k) fill_F<S>(P, {job.values, P.in_source.size()}, job.f_val, k);
        if (all_finite<S>({job.f_val + begin, static_cast<std::size_t>(count)})) return;
    }
    Index k = first;
    while (all_finite<S>({job.f_val + P.f_col_ptr[k], job.f_val + P.f_col_ptr[k + 1]})) ++k;
    job.note_bad(k, true);
}

template <class S>
void CpuRefactor<S>::Plan::run_piece(RefactorJob<S>& job, RefactorThread<S>& mine, Index piece) const
{
    const Index tasks = schedule.tasks();
    if (piece >= tasks) return run_F(job, piece - tasks);
    for (Offset w = program.task_window[piece]; w < program.task_window[piece + 1]; ++w)
        run_window(job, mine, program.window[w]);
    if (!schedule.hubs) return;
    const HubRows& hubs = *schedule.hubs;
    for (Index p = hubs.task_piece[piece]; p < hubs.task_piece[piece + 1]; ++p) run_hub_piece(job, mine, p);
}

template <class S>
void CpuRefactor<S>::Plan::run_hub_piece(RefactorJob<S>& job, RefactorThread<S>& mine, Index number) const
{
    const HubRows&                           hubs = *schedule.hubs;
    const HubRows::Piece&                    piece = hubs.piece[number];
    const Index                              k = hubs.column[piece.hub];
    typename RefactorThread<S>::HubExtremes& seen = mine.hub[piece.hub];
    if (!job.needs(k)) return;
    for (Offset w = piece.wait; w < piece.waits_end; ++w) job.wait_for(hubs.waits[w]);
    for (Index row = piece.row; row < piece.rows_end; ++row) {
        const Offset first = std::max(hubs.term_ptr[row], piece.term),
                     end = std::min(hubs.term_ptr[row + 1], piece.terms_end);
        S& place = job.val[hubs.position[row]];
        S  x = first == hubs.term_ptr[row] ? S(0) : place;
        if (first == hubs.term_ptr[row]) {
            for (Offset e = hubs.input_ptr[row]; e < hubs.input_ptr[row + 1]; ++e)
                x += job.values[hubs.source[e]] * hubs.scale[e];
            seen.b = std::max(seen.b, modulus(x));
        }
        place = x = kernels.subtract(x, job.val, hubs.l.data() + first, hubs.u.data() + first, end - first);
        if (end == hubs.term_ptr[row + 1] && hubs.position[row] <= pattern->diag[k])
            seen.u = std::max(seen.u, magnitude(x));
    }
}

template <class S>
void CpuRefactor<S>::Plan::divide_hub(RefactorJob<S>& job, RefactorThread<S>& mine, Index h) const
{
    const LuPattern& P = *pattern;
    const Index      k = schedule.hubs->column[h];
    if (!job.needs(k)) return;
    for (const Index piece : schedule.hubs->before_division(P, h)) job.wait_for(P.n + Offset{piece});
    const DividedBy<S> by_pivot(job.val[P.diag[k]]);
    for (Offset p = P.diag[k] + 1; p < P.col_ptr[k + 1]; ++p) {
        job.val[p] = by_pivot(job.val[p]);
        mine.hub[h].l = std::max(mine.hub[h].l, magnitude(job.val[p]));
    }
}

/// When all threads are finished.
template <class S>
void CpuRefactor<S>::Plan::record_hubs(RefactorJob<S>& job)
{
    for (Index h = 0; schedule.hubs && h < schedule.hubs->hubs(); ++h) {
        typename RefactorThread<S>::HubExtremes all;
        for (const RefactorThread<S>& t : thread) {
            all.b = std::max(all.b, t.hub[h].b);
            all.u = std::max(all.u, t.hub[h].u);
            all.l = std::max(all.l, t.hub[h].l);
        }
        const Index k = schedule.hubs->column[h];
        if (job.needs(k)) record(job, thread.front().seen, k, all.b, all.u, job.val[pattern->diag[k]], all.l);
    }
}

/// Where no column grew: the first one with the least max|B(:,k)| / max|U(:,k)| ≥ 1. Usually one of the first columns
/// has 1.
template <class S>
void CpuRefactor<S>::Plan::record_least_growth(RefactorJob<S>& job, PivotMonitor& monitor) const
{
    const LuPattern& P = *pattern;
    S*               x = thread.front().x;
    monitor.rgrowth = std::numeric_limits<double>::infinity();
    for (Index k = 0; k < P.n && monitor.rgrowth > 1; ++k) {
        const double  b = load_column(job, x, k);
        std::uint64_t u = 0;
        for (Offset e = P.in_ptr[k]; e < P.in_split[k]; ++e) x[P.in_row[e]] = 0;
        for (Offset p = P.col_ptr[k]; p <= P.diag[k]; ++p) u = std::max(u, magnitude(job.val[p]));
        if (b / std::bit_cast<double>(u) >= monitor.rgrowth) continue;
        monitor.rgrowth = b / std::bit_cast<double>(u);
        monitor.growth_column = k;
    }
}

/// Ends: tickets are handed out in an order in which an item waits only for earlier ones, each held by a thread that
/// runs or is finished, and columns that are not needed any more count as done.
template <class S>
void CpuRefactor<S>::Plan::run_top(RefactorJob<S>& job, RefactorThread<S>& mine, std::atomic<Index>& ticket) const
{
    const Index end = static_cast<Index>(schedule.top.size());
    for (Index t; (t = ticket.fetch_add(1, std::memory_order_relaxed)) < end;) {
        const Index item = schedule.top[t];
        const Index hub = item < pattern->n && !hub_of.empty() ? hub_of[item] : -1;
        if (item >= pattern->n) run_hub_piece(job, mine, item - pattern->n);
        else if (hub >= 0) divide_hub(job, mine, hub);
        else if (job.needs(item)) kernels.waiting_column(job, mine, item);
        job.publish(item);
    }
}

/// A thread that comes late finds all pieces taken; nobody waits for it before the end of the region.
template <class S>
void CpuRefactor<S>::Plan::run_team(RefactorJob<S>& job, int team)
{
    const Index        all = pieces();
    std::atomic<Index> piece{0}, finished{0}, ticket{0};
#pragma omp parallel num_threads(team)
    {
        RefactorThread<S>& mine = thread[omp_get_thread_num()];
        for (Index p; (p = piece.fetch_add(1, std::memory_order_relaxed)) < all;) {
            run_piece(job, mine, p);
            finished.fetch_add(1, std::memory_order_release);
        }
        spin_until([&] { return finished.load(std::memory_order_acquire) == all; }, RefactorJob<S>::patience);
        run_top(job, mine, ticket);
    }
}

template <class S>
void CpuRefactor<S>::Plan::run_chosen(RefactorJob<S>& job, int team)
{
    if (team == 1 || forced) return run_team(job, team);
    using Clock = std::chrono::steady_clock;
    const bool together = choice.wants_team();
    const auto start = Clock::now();
    run_team(job, together ? team : 1);
    const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
    if (together) choice.team_took(seconds);
    else choice.one_took(seconds);
}

template <class S>
CpuRefactor<S>::CpuRefactor(Cpu& be, std::shared_ptr<const LuPattern> pattern, const RefactorTuning& tuning)
{
    if (tuning.window < 1 || tuning.wide < 0 || tuning.wide > 32)
        throw InvalidOption(fmt::format("refactor: window = {} must be at least 1 and wide = {} within 0 and 32",
                                        tuning.window, tuning.wide));
    plan_ = std::make_unique<Plan>(be, std::move(pattern), tuning);
}
template <class S>
CpuRefactor<S>::~CpuRefactor() = default;
template <class S>
CpuRefactor<S>::CpuRefactor(CpuRefactor&&) noexcept = default;
template <class S>
CpuRefactor<S>& CpuRefactor<S>::operator=(CpuRefactor&&) noexcept = default;

template <class S>
void CpuRefactor<S>::run(Cpu& be, std::span<const S> values, LuFactors<S>& factors)
{
    Plan& plan = *plan_;
    require(factors.pattern == plan.pattern, [] { return "refactor: the factors are of another pattern"; });
    require_matching(*plan.pattern, values, factors);

    constexpr std::uint32_t last_epoch = std::numeric_limits<std::uint32_t>::max() - 1;
    if (plan.epoch == last_epoch) {
        for (const Index item : plan.schedule.top) plan.done[item] = 0;
        plan.epoch = 0;
    }
    RefactorJob<S> job{*plan.pattern,        plan.program,     values.data(), factors.val.data(),
                       factors.f_val.data(), plan.done.data(), ++plan.epoch};
    for (RefactorThread<S>& thread : plan.thread) {
        thread.seen = no_growth;
        std::fill(thread.hub.begin(), thread.hub.end(), typename RefactorThread<S>::HubExtremes{});
    }
    const int threads = std::min(be.threads(), plan.schedule.threads);
    if (threads > 1 || !plan.schedule.top.empty()) plan.run_chosen(job, Cpu(threads).team());
    else
        for (Index p = 0; p < plan.pieces(); ++p) plan.run_piece(job, plan.thread.front(), p);

    plan.record_hubs(job);
    factors.monitor = {};
    if (job.bad != RefactorJob<S>::none) {
        factors.monitor.bad_column = static_cast<Index>(job.bad / 2);
        factors.monitor.not_finite = job.bad % 2 != 0;
        return;
    }
    factors.monitor = no_growth;
    for (const RefactorThread<S>& thread : plan.thread) merge(factors.monitor, thread.seen);
    if (factors.monitor.growth_column < 0) plan.record_least_growth(job, factors.monitor);
}

template <class S>
int CpuRefactor<S>::threads() const
{
    return plan_->schedule.threads;
}

template <class S>
std::size_t CpuRefactor<S>::bytes() const
{
    const Plan& plan = *plan_;
    return sizeof(Plan) + plan.schedule.bytes() + plan.program.bytes() +
           bytes_of(plan.hub_of, plan.done, plan.memory, plan.thread);
}

#define ILUX_INSTANTIATE(S)                                                      \
    template void refactor_serial(std::span<const S>, LuFactors<S>&, BadPivots); \
    template class CpuRefactor<S>;
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux

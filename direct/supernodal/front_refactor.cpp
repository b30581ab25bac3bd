#include "ilux/direct/supernodal/front_refactor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <new>

#include "ilux/base/error.hpp"
#include "ilux/base/instances.hpp"
#include "ilux/direct/factor/elimination_step.hpp"
#include "ilux/direct/supernodal/blas.hpp"
#include "ilux/direct/supernodal/dense_product.hpp"
#include "ilux/direct/supernodal/front_scales.hpp"

namespace ilux {
namespace {

/// Keeps NaN, unlike std::max.
void raise_size(double& largest, double size)
{
    if (!(size <= largest)) largest = size;
}

/// max |x_i|. A NaN may be missed: it spreads to a pivot.
template <class S>
double largest_size(const S* x, Index count)
{
    double largest = 0;
    if constexpr (is_complex<S>) {
        for (Index i = 0; i < count; ++i) largest = std::max(largest, modulus(x[i]));
    } else {
#pragma omp simd reduction(max : largest)
        for (Index i = 0; i < count; ++i) largest = std::max(largest, std::abs(x[i]));
    }
    return largest;
}

}  // namespace

/// One run: the numbers of all fronts while they are made.
template <Scalar S>
class FrontRefactor<S>::Run {
public:
    Run(FrontRefactor& owner, std::span<const S> values, LuFactors<S>& factors)
        : o_(owner), s_(*owner.schedule_), plan_(*s_.plan), tree_(plan_.tree), values_(values), F_(factors)
    {}

    void measure_columns(Cpu& be);
    void take_F();

    void work(const FrontTask& task, int thread)
    {
        const Index f = task.front;
        using Kind = FrontTask::Kind;
        switch (task.kind) {
            case Kind::subtrees:
                for (Index g = task.block; g <= f; ++g) whole(g, thread);
                break;
            case Kind::whole:
                whole(f, thread);
                break;
            case Kind::assemble:
                assemble(f, thread, s_.columns(f, task.block));
                break;
            case Kind::begin:
                begin(f);
                break;
            case Kind::panel:
                panel(f, s_.columns(f, task.block));
                break;
            case Kind::update:
                update(f, s_.columns(f, task.by), s_.columns(f, task.block));
                break;
            case Kind::pivots:
                pivots(f, s_.panel_width(f));
                break;
            case Kind::rest:
                rest(f, thread, s_.columns(f, task.block));
                break;
            case Kind::done:
                break;
        }
    }

    void conclude();

private:
    using Columns = std::pair<Index, Index>;  // first, last + 1

    S* lower(Index f) { return F_.val.data() + plan_.val_ptr[f]; }
    S* upper(Index f) { return lower(f) + static_cast<Offset>(tree_.size(f)) * tree_.pivots(f); }
    S* left(Index f, int thread)
    {
        if (!s_.inner[f]) return o_.arena_.data() + s_.left_ptr[f];
        return o_.threads_[thread].stacks.data() + (s_.parity[f] ? s_.stacks[0] : 0) + s_.left_ptr[f];
    }
    const Index*      place(Index child) const { return plan_.place.data() + tree_.row_ptr[child]; }
    std::span<Index>  swap(Index f) { return std::span(F_.swap).subspan(tree_.pivot_ptr[f], tree_.pivots(f)); }
    std::span<double> B_sizes(Index f) { return std::span(o_.B_sizes_).subspan(tree_.pivot_ptr[f], tree_.pivots(f)); }

    void whole(Index f, int thread)
    {
        const Columns all{0, tree_.size(f)}, pivot_columns{0, tree_.pivots(f)};
        assemble(f, thread, all);
        begin(f);
        panel(f, pivot_columns);
        pivots(f, tree_.pivots(f));
        if (tree_.updates(f) > 0) rest(f, thread, {tree_.pivots(f), tree_.size(f)});
    }
    void assemble(Index f, int thread, Columns columns);
    void add_child(const FrontNumbers<S>& front, Index child, const FrontRuns& runs, int thread, Columns columns);
    void begin(Index f);
    void panel(Index f, Columns columns)
    {
        factor_panel<S>(lower(f), tree_.size(f), tree_.pivots(f), columns.first, columns.second - columns.first,
                        B_sizes(f), swap(f), o_.seen_[f]);
    }
    void update(Index f, Columns by, Columns columns);
    void pivots(Index f, Index width);
    void rest(Index f, int thread, Columns columns);

    FrontRefactor&       o_;
    const FrontSchedule& s_;
    const FrontPlan&     plan_;
    const FrontTree&     tree_;
    std::span<const S>   values_;
    LuFactors<S>&        F_;
};

/// B_sizes ← max |B(:,k)|, column by column of the analysis, whose columns of a block stay in it.
template <Scalar S>
void FrontRefactor<S>::Run::measure_columns(Cpu& be)
{
    const LuSymbolic& symbolic = *F_.symbolic;
    const LuPattern&  P = *F_.pattern;
    const auto        scale = [](const std::vector<double>& scales, Index i) { return scales.empty() ? 1 : scales[i]; };
    for (Index block = 0; block < plan_.blocks(); ++block) {
        const Index begin = plan_.block_ptr[block], end = plan_.block_ptr[block + 1];
#pragma omp parallel for schedule(static) num_threads(be.team(end - begin > 20000))
        for (Index c = begin; c < end; ++c) {
            const Index k = tree_.order[c];
            double      largest = 0;
            for (Offset p = symbolic.col_ptr[k], last = symbolic.col_ptr[k + 1]; p < last;) {
                const Index r = symbolic.row[p];
                S           sum(0);  // duplicates are adjacent
                for (; p < last && symbolic.row[p] == r; ++p) sum += values_[symbolic.source[p]];
                if (r >= begin) raise_size(largest, modulus(sum) * scale(P.row_scale, symbolic.row_perm[r]));
            }
            o_.B_sizes_[c] = largest * scale(P.col_scale, symbolic.col_perm[k]);
        }
    }
}

template <Scalar S>
void FrontRefactor<S>::Run::take_F()
{
    const std::size_t in = plan_.in_source.size();
    for (std::size_t p = 0; p < plan_.f_source.size(); ++p)
        F_.f_val[p] = values_[plan_.f_source[p]] * F_.pattern->in_scale[in + p];
}

/// columns ← what the children left there, some columns at a time, so that these stay in the cache.
template <Scalar S>
void FrontRefactor<S>::Run::assemble(Index f, int thread, Columns columns)
{
    constexpr Offset      cached = 1 << 14;  // numbers
    const Offset          m = tree_.size(f), width = std::max<Offset>(1, cached / m);
    const FrontNumbers<S> front{m, tree_.pivots(f), lower(f), upper(f),
                                tree_.updates(f) > 0 ? left(f, thread) : nullptr};
    const auto            children = tree_.children(f);
    auto&                 runs = o_.threads_[thread].runs;
    if (runs.size() < children.size()) runs.resize(children.size());
    for (std::size_t c = 0; c < children.size(); ++c)
        runs[c].find(place(children[c]), tree_.updates(children[c]), tree_.pivots(f));
    for (Offset first = columns.first; first < columns.second; first += width) {
        const Offset last = std::min<Offset>(columns.second, first + width);
        clear_columns(front, first, last);
        for (std::size_t c = 0; c < children.size(); ++c)
            add_child(front, children[c], runs[c], thread, {static_cast<Index>(first), static_cast<Index>(last)});
    }
}

template <Scalar S>
void FrontRefactor<S>::Run::add_child(const FrontNumbers<S>& front, Index child, const FrontRuns& runs, int thread,
                                      Columns columns)
{
    const Index        count = tree_.updates(child);
    const Index* const rows = place(child);
    const auto         place_of = [&](Index column) {
        return static_cast<Index>(std::lower_bound(rows, rows + count, column) - rows);
    };
    add_columns(front, runs, rows, count, left(child, thread), place_of(columns.first), place_of(columns.second));
}

/// Adds the inputs; takes over the sizes of U that the subtrees below know.
template <Scalar S>
void FrontRefactor<S>::Run::begin(Index f)
{
    const auto& scale = F_.pattern->in_scale;
    S* const    val = F_.val.data();
    for (Offset q = plan_.in_ptr[f]; q < plan_.in_ptr[f + 1]; ++q)
        val[plan_.in_target[q]] += values_[plan_.in_source[q]] * scale[q];

    const Index   k = tree_.pivots(f);
    double* const U_size = o_.U_sizes_.data() + tree_.pivot_ptr[f];
    double* const left_size = o_.left_sizes_.data() + tree_.row_ptr[f];
    std::fill(U_size, U_size + k, 0.0);
    std::fill(left_size, left_size + tree_.updates(f), 0.0);
    for (const Index child : tree_.children(f))
        for (Offset p = tree_.row_ptr[child]; p < tree_.row_ptr[child + 1]; ++p) {
            const Index at = plan_.place[p];
            raise_size(at < k ? U_size[at] : left_size[at - k], o_.left_sizes_[p]);
        }
    o_.seen_[f] = {};
}

/// columns ← L⁻¹ of them below panel `by`, and what that subtracts further down.
template <Scalar S>
void FrontRefactor<S>::Run::update(Index f, Columns by, Columns columns)
{
    const Index  m = tree_.size(f), width = columns.second - columns.first;
    const Offset ld = m;
    S* const     to = lower(f) + columns.first * ld;
    const S*     L = lower(f) + by.first * ld;
    exchange_rows<S>(to, m, width, by.first, by.second, swap(f));
    solve_unit_lower(by.second - by.first, width, L + by.first, m, to + by.first, m);
    subtract_product(m - by.second, width, by.second - by.first, L + by.second, m, to + by.first, m, to + by.second, m);
}

/// Later panels exchange rows of earlier ones, too. Then the sizes of U in the pivot columns are known, and so is
/// growth.
/// @param width  of the panels
template <Scalar S>
void FrontRefactor<S>::Run::pivots(Index f, Index width)
{
    const Index  m = tree_.size(f), k = tree_.pivots(f);
    const Offset ld = m;
    for (Index first = width; first < k; first += width)
        exchange_rows<S>(lower(f), m, first, first, std::min(k, first + width), swap(f));
    for (Index j = 0; j < k; ++j) {
        double&        largest = o_.U_sizes_[tree_.pivot_ptr[f] + j];
        const S* const column = lower(f) + j * ld;
        largest = std::max(largest, largest_size(column, j + 1));
        o_.seen_[f].take_growth(j, B_sizes(f)[j] / largest, std::isfinite(largest));
    }
}

template <Scalar S>
void FrontRefactor<S>::Run::rest(Index f, int thread, Columns columns)
{
    const Index  m = tree_.size(f), k = tree_.pivots(f), u = m - k, width = columns.second - columns.first;
    const Offset first = columns.first - k;
    S* const     U = upper(f) + first * k;
    const S*     L = lower(f);
    exchange_rows<S>(U, k, width, 0, k, swap(f));
    solve_unit_lower(k, width, L, m, U, k);
    subtract_product(u, width, k, L + k, m, U, k, left(f, thread) + first * u, u);
    for (Index j = 0; j < width; ++j) {
        double&        largest = o_.left_sizes_[tree_.row_ptr[f] + first + j];
        const S* const column = U + static_cast<Offset>(j) * k;
        largest = std::max(largest, largest_size(column, k));
    }
}

template <Scalar S>
void FrontRefactor<S>::Run::conclude()
{
    PivotMonitor monitor;
    Index        infinite = -1;  // the first column with a U that is not finite
    for (Index f = 0; f < tree_.fronts(); ++f) {
        const PivotsSeen& seen = o_.seen_[f];
        if (seen.rgrowth < monitor.rgrowth) {
            monitor.rgrowth = seen.rgrowth;
            monitor.growth_column = tree_.pivot_ptr[f] + seen.growth_column;
        }
        if (seen.infinite >= 0 && infinite < 0) infinite = tree_.pivot_ptr[f] + seen.infinite;
        monitor.min_pivot = std::min(monitor.min_pivot, seen.least);
        monitor.max_pivot = std::max(monitor.max_pivot, seen.largest);
        monitor.replaced += seen.replaced;
        if (seen.multiplier > monitor.max_multiplier) {
            monitor.max_multiplier = seen.multiplier;
            monitor.multiplier_column = tree_.pivot_ptr[f] + seen.multiplier_column;
        }
        if (seen.bad >= 0 && monitor.bad_column < 0) {
            monitor.bad_column = tree_.pivot_ptr[f] + seen.bad;
            monitor.not_finite = seen.not_finite;
        }
    }
    if (infinite >= 0 && monitor.bad_column < 0) monitor.bad_column = infinite, monitor.not_finite = true;
    F_.monitor = monitor;
}

template <Scalar S>
FrontRefactor<S>::FrontRefactor(std::shared_ptr<const FrontPlan> plan)
{
    const Index n = plan->n;
    try {
        schedule_ = make_front_schedule(std::move(plan));
    } catch (const std::bad_alloc&) {
        throw OutOfMemory(fmt::format("no memory for the fronts of a matrix with n = {}", n));
    }
}

template <Scalar S>
std::size_t FrontRefactor<S>::bytes() const
{
    std::size_t numbers = arena_.capacity();
    std::size_t others = 0;
    for (const OfThread& own : threads_) {
        numbers += own.stacks.capacity();
        for (const FrontRuns& runs : own.runs) others += runs.bytes();
    }
    return numbers * sizeof(S) + others + schedule_->bytes() +
           (B_sizes_.capacity() + U_sizes_.capacity() + left_sizes_.capacity()) * sizeof(double) +
           seen_.capacity() * sizeof(PivotsSeen);
}

template <Scalar S>
int FrontRefactor<S>::threads(const Cpu& be) const
{
    constexpr double worth = 1e7;  // multiply-adds; below, threads cost more than they save
    if (schedule_->plan->multiply_adds < worth) return 1;
    const double at_once = schedule_->graph.cost() / schedule_->graph.longest_path();
    return std::clamp(static_cast<int>(at_once) + 1, 1, be.threads());
}

template <Scalar S>
void FrontRefactor<S>::run(Cpu& be, std::span<const S> values, LuFactors<S>& factors, const StopToken& stop)
{
    const FrontPlan& plan = *schedule_->plan;
    require_values(*factors.symbolic, values.size());
    try {
        factors.val.resize(plan.numbers());
        factors.f_val.resize(plan.f_source.size());
        factors.swap.resize(plan.n);
        B_sizes_.resize(plan.n);
        U_sizes_.resize(plan.n);
        left_sizes_.resize(plan.tree.row.size());
        seen_.resize(plan.fronts());
        arena_.resize(schedule_->arena);
        threads_.resize(std::max<std::size_t>(threads_.size(), threads(be)));
    } catch (const std::bad_alloc&) {
        throw OutOfMemory(fmt::format("no memory for the {} numbers of a supernodal LU", plan.numbers()));
    }
    Run run(*this, values, factors);
    run.measure_columns(be);
    run.take_F();
    const blas::OneThread one(threads(be));
    const StopReason      stopped = schedule_->graph.run(be, threads(be), stop, [&](Index task, int thread) {
        threads_[thread].stacks.resize(schedule_->stacks[0] + schedule_->stacks[1]);
        run.work(schedule_->tasks[task], thread);
    });
    if (stopped != StopReason::none) {
        factors.monitor = {.bad_column = 0, .stopped = stopped};
        return;
    }
    run.conclude();
}

#define ILUX_INSTANTIATE(S) template class FrontRefactor<S>;
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux

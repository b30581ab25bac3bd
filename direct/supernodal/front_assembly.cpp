#include "ilux/direct/supernodal/front_assembly.hpp"

#include <algorithm>

#include "ilux/base/instances.hpp"
#include "ilux/base/processor.hpp"

namespace ilux {

void FrontRuns::find(const Index* place, Index count, Index pivots)
{
    begin_.clear();
    among_pivots_ = 0;
    for (Index i = 0; i < count; ++i) {
        if (i > 0 && place[i] == place[i - 1] + 1 && place[i] != pivots) continue;
        begin_.push_back(i);
        among_pivots_ += place[i] < pivots;
    }
    begin_.push_back(count);
}

template <class S>
void clear_columns(const FrontNumbers<S>& front, Offset first, Offset last)
{
    const auto [m, k, L, U, left] = front;
    const Offset u = m - k, first_update = std::max(first, k) - k, last_update = std::max(last, k) - k;
    std::fill(L + std::min(first, k) * m, L + std::min(last, k) * m, S(0));
    std::fill(U + first_update * k, U + last_update * k, S(0));
    if (last_update > first_update) std::fill(left + first_update * u, left + last_update * u, S(0));
}

namespace {

/// to[place] ← to[place] + from, run by run.
template <class S>
[[gnu::always_inline]] inline void add_runs(const Index* begin, Index runs, const Index* place, const S* from, S* to)
{
    for (Index r = 0; r < runs; ++r) {
        const Index    first = begin[r], length = begin[r + 1] - first;
        const S* const x = from + first;
        S* const       y = to + place[first];
#pragma omp simd
        for (Index i = 0; i < length; ++i) y[i] += x[i];
    }
}

template <class S>
[[gnu::always_inline]] inline void add_by_runs(const FrontNumbers<S>& front, const FrontRuns& runs, const Index* place,
                                               Index count, const S* left, Index from, Index to)
{
    const Offset m = front.m, k = front.k, u = m - k;
    const Index* begin = runs.begin();
    const Index  among_pivots = runs.among_pivots(), all = runs.runs();
    for (Index j = from; j < to; ++j) {
        const S* const column = left + static_cast<Offset>(j) * count;
        if (place[j] < k) {
            add_runs(begin, all, place, column, front.L + place[j] * m);
            continue;
        }
        const Offset at = place[j] - k;
        add_runs(begin, among_pivots, place, column, front.U + at * k);
        add_runs(begin + among_pivots, all - among_pivots, place, column, front.left + at * u - k);
    }
}

template <class S>
void add_portable(const FrontNumbers<S>& front, const FrontRuns& runs, const Index* place, Index count, const S* left,
                  Index from, Index to)
{
    add_by_runs(front, runs, place, count, left, from, to);
}
template <class S>
ILUX_FMA void add_fma(const FrontNumbers<S>& front, const FrontRuns& runs, const Index* place, Index count,
                      const S* left, Index from, Index to)
{
    add_by_runs(front, runs, place, count, left, from, to);
}

}  // namespace

template <class S>
void add_columns(const FrontNumbers<S>& front, const FrontRuns& runs, const Index* place, Index count, const S* left,
                 Index from, Index to)
{
    (processor_has_fma() ? add_fma<S> : add_portable<S>)(front, runs, place, count, left, from, to);
}

#define ILUX_INSTANTIATE(S)                                              \
    template void clear_columns(const FrontNumbers<S>&, Offset, Offset); \
    template void add_columns(const FrontNumbers<S>&, const FrontRuns&, const Index*, Index, const S*, Index, Index);
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux

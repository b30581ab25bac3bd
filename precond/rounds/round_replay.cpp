#include "ilux/precond/rounds/round_replay.hpp"

#include <algorithm>
#include <cmath>

#include "ilux/base/instances.hpp"
#include "ilux/precond/rounds/row_blocks.hpp"

namespace ilux {

template <class T>
ReplayedRound<T> replay_round(Cpu& be, const RoundSystem<T>& system, std::span<const Index> pivots,
                              const RoundBounds& bounds)
{
    const Index      n = system.S.rows();
    ReplayedRound<T> round;
    RoundSet<T>&     set = round.set;
    set.pivots.assign(pivots.begin(), pivots.end());
    set.rest.reserve(static_cast<std::size_t>(n) - pivots.size());
    set.fit = static_cast<Index>(pivots.size());
    std::size_t next = 0;
    for (Index k = 0; k < n; ++k)
        if (next < pivots.size() && pivots[next] == k) ++next;
        else set.rest.push_back(k);

    set.diagonal.resize(n);
    set.largest.resize(n);
    std::vector<WorstPivot> found(row_blocks(n));
    for_row_blocks(be, n, [&](Index b, Index begin, Index end, int) {
        auto        pivot = std::ranges::lower_bound(pivots, begin);
        WorstPivot& worst = found[b];
        for (Index k = begin; k < end; ++k) {
            const RowFacts<T> row = facts_of_row(system, k);
            set.diagonal[k] = row.diagonal;
            set.largest[k] = std::max(row.largest_in_row, std::abs(row.diagonal));
            if (pivot == pivots.end() || *pivot != k) continue;
            ++pivot;
            const double d = std::abs(row.diagonal);
            worst.add({.smallest = bounds.positive ? real_part(row.diagonal) : d,
                       .growth = row.largest_in_row * (row.largest_in_col / d),
                       .inverse_L = 1 + std::abs(system.w_L[k]),
                       .inverse_U = 1 + std::abs(system.w_U[k])});
        }
    });
    WorstPivot worst;
    for (const WorstPivot& of_block : found) worst.add(of_block);
    round.why_not = why_not(worst, bounds);
    return round;
}

#define ILUX_INSTANTIATE(T) \
    template ReplayedRound<T> replay_round(Cpu&, const RoundSystem<T>&, std::span<const Index>, const RoundBounds&);
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux

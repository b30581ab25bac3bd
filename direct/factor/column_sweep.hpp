#pragma once
// One column of the first factorization: x ← L⁻¹ B(:,k) over the reach of its rows, and what it offers for a pivot.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "ilux/direct/factor/ascending_set.hpp"
#include "ilux/direct/factor/elimination_step.hpp"
#include "ilux/direct/factor/pivot_monitor.hpp"

namespace ilux::detail {

constexpr Offset between_questions = 1 << 13;  ///< whether to stop; entries of L + U, each worth some multiply-adds

/// What one thread needs for its columns.
template <class S>
struct SweepWorkspace {
    explicit SweepWorkspace(Index n)
        : x(n), set(n), reach(std::make_unique_for_overwrite<Index[]>(n)), value(std::make_unique_for_overwrite<S[]>(n))
    {}
    std::vector<S> x;    ///< n, by row; 0 between columns
    AscendingSet   set;  ///< of numbers; empty between columns
    /// Numbers that B(:,k) reaches, ascending: SweptColumn::upper pivots, then the candidates for k; and L⁻¹ B(:,k)
    /// there.
    std::unique_ptr<Index[]> reach;  ///< n
    std::unique_ptr<S[]>     value;  ///< n
};

/// What the sweep for column k met.
struct SweptColumn {
    std::size_t upper = 0, reached = 0;  ///< entries of U above the diagonal; and with the candidates for its pivot
    std::size_t pivot = 0;               ///< the first of the largest candidates
    double      above = 0, largest = 0;  ///< largest sizes above the diagonal and among the candidates
    double      check = 0;               ///< 0 when all is finite
};

/// L(:,i) below the diagonal: entries begin … begin + count − 1, the first `searched` of which the search looks at.
template <class S>
struct LowerColumn {
    const Index* row = nullptr;
    const S*     val = nullptr;
    Index        count = 0, searched = 0;
};

/// Pivots are numbered in the order of elimination, so ascending numbers are a topological order, and what L(:,i) adds
/// to the reach lies beyond i: one pass searches, updates and sorts. Always inlined, so that it is compiled for the
/// caller's processor.
/// @param lower_of  of a pivot i < k
/// @param moved  whether rows have numbers of their own: at[number[row]] = row
template <bool moved, class S, class LowerOf>
[[gnu::always_inline]] inline SweptColumn sweep_column(Index k, SweepWorkspace<S>& room, const Index* at,
                                                       const Index* number, LowerOf&& lower_of)
{
    S* const __restrict x = room.x.data();
    Index* const  reach = room.reach.get();
    S* const      value = room.value.get();
    AscendingSet& set = room.set;
    SweptColumn   column;
    set.drain([&](Index i) __attribute__((always_inline)) {
        const S      x_i = std::exchange(x[moved ? at[i] : i], S(0));
        const double size = modulus(x_i);
        const auto   e = column.reached++;
        reach[e] = i;
        value[e] = x_i;
        column.check += 0 * size;
        if (i >= k) {
            if (!(size > column.largest)) return;
            column.largest = size;
            column.pivot = e;
            return;
        }
        ++column.upper;
        column.above = std::max(column.above, size);
        const LowerColumn<S> L = lower_of(i);
        const Index* const   row = L.row;
        const S* const       l = L.val;
        Offset               p = 0;
        for (; p < L.searched; ++p) {
            set.insert(moved ? number[row[p]] : row[p]);
            x[row[p]] = minus_product(x[row[p]], l[p], x_i);
        }
        const Offset     end = L.count;
        constexpr Offset batch = 4;  // the rows differ: loads ahead of stores
        for (; p + batch <= end; p += batch) {
            S y[batch];
            for (Offset j = 0; j < batch; ++j) y[j] = minus_product(x[row[p + j]], l[p + j], x_i);
            for (Offset j = 0; j < batch; ++j) x[row[p + j]] = y[j];
        }
        for (; p < end; ++p) x[row[p]] = minus_product(x[row[p]], l[p], x_i);
    });
    return column;
}

/// Which entry of the reach becomes the pivot: the diagonal one where it is not 0 and large enough, else the largest.
/// @return nothing where the column is bad: no candidate but 0, or numbers that are not finite
template <class S>
std::optional<std::size_t> choose_pivot(const SweptColumn& column, const SweepWorkspace<S>& room, Index k,
                                        double pivot_tol)
{
    if (column.largest == 0 || column.check != 0) return std::nullopt;
    std::size_t  pivot = column.pivot;
    const double on_diagonal = room.reach[column.upper] == k ? modulus(room.value[column.upper]) : 0;
    if (on_diagonal > 0 && on_diagonal >= pivot_tol * column.largest) pivot = column.upper;
    if (!std::isfinite(column.largest / modulus(room.value[pivot]))) return std::nullopt;
    return pivot;
}

/// Makes the diagonal of a bad column the pivot, and an entry of the column, if it was none.
template <class S>
void take_diagonal(SweptColumn& column, SweepWorkspace<S>& room, Index k)
{
    Index* const row = room.reach.get();
    S* const     val = room.value.get();
    const auto   at = column.pivot = column.upper, end = column.reached;
    if (at < end && row[at] == k) return;
    std::copy_backward(row + at, row + end, row + end + 1);
    std::copy_backward(val + at, val + end, val + end + 1);
    row[at] = k;
    val[at] = S(0);
    ++column.reached;
}

/// L(:,k) ← x / u_kk. @return max |L(:,k)|
template <class S>
double divide_by_pivot(S pivot, S* val, std::size_t count)
{
    const DividedBy<S> by_pivot(pivot);
    double             largest = 0;
    for (std::size_t e = 0; e < count; ++e) {
        val[e] = by_pivot(val[e]);
        largest = std::max(largest, modulus(val[e]));
    }
    return largest;
}

/// What one column says of its pivot.
struct PivotQuality {
    double size = 0, rgrowth = 0, multiplier = 0;
};
template <class S>
PivotQuality quality_of(const SweptColumn& column, S pivot, double largest_in_B, double multiplier)
{
    const double size = modulus(pivot);
    return {size, largest_in_B / std::max(column.above, size), multiplier};
}
/// Columns come in ascending order.
inline void add(PivotMonitor& monitor, Index k, const PivotQuality& q)
{
    monitor.min_pivot = std::min(monitor.min_pivot, q.size);
    monitor.max_pivot = std::max(monitor.max_pivot, q.size);
    if (q.rgrowth < monitor.rgrowth) {
        monitor.rgrowth = q.rgrowth;
        monitor.growth_column = k;
    }
    if (q.multiplier > monitor.max_multiplier) {
        monitor.max_multiplier = q.multiplier;
        monitor.multiplier_column = k;
    }
}

}  // namespace ilux::detail

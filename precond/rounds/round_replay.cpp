#include "ilux/precond/rounds/round_replay.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "ilux/precond/crout/instances.hpp"
#include "ilux/precond/rounds/row_blocks.hpp"

namespace ilux {
namespace {

/// Of all pivots of a round, the worst; NaN stays.
struct Worst {
    double smallest = std::numeric_limits<double>::infinity();  // |s_kk|, or its real part where that must be positive
    double growth = 0, inverse_L = 0, inverse_U = 0;

    void add(const Worst& other)
    {
        if (!(other.smallest >= smallest) && !std::isnan(smallest)) smallest = other.smallest;
        raise(growth, other.growth);
        raise(inverse_L, other.inverse_L);
        raise(inverse_U, other.inverse_U);
    }

    static void raise(double& most, double x)
    {
        if (!(x <= most) && !std::isnan(most)) most = x;
    }
};

/// Written so that NaN is never good enough.
std::string why_not(const Worst& worst, const RoundBounds& bounds)
{
    if (!(worst.smallest > bounds.pivot_floor))
        return fmt::format("a pivot is {:.3g}, and more than {:.3g} is needed", worst.smallest, bounds.pivot_floor);
    if (bounds.growth > 0 && !(worst.growth <= bounds.growth))
        return fmt::format("an update reaches {:.3g}, and at most {:.3g} will do", worst.growth, bounds.growth);
    const double inverse =
        worst.inverse_L >= worst.inverse_U || std::isnan(worst.inverse_L) ? worst.inverse_L : worst.inverse_U;
    if (!(inverse <= bounds.inverse))
        return fmt::format("the estimate of an inverse factor reaches {:.3g}, and at most {:.3g} will do", inverse,
                           bounds.inverse);
    return "";
}

}  // namespace

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
    std::vector<Worst> found(row_blocks(n));
    for_row_blocks(be, n, [&](Index b, Index begin, Index end, int) {
        auto   pivot = std::ranges::lower_bound(pivots, begin);
        Worst& worst = found[b];
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
    Worst worst;
    for (const Worst& of_block : found) worst.add(of_block);
    round.why_not = why_not(worst, bounds);
    return round;
}

#define ILUX_INSTANTIATE(T) \
    template ReplayedRound<T> replay_round(Cpu&, const RoundSystem<T>&, std::span<const Index>, const RoundBounds&);
ILUX_MLILU_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux

#include "ilux/direct/factor/levels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <numeric>

#include "ilux/base/error.hpp"

namespace ilux {
namespace {

/// Up to which row of L(:,i), exclusive, the columns that read them have to wait for column i.
template <DependencyRule rule>
std::vector<Index> ends_of_hazards(const LuPattern& P)
{
    if (rule == DependencyRule::relaxed) return std::vector<Index>(P.n, P.n);
    std::vector<Index> last(P.n, -1);  // column of row i of U
    for (Index k = 0; k < P.n; ++k)
        for (Offset p = P.col_ptr[k]; p < P.diag[k]; ++p) last[P.row[p]] = k;
    return last;
}

/// Calls place(earliest level) for every column in order; the level it returns is the column's.
template <DependencyRule rule, class Place>
std::vector<Index> place_columns(const LuPattern& P, Place&& place)
{
    constexpr bool           exact = rule == DependencyRule::exact, hazards = rule != DependencyRule::left;
    const std::vector<Index> end = hazards ? ends_of_hazards<rule>(P) : std::vector<Index>();
    std::vector<Index> hazard(hazards ? P.n : 0);  // the first level at which what column t reads is written no more
    std::vector<Index> behind(P.n);                // the first at which L(:,i) may be applied; 0 where it is empty
    std::vector<Index> level_of(P.n);
    for (Index k = 0; k < P.n; ++k) {
        const bool reads = P.lower_count(k) > 0;
        Index      earliest = hazards && (reads || !exact) ? hazard[k] : 0;
        for (Offset p = P.col_ptr[k]; p < P.diag[k]; ++p) earliest = std::max(earliest, behind[P.row[p]]);
        const Index above = (level_of[k] = place(earliest)) + 1;
        if (!reads) continue;
        behind[k] = above;
        if (!hazards) continue;
        const Index end_k = end[k];
        for (Offset p = P.diag[k] + 1; p < P.col_ptr[k + 1] && P.row[p] < end_k; ++p)  // rows ascend
            hazard[P.row[p]] = std::max(hazard[P.row[p]], above);
    }
    return level_of;
}

template <class Place>
LuLevels levels_by(const LuPattern& P, DependencyRule rule, Place&& place)
{
    LuLevels result;
    switch (rule) {
        case DependencyRule::left:
            result.level_of = place_columns<DependencyRule::left>(P, place);
            break;
        case DependencyRule::exact:
            result.level_of = place_columns<DependencyRule::exact>(P, place);
            break;
        case DependencyRule::relaxed:
            result.level_of = place_columns<DependencyRule::relaxed>(P, place);
            break;
    }
    const Index depth = P.n == 0 ? 0 : std::ranges::max(result.level_of) + 1;
    result.level_ptr.assign(depth + 1, 0);
    for (const Index l : result.level_of) ++result.level_ptr[l + 1];
    std::partial_sum(result.level_ptr.begin(), result.level_ptr.end(), result.level_ptr.begin());
    result.column.resize(P.n);
    std::vector<Offset> next(result.level_ptr.begin(), result.level_ptr.end() - 1);
    for (Index k = 0; k < P.n; ++k) result.column[next[result.level_of[k]]++] = k;
    return result;
}

/// Where a search for longest chains may leave L(:,j): behind its first row s with U(j,s) ≠ 0. By closure the rows
/// after s are in L(:,s) too, so that the way over s is longer. Symmetric pruning [eisenstat_liu_92]; O(nnz).
std::vector<Offset> pruned_ends(const LuPattern& P)
{
    std::vector<Offset> end(P.col_ptr.begin() + 1, P.col_ptr.end()), at(P.n);
    for (Index j = 0; j < P.n; ++j) at[j] = P.diag[j] + 1;
    for (Index k = 0; k < P.n; ++k)
        for (Offset q = P.col_ptr[k]; q < P.diag[k]; ++q) {
            const Index j = P.row[q];
            while (at[j] < end[j] && P.row[at[j]] < k) ++at[j];
            if (at[j] < end[j] && P.row[at[j]] == k) end[j] = at[j] + 1;
        }
    return end;
}

/// The longest chain of updates inside column k: update i waits for update j where L(i,j) ≠ 0.
/// @param chain  n zeros, and zeros again afterwards
Index depth_inside(const LuPattern& P, Index k, const std::vector<Offset>& end, std::vector<Index>& chain)
{
    Index depth = 0;
    for (Offset q = P.col_ptr[k]; q < P.diag[k]; ++q) {
        const Index i = P.row[q];
        const Index length = chain[i] + 1;
        depth = std::max(depth, length);
        for (Offset p = P.diag[i] + 1; p < end[i] && P.row[p] < k; ++p)
            chain[P.row[p]] = std::max(chain[P.row[p]], length);
    }
    for (Offset q = P.col_ptr[k]; q < P.diag[k]; ++q) chain[P.row[q]] = 0;
    return depth;
}

}  // namespace

LuLevels lu_levels(const LuPattern& pattern, DependencyRule rule)
{
    return levels_by(pattern, rule, [](Index earliest) { return earliest; });
}

LuLevels resource_aware_levels(const LuPattern& pattern, DependencyRule rule, Index capacity)
{
    if (capacity < 1) throw InvalidOption(fmt::format("a level cannot hold {} columns; expected at least 1", capacity));
    std::vector<Index> used(pattern.n, 0), open(pattern.n + 1);
    std::iota(open.begin(), open.end(), 0);  // open[l] = l: level l has room; else one nearer to the next that has
    const auto first_open = [&open](Index l) {
        while (open[l] != l) l = open[l] = open[open[l]];
        return l;
    };
    return levels_by(pattern, rule, [&](Index earliest) {
        const Index l = first_open(earliest);
        if (++used[l] == capacity) open[l] = l + 1;
        return l;
    });
}

LuLevelStatistics level_statistics(const LuPattern& pattern, const LuLevels& levels, Index hub_updates)
{
    require(levels.level_of.size() == pattern.n,
            [&] { return fmt::format("levels of {} columns for a pattern of {}", levels.level_of.size(), pattern.n); });
    const std::vector<Offset> end = pruned_ends(pattern);
    std::vector<Index>        chain(pattern.n, 0);
    LuLevelStatistics         result;
    result.levels.resize(levels.depth());
    for (Index k = 0; k < pattern.n; ++k) {
        double multiply_adds = 0;
        for (Offset p = pattern.col_ptr[k]; p < pattern.diag[k]; ++p)
            multiply_adds += pattern.lower_count(pattern.row[p]);
        auto& level = result.levels[levels.level_of[k]];
        ++level.columns;
        level.updates += pattern.upper_count(k);
        level.multiply_adds += multiply_adds;
        if (const Index updates = pattern.upper_count(k); updates >= hub_updates)
            result.hubs.push_back({k, updates, depth_inside(pattern, k, end, chain), multiply_adds});
    }
    std::ranges::stable_sort(result.hubs, std::greater{}, &LuLevelStatistics::Hub::updates);
    return result;
}

}  // namespace ilux

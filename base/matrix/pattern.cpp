#include "ilux/base/matrix/pattern.hpp"

#include <algorithm>
#include <numeric>

namespace ilux {

std::optional<PatternDifference> first_difference(std::span<const Offset> ptr, std::span<const Index> idx,
                                                  std::span<const Offset> known_ptr, std::span<const Index> known_idx)
{
    if (std::ranges::equal(ptr, known_ptr) && std::ranges::equal(idx, known_idx)) return {};
    const auto same_ptr = std::ranges::mismatch(ptr, known_ptr).in2 - known_ptr.begin();
    // Entries of the lines that are as long in both: those before the first position that differs.
    const Offset aligned = same_ptr > 0 ? known_ptr[same_ptr - 1] : 0;
    const Offset common = std::min({aligned, static_cast<Offset>(idx.size()), static_cast<Offset>(known_idx.size())});
    const Offset p = std::ranges::mismatch(idx.first(common), known_idx.first(common)).in2 - known_idx.begin();
    if (p < common) {
        const auto line = std::ranges::upper_bound(known_ptr.first(same_ptr), p) - known_ptr.begin() - 1;
        return PatternDifference{static_cast<Index>(line), p};
    }
    return PatternDifference{static_cast<Index>(std::max<Offset>(0, same_ptr - 1))};
}

TransposedPattern transposed_pattern(std::span<const Offset> row_ptr, std::span<const Index> col, Index cols)
{
    TransposedPattern of;
    of.row_ptr.assign(static_cast<std::size_t>(cols) + 1, 0);
    of.col.resize(col.size());
    of.from.resize(col.size());
    for (const Index j : col) ++of.row_ptr[j + 1];
    std::partial_sum(of.row_ptr.begin(), of.row_ptr.end(), of.row_ptr.begin());
    std::vector<Offset> next(of.row_ptr.begin(), of.row_ptr.end() - 1);
    for (std::size_t i = 0; i + 1 < row_ptr.size(); ++i)
        for (Offset p = row_ptr[i]; p < row_ptr[i + 1]; ++p) {
            const Offset q = next[col[p]]++;
            of.col[q] = static_cast<Index>(i);
            of.from[q] = p;
        }
    return of;
}

}  // namespace ilux

#include "ilux/base/pattern.hpp"

#include <algorithm>

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

}  // namespace ilux

#pragma once
// A set of indices that is emptied in ascending order while it grows.

#include <bit>
#include <cstdint>
#include <vector>

#include "ilux/base/types.hpp"

namespace ilux {

/// Numbers below n, taken out in ascending order while larger ones than those taken are still put in. Three levels of
/// bits: taking all out costs O(members + n / 2¹⁸).
class AscendingSet {
public:
    explicit AscendingSet(Index n)
        : word_(static_cast<std::size_t>(n) / 64 + 1), group_(word_.size() / 64 + 1), top_(group_.size() / 64 + 1)
    {}

    void insert(Index i)
    {
        const auto w = static_cast<std::size_t>(i) / 64;
        if (word_[w] == 0) {
            group_[w / 64] |= bit(w);
            top_[w / 4096] |= bit(w / 64);
        }
        word_[w] |= bit(static_cast<std::size_t>(i));
    }

    /// visit(i) for every member, ascending; it may insert numbers above i. Leaves the set empty.
    /// Always inlined, so that arithmetic in `visit` is compiled for the processor that the caller is compiled for.
    template <class Visit>
    __attribute__((always_inline)) void drain(Visit&& visit)
    {
        for (std::size_t t = 0; t < top_.size(); ++t)
            for (; top_[t] != 0; top_[t] &= top_[t] - 1) {
                const auto g = t * 64 + std::countr_zero(top_[t]);
                for (; group_[g] != 0; group_[g] &= group_[g] - 1) {
                    const auto w = g * 64 + std::countr_zero(group_[g]);
                    for (auto left = word_[w]; left != 0;) {
                        const int b = std::countr_zero(left);
                        visit(static_cast<Index>(w * 64 + b));
                        left = word_[w] & (~std::uint64_t{1} << b);
                    }
                    word_[w] = 0;
                }
            }
    }

private:
    static std::uint64_t bit(std::size_t i) { return std::uint64_t{1} << (i % 64); }

    std::vector<std::uint64_t> word_, group_, top_;  // a bit each: a number; a word with members; a group with such
};

}  // namespace ilux

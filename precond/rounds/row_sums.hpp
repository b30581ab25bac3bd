#pragma once
// A row of a sparse product under construction, in a table no larger than the row needs: it stays in the cache,
// whatever the matrix.

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "ilux/base/types.hpp"

namespace ilux {

/// Sums of one row by column, in the order in which columns first came up.
template <class T>
class RowSums {
public:
    struct Entry {
        Index col;
        T     value;
    };

    RowSums() : slot_(std::size_t{1} << bits_) {}

    /// Empties it in O(1): a slot counts only while its stamp is the current one.
    void start()
    {
        entries_.clear();
        if (++stamp_ != 0) return;
        std::ranges::fill(slot_, Slot{});
        stamp_ = 1;
    }

    void add(Index col, T x)
    {
        for (std::uint32_t s = first_slot(col);; s = (s + 1) & mask()) {
            Slot& slot = slot_[s];
            if (slot.stamp != stamp_) {
                slot = {stamp_, static_cast<std::uint32_t>(entries_.size())};
                entries_.push_back({col, x});
                if (2 * entries_.size() > slot_.size()) grow();
                return;
            }
            if (Entry& entry = entries_[slot.place]; entry.col == col) {
                entry.value += x;
                return;
            }
        }
    }

    std::span<const Entry> entries() const { return entries_; }

    /// Takes out what goes and sorts the rest by column. Then only entries() may be asked until start().
    template <class Goes>
    void finish(Goes&& goes)
    {
        std::erase_if(entries_, goes);
        std::ranges::sort(entries_, {}, &Entry::col);
    }

private:
    struct Slot {
        std::uint32_t stamp = 0, place = 0;
    };

    std::uint32_t mask() const { return (std::uint32_t{1} << bits_) - 1; }
    std::uint32_t first_slot(Index col) const
    {
        return (static_cast<std::uint32_t>(col) * 0x9e3779b1U) >> (32 - bits_);
    }

    void grow()
    {
        ++bits_;
        slot_.assign(std::size_t{1} << bits_, Slot{});
        for (std::size_t k = 0; k < entries_.size(); ++k) {
            std::uint32_t s = first_slot(entries_[k].col);
            while (slot_[s].stamp == stamp_) s = (s + 1) & mask();
            slot_[s] = {stamp_, static_cast<std::uint32_t>(k)};
        }
    }

    int                bits_ = 7;
    std::uint32_t      stamp_ = 0;
    std::vector<Slot>  slot_;  // 2^bits_, at most half of them taken
    std::vector<Entry> entries_;
};

}  // namespace ilux

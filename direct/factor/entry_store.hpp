#pragma once
// Memory for columns that come one by one, nobody knows how long, and stay where they are.

#include <algorithm>
#include <cstddef>
#include <memory>
#include <vector>

#include "ilux/base/types.hpp"

namespace ilux::detail {

/// Rows and values in pieces that never move, so that other threads may read finished columns while more are added.
template <class S>
class EntryStore {
public:
    struct Place {
        Index* row;
        S*     val;
    };
    Place add(std::size_t entries)
    {
        if (entries > left_) {
            left_ = std::max(entries, piece);
            row_.push_back(std::make_unique_for_overwrite<Index[]>(left_));
            val_.push_back(std::make_unique_for_overwrite<S[]>(left_));
            next_ = {row_.back().get(), val_.back().get()};
        }
        const Place place = next_;
        next_.row += entries;
        next_.val += entries;
        left_ -= entries;
        return place;
    }

private:
    static constexpr std::size_t          piece = 1 << 14;
    std::vector<std::unique_ptr<Index[]>> row_;
    std::vector<std::unique_ptr<S[]>>     val_;
    Place                                 next_ = {};
    std::size_t                           left_ = 0;
};

}  // namespace ilux::detail

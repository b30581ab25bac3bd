#pragma once
// A stable sort by small keys, by tasks: entries by columns, values by fronts.

#include <omp.h>

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "ilux/base/tasks.hpp"
#include "ilux/base/types.hpp"
#include "ilux/base/unset_vector.hpp"

namespace ilux {

/// Items that come by lines, and where they go when they are put together by groups, those of a group in the order in
/// which they came. Each thread has a chunk of neighbouring lines and counts its items of each group, so that it knows
/// where they go: behind those of the chunks before.
template <class Items>
class Grouping {
public:
    /// Counts, by tasks of the team whose thread calls it. O(lines + items + threads · groups)
    /// @param items  items(begin, end, take) calls take(group, what...) for each item of these lines, the same in each
    /// call
    /// @param about  how many items there are; memory is 8 bytes a group, for further threads at most 16 · about
    Grouping(Index lines, Offset about, Index groups, Items items)
        : items_(std::move(items)), lines_(lines), groups_(groups), chunks_(chunks_for(about)), ptr_(groups_ + 1)
    {
        next_.resize(groups_ * static_cast<std::size_t>(chunks_));
        for_tasks(chunks_, [&](Index chunk) {
            Offset* const count = of(chunk);
            std::fill_n(count, groups_, Offset{0});
            items_(line(chunk), line(chunk + 1), [count](Index group, const auto&...) { ++count[group]; });
        });
        find_places();
    }

    /// groups + 1; where the items of each begin.
    std::vector<Offset> take_ptr() { return std::move(ptr_); }
    Offset              size() const { return size_; }

    /// Calls put(place, what...) for each item. Once.
    template <class Put>
    void place(const Put& put)
    {
        for_tasks(chunks_, [&](Index chunk) {
            Offset* const next = of(chunk);
            items_(line(chunk), line(chunk + 1),
                   [next, &put](Index group, const auto&... what) { put(next[group]++, what...); });
        });
    }

private:
    Index chunks_for(Offset about) const
    {
        constexpr Index  most = 16;
        constexpr Offset counts_an_item = 2;
        const Offset     room = 1 + counts_an_item * about / std::max<Offset>(1, static_cast<Offset>(groups_));
        return static_cast<Index>(std::min<Offset>(std::min<Index>(omp_get_num_threads(), most), room));
    }
    Offset* of(Index chunk) { return next_.data() + groups_ * static_cast<std::size_t>(chunk); }
    Index   line(Index chunk) const { return static_cast<Index>(Offset{lines_} * chunk / chunks_); }
    Index   group(Index part) const { return static_cast<Index>(static_cast<Offset>(groups_) * part / chunks_); }

    /// Counts become places: first those of parts of the groups.
    void find_places()
    {
        std::vector<Offset> before(static_cast<std::size_t>(chunks_) + 1, 0);
        for_tasks(chunks_, [&](Index part) {
            Offset count = 0;
            for (Index chunk = 0; chunk < chunks_; ++chunk)
                for (Index g = group(part); g < group(part + 1); ++g) count += of(chunk)[g];
            before[part + 1] = count;
        });
        for (Index part = 0; part < chunks_; ++part) before[part + 1] += before[part];
        for_tasks(chunks_, [&](Index part) {
            Offset at = before[part];
            for (Index g = group(part); g < group(part + 1); ++g) {
                ptr_[g] = at;
                for (Index chunk = 0; chunk < chunks_; ++chunk) at += std::exchange(of(chunk)[g], at);
            }
        });
        ptr_[groups_] = size_ = before.back();
    }

    Items                             items_;
    Index                             lines_;
    std::size_t                       groups_;
    Index                             chunks_;
    Offset                            size_ = 0;
    std::vector<Offset>               ptr_;
    UnsetVector<Offset, Pages::usual> next_;  // of each chunk and group, where its next item goes
};

}  // namespace ilux

#pragma once
// What children leave to their parent's front, added column by column.

#include <vector>

#include "ilux/base/types.hpp"

namespace ilux {

/// The dense numbers of a front with m rows, k of which are pivots.
template <class S>
struct FrontNumbers {
    Offset m, k;
    S *    L, *U, *left;  ///< by columns: m × k, k × (m − k), (m − k)²; left is not read where m = k
};

/// Rows of a child that follow one another in the parent's front, too: most lie in a few runs, which vectors add.
class FrontRuns {
public:
    /// @param place  ascending; of each row that the child leaves, its row in the parent's front
    void find(const Index* place, Index count, Index pivots);

    const Index* begin() const { return begin_.data(); }         ///< runs + 1; the last is count
    Index        among_pivots() const { return among_pivots_; }  ///< the first runs
    Index        runs() const { return static_cast<Index>(begin_.size()) - 1; }
    std::size_t  bytes() const { return begin_.capacity() * sizeof(Index); }

private:
    std::vector<Index> begin_;
    Index              among_pivots_ = 0;
};

/// Columns first … last − 1 of the front ← 0.
template <class S>
void clear_columns(const FrontNumbers<S>& front, Offset first, Offset last);

/// Adds columns from … to − 1 of what a child leaves.
/// @param runs  of all its rows
template <class S>
void add_columns(const FrontNumbers<S>& front, const FrontRuns& runs, const Index* place, Index count, const S* left,
                 Index from, Index to);

}  // namespace ilux

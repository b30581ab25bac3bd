#pragma once
// Part of a large matrix that looks like all of it.

#include <functional>
#include <vector>

#include "ilux/reorder/ordering.hpp"

namespace ilux {

/// Rows and columns of a part, as a pattern of its own.
struct PartPattern {
    std::vector<Index>  unknown;  ///< of A, ascending
    std::vector<Offset> row_ptr{0};
    std::vector<Index>  col;
    std::vector<Offset> source;  ///< position of each entry in A

    PatternView view() const { return {static_cast<Index>(unknown.size()), row_ptr, col}; }
};

/// Fills in the columns of a row that a search is to go on to.
using NextUnknowns = std::function<void(Index row, std::vector<Index>& next)>;

/// The unknowns that a breadth-first search of A meets first, without hubs.
class MatrixPart {
public:
    /// @param seed  where it begins  @param size  unknowns, fewer where A has no more that it reaches. O(size rows)
    /// @param next  where it goes on to from a row; empty: to all of its columns
    MatrixPart(const PatternView& A, Index seed, Index size, const NextUnknowns& next = {});

    Index size() const { return static_cast<Index>(met_.size()); }
    /// Steps from the seed to as many unknowns as were met first, at most size(); between two levels a fraction of one.
    double radius(Index first) const;
    /// @param first  so many of the unknowns
    PartPattern pattern(Index first) const;

private:
    PatternView        A_;
    std::vector<Index> met_;
    std::vector<Index> levels_;  // unknowns met up to each level
};

}  // namespace ilux

#pragma once
// Pivots that cause no fill because their row or column holds one other entry: taken before an ordering that looks at
// |C| + |Cᵀ| and so cannot see them.

#include <vector>

#include "ilux/reorder/ordering.hpp"

namespace ilux {

/// What remains when the pivots `eliminated` were taken, in that order. A pivot v whose row has one other entry (v, b)
/// moves the entries of column v to column b; one whose column has one other entry (b, v) moves row v to row b.
/// Branches of zero resistance, whose equation says v_a = v_b, make two such pivots.
struct Contraction {
    std::vector<Index>  eliminated;
    std::vector<Index>  vertex;   ///< the others, ascending
    std::vector<Offset> row_ptr;  ///< their pattern, numbered as in `vertex`
    std::vector<Index>  col;

    PatternView pattern() const { return {static_cast<Index>(vertex.size()), row_ptr, col}; }
};

/// In rounds until few such pivots are found; O(nnz) each, at most ten.
Contraction contract(const PatternView& C);

}  // namespace ilux

#pragma once
// Which entries become the diagonal, before any ordering.

#include <string>
#include <vector>

#include "ilux/direct/analysis/lu_input.hpp"

namespace ilux {

/// Which row stands on the diagonal of each column, and the scaling that goes with it.
struct LuDiagonal {
    std::vector<Index>  row_of_col;            ///< n; a permutation
    Index               rank = 0;              ///< structural rank
    bool                matched = false;       ///< by values
    std::vector<double> row_scale, col_scale;  ///< powers of two, or empty
};

/// The caller's diagonal where it is not 0, what augmenting paths find elsewhere, and entries of value 0 only where the
/// others do not reach the rank; or a maximum-product matching, where options.matching says so or, automatic, where one
/// of those diagonal entries is below options.pivot_tol of its column (rows scaled to a largest entry of 1).
/// What O(nnz) passes do is done by tasks, matching and augmenting by one thread.
/// @param stop  ends the call
/// @throws InvalidOption for a matching or its scaling without values
LuDiagonal choose_diagonal(const MergedRows& A, const LuOptions& options, std::vector<std::string>& decisions,
                           const StopToken& stop = {});

}  // namespace ilux

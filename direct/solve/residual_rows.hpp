#pragma once
// The rows of a system, cut into sums of about equal length, so that rows of 10⁵ entries cost no more than others.

#include <cstdint>
#include <vector>

#include "ilux/direct/analysis/lu_symbolic.hpp"
#include "ilux/direct/solve/lu_solve.hpp"

namespace ilux {

/// op(A) by rows. A short row is summed up by 2^log2_part lanes in at most `steps` steps; others are cut into pieces of
/// at most `piece_entries`, each for 32 lanes, and what has several pieces is a long row.
struct ResidualRows {
    static constexpr Offset steps = 8, piece_entries = 32 * steps;

    /// Entries first … first + count − 1 of row `row`; or, where row < 0, partial sum ~row of a long one.
    struct Piece {
        Offset first;
        Index  count, row;
    };

    std::vector<Offset>       ptr;     ///< n + 1
    std::vector<Index>        col;     ///< in the order of addition: by stored vectors
    std::vector<std::int32_t> source;  ///< position among the caller's values; empty: the identity
    int                       log2_part = 0;
    std::vector<Index>        short_row;  ///< ascending
    std::vector<Piece>        piece;
    std::vector<Index>        long_row;     ///< ascending
    std::vector<Index>        partial_ptr;  ///< long_row.size() + 1: the partial sums of each
};

/// O(n + nnz). @throws InvalidInput when 32 bits cannot count the caller's values
ResidualRows residual_rows(const LuSymbolic& symbolic, Transpose transpose);

}  // namespace ilux

#pragma once
// Compressed patterns compared and transposed.

#include <optional>
#include <span>
#include <vector>

#include "ilux/base/types.hpp"

namespace ilux {

/// Where two compressed patterns differ first.
struct PatternDifference {
    Index line =
        0;  ///< a row of compressed rows, a column of compressed columns; their number: idx is of another length
    Offset position = -1;  ///< in the index arrays, of entries that differ; −1: the line has other numbers of entries
};

/// @param ptr, idx              lines + 1 positions and their indices; they may be broken
/// @param known_ptr, known_idx  the same of a valid pattern of as many lines
/// @return nothing when they are equal, order within the lines included
/// O(lines + nnz)
std::optional<PatternDifference> first_difference(std::span<const Offset> ptr, std::span<const Index> idx,
                                                  std::span<const Offset> known_ptr, std::span<const Index> known_idx);

/// The pattern of Aᵀ by rows, and where the value of each of its entries stands among those of A.
struct TransposedPattern {
    std::vector<Offset> row_ptr;  ///< columns of A + 1
    std::vector<Index>  col;      ///< nnz, ascending within the rows
    std::vector<Offset> from;     ///< nnz
};
/// @param row_ptr, col  a valid pattern of rows  @param cols  that A has. O(rows + columns + nnz)
TransposedPattern transposed_pattern(std::span<const Offset> row_ptr, std::span<const Index> col, Index cols);

}  // namespace ilux

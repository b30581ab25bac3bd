#pragma once
// Transversals of maximum cardinality: as many entries as possible, no two in one row or column [hopcroft_karp_73].

#include <span>

#include "ilux/base/matrix/csr.hpp"
#include "ilux/base/stop_token.hpp"

namespace ilux {

/// Extends a transversal, by shortest augmenting paths, to the largest one among the entries p with cost[p] ≤ limit.
/// Rows and columns matched before stay matched, if differently. NaN costs are never taken.
/// @param cost          nnz
/// @param entry_of_row  rows; position in A of each row's matched entry, −1 when it has none
/// @param row_of_col    cols; the inverse: each column's row, −1 when it has none
/// @param stop    ends the call
/// Cost: O(√n nnz), a few times nnz typically; memory 24 n bytes.
void extend_transversal(const CsrView<double>& A, std::span<const double> cost, double limit,
                        std::span<Offset> entry_of_row, std::span<Index> row_of_col, const StopToken& stop = {});
/// Extends a transversal among the entries whose value is not 0, or among all of them where no values are given.
/// @param row_ptr  rows + 1; @param col  nnz; @param value  nnz or empty
void extend_transversal(std::span<const Offset> row_ptr, std::span<const Index> col, std::span<const double> value,
                        std::span<Offset> entry_of_row, std::span<Index> row_of_col, const StopToken& stop = {});

}  // namespace ilux

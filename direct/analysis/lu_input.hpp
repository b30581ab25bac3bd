#pragma once
// The caller's arrays, checked and by rows: what the analysis looks at.

#include <span>
#include <vector>

#include "ilux/direct/analysis/lu_symbolic.hpp"

namespace ilux {

/// Every entry of the caller by rows, as given: duplicates and their order kept.
struct RowEntries {
    std::span<const Offset> ptr;     ///< n + 1
    std::span<const Index>  col;     ///< nnz
    std::span<const Offset> source;  ///< nnz; position among the caller's values; empty: in order

    std::vector<Offset> own_ptr;  ///< memory of the above where the caller's arrays do not serve
    EntryArray<Index>   own_col;
    EntryArray<Offset>  own_source;
};

/// The caller's entries as a matrix: columns ascend strictly within a row, duplicates added.
struct MergedRows {
    std::span<const Offset> ptr;
    std::span<const Index>  col;
    std::span<const double> val;  ///< nnz, of complex ones |a_ij|; or empty: only the pattern is known

    std::vector<Offset> own_ptr;
    std::vector<Index>  own_col;
    std::vector<double> own_val;
};

// All but all_finite() by tasks.

/// @throws InvalidInput for lengths that disagree, a broken ptr, or an index outside the matrix, naming it
template <class S>
void require_pattern(const MatrixView<S>& A);
/// @throws InvalidInput for NaN or Inf, naming row and column
template <class S>
void require_finite_values(const MatrixView<S>& A);

/// Whether none of them is NaN or Inf. One pass without branches.
template <class S = double>
bool all_finite(std::span<const NotDeduced<S>> values);

/// O(nnz); copies nothing of compressed rows. The result looks at A, which must outlive it.
template <class S>
RowEntries by_rows(const MatrixView<S>& A);
/// O(nnz) for rows that ascend already; copies nothing then, unless values are complex. The result looks at `entries`
/// and A.
/// @throws InvalidInput when duplicates overflow
template <class S>
MergedRows merged(const MatrixView<S>& A, const RowEntries& entries);

}  // namespace ilux

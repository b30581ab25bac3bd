#pragma once
// From what a file holds to a CsrMatrix: entries in any order, columns, rows, or a dense array; for base/io alone.

#include <string_view>
#include <utility>
#include <vector>

#include "ilux/base/io/matrix_market_lines.hpp"

namespace ilux::detail {

/// Refuses a matrix of so many rows that almost all would be empty. @param bytes  that hold the entries
/// @throws InvalidInput "WHERE: …"
void require_cheap_rows(const MatrixMarketHeader& header, std::size_t bytes, std::string_view where);

/// What every reader asks before it takes memory of a header's sizes: sizes as an Index, require_cheap_rows(), and the
/// caller's ReadOptions::accept. @param header  rows, cols and entries are set from the other arguments
void accept_sizes(MatrixMarketHeader& header, Offset rows, Offset cols, Offset entries, std::size_t bytes,
                  std::string_view name, const ReadOptions& options);

/// The matrix of all entries, each with its mirror image where the header says so, duplicates summed. Entries are
/// released as soon as they have been taken, unless the order of the lines is wanted.
/// @param chunks  with places inside the matrix
template <Scalar T>
CsrMatrix<T> assemble(const MatrixMarketHeader& header, std::string_view name, const ReadOptions& options,
                      std::vector<Chunk<T>>& chunks);

/// Messages of these count entries, rows and columns from 1. @throws InvalidInput "NAME: entry …"
template <Scalar T>
void require_entry_of_file(const MatrixMarketHeader& header, std::string_view name, Offset p, Offset i, Offset j,
                           T value);
/// @param ptr  of `lines` rows or columns: 0, ascending, `entries` in the end
void require_pointers(std::string_view name, const std::vector<Offset>& ptr, Offset lines, Offset entries);

/// The matrix of compressed rows. Columns inside a row are in any order, duplicates are summed.
template <Scalar T>
CsrMatrix<T> from_rows(const MatrixMarketHeader& header, std::string_view name, std::vector<Offset> row_ptr,
                       std::vector<Index> col, std::vector<T> val);
/// The matrix of compressed columns by the same rules, mirrored where the header says so.
template <Scalar T>
CsrMatrix<T> from_columns(const MatrixMarketHeader& header, std::string_view name, const ReadOptions& options,
                          const std::vector<Offset>& col_ptr, const std::vector<Index>& row, const std::vector<T>& val);
/// The matrix of a list of entries by the same rules.
template <Scalar T>
CsrMatrix<T> from_list(const MatrixMarketHeader& header, std::string_view name, const ReadOptions& options,
                       const std::vector<Index>& row, const std::vector<Index>& col, const std::vector<T>& val);

/// The matrix of a dense array; zeros are not stored. @param by_rows  how the values follow one another
template <Scalar T>
CsrMatrix<T> from_dense(const MatrixMarketHeader& header, std::string_view name, bool by_rows,
                        const std::vector<T>& val);

}  // namespace ilux::detail

#pragma once
// Matrices and vectors from files of any kind that is read here; what a file is shows in its first bytes, not in its
// name. "-" is standard input, and gzip is undone for every kind.
//
// Read: Matrix Market (matrix_market.hpp); SciPy's .npz and NumPy's .npy; PETSc's binary files; Harwell-Boeing and
// Rutherford- Boeing; MATLAB's .mat. docs/files.md has what of each. For all of them: duplicates are summed in the
// file's order, zeros of dense arrays are not stored, NaN and Inf are refused, real values are read where complex ones
// are wanted, and complex ones are refused where real ones are. Every refusal is an InvalidInput that begins with the
// file's name.

#include <string>
#include <string_view>
#include <vector>

#include "ilux/base/matrix/any_matrix.hpp"
#include "ilux/base/io/matrix_market.hpp"

namespace ilux {

/// The matrix of a file. Memory is asked for only after the file has shown that it can hold what its header promises.
/// @throws InvalidInput (unreadable file, one that changes meanwhile, of no known kind, or anything above), OutOfMemory
template <Scalar T = double>
CsrMatrix<T> read_matrix(const std::string& path, const ReadOptions& options = {});
/// The matrix with the values that its file has.
/// @copydetails read_matrix
AnyMatrix read_any_matrix(const std::string& path, const ReadOptions& options = {});
/// Reads bytes in memory by the same rules, gzip undone; `name` stands for the file in messages.
AnyMatrix parse_any_matrix(std::string_view bytes, std::string_view name, const ReadOptions& options = {});

/// One column (counted from 0) of an n×k file. @throws InvalidInput as above, and unless 0 ≤ column < k
template <Scalar T = double>
std::vector<T> read_vector(const std::string& path, Index column = 0);

/// Whether a file name, .gz aside, ends as those of such files do: .mtx, .npz and so on.
bool names_matrix_file(std::string_view name);
/// @throws InvalidOption where `name` ends as a kind of file that write_solution() does not write
void require_solution_name(std::string_view name);
/// The name without that end and without .gz.
std::string_view without_file_ending(std::string_view name);

/// Writes k columns of n values each as the name says: a .npy file, else a Matrix Market array file, where the comment
/// stands.
/// @param X  one column after another  @throws InvalidInput when it cannot be written
template <Scalar T>
void write_solution(const FileTarget& file, Index n, std::span<const T> X, const std::string& comment);

}  // namespace ilux

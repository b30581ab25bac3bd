#pragma once
// Matrix Market files (.mtx, .mtx.gz, "-" for standard input). Format: [boisvert96], read as generously as is safe.
// matrix_file.hpp reads files of any kind.
//
// Read: coordinate and array; real, double, integer, complex, pattern (every value 1); general, symmetric,
// skew-symmetric and hermitian. Any letter case, LF, CRLF or CR line ends, blank lines and comments anywhere, leading
// blanks, 1.0D+3 and +5. Duplicates are summed in the file's order. A symmetric file stores one triangle: the lower by
// the standard, the upper accepted, both refused, since mirroring would double the values. Real values are read where
// complex ones are wanted; complex ones are refused where real ones are. Refused besides: NaN, Inf, indices outside the
// matrix, a diagonal entry ≠ 0 in a skew-symmetric file or one that is not real in a hermitian file, more or fewer
// entries than promised. Every refusal is an InvalidInput that reads "FILE:LINE: what was expected and found".

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ilux/base/enum_names.hpp"
#include "ilux/base/matrix/csr.hpp"
#include "ilux/base/io/atomic_file.hpp"
#include "ilux/base/stop_token.hpp"

namespace ilux {

/// The symmetry that a banner declares.
enum class Symmetry { general, symmetric, skew_symmetric, hermitian };
/// The symmetries as the files spell them.
constexpr auto names(Symmetry) { return words("general", "symmetric", "skew-symmetric", "hermitian"); }

/// The banner and the size line; of a file of another kind what its own header says.
struct MatrixMarketHeader {
    bool     array = false;    ///< dense, by columns; otherwise coordinate
    bool     pattern = false;  ///< no values stored
    bool     complex = false;  ///< two numbers a value
    Symmetry symmetry = Symmetry::general;
    Index    rows = 0, cols = 0;
    Offset   entries = 0;    ///< lines of data: for a symmetric matrix about half of nnz
    Offset   size_line = 0;  ///< where rows, cols and entries stand, counted from 1
};

/// A file as it was read.
template <Scalar T = double>
struct MatrixMarket {
    MatrixMarketHeader header;
    Offset duplicates = 0;  ///< entries that were added to an earlier one at the same place, mirrored ones included
    CsrMatrix<T> A;
    /// On request, of a coordinate file: the position in A of the entry of every line that holds one, in the order of
    /// the lines. Duplicates share one. Empty where it is 0, 1, 2, …
    std::vector<Offset> line_order;
};

/// Which object of a file that may hold several: a Matrix Market file has one alone.
enum class FilePart { matrix, right_sides };

/// How a file is read.
struct ReadOptions {
    int      threads = 0;         ///< as for Cpu; the result and any message are the same for every number of them
    bool     line_order = false;  ///< MatrixMarket::line_order is wanted
    FilePart part = FilePart::matrix;
    /// Shown the header before memory is asked for anything of its sizes. What it throws ends the reading.
    std::function<void(const MatrixMarketHeader&)> accept = {};
    StopToken                                      stop = {};
};

/// Memory is asked for only after the file has shown that it can hold what its header promises: about 16 bytes an
/// entry beside the text and the result. The zeros of an array file are not stored; those of a coordinate file are.
/// @throws InvalidInput (unreadable file, one that changes meanwhile, broken gzip data, anything above), OutOfMemory
template <Scalar T = double>
MatrixMarket<T> read_matrix_market(const std::string& path, const ReadOptions& options = {});
/// Reads a text in memory by the same rules; `name` stands for the file in messages.
template <Scalar T = double>
MatrixMarket<T> parse_matrix_market(std::string_view text, std::string_view name, const ReadOptions& options = {});

/// The matrix alone.
template <Scalar T = double>
CsrMatrix<T> parse_matrix(std::string_view text, std::string_view name, const ReadOptions& options = {});

/// How a matrix is written.
struct MatrixMarketStyle {
    std::string comment = "";  ///< any number of lines, written after the banner
    /// Other than general: one triangle of a matrix that has this symmetry.
    Symmetry symmetry = Symmetry::general;
};

/// Writes a coordinate file with the shortest digits that read back to the same doubles, as AtomicFile does: compressed
/// for a name in .gz, to standard output for "-", complete or not at all.
/// @throws InvalidInput when it cannot be written, or when A does not have exactly the symmetry of the style
template <Scalar T>
void write_matrix(const FileTarget& file, const CsrView<T>& A, const MatrixMarketStyle& style = {});
/// Writes an n×1 array file. NaN and Inf are written as such, though our reader refuses them.
void write_vector(const FileTarget& file, std::span<const double> x, const MatrixMarketStyle& style = {});
void write_vector(const FileTarget& file, std::span<const std::complex<double>> x, const MatrixMarketStyle& style = {});
/// Writes an n×k array file. @param X  k columns of n, one after another
template <Scalar T>
void write_columns(const FileTarget& file, Index n, std::span<const T> X, const MatrixMarketStyle& style = {});
/// What write_matrix puts into the file.
template <Scalar T>
std::string matrix_text(const CsrView<T>& A, const MatrixMarketStyle& style = {});

}  // namespace ilux

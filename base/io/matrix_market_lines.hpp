#pragma once
// The data lines of a Matrix Market file, a chunk of whole lines at a time; for base/io alone.

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "ilux/base/io/matrix_market.hpp"

namespace ilux::detail {

/// What is wrong with a line; whoever knows the line's number adds it.
class BadLine : public std::runtime_error {
    using std::runtime_error::runtime_error;
};

inline bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f'; }

inline const char* skip_blanks(const char* p, const char* end)
{
    while (p != end && is_blank(*p)) ++p;
    return p;
}

/// First character after the blank-separated word that begins at p.
const char* word_end(const char* p, const char* end);
/// First '\n' from p on, or end.
const char* line_end(const char* p, const char* end);
/// The word at p in quotes, shortened, what cannot be printed as \xNN; or "the end of the line".
std::string quoted_word(const char* p, const char* end);

template <Scalar T>
struct Entry {
    Index i, j;  ///< counted from 0
    T     value;
};

/// Whole lines of data and what they hold.
template <Scalar T>
struct Chunk {
    std::string_view      text;
    std::vector<Entry<T>> entries;     ///< of an array file only the values; their places follow from the order
    Offset                lines = 0;   ///< line ends passed
    Offset                above = -1;  ///< first line with an entry above the diagonal, counted from 0 within the chunk
    Offset                below = -1;
    std::string           error;  ///< why line `lines` of the chunk is refused; empty when it is not
};

/// Reads all lines of the chunk, or as far as the first that is refused. Only std::bad_alloc and what the token throws
/// pass through.
template <Scalar T>
void parse_lines(const MatrixMarketHeader& header, const StopToken& stop, Chunk<T>& chunk);
/// @throws BadLine where an entry on the diagonal contradicts the symmetry
template <Scalar T>
void require_diagonal(const MatrixMarketHeader& header, const Entry<T>& entry);
/// The line, counted from 0 within these, that holds entry k of them.
Offset line_of_entry(std::string_view lines, Offset k);

}  // namespace ilux::detail

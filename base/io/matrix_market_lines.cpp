#include "ilux/base/io/matrix_market_lines.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "ilux/base/instances.hpp"
#include "ilux/base/io/decimal.hpp"

namespace ilux::detail {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Reads an index in 1..limit. @return the first character after it
const char* parse_index(const char* p, const char* end, Index limit, const char* what, Index& index)
{
    p = skip_blanks(p, end);
    const char* digits = p != end && *p == '+' ? p + 1 : p;
    const char* first = digits;
    while (first != end && *first == '0') ++first;
    const char*   q = first;
    std::uint64_t value = 0;
    for (; q != end && is_digit(*q); ++q) value = 10 * value + static_cast<unsigned>(*q - '0');
    const bool whole = q != digits && (q == end || *q == '\n' || is_blank(*q));
    if (!whole || value < 1 || value > static_cast<std::uint64_t>(limit) || q - first > 18)
        throw BadLine(fmt::format("expected a {} index from 1 to {}, found {}", what, limit, quoted_word(p, end)));
    index = static_cast<Index>(value - 1);
    return q;
}

/// 1.0D+3, as Fortran writes it: read with E for D.
double parse_fortran(const char* p, const char* end)
{
    std::string word(p, end);
    std::ranges::replace_if(
        word, [](char c) { return c == 'd' || c == 'D'; }, 'e');
    double value = 0;
    return parse_decimal(word.data(), word.data() + word.size(), value) == word.data() + word.size() ? value : NAN;
}

/// Reads a finite number. @return the first character after it
const char* parse_value(const char* p, const char* end, double& value)
{
    p = skip_blanks(p, end);
    const char* first = p != end && *p == '+' && p + 1 != end && p[1] != '-' ? p + 1 : p;
    const char* q = parse_decimal(first, end, value);
    bool        whole = q && (q == end || *q == '\n' || is_blank(*q));
    if (q && !whole && (*q == 'd' || *q == 'D')) {
        q = word_end(q, end);
        value = parse_fortran(first, q);
        whole = !std::isnan(value);
    }
    if (!whole) throw BadLine(fmt::format("expected a number, found {}", quoted_word(p, end)));
    if (!std::isfinite(value)) throw BadLine(fmt::format("expected a finite number, found {}", quoted_word(p, end)));
    return q;
}

/// One number, or two where the file's values are complex.
template <Scalar T>
const char* parse_value_of(const MatrixMarketHeader& header, const char* p, const char* end, T& value)
{
    real_of<T> real = 0;
    p = parse_value(p, end, real);
    value = real;
    if constexpr (is_complex<T>)
        if (header.complex) {
            real_of<T> imaginary = 0;
            p = parse_value(p, end, imaginary);
            value = {real, imaginary};
            if (!is_finite(value))
                throw BadLine(fmt::format("{}{:+}i is too large: its size overflows", real, imaginary));
        }
    return p;
}

template <bool array, bool pattern, Scalar T>
void parse_entries(const MatrixMarketHeader& header, const StopToken& stop, Chunk<T>& chunk)
{
    Steps       line_passed(stop);
    const char* p = chunk.text.data();
    const char* end = p + chunk.text.size();
    const bool  triangular = header.symmetry != Symmetry::general;
    for (;;) {
        p = skip_blanks(p, end);
        if (p == end) return;
        if (*p == '%') p = line_end(p, end);
        if (p != end && *p != '\n') {
            Entry<T> entry{0, 0, 1};
            if constexpr (!array) {
                p = parse_index(p, end, header.rows, "row", entry.i);
                p = parse_index(p, end, header.cols, "column", entry.j);
            }
            if constexpr (!pattern) p = parse_value_of(header, p, end, entry.value);
            p = skip_blanks(p, end);
            if (p != end && *p != '\n')
                throw BadLine(fmt::format("expected the end of the line, found {}", quoted_word(p, end)));
            if (!array && triangular) {
                if (entry.i > entry.j && chunk.below < 0) chunk.below = chunk.lines;
                if (entry.i < entry.j && chunk.above < 0) chunk.above = chunk.lines;
                if (entry.i == entry.j) require_diagonal(header, entry);
            }
            chunk.entries.push_back(entry);
        }
        if (p == end) return;
        ++p;
        ++chunk.lines;
        line_passed();
    }
}

}  // namespace

const char* word_end(const char* p, const char* end)
{
    while (p != end && *p != '\n' && !is_blank(*p)) ++p;
    return p;
}

const char* line_end(const char* p, const char* end)
{
    const void* found = p == end ? nullptr : std::memchr(p, '\n', static_cast<std::size_t>(end - p));
    return found == nullptr ? end : static_cast<const char*>(found);
}

std::string quoted_word(const char* p, const char* end)
{
    constexpr std::ptrdiff_t longest = 40;
    if (p == end || *p == '\n') return "the end of the line";
    const char* q = word_end(p, end);
    std::string text = "'";
    for (const char* c = p; c != std::min(q, p + std::min(longest, q - p)); ++c)
        text += *c > ' ' && *c <= '~' ? std::string(1, *c) : fmt::format("\\x{:02x}", static_cast<unsigned char>(*c));
    return text + (q - p > longest ? "...'" : "'");
}

template <Scalar T>
void require_diagonal(const MatrixMarketHeader& header, const Entry<T>& entry)
{
    if (header.symmetry == Symmetry::skew_symmetric && entry.value != T{})
        throw BadLine(
            fmt::format("expected 0 on the diagonal of a skew-symmetric matrix, found {} at row {} (counted from 1)",
                        real_part(entry.value) != 0 ? real_part(entry.value) : imaginary_part(entry.value),
                        Offset{entry.i} + 1));
    if (header.symmetry == Symmetry::hermitian && imaginary_part(entry.value) != 0)
        throw BadLine(fmt::format(
            "expected a real number on the diagonal of a hermitian matrix, found the imaginary part {} at row {} "
            "(counted from 1)",
            imaginary_part(entry.value), Offset{entry.i} + 1));
}

template <Scalar T>
void parse_lines(const MatrixMarketHeader& header, const StopToken& stop, Chunk<T>& chunk)
{
    try {
        if (header.array) parse_entries<true, false>(header, stop, chunk);
        else if (header.pattern) parse_entries<false, true>(header, stop, chunk);
        else parse_entries<false, false>(header, stop, chunk);
    } catch (const BadLine& bad) {
        chunk.error = bad.what();
    }
}

Offset line_of_entry(std::string_view lines, Offset k)
{
    const char* p = lines.data();
    const char* end = p + lines.size();
    for (Offset line = 0;; ++line) {
        p = skip_blanks(p, end);
        if (p == end) return line;
        if (*p != '\n' && *p != '%' && k-- == 0) return line;
        p = line_end(p, end);
        if (p == end) return line;
        ++p;
    }
}

#define ILUX_INSTANTIATE(T)                                                            \
    template void parse_lines(const MatrixMarketHeader&, const StopToken&, Chunk<T>&); \
    template void require_diagonal(const MatrixMarketHeader&, const Entry<T>&);
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux::detail

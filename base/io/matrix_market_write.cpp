#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <functional>

#include "ilux/base/error.hpp"
#include "ilux/base/instances.hpp"
#include "ilux/base/io/atomic_file.hpp"
#include "ilux/base/io/matrix_market.hpp"

namespace ilux {
namespace {

constexpr std::size_t batch = std::size_t{1} << 18;  // bytes gathered before they go to the file

template <class Number>
void append(std::string& text, Number value)
{
    char digits[32];
    const auto [end, error] = std::to_chars(digits, digits + sizeof digits, value);
    ILUX_ASSERT(error == std::errc{});
    text.append(digits, end);
}

/// The comment, a '%' before each of its lines.
void append_comment(std::string& text, std::string_view comment)
{
    while (!comment.empty()) {
        const auto length = comment.find_first_of("\r\n");
        text += "% ";
        text += comment.substr(0, length);
        text += '\n';
        comment.remove_prefix(length == std::string_view::npos ? comment.size() : length + 1);
    }
}

template <Scalar T>
void append_value(std::string& text, T value)
{
    append(text, real_part(value));
    if constexpr (is_complex<T>) {
        text += ' ';
        append(text, imaginary_part(value));
    }
}

template <Scalar T>
constexpr std::string_view field = is_complex<T> ? "complex" : "real";

/// Whether a triangle and the symmetry describe A.
template <Scalar T>
bool has(const CsrView<T>& A, Symmetry symmetry)
{
    switch (symmetry) {
        case Symmetry::general:
            return true;
        case Symmetry::symmetric:
            return is_symmetric(A);
        case Symmetry::hermitian:
            return is_hermitian(A);
        case Symmetry::skew_symmetric:
            break;
    }
    const auto At = transpose(A);
    return A.rows() == A.cols() && std::ranges::equal(A.row_ptr(), At.row_ptr()) &&
           std::ranges::equal(A.col(), At.col()) && std::ranges::equal(A.val(), At.val(), {}, {}, std::negate<>{});
}

/// Hands the file's text to `put` in pieces.
template <Scalar T, class Put>
void emit_matrix(const CsrView<T>& A, const MatrixMarketStyle& style, Put&& put)
{
    require(has(A, style.symmetry), [&] {
        return fmt::format("this {} x {} matrix is not {}, so its lower triangle does not describe it", A.rows(),
                           A.cols(), name(style.symmetry));
    });
    // rows end before this column
    const auto end_of = [&](Index i) {
        switch (style.symmetry) {
            case Symmetry::general:
                return A.cols();
            case Symmetry::skew_symmetric:
                return i;
            default:
                return i + 1;
        }
    };
    Offset entries = 0;
    for (Index i = 0; i < A.rows(); ++i)
        for (Offset p = A.row_ptr()[i]; p < A.row_ptr()[i + 1]; ++p) entries += A.col()[p] < end_of(i);

    std::string text = fmt::format("%%MatrixMarket matrix coordinate {} {}\n", field<T>, name(style.symmetry));
    append_comment(text, style.comment);
    text += fmt::format("{} {} {}\n", A.rows(), A.cols(), entries);
    for (Index i = 0; i < A.rows(); ++i)
        for (Offset p = A.row_ptr()[i]; p < A.row_ptr()[i + 1] && A.col()[p] < end_of(i); ++p) {
            append(text, Offset{i} + 1);
            text += ' ';
            append(text, Offset{A.col()[p]} + 1);
            text += ' ';
            append_value(text, A.val()[p]);
            text += '\n';
            if (text.size() >= batch) {
                put(text);
                text.clear();
            }
        }
    put(text);
}

}  // namespace

template <Scalar T>
void write_matrix(const FileTarget& target, const CsrView<T>& A, const MatrixMarketStyle& style)
{
    AtomicFile file(target);
    emit_matrix(A, style, [&](std::string_view text) { file.write(text); });
    file.commit();
}

template <Scalar T>
std::string matrix_text(const CsrView<T>& A, const MatrixMarketStyle& style)
{
    std::string all;
    emit_matrix(A, style, [&](std::string_view text) { all += text; });
    return all;
}

template <Scalar T>
void write_columns(const FileTarget& target, Index n, std::span<const T> X, const MatrixMarketStyle& style)
{
    const std::size_t columns = n > 0 ? X.size() / static_cast<std::size_t>(n) : 1;
    require(columns * static_cast<std::size_t>(n) == X.size(),
            [&] { return fmt::format("{} values are no columns of {}", X.size(), n); });
    AtomicFile  file(target);
    std::string text = fmt::format("%%MatrixMarket matrix array {} general\n", field<T>);
    append_comment(text, style.comment);
    text += fmt::format("{} {}\n", n, columns);
    for (T value : X) {
        append_value(text, value);
        text += '\n';
        if (text.size() >= batch) {
            file.write(text);
            text.clear();
        }
    }
    file.write(text);
    file.commit();
}

void write_vector(const FileTarget& target, std::span<const double> x, const MatrixMarketStyle& style)
{
    write_columns(target, static_cast<Index>(x.size()), x, style);
}

void write_vector(const FileTarget& target, std::span<const std::complex<double>> x, const MatrixMarketStyle& style)
{
    write_columns(target, static_cast<Index>(x.size()), x, style);
}

#define ILUX_INSTANTIATE(T)                                                                            \
    template void        write_matrix(const FileTarget&, const CsrView<T>&, const MatrixMarketStyle&); \
    template std::string matrix_text(const CsrView<T>&, const MatrixMarketStyle&);                     \
    template void        write_columns(const FileTarget&, Index, std::span<const T>, const MatrixMarketStyle&);
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux

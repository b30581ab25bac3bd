#include <fmt/core.h>

#include <charconv>

#include "ilux/base/error.hpp"
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

/// Hands the file's text to `put` in pieces.
template <class Put>
void emit_matrix(const CsrView<double>& A, const MatrixMarketStyle& style, Put&& put)
{
    require(!style.symmetric || is_symmetric(A), [&] {
        return fmt::format("this {} x {} matrix is not symmetric, so its lower triangle does not describe it", A.rows(),
                           A.cols());
    });
    Offset entries = 0;
    for (Index i = 0; i < A.rows(); ++i)
        for (Offset p = A.row_ptr()[i]; p < A.row_ptr()[i + 1]; ++p) entries += !style.symmetric || A.col()[p] <= i;

    std::string text =
        fmt::format("%%MatrixMarket matrix coordinate real {}\n", style.symmetric ? "symmetric" : "general");
    append_comment(text, style.comment);
    text += fmt::format("{} {} {}\n", A.rows(), A.cols(), entries);
    for (Index i = 0; i < A.rows(); ++i)
        for (Offset p = A.row_ptr()[i]; p < A.row_ptr()[i + 1]; ++p) {
            if (style.symmetric && A.col()[p] > i) break;
            append(text, Offset{i} + 1);
            text += ' ';
            append(text, Offset{A.col()[p]} + 1);
            text += ' ';
            append(text, A.val()[p]);
            text += '\n';
            if (text.size() >= batch) {
                put(text);
                text.clear();
            }
        }
    put(text);
}

}  // namespace

void write_matrix(const FileTarget& target, const CsrView<double>& A, const MatrixMarketStyle& style)
{
    AtomicFile file(target);
    emit_matrix(A, style, [&](std::string_view text) { file.write(text); });
    file.commit();
}

std::string matrix_text(const CsrView<double>& A, const MatrixMarketStyle& style)
{
    std::string all;
    emit_matrix(A, style, [&](std::string_view text) { all += text; });
    return all;
}

void write_vector(const FileTarget& target, std::span<const double> x, const MatrixMarketStyle& style)
{
    AtomicFile  file(target);
    std::string text = "%%MatrixMarket matrix array real general\n";
    append_comment(text, style.comment);
    text += fmt::format("{} 1\n", x.size());
    for (double value : x) {
        append(text, value);
        text += '\n';
        if (text.size() >= batch) {
            file.write(text);
            text.clear();
        }
    }
    file.write(text);
    file.commit();
}

}  // namespace ilux

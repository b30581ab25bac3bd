#pragma once
// The banner and the size line of a Matrix Market file, and its parser for a file in memory; for base/io alone.

#include <string_view>

#include "ilux/base/io/matrix_market_lines.hpp"
#include "ilux/base/io/text_file.hpp"

namespace ilux::detail {

/// @throws InvalidInput "NAME:LINE: WHY"
[[noreturn]] void refuse(std::string_view name, Offset line, std::string_view why);

inline constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";

/// Lines of the text one after another, blanks at the front skipped.
class Lines {
public:
    explicit Lines(std::string_view text) : p_(text.data()), end_(text.data() + text.size()) {}

    const char* end() const { return end_; }
    const char* here() const { return p_; }
    Offset      number() const { return number_; }  ///< of the line at hand, counted from 1

    void             skip_blanks() { p_ = detail::skip_blanks(p_, end_); }
    bool             at_line_end() const { return p_ == end_ || *p_ == '\n'; }
    bool             at_text_end() const { return p_ == end_; }
    std::string_view take_word()
    {
        skip_blanks();
        const char* first = p_;
        p_ = word_end(p_, end_);
        return {first, static_cast<std::size_t>(p_ - first)};
    }
    void next_line()
    {
        p_ = line_end(p_, end_);
        if (p_ == end_) return;
        ++p_;
        ++number_;
    }
    /// To the first word of the first line that is neither blank nor a comment.
    void to_data()
    {
        for (;;) {
            skip_blanks();
            if (at_text_end() || (*p_ != '\n' && *p_ != '%')) return;
            next_line();
        }
    }

private:
    const char* p_;
    const char* end_;
    Offset      number_ = 1;
};

/// Both, of a text that begins with them; `lines` stands at the first line of data then.
/// @param complex  whether complex values may come
MatrixMarketHeader parse_header(Lines& lines, std::string_view name, bool complex);
/// Whether the banner says `complex`; false where it is none.
bool says_complex(std::string_view text);
/// Parses as parse_matrix_market() does, and releases the file's text as soon as it is read.
template <Scalar T>
MatrixMarket<T> parse_matrix_market(TextFile& file, std::string_view name, const ReadOptions& options);

}  // namespace ilux::detail

#include "ilux/base/io/fortran_format.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <string>

#include "ilux/base/io/decimal.hpp"
#include "ilux/base/io/matrix_market_lines.hpp"
#include "ilux/base/io/printable.hpp"

namespace ilux::detail {
namespace {

constexpr std::size_t longest_line = 4096;

/// Reads a format from left to right; columns are counted as it goes.
class FormatReader {
public:
    explicit FormatReader(std::string_view text)
    {
        for (const char c : text)
            if (c != ' ' && c != '\t') text_ += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
        if (text_.empty() || text_[0] != '(') fail();
    }
    std::vector<FortranField> read()
    {
        ++at_;
        group(0);
        if (at_ != text_.size() || fields_.empty()) fail();
        return std::move(fields_);
    }

private:
    [[noreturn]] void fail() const
    {
        throw BadLine(fmt::format("expected a format as (5E16.8), found '{}'", printable(text_.substr(0, 40))));
    }
    char next() const { return at_ < text_.size() ? text_[at_] : '\0'; }
    /// A count, or `otherwise` where there is none.
    int count(int otherwise)
    {
        int value = otherwise;
        const auto [stop, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
        if (error == std::errc::result_out_of_range || value > static_cast<int>(longest_line)) fail();
        if (error == std::errc{}) at_ = static_cast<std::size_t>(stop - text_.data());
        return value;
    }
    /// What stands between parentheses, the closing one too.
    void group(int depth)
    {
        if (depth > 4) fail();
        for (;;) {
            item(depth);
            if (next() == ',') ++at_;
            else if (next() == ')') break;
            // a scale may stand before an item without a comma: 1P5E16.8
            else if (text_[at_ - 1] != 'P') fail();
        }
        ++at_;
    }
    void item(int depth)
    {
        const int  repeat = count(1);
        const char what = next();
        if (what == '\0') fail();
        ++at_;
        if (what == 'P') {
            scale_ = repeat;
        } else if (repeat < 1) fail();
        else if (what == 'X') column_ += static_cast<std::size_t>(repeat);
        else if (what == '(') {
            const std::size_t begin = at_;
            for (int k = 0; k < repeat; ++k) {
                at_ = begin;
                group(depth + 1);
            }
        } else field(what, repeat);
        if (column_ > longest_line) fail();
    }
    void field(char what, int repeat)
    {
        if (std::string_view("IEDFG").find(what) == std::string_view::npos) fail();
        if (what == 'E' && (next() == 'S' || next() == 'N')) ++at_;
        const int width = count(0);
        int       decimals = 0;
        if (next() == '.') {
            ++at_;
            decimals = count(0);
        }
        if (next() == 'E') {  // digits of the exponent: of writing alone
            ++at_;
            count(0);
        }
        if (width < 1 || decimals < 0 || repeat * width > static_cast<int>(longest_line)) fail();
        for (int k = 0; k < repeat && column_ <= longest_line; ++k) {
            fields_.push_back(
                {column_, static_cast<std::size_t>(width), what == 'I' ? 0 : decimals, scale_, what == 'I'});
            column_ += static_cast<std::size_t>(width);
        }
    }

    std::string               text_;
    std::size_t               at_ = 0, column_ = 0;
    int                       scale_ = 0;
    std::vector<FortranField> fields_;
};

bool is_sign(char c) { return c == '+' || c == '-'; }

[[noreturn]] void throw_no_number(std::string_view text, std::string_view what = "a number")
{
    throw BadLine(fmt::format("expected {}, found {}", what,
                              text.empty() ? "blanks" : "'" + printable(text.substr(0, 40)) + "'"));
}

/// With an e before the exponent, which D+03, +103 or nothing but a scale may stand for.
std::string with_exponent(std::string_view text, int scale)
{
    std::string plain(text);
    std::ranges::replace_if(
        plain, [](char c) { return c == 'D' || c == 'd' || c == 'E' || c == 'Q' || c == 'q'; }, 'e');
    if (plain.find('e') != std::string::npos) return plain;
    const auto sign = std::find_if(plain.begin() + 1, plain.end(), is_sign);
    if (sign != plain.end()) plain.insert(sign, 'e');
    else if (scale != 0) plain += fmt::format("e{}", -scale);
    return plain;
}

}  // namespace

std::vector<FortranField> parse_fortran_format(std::string_view text) { return FormatReader(text).read(); }

double parse_fortran_number(std::string_view text, const FortranField& field)
{
    std::string_view digits = text;
    if (digits.starts_with('+')) digits.remove_prefix(1);
    if (digits.empty() || (text[0] == '+' && is_sign(digits[0]))) throw_no_number(text);
    double     value = 0;
    const auto read = [&](std::string_view from) {
        return parse_decimal(from.data(), from.data() + from.size(), value) == from.data() + from.size();
    };
    if (field.scale != 0 || !read(digits))
        if (!read(with_exponent(digits, field.scale))) throw_no_number(text);
    if (!std::isfinite(value)) throw_no_number(text, "a finite number");
    if (field.decimals > 0 && value != 0 && digits.find('.') == std::string_view::npos)
        throw_no_number(text, "a number with the decimal point that its format promises");
    return value;
}

}  // namespace ilux::detail

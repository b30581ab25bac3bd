#include "ilux/base/io/matrix_market_header.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <limits>

#include "ilux/base/error.hpp"

namespace ilux::detail {
namespace {

constexpr std::string_view banner_form =
    "'%%MatrixMarket matrix coordinate|array real|complex|integer|pattern general|symmetric|skew-symmetric|hermitian'";

std::string lower_case(std::string_view text)
{
    std::string lower(text);
    for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return lower;
}

constexpr auto symmetries = names(Symmetry{});

/// %%MatrixMarket matrix coordinate real general
void parse_banner(Lines& lines, std::string_view name, bool complex, MatrixMarketHeader& header)
{
    lines.skip_blanks();
    if (lines.at_text_end()) refuse(name, lines.number(), fmt::format("the file is empty; expected {}", banner_form));
    std::array<std::string, 5> words;
    for (auto& word : words) {
        lines.skip_blanks();
        const auto found = quoted_word(lines.here(), lines.end());
        word = lower_case(lines.take_word());
        const auto wants = [&](bool holds, std::string_view expected) {
            if (!holds) refuse(name, lines.number(), fmt::format("expected {}, found {}", expected, found));
        };
        switch (&word - words.data()) {
            case 0:
                wants(word == "%%matrixmarket", banner_form);
                break;
            case 1:
                wants(word == "matrix", "'matrix', the only object read");
                break;
            case 2:
                wants(word == "coordinate" || word == "array", "'coordinate' or 'array'");
                break;
            case 3:
                wants(complex || word != "complex", "real values: complex ones are not read here");
                wants(word == "real" || word == "double" || word == "complex" || word == "integer" || word == "pattern",
                      "'real', 'complex', 'integer' or 'pattern'");
                break;
            case 4:
                wants(std::ranges::find(symmetries, word) != symmetries.end(),
                      "'general', 'symmetric', 'skew-symmetric' or 'hermitian'");
                break;
        }
    }
    lines.skip_blanks();
    if (!lines.at_line_end())
        refuse(name, lines.number(),
               fmt::format("expected the end of the line, found {}", quoted_word(lines.here(), lines.end())));
    header.array = words[2] == "array";
    header.pattern = words[3] == "pattern";
    header.complex = words[3] == "complex";
    header.symmetry = static_cast<Symmetry>(std::ranges::find(symmetries, words[4]) - symmetries.begin());
    if (header.array && header.pattern)
        refuse(name, lines.number(), "an array has values for every place, so it cannot be 'pattern'");
    if (header.pattern && header.symmetry == Symmetry::skew_symmetric)
        refuse(name, lines.number(), "a pattern has no signs, so it cannot be 'skew-symmetric'");
    lines.next_line();
}

/// A count of the size line, at most `limit`.
Offset parse_count(Lines& lines, std::string_view name, std::string_view what, Offset limit)
{
    lines.skip_blanks();
    const auto found = quoted_word(lines.here(), lines.end());
    auto       word = lines.take_word();
    if (word.starts_with('+')) word.remove_prefix(1);
    if (word.empty() || !std::ranges::all_of(word, [](unsigned char c) { return std::isdigit(c) != 0; }))
        refuse(name, lines.number(), fmt::format("expected the number of {}, found {}", what, found));
    word.remove_prefix(std::min(word.find_first_not_of('0'), word.size()));
    Offset count = 0;
    if (word.size() <= 18)
        for (char c : word) count = 10 * count + (c - '0');
    if (word.size() > 18 || count > limit)
        refuse(name, lines.number(), fmt::format("expected at most {} {}, found {}", limit, what, found));
    return count;
}

/// Values an array file stores.
Offset array_entries(const MatrixMarketHeader& header)
{
    const Offset n = header.rows;
    if (header.symmetry == Symmetry::general) return n * header.cols;
    return header.symmetry == Symmetry::skew_symmetric ? n * (n - 1) / 2 : n * (n + 1) / 2;
}

void parse_size_line(Lines& lines, std::string_view name, MatrixMarketHeader& header)
{
    constexpr Offset largest = std::numeric_limits<Index>::max();
    lines.to_data();
    if (lines.at_text_end()) refuse(name, lines.number(), "the file ends before its size line");
    header.size_line = lines.number();
    header.rows = static_cast<Index>(parse_count(lines, name, "rows", largest));
    header.cols = static_cast<Index>(parse_count(lines, name, "columns", largest));
    header.entries =
        header.array ? array_entries(header) : parse_count(lines, name, "entries", std::numeric_limits<Offset>::max());
    lines.skip_blanks();
    if (!lines.at_line_end())
        refuse(name, lines.number(),
               fmt::format("expected the end of the line, found {}", quoted_word(lines.here(), lines.end())));
    if (header.symmetry != Symmetry::general && header.rows != header.cols)
        refuse(name, lines.number(),
               fmt::format("a {} matrix is square, this one is {} x {}", ilux::name(header.symmetry), header.rows,
                           header.cols));
    lines.next_line();
}

}  // namespace

void refuse(std::string_view name, Offset line, std::string_view why)
{
    throw InvalidInput(fmt::format("{}:{}: {}", name, line, why));
}

MatrixMarketHeader parse_header(Lines& lines, std::string_view name, bool complex)
{
    MatrixMarketHeader header;
    parse_banner(lines, name, complex, header);
    parse_size_line(lines, name, header);
    return header;
}

bool says_complex(std::string_view text)
{
    if (text.starts_with(byte_order_mark)) text.remove_prefix(byte_order_mark.size());
    Lines       lines(text);
    std::string word;
    for (int k = 0; k < 4; ++k) {
        lines.skip_blanks();
        word = lower_case(lines.take_word());
    }
    return word == "complex";
}

}  // namespace ilux::detail

// Harwell-Boeing and Rutherford-Boeing files: compressed columns in fields of fixed width. Formats:
// [duff_grimes_lewis_89], [duff_grimes_lewis_97]. The second differs from the first in its head alone, as far as it
// concerns assembled matrices.

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <limits>

#include "ilux/base/error.hpp"
#include "ilux/base/io/assemble.hpp"
#include "ilux/base/io/file_formats.hpp"
#include "ilux/base/io/fortran_format.hpp"
#include "ilux/base/io/matrix_market_header.hpp"
#include "ilux/base/io/printable.hpp"
#include "ilux/base/io/raw_bytes.hpp"

namespace ilux::detail {
namespace {

std::string_view without_blanks(std::string_view text)
{
    while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
    while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
    return text;
}

/// The lines of a file, one at a time.
class CardReader {
public:
    explicit CardReader(std::string_view text) : rest_(text) {}
    bool             at_end() const { return rest_.empty(); }
    Offset           number() const { return number_; }  ///< of the line taken last, counted from 1
    std::size_t      bytes_left() const { return rest_.size(); }
    bool             ended() const { return ended_; }  ///< the line taken last, by a line end
    std::string_view take()
    {
        const auto             end = rest_.find('\n');
        const std::string_view line = rest_.substr(0, end);
        ended_ = end != std::string_view::npos;
        rest_ = ended_ ? rest_.substr(end + 1) : std::string_view{};
        ++number_;
        return line;
    }

private:
    std::string_view rest_;
    Offset           number_ = 0;
    bool             ended_ = true;
};

/// The whole numbers of a line, as far as there are any.
std::vector<Offset> numbers_in(std::string_view line)
{
    std::vector<Offset> all;
    const char *        p = line.data(), *end = p + line.size();
    for (;;) {
        p = skip_blanks(p, end);
        Offset value = 0;
        const auto [stop, error] = std::from_chars(p, end, value);
        if (error != std::errc{} || (stop != end && !is_blank(*stop))) return all;
        all.push_back(value);
        p = stop;
    }
}

/// "RUA" and the like, in capitals; "" where the line does not begin with one.
std::string type_in(std::string_view line)
{
    std::string type(line.substr(0, 3));
    for (char& c : type) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    const auto one_of = [&](std::size_t k, std::string_view those) {
        return type.size() == 3 && those.find(type[k]) != std::string_view::npos;
    };
    if (line.size() < 4 || !is_blank(line[3])) return "";
    return one_of(0, "RCPIQ") && one_of(1, "SUHZR") && one_of(2, "AE") ? type : "";
}

struct BoeingHead {
    std::string                     type;
    Offset                          rows = 0, cols = 0, entries = 0;
    Offset                          size_line = 0;
    std::array<std::string_view, 4> formats;  ///< of pointers, indices, values, right-hand sides
    bool                            has_sides = false;
    std::string                     sides_type;
    Offset                          sides = 0;

    bool pattern() const { return type[0] == 'P'; }
    bool complex() const { return type[0] == 'C'; }
};

/// The texts between outer parentheses, these included.
std::array<std::string_view, 4> formats_in(std::string_view line)
{
    std::array<std::string_view, 4> all;
    std::size_t                     begin = 0, found = 0;
    for (std::size_t p = 0, depth = 0; p < line.size() && found < all.size(); ++p) {
        if (line[p] == '(' && depth++ == 0) begin = p;
        if (line[p] == ')' && depth > 0 && --depth == 0) all[found++] = line.substr(begin, p + 1 - begin);
    }
    return all;
}

/// What this reader does not take, in words.
void require_known(const BoeingHead& head, std::string_view name)
{
    if (head.type[2] == 'E')
        refuse(name, head.size_line,
               fmt::format("type {}: finite-element matrices, not assembled; assembled ones (..A) are read",
                           head.type));
    if (head.type[0] == 'Q')
        refuse(name, head.size_line,
               fmt::format("type {}: its values are in another file, which is not read", head.type));
    if (head.type[1] != 'U' && head.type[1] != 'R' && head.rows != head.cols)
        refuse(name, head.size_line,
               fmt::format("type {}: a symmetric matrix is square, this one is {} x {}", head.type, head.rows,
                           head.cols));
}

BoeingHead take_head(CardReader& cards, std::string_view name)
{
    BoeingHead head;
    cards.take();  // title and key
    const auto counts = numbers_in(cards.take());
    const auto line = cards.take();
    head.type = type_in(line);
    head.size_line = cards.number();
    const auto sizes = numbers_in(line.substr(std::min<std::size_t>(3, line.size())));
    if (head.type.empty() || sizes.size() < 3)
        refuse(name, head.size_line, "expected a type as RUA, and the numbers of rows, columns and entries");
    head.rows = sizes[0];
    head.cols = sizes[1];
    head.entries = sizes[2];
    require_known(head, name);
    head.formats = formats_in(cards.take());
    if (head.formats[1].empty() || (head.formats[2].empty() && !head.pattern()))
        refuse(name, cards.number(), "expected formats as (13I6) (16I5) (5E16.8)");
    head.has_sides = counts.size() >= 5 && counts[4] > 0;
    if (!head.has_sides) return head;
    const auto sides_line = cards.take();
    head.sides_type = std::string(without_blanks(sides_line.substr(0, 3)));
    const auto more = numbers_in(sides_line.substr(std::min<std::size_t>(3, sides_line.size())));
    if (head.sides_type.empty() || more.empty() || more[0] < 0)
        refuse(name, cards.number(), "expected the type of the right-hand sides, such as F, and their number");
    head.sides = more[0];
    return head;
}

/// One section of numbers, which begins a line of its own. A line with as many words as fields is read by words,
/// whatever their columns are: SciPy 1.17 writes E25.16 for fields of 24. Of lines that keep to their format it makes
/// no other numbers.
class Section {
public:
    Section(CardReader& cards, std::string_view name, std::string_view format, const StopToken& stop)
        : cards_(cards), name_(name), passed_(stop)
    {
        try {
            fields_ = parse_fortran_format(format);
        } catch (const BadLine& bad) {
            refuse(name, 4, bad.what());
        }
        next_ = fields_.size();
    }
    /// How many numbers are to come. Refuses what the rest of the file cannot hold: each number takes a byte.
    void expect(Offset count, std::string_view what)
    {
        left_ = count;
        if (!(count >= 0 && static_cast<std::size_t>(count) <= cards_.bytes_left()))
            refuse(name_, cards_.number(),
                   fmt::format("the head promises {} {}, but only {} bytes follow: is the file truncated?", count, what,
                               cards_.bytes_left()));
    }
    void skip(Offset count)
    {
        const Offset each = std::ssize(fields_);
        for (Offset lines = (count + each - 1) / each; lines > 0 && !cards_.at_end(); --lines) cards_.take();
    }
    Offset whole()
    {
        const std::string_view text = next();
        Offset                 value = 0;
        const std::size_t      sign = text.starts_with('+') ? 1 : 0;
        const auto [stop, error] = std::from_chars(text.data() + sign, text.data() + text.size(), value);
        if (error != std::errc{} || stop != text.data() + text.size()) bad(text, "a whole number");
        return value;
    }
    double number()
    {
        const std::string_view text = next();
        try {
            return parse_fortran_number(text, fields_[next_ - 1]);
        } catch (const BadLine& why) {
            refuse(name_, cards_.number(), why.what());
        }
    }
    template <Scalar T>
    T value()
    {
        const double real = number();
        if constexpr (is_complex<T>) return {real, number()};
        else return real;
    }
    [[noreturn]] void bad(std::string_view text, std::string_view expected) const
    {
        refuse(name_, cards_.number(),
               fmt::format("expected {}, found {}", expected,
                           text.empty() ? "blanks" : "'" + printable(text.substr(0, 40)) + "'"));
    }

private:
    std::string_view next()
    {
        passed_();
        if (next_ == fields_.size()) {
            if (cards_.at_end()) refuse(name_, cards_.number(), "the file ends within its numbers: is it truncated?");
            take_line();
        }
        --left_;
        const FortranField& field = fields_[next_++];
        if (!cards_.ended() && line_.size() < field.begin + field.width)  // 1E-1 may have been 1E-15
            refuse(name_, cards_.number(),
                   "the file ends within a number, or its last line wants an end: is it truncated?");
        if (by_words_) return words_[next_ - 1];
        return field.begin < line_.size() ? without_blanks(line_.substr(field.begin, field.width)) : std::string_view{};
    }

    void take_line()
    {
        line_ = cards_.take();
        next_ = 0;
        words_.clear();
        const char *p = line_.data(), *end = p + line_.size();
        for (p = skip_blanks(p, end); p != end; p = skip_blanks(p, end)) {
            const char* word = p;
            p = word_end(p, end);
            words_.emplace_back(word, static_cast<std::size_t>(p - word));
        }
        by_words_ = std::ssize(words_) == std::min<Offset>(left_, std::ssize(fields_));
    }

    CardReader&                   cards_;
    std::string_view              name_;
    Steps                         passed_;
    std::vector<FortranField>     fields_;
    std::size_t                   next_ = 0;
    Offset                        left_ = 0;
    std::string_view              line_;
    std::vector<std::string_view> words_;
    bool                          by_words_ = false;
};

Symmetry symmetry_of(const BoeingHead& head)
{
    switch (head.type[1]) {
        case 'S':
            return Symmetry::symmetric;
        case 'Z':
            return Symmetry::skew_symmetric;
        case 'H':
            return Symmetry::hermitian;
        default:
            return Symmetry::general;
    }
}

/// One triangle alone, and a diagonal that goes with the symmetry.
template <Scalar T>
void require_triangle(const MatrixMarketHeader& header, std::string_view name, const std::vector<Offset>& col_ptr,
                      const std::vector<Index>& row, const std::vector<T>& val)
{
    bool above = false, below = false;
    for (Index j = 0; j < header.cols; ++j)
        for (Offset p = col_ptr[j]; p < col_ptr[j + 1]; ++p) {
            above = above || row[p] < j;
            below = below || row[p] > j;
            if (row[p] == j) try {
                    require_diagonal(header, Entry<T>{row[p], j, val[p]});
                } catch (const BadLine& bad) {
                    throw InvalidInput(fmt::format("{}: {}", name, bad.what()));
                }
        }
    require(!above || !below, [&] {
        return fmt::format("{}: entries above and below the diagonal: a {} file stores one triangle only", name,
                           ilux::name(header.symmetry));
    });
}

template <Scalar T>
CsrMatrix<T> take_matrix(CardReader& cards, const BoeingHead& head, const MatrixMarketHeader& header,
                         std::string_view name, const ReadOptions& options)
{
    Section pointers(cards, name, head.formats[0], options.stop);
    pointers.expect(head.cols + 1, "column pointers");
    std::vector<Offset> col_ptr;
    col_ptr.reserve(static_cast<std::size_t>(head.cols) + 1);
    for (Offset j = 0; j <= head.cols; ++j) col_ptr.push_back(pointers.whole() - 1);
    Section indices(cards, name, head.formats[1], options.stop);
    indices.expect(head.entries, "entries");
    require_pointers(name, col_ptr, head.cols, head.entries);
    std::vector<Index> row;
    row.reserve(static_cast<std::size_t>(head.entries));
    for (Offset p = 0; p < head.entries; ++p) {
        const Offset i = indices.whole();
        if (i < 1 || i > head.rows) indices.bad(fmt::format("{}", i), fmt::format("a row from 1 to {}", head.rows));
        row.push_back(static_cast<Index>(i - 1));
    }
    std::vector<T> val(row.size(), T{1});
    if (!head.pattern()) {
        Section values(cards, name, head.formats[2], options.stop);
        values.expect(head.entries * (is_complex<T> ? 2 : 1), "values");
        for (T& one : val) one = values.value<T>();
    }
    if (header.symmetry != Symmetry::general) {
        for (Offset p = 0; p < head.entries; ++p)  // before a value is mirrored
            require_entry_of_file(header, name, p, row[p], 0, val[p]);
        require_triangle(header, name, col_ptr, row, val);
    }
    return from_columns(header, name, options, col_ptr, row, val);
}

template <Scalar T>
CsrMatrix<T> take_sides(CardReader& cards, const BoeingHead& head, const MatrixMarketHeader& header,
                        std::string_view name, const ReadOptions& options)
{
    Section(cards, name, head.formats[0], options.stop).skip(head.cols + 1);
    Section(cards, name, head.formats[1], options.stop).skip(head.entries);
    if (!head.pattern())
        Section(cards, name, head.formats[2], options.stop).skip(head.entries * (head.complex() ? 2 : 1));
    Section sides(cards, name, head.formats[3], options.stop);
    sides.expect(header.entries * (is_complex<T> ? 2 : 1), "values of right-hand sides");
    std::vector<T> all(static_cast<std::size_t>(header.entries));
    for (T& one : all) one = sides.value<T>();
    return from_dense(header, name, false, all);
}

/// The sides themselves; guesses and solutions, which may follow, are not read.
void require_full_sides(const BoeingHead& head, std::string_view name)
{
    require(head.has_sides && head.sides > 0,
            [&] { return fmt::format("{}: a Harwell-Boeing file without right-hand sides", name); });
    if (std::toupper(static_cast<unsigned char>(head.sides_type[0])) != 'F')
        refuse(name, 5,
               fmt::format("right-hand sides of type {}: sparse or not assembled; full ones (F) are read",
                           printable(head.sides_type)));
    if (head.formats[3].empty()) refuse(name, 4, "the format of the right-hand sides is missing");
}

}  // namespace

bool is_harwell_boeing(std::string_view bytes)
{
    CardReader cards(bytes);
    cards.take();
    if (numbers_in(cards.take()).size() < 3) return false;
    const auto line = cards.take();
    return !type_in(line).empty() && numbers_in(line.substr(3)).size() >= 3;
}

AnyMatrix parse_harwell_boeing(std::string_view bytes, std::string_view name, const ReadOptions& options)
{
    CardReader       cards(bytes);
    const BoeingHead head = take_head(cards, name);
    const bool       sides = options.part == FilePart::right_sides;
    if (sides) require_full_sides(head, name);
    MatrixMarketHeader header{.array = sides,
                              .pattern = head.pattern() && !sides,
                              .complex = head.complex(),
                              .symmetry = sides ? Symmetry::general : symmetry_of(head)};
    header.size_line = head.size_line;
    // Right-hand sides have the type of the matrix, and a pattern real ones.
    constexpr Offset largest = std::numeric_limits<Index>::max();
    const bool       small = std::max({head.rows, head.cols, head.sides}) <= largest &&
                       std::min({head.rows, head.cols, head.entries}) >= 0 && fits(head.entries, 1, bytes.size()) &&
                       (!sides || fits(head.rows * head.sides, 1, bytes.size()));
    if (!small)
        refuse(
            name, head.size_line,
            fmt::format(
                "the head promises {} x {} with {} entries and {} right-hand sides, but only {} bytes follow: is the file "
                "truncated?",
                head.rows, head.cols, head.entries, head.sides, cards.bytes_left()));
    accept_sizes(header, head.rows, sides ? head.sides : head.cols, sides ? head.rows * head.sides : head.entries,
                 bytes.size(), name, options);
    const auto taken = [&]<Scalar T>(T) -> AnyMatrix {
        return sides ? take_sides<T>(cards, head, header, name, options)
                     : take_matrix<T>(cards, head, header, name, options);
    };
    return header.complex ? taken(std::complex<double>{}) : taken(double{});
}

}  // namespace ilux::detail

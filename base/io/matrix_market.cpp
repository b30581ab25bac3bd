#include "ilux/base/io/matrix_market.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <limits>
#include <numeric>
#include <optional>

#include "ilux/base/cpu.hpp"
#include "ilux/base/error.hpp"
#include "ilux/base/io/matrix_market_lines.hpp"
#include "ilux/base/io/text_file.hpp"
#include "ilux/base/region_failure.hpp"

namespace ilux {
namespace {

using namespace detail;

constexpr std::size_t chunk_bytes = std::size_t{1} << 18;  // less is not worth a thread
constexpr int         chunks_per_thread = 4;               // evens out lines of unequal cost and busy cores
constexpr Index       cheap_rows = Index{1} << 26;  // 512 MiB of row_ptr: a sparse right-hand side may be mostly empty

constexpr std::string_view banner_form =
    "'%%MatrixMarket matrix coordinate|array real|integer|pattern general|symmetric|skew-symmetric|hermitian'";

[[noreturn]] void refuse(std::string_view name, Offset line, std::string_view why)
{
    throw InvalidInput(fmt::format("{}:{}: {}", name, line, why));
}

std::string lower_case(std::string_view text)
{
    std::string lower(text);
    for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return lower;
}

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

/// %%MatrixMarket matrix coordinate real general
void parse_banner(Lines& lines, std::string_view name, MatrixMarketHeader& header)
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
                wants(word != "complex", "real values: complex matrices are not supported yet");
                wants(word == "real" || word == "double" || word == "integer" || word == "pattern",
                      "'real', 'integer' or 'pattern'");
                break;
            case 4:
                wants(std::ranges::find(names(Symmetry{}), word) != names(Symmetry{}).end(),
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
    header.symmetry = static_cast<Symmetry>(std::ranges::find(names(Symmetry{}), words[4]) - names(Symmetry{}).begin());
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

/// Refuses what the bytes that follow cannot hold, before memory is asked for it.
void require_plausible(const MatrixMarketHeader& header, std::size_t bytes, std::string_view name)
{
    const Offset shortest = header.array ? 2 : header.pattern ? 4 : 6;  // "0\n", "1 1\n", "1 1 0\n"
    const auto   have = static_cast<Offset>(bytes) + 1;                 // the last line end may be missing
    if (header.entries > have / shortest)
        refuse(name, header.size_line,
               fmt::format("the header promises {} entries, but only {} bytes follow: is the file truncated?",
                           header.entries, bytes));
    if (header.rows > cheap_rows && header.rows > have)
        refuse(name, header.size_line,
               fmt::format("the header promises {} rows, but only {} bytes follow: almost all rows would be empty",
                           header.rows, bytes));
}

std::vector<Chunk> split(std::string_view text, int threads)
{
    const std::size_t  most = static_cast<std::size_t>(threads) * chunks_per_thread;
    const std::size_t  count = threads == 1 ? 1 : std::clamp<std::size_t>(text.size() / chunk_bytes, 1, most);
    std::vector<Chunk> chunks;
    std::size_t        begin = 0;
    for (std::size_t c = 0; c < count && begin < text.size(); ++c) {
        std::size_t end = c + 1 == count ? text.size() : std::max(begin, text.size() / count * (c + 1));
        end = std::min(text.find('\n', end), text.size() - 1) + 1;
        chunks.push_back({.text = text.substr(begin, end - begin), .entries = {}, .error = {}});
        begin = end;
    }
    return chunks;
}

void parse_chunks(const MatrixMarketHeader& header, std::size_t bytes, const ReadOptions& options, int threads,
                  std::vector<Chunk>& chunks)
{
    const double  entries_per_byte = 1.02 * static_cast<double>(header.entries) / static_cast<double>(bytes);
    RegionFailure failure;
#pragma omp parallel for schedule(dynamic, 1) num_threads(Cpu(threads).team(chunks.size() > 1))
    for (std::size_t c = 0; c < chunks.size(); ++c)
        failure.run([&] {
            if (failure.met()) return;
            chunks[c].entries.reserve(
                static_cast<std::size_t>(entries_per_byte * static_cast<double>(chunks[c].text.size())) + 1);
            parse_lines(header, options.stop, chunks[c]);
        });
    failure.rethrow();
}

/// The whole-file rules: no refused line, as many entries as promised, one triangle of a symmetric matrix.
void check_chunks(const MatrixMarketHeader& header, Offset first_line, const std::vector<Chunk>& chunks,
                  std::string_view name)
{
    Offset                line = first_line, entries = 0;
    std::optional<Offset> extra, above, below;
    for (const Chunk& chunk : chunks) {
        if (!chunk.error.empty()) refuse(name, line + chunk.lines, chunk.error);
        const auto here = static_cast<Offset>(chunk.entries.size());
        if (!extra && entries + here > header.entries) extra = line + line_of_entry(chunk, header.entries - entries);
        if (!above && chunk.above >= 0) above = line + chunk.above;
        if (!below && chunk.below >= 0) below = line + chunk.below;
        entries += here;
        line += chunk.lines;
    }
    if (entries < header.entries)
        refuse(name, line,
               fmt::format("the file ends after {} entries; line {} promises {}", entries, header.size_line,
                           header.entries));
    if (extra)
        refuse(name, *extra,
               fmt::format("expected the end of the file after {} entries (line {}), found another; there are {}",
                           header.entries, header.size_line, entries));
    if (above && below)
        refuse(name, std::max(*above, *below),
               fmt::format("an entry {} the diagonal, but line {} has one {}: a {} file stores one triangle only",
                           *above > *below ? "above" : "below", std::min(*above, *below),
                           *above > *below ? "below" : "above", ilux::name(header.symmetry)));
}

/// Gives the values of an array file, which come by columns, their places; drops zeros.
void place_array_values(const MatrixMarketHeader& header, std::vector<Chunk>& chunks)
{
    const auto first_row = [&](Index j) {
        return header.symmetry == Symmetry::general ? 0 : header.symmetry == Symmetry::skew_symmetric ? j + 1 : j;
    };
    Index i = first_row(0), j = 0;
    for (Chunk& chunk : chunks) {
        for (Entry& entry : chunk.entries) {
            entry.i = i;
            entry.j = j;
            if (++i == header.rows) i = first_row(++j);
        }
        std::erase_if(chunk.entries, [](const Entry& entry) { return entry.value == 0; });
    }
}

/// The entries are released as soon as they have been taken, unless the order of the lines is wanted.
CsrMatrix<double> assemble(const MatrixMarketHeader& header, const ReadOptions& options, std::vector<Chunk>& chunks)
{
    Steps               entry_passed(options.stop);
    const bool          mirror = header.symmetry != Symmetry::general;
    const double        sign = header.symmetry == Symmetry::skew_symmetric ? -1 : 1;
    std::vector<Offset> row_ptr(static_cast<std::size_t>(header.rows) + 1, 0);
    for (const Chunk& chunk : chunks)
        for (const Entry& entry : chunk.entries) {
            ++row_ptr[entry.i + 1];
            if (mirror && entry.i != entry.j) ++row_ptr[entry.j + 1];
            entry_passed();
        }
    std::partial_sum(row_ptr.begin(), row_ptr.end(), row_ptr.begin());
    std::vector<Index>  col(row_ptr.back());
    std::vector<double> val(row_ptr.back());
    const auto          put = [&](Index i, Index j, double value) {
        const Offset p = row_ptr[i]++;  // ends where row i + 1 begins
        col[p] = j;
        val[p] = value;
    };
    for (Chunk& chunk : chunks) {
        for (const Entry& entry : chunk.entries) {
            put(entry.i, entry.j, entry.value);
            if (mirror && entry.i != entry.j) put(entry.j, entry.i, sign * entry.value);
            entry_passed();
        }
        if (!options.line_order) chunk.entries = {};
    }
    std::shift_right(row_ptr.begin(), row_ptr.end(), 1);
    row_ptr.front() = 0;
    return CsrMatrix<double>::from_arrays(header.rows, header.cols, std::move(row_ptr), std::move(col), std::move(val));
}

/// Position in A of every entry, in the order of the lines; empty where that is 0, 1, 2, …
std::vector<Offset> order_of_lines(const std::vector<Chunk>& chunks, const CsrView<double>& A, const StopToken& stop)
{
    Steps               entry_passed(stop);
    std::vector<Offset> order;
    bool                the_same = true;
    for (const Chunk& chunk : chunks)
        for (const Entry& entry : chunk.entries) {
            const auto row = A.col().subspan(A.row_ptr()[entry.i], A.row_ptr()[entry.i + 1] - A.row_ptr()[entry.i]);
            order.push_back(A.row_ptr()[entry.i] + (std::ranges::lower_bound(row, entry.j) - row.begin()));
            the_same = the_same && order.back() + 1 == std::ssize(order);
            entry_passed();
        }
    return the_same ? std::vector<Offset>{} : order;
}

/// Files of old Macintosh programs end their lines with CR alone.
bool has_cr_lines(std::string_view text)
{
    return text.find('\n') == std::string_view::npos && text.find('\r') != std::string_view::npos;
}

/// `storage`, when given, holds the text and is released as soon as it has been read.
MatrixMarket parse(std::string_view text, std::string_view name, const ReadOptions& options, TextFile* storage)
{
    const int    threads = Cpu(options.threads).threads();
    MatrixMarket file;
    if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);  // a byte order mark
    Lines lines(text);
    parse_banner(lines, name, file.header);
    parse_size_line(lines, name, file.header);
    const std::string_view body(lines.here(), static_cast<std::size_t>(lines.end() - lines.here()));
    require_plausible(file.header, body.size(), name);
    if (options.accept) options.accept(file.header);

    auto chunks = split(body, threads);
    parse_chunks(file.header, body.size(), options, threads, chunks);
    check_chunks(file.header, lines.number(), chunks, name);
    if (storage != nullptr) storage->release();
    if (file.header.array) place_array_values(file.header, chunks);

    Offset expanded = 0;
    for (const Chunk& chunk : chunks)
        for (const Entry& entry : chunk.entries)
            expanded += file.header.symmetry != Symmetry::general && entry.i != entry.j ? 2 : 1;
    try {
        file.A = assemble(file.header, options, chunks);
    } catch (const InvalidInput& why) {
        throw InvalidInput(fmt::format("{}: {}", name, why.what()));
    }
    file.duplicates = expanded - file.A.nnz();
    if (options.line_order && !file.header.array) file.line_order = order_of_lines(chunks, file.A, options.stop);
    return file;
}

MatrixMarket parse_or_report_memory(std::string_view text, std::string_view name, const ReadOptions& options,
                                    TextFile* storage)
{
    const std::size_t bytes = text.size();
    try {
        if (!has_cr_lines(text)) return parse(text, name, options, storage);
        std::string lf_lines(text);
        std::ranges::replace(lf_lines, '\r', '\n');
        return parse(lf_lines, name, options, storage);
    } catch (const std::bad_alloc&) {
        throw OutOfMemory(fmt::format("no memory to read {} ({} bytes of text)", name, bytes));
    }
}

}  // namespace

MatrixMarket parse_matrix_market(std::string_view text, std::string_view name, const ReadOptions& options)
{
    return parse_or_report_memory(text, name, options, nullptr);
}

MatrixMarket read_matrix_market(const std::string& path, const ReadOptions& options)
{
    try {
        TextFile file(path, options.stop);
        return parse_or_report_memory(file.view(), path == "-" ? "standard input" : path, options, &file);
    } catch (const std::bad_alloc&) {
        throw OutOfMemory("no memory to read " + path);
    }
}

CsrMatrix<double> read_matrix(const std::string& path, const ReadOptions& options)
{
    return read_matrix_market(path, options).A;
}

CsrMatrix<double> parse_matrix(std::string_view text, std::string_view name, const ReadOptions& options)
{
    return parse_matrix_market(text, name, options).A;
}

std::vector<double> read_vector(const std::string& path, Index column)
{
    const auto A = read_matrix(path);
    require(column >= 0 && column < A.cols(), [&] {
        return fmt::format("{} holds {} columns; column {} (counted from 0) was asked for", path, A.cols(), column);
    });
    std::vector<double> x(A.rows());
    for (Index i = 0; i < A.rows(); ++i) x[i] = A.at(i, column);
    return x;
}

}  // namespace ilux

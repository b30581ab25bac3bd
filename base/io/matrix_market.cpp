#include "ilux/base/io/matrix_market.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <optional>

#include "ilux/base/cpu.hpp"
#include "ilux/base/error.hpp"
#include "ilux/base/instances.hpp"
#include "ilux/base/io/assemble.hpp"
#include "ilux/base/io/matrix_market_header.hpp"
#include "ilux/base/io/matrix_market_lines.hpp"
#include "ilux/base/io/text_file.hpp"
#include "ilux/base/region_failure.hpp"

namespace ilux {
namespace {

using namespace detail;

constexpr std::size_t chunk_bytes = std::size_t{1} << 18;  // less is not worth a thread
constexpr int         chunks_per_thread = 4;               // evens out lines of unequal cost and busy cores

/// Refuses what the bytes that follow cannot hold, before memory is asked for it.
void require_plausible(const MatrixMarketHeader& header, std::size_t bytes, std::string_view name)
{
    // "0\n", "1 1\n", "1 1 0\n", and "0 " more where values are complex
    const Offset shortest = (header.array ? 2 : header.pattern ? 4 : 6) + (header.complex ? 2 : 0);
    const auto   have = static_cast<Offset>(bytes) + 1;  // the last line end may be missing
    if (header.entries > have / shortest)
        refuse(name, header.size_line,
               fmt::format("the header promises {} entries, but only {} bytes follow: is the file truncated?",
                           header.entries, bytes));
    require_cheap_rows(header, bytes, fmt::format("{}:{}", name, header.size_line));
}

template <Scalar T>
std::vector<Chunk<T>> split(std::string_view text, int threads)
{
    const std::size_t     most = static_cast<std::size_t>(threads) * chunks_per_thread;
    const std::size_t     count = threads == 1 ? 1 : std::clamp<std::size_t>(text.size() / chunk_bytes, 1, most);
    std::vector<Chunk<T>> chunks;
    std::size_t           begin = 0;
    for (std::size_t c = 0; c < count && begin < text.size(); ++c) {
        std::size_t end = c + 1 == count ? text.size() : std::max(begin, text.size() / count * (c + 1));
        end = std::min(text.find('\n', end), text.size() - 1) + 1;
        chunks.push_back({.text = text.substr(begin, end - begin), .entries = {}, .error = {}});
        begin = end;
    }
    return chunks;
}

template <Scalar T>
void parse_chunks(const MatrixMarketHeader& header, std::size_t bytes, const ReadOptions& options, int threads,
                  std::vector<Chunk<T>>& chunks)
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
template <Scalar T>
void check_chunks(const MatrixMarketHeader& header, Offset first_line, const std::vector<Chunk<T>>& chunks,
                  std::string_view name)
{
    Offset                line = first_line, entries = 0;
    std::optional<Offset> extra, above, below;
    for (const Chunk<T>& chunk : chunks) {
        if (!chunk.error.empty()) refuse(name, line + chunk.lines, chunk.error);
        const auto here = static_cast<Offset>(chunk.entries.size());
        if (!extra && entries + here > header.entries)
            extra = line + line_of_entry(chunk.text, header.entries - entries);
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
template <Scalar T>
void place_array_values(const MatrixMarketHeader& header, Offset first_line, std::string_view name,
                        std::vector<Chunk<T>>& chunks)
{
    const auto first_row = [&](Index j) {
        return header.symmetry == Symmetry::general ? 0 : header.symmetry == Symmetry::skew_symmetric ? j + 1 : j;
    };
    Index  i = first_row(0), j = 0;
    Offset line = first_line;
    for (Chunk<T>& chunk : chunks) {
        for (Entry<T>& entry : chunk.entries) {
            entry.i = i;
            entry.j = j;
            if (i == j) try {
                    require_diagonal(header, entry);
                } catch (const BadLine& bad) {
                    refuse(name, line + line_of_entry(chunk.text, &entry - chunk.entries.data()), bad.what());
                }
            if (++i == header.rows) i = first_row(++j);
        }
        line += chunk.lines;
        std::erase_if(chunk.entries, [](const Entry<T>& entry) { return entry.value == T{}; });
    }
}

/// Position in A of every entry, in the order of the lines; empty where that is 0, 1, 2, …
template <Scalar T>
std::vector<Offset> order_of_lines(const std::vector<Chunk<T>>& chunks, const CsrView<T>& A, const StopToken& stop)
{
    Steps               entry_passed(stop);
    std::vector<Offset> order;
    bool                the_same = true;
    for (const Chunk<T>& chunk : chunks)
        for (const Entry<T>& entry : chunk.entries) {
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
template <Scalar T>
MatrixMarket<T> parse(std::string_view text, std::string_view name, const ReadOptions& options, TextFile* storage)
{
    const int       threads = Cpu(options.threads).threads();
    MatrixMarket<T> file;
    Lines           lines(text);
    file.header = parse_header(lines, name, is_complex<T>);
    const std::string_view body(lines.here(), static_cast<std::size_t>(lines.end() - lines.here()));
    require_plausible(file.header, body.size(), name);
    if (options.accept) options.accept(file.header);

    const Offset first_line = lines.number();
    auto         chunks = split<T>(body, threads);
    parse_chunks(file.header, body.size(), options, threads, chunks);
    check_chunks(file.header, first_line, chunks, name);
    if (storage != nullptr) storage->release();
    if (file.header.array) place_array_values(file.header, first_line, name, chunks);

    Offset expanded = 0;
    for (const auto& chunk : chunks)
        for (const auto& entry : chunk.entries)
            expanded += file.header.symmetry != Symmetry::general && entry.i != entry.j ? 2 : 1;
    file.A = assemble(file.header, name, options, chunks);
    file.duplicates = expanded - file.A.nnz();
    if (options.line_order && !file.header.array) file.line_order = order_of_lines<T>(chunks, file.A, options.stop);
    return file;
}

/// `parse` for a text with LF alone and no byte order mark. @throws OutOfMemory that names the file
template <class Parse>
auto with_plain_lines(std::string_view text, std::string_view name, Parse&& parse)
{
    const std::size_t bytes = text.size();
    if (text.starts_with(byte_order_mark)) text.remove_prefix(byte_order_mark.size());
    try {
        if (!has_cr_lines(text)) return parse(text);
        std::string lf_lines(text);
        std::ranges::replace(lf_lines, '\r', '\n');
        return parse(lf_lines);
    } catch (const std::bad_alloc&) {
        throw OutOfMemory(fmt::format("no memory to read {} ({} bytes of text)", name, bytes));
    }
}

}  // namespace

template <Scalar T>
MatrixMarket<T> parse_matrix_market(std::string_view text, std::string_view name, const ReadOptions& options)
{
    return with_plain_lines(text, name,
                            [&](std::string_view plain) { return parse<T>(plain, name, options, nullptr); });
}

template <Scalar T>
MatrixMarket<T> detail::parse_matrix_market(TextFile& file, std::string_view name, const ReadOptions& options)
{
    return with_plain_lines(file.view(), name,
                            [&](std::string_view plain) { return parse<T>(plain, name, options, &file); });
}

template <Scalar T>
MatrixMarket<T> read_matrix_market(const std::string& path, const ReadOptions& options)
{
    try {
        TextFile file(path, options.stop);
        return detail::parse_matrix_market<T>(file, shown_name(path), options);
    } catch (const std::bad_alloc&) {
        throw OutOfMemory("no memory to read " + path);
    }
}

template <Scalar T>
CsrMatrix<T> parse_matrix(std::string_view text, std::string_view name, const ReadOptions& options)
{
    return parse_matrix_market<T>(text, name, options).A;
}

#define ILUX_INSTANTIATE(T)                                                                                   \
    template MatrixMarket<T> read_matrix_market<T>(const std::string&, const ReadOptions&);                   \
    template MatrixMarket<T> parse_matrix_market<T>(std::string_view, std::string_view, const ReadOptions&);  \
    template MatrixMarket<T> detail::parse_matrix_market<T>(TextFile&, std::string_view, const ReadOptions&); \
    template CsrMatrix<T>    parse_matrix<T>(std::string_view, std::string_view, const ReadOptions&);
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux

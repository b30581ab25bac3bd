#include "ilux/base/io/assemble.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "ilux/base/matrix/csr_checks.hpp"
#include "ilux/base/error.hpp"
#include "ilux/base/instances.hpp"

namespace ilux::detail {
namespace {

constexpr Index cheap_rows = Index{1} << 26;  // 512 MiB of row_ptr: a sparse right-hand side may be mostly empty

/// What `make` returns; what it refuses is said of the file.
template <class Make>
auto of_this_file(std::string_view name, Make&& make)
{
    try {
        return make();
    } catch (const InvalidInput& why) {
        throw InvalidInput(fmt::format("{}: {}", name, why.what()));
    }
}

}  // namespace

void require_cheap_rows(const MatrixMarketHeader& header, std::size_t bytes, std::string_view where)
{
    require(header.rows <= cheap_rows || header.rows <= static_cast<Offset>(bytes) + 1, [&] {
        return fmt::format("{}: the header promises {} rows, but only {} bytes follow: almost all rows would be empty",
                           where, header.rows, bytes);
    });
}

void accept_sizes(MatrixMarketHeader& header, Offset rows, Offset cols, Offset entries, std::size_t bytes,
                  std::string_view name, const ReadOptions& options)
{
    constexpr Offset largest = std::numeric_limits<Index>::max();
    require(rows >= 0 && rows <= largest && cols >= 0 && cols <= largest && entries >= 0, [&] {
        return fmt::format("{}: {} x {} with {} entries; expected at most {} rows and columns", name, rows, cols,
                           entries, largest);
    });
    header.rows = static_cast<Index>(rows);
    header.cols = static_cast<Index>(cols);
    header.entries = entries;
    require_cheap_rows(header, bytes, name);
    if (options.accept) options.accept(header);
}

template <Scalar T>
CsrMatrix<T> assemble(const MatrixMarketHeader& header, std::string_view name, const ReadOptions& options,
                      std::vector<Chunk<T>>& chunks)
{
    Steps      entry_passed(options.stop);
    const bool mirror = header.symmetry != Symmetry::general;
    const auto mirrored = [&](T value) {
        return header.symmetry == Symmetry::hermitian        ? conj(value)
               : header.symmetry == Symmetry::skew_symmetric ? -value
                                                             : value;
    };
    std::vector<Offset> row_ptr(static_cast<std::size_t>(header.rows) + 1, 0);
    for (const Chunk<T>& chunk : chunks)
        for (const Entry<T>& entry : chunk.entries) {
            ++row_ptr[entry.i + 1];
            if (mirror && entry.i != entry.j) ++row_ptr[entry.j + 1];
            entry_passed();
        }
    std::partial_sum(row_ptr.begin(), row_ptr.end(), row_ptr.begin());
    std::vector<Index> col(row_ptr.back());
    std::vector<T>     val(row_ptr.back());
    const auto         put = [&](Index i, Index j, T value) {
        const Offset p = row_ptr[i]++;  // ends where row i + 1 begins
        col[p] = j;
        val[p] = value;
    };
    for (Chunk<T>& chunk : chunks) {
        for (const Entry<T>& entry : chunk.entries) {
            put(entry.i, entry.j, entry.value);
            if (mirror && entry.i != entry.j) put(entry.j, entry.i, mirrored(entry.value));
            entry_passed();
        }
        if (!options.line_order) chunk.entries = {};
    }
    std::shift_right(row_ptr.begin(), row_ptr.end(), 1);
    row_ptr.front() = 0;
    return of_this_file(name, [&] {
        return CsrMatrix<T>::from_arrays(header.rows, header.cols, std::move(row_ptr), std::move(col), std::move(val));
    });
}

template <Scalar T>
void require_entry_of_file(const MatrixMarketHeader& header, std::string_view name, Offset p, Offset i, Offset j,
                           T value)
{
    require(i >= 0 && i < header.rows && j >= 0 && j < header.cols, [&] {
        return fmt::format("{}: entry {} is at row {}, column {} (counted from 1), outside a {} x {} matrix", name,
                           p + 1, i + 1, j + 1, header.rows, header.cols);
    });
    require(is_finite(value), [&] {
        return fmt::format("{}: expected a finite number at row {}, column {} (counted from 1), found {}", name, i + 1,
                           j + 1, shown(value));
    });
}

void require_pointers(std::string_view name, const std::vector<Offset>& ptr, Offset lines, Offset entries)
{
    require(std::ssize(ptr) == lines + 1,
            [&] { return fmt::format("{}: {} pointers; expected {}", name, ptr.size(), lines + 1); });
    require(ptr.front() == 0 && ptr.back() == entries && std::ranges::is_sorted(ptr), [&] {
        return fmt::format("{}: pointers from {} to {}; expected them to ascend from 0 to the {} entries", name,
                           ptr.front(), ptr.back(), entries);
    });
}

template <Scalar T>
CsrMatrix<T> from_rows(const MatrixMarketHeader& header, std::string_view name, std::vector<Offset> row_ptr,
                       std::vector<Index> col, std::vector<T> val)
{
    require_pointers(name, row_ptr, header.rows, std::ssize(col));
    for (Index i = 0; i < header.rows; ++i)
        for (Offset p = row_ptr[i]; p < row_ptr[i + 1]; ++p) require_entry_of_file(header, name, p, i, col[p], val[p]);
    return of_this_file(name, [&] {
        return CsrMatrix<T>::from_arrays(header.rows, header.cols, std::move(row_ptr), std::move(col), std::move(val));
    });
}

template <Scalar T>
CsrMatrix<T> from_columns(const MatrixMarketHeader& header, std::string_view name, const ReadOptions& options,
                          const std::vector<Offset>& col_ptr, const std::vector<Index>& row, const std::vector<T>& val)
{
    require_pointers(name, col_ptr, header.cols, std::ssize(row));
    std::vector<Chunk<T>> chunks(1);
    chunks[0].entries.reserve(row.size());
    for (Index j = 0; j < header.cols; ++j)
        for (Offset p = col_ptr[j]; p < col_ptr[j + 1]; ++p) {
            require_entry_of_file(header, name, p, row[p], j, val[p]);
            chunks[0].entries.push_back({row[p], j, val[p]});
        }
    return assemble(header, name, options, chunks);
}

template <Scalar T>
CsrMatrix<T> from_list(const MatrixMarketHeader& header, std::string_view name, const ReadOptions& options,
                       const std::vector<Index>& row, const std::vector<Index>& col, const std::vector<T>& val)
{
    std::vector<Chunk<T>> chunks(1);
    chunks[0].entries.reserve(row.size());
    for (Offset p = 0; p < std::ssize(row); ++p) {
        require_entry_of_file(header, name, p, row[p], col[p], val[p]);
        chunks[0].entries.push_back({row[p], col[p], val[p]});
    }
    return assemble(header, name, options, chunks);
}

template <Scalar T>
CsrMatrix<T> from_dense(const MatrixMarketHeader& header, std::string_view name, bool by_rows,
                        const std::vector<T>& val)
{
    const auto at = [&](Index i, Index j) {
        return by_rows ? val[static_cast<std::size_t>(i) * header.cols + j]
                       : val[static_cast<std::size_t>(j) * header.rows + i];
    };
    std::vector<Offset> row_ptr{0};
    row_ptr.reserve(static_cast<std::size_t>(header.rows) + 1);
    std::vector<Index> col;
    std::vector<T>     kept;
    for (Index i = 0; i < header.rows; ++i) {
        for (Index j = 0; j < header.cols; ++j)
            if (const T value = at(i, j); value != T{}) {
                col.push_back(j);
                kept.push_back(value);
            }
        row_ptr.push_back(std::ssize(col));
    }
    return from_rows(header, name, std::move(row_ptr), std::move(col), std::move(kept));
}

#define ILUX_INSTANTIATE(T)                                                                                              \
    template CsrMatrix<T> assemble(const MatrixMarketHeader&, std::string_view, const ReadOptions&,                      \
                                   std::vector<Chunk<T>>&);                                                              \
    template void         require_entry_of_file(const MatrixMarketHeader&, std::string_view, Offset, Offset, Offset, T); \
    template CsrMatrix<T> from_rows(const MatrixMarketHeader&, std::string_view, std::vector<Offset>,                    \
                                    std::vector<Index>, std::vector<T>);                                                 \
    template CsrMatrix<T> from_columns(const MatrixMarketHeader&, std::string_view, const ReadOptions&,                  \
                                       const std::vector<Offset>&, const std::vector<Index>&, const std::vector<T>&);    \
    template CsrMatrix<T> from_list(const MatrixMarketHeader&, std::string_view, const ReadOptions&,                     \
                                    const std::vector<Index>&, const std::vector<Index>&, const std::vector<T>&);        \
    template CsrMatrix<T> from_dense(const MatrixMarketHeader&, std::string_view, bool, const std::vector<T>&);
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux::detail

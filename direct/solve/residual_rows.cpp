#include "ilux/direct/solve/residual_rows.hpp"

#include <algorithm>
#include <bit>

#include "ilux/base/error.hpp"

namespace ilux {
namespace {

/// Stored vectors are the columns of the system: gathers its rows.
void gather_rows(const LuSymbolic& A, ResidualRows& rows)
{
    rows.ptr.assign(std::size_t(A.n) + 1, 0);
    for (const Index i : A.input_idx) ++rows.ptr[i + 1];
    for (Index i = 0; i < A.n; ++i) rows.ptr[i + 1] += rows.ptr[i];
    std::vector<Offset> next(rows.ptr.begin(), rows.ptr.end() - 1);
    rows.col.resize(A.input_idx.size());
    rows.source.resize(A.input_idx.size());
    for (Index j = 0; j < A.n; ++j)
        for (Offset p = A.input_ptr[j]; p < A.input_ptr[j + 1]; ++p) {
            const Offset at = next[A.input_idx[p]]++;
            rows.col[at] = j;
            rows.source[at] = static_cast<std::int32_t>(p);
        }
}

/// Half the mean length, so that most lanes have something to do and few rows take many steps.
int lanes_of(Index n, Offset nnz)
{
    const Offset half = (nnz + 2 * Offset{n} - 1) / (2 * std::max(Offset{n}, Offset{1}));
    const auto   lanes = static_cast<unsigned>(std::clamp(half, Offset{1}, Offset{32}));
    return std::bit_width(lanes - 1);
}

void cut_rows(ResidualRows& rows)
{
    const Index  n = static_cast<Index>(rows.ptr.size()) - 1;
    const Offset most_short = ResidualRows::steps << rows.log2_part;
    Index        partials = 0;
    rows.partial_ptr.push_back(0);
    for (Index i = 0; i < n; ++i) {
        const Offset first = rows.ptr[i], end = rows.ptr[i + 1];
        if (end - first <= most_short) {
            rows.short_row.push_back(i);
        } else if (end - first <= ResidualRows::piece_entries) {
            rows.piece.push_back({first, static_cast<Index>(end - first), i});
        } else {
            for (Offset p = first; p < end; p += ResidualRows::piece_entries)
                rows.piece.push_back(
                    {p, static_cast<Index>(std::min(ResidualRows::piece_entries, end - p)), ~partials++});
            rows.long_row.push_back(i);
            rows.partial_ptr.push_back(partials);
        }
    }
}

}  // namespace

ResidualRows residual_rows(const LuSymbolic& A, Transpose transpose)
{
    require(A.input_nnz < Offset{1} << 31, [] { return "too many input values for positions of 32 bits"; });
    ResidualRows rows;
    if ((A.layout == MatrixLayout::rows) == (transpose == Transpose::no)) {
        rows.ptr = A.input_ptr;
        rows.col.assign(A.input_idx.begin(), A.input_idx.end());
    } else {
        gather_rows(A, rows);
    }
    rows.log2_part = lanes_of(A.n, A.input_nnz);
    cut_rows(rows);
    return rows;
}

}  // namespace ilux

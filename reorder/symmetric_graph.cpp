#include "ilux/reorder/symmetric_graph.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <iterator>
#include <numeric>

#include "ilux/base/matrix/grouping.hpp"
#include "ilux/base/tasks.hpp"

namespace ilux::detail {
namespace {

std::span<const Index> row(const PatternView& A, Index i)
{
    return A.col.subspan(A.row_ptr[i], A.row_ptr[i + 1] - A.row_ptr[i]);
}

}  // namespace

double hub_degree(Index n) { return std::max(16.0, 10 * std::sqrt(double(n))); }

bool is_symmetric(const PatternView& A)
{
    std::atomic<bool> symmetric = true;
    for_pieces(A.n, [&](Index, Index begin, Index end) {
        for (Index i = begin; i < end && symmetric.load(std::memory_order_relaxed); ++i)
            for (const Index j : row(A, i))
                if (!std::ranges::binary_search(row(A, j), i)) symmetric = false;
    });
    return symmetric;
}

Columns columns_of(const PatternView& A)
{
    Columns  t{.col_ptr = {}, .row = std::vector<Index>(A.nnz())};
    Grouping by_column(A.n, A.nnz(), A.n, [&](Index begin, Index end, auto&& take) {
        for (Index i = begin; i < end; ++i)
            for (const Index j : row(A, i)) take(j, i);
    });
    by_column.place([&](Offset q, Index i) { t.row[q] = i; });
    t.col_ptr = by_column.take_ptr();
    return t;
}

Graph symmetrised_graph(const PatternView& A)
{
    const bool    symmetric = is_symmetric(A);
    const Columns transposed = symmetric ? Columns{} : columns_of(A);
    Graph         g{.n = A.n, .start = std::vector<Offset>(static_cast<std::size_t>(A.n) + 1, 0), .neighbour = {}};
    std::vector<std::vector<Index>> found(pieces_of(A.n));
    for_pieces(A.n, [&](Index piece, Index begin, Index end) {
        auto& out = found[piece];
        out.reserve(A.row_ptr[end] - A.row_ptr[begin]);
        for (Index i = begin; i < end; ++i) {
            const auto first = static_cast<std::ptrdiff_t>(out.size());
            if (symmetric) out.insert(out.end(), row(A, i).begin(), row(A, i).end());
            else std::ranges::set_union(row(A, i), row(transposed.as_rows(), i), std::back_inserter(out));
            const auto loop = std::lower_bound(out.begin() + first, out.end(), i);
            if (loop != out.end() && *loop == i) out.erase(loop);
            g.start[i + 1] = static_cast<Offset>(out.size()) - first;
        }
    });
    std::partial_sum(g.start.begin(), g.start.end(), g.start.begin());
    g.neighbour.resize(g.start.back());
    for_pieces(A.n, [&](Index piece, Index begin, Index) {
        std::ranges::copy(found[piece], g.neighbour.begin() + g.start[begin]);
        found[piece] = {};
    });
    return g;
}

}  // namespace ilux::detail

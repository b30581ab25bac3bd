#include "ilux/lab/suites/published_dependencies.hpp"

#include <algorithm>
#include <numeric>
#include <span>

#include "ilux/apps/program/progress.hpp"

namespace ilux::app {
namespace {

/// Columns of L + U by rows, ascending.
struct RowLists {
    std::vector<Offset> ptr;
    std::vector<Index>  col;

    explicit RowLists(const LuPattern& P) : ptr(P.n + 1), col(P.nnz())
    {
        for (const Index i : P.row) ++ptr[i + 1];
        std::partial_sum(ptr.begin(), ptr.end(), ptr.begin());
        std::vector<Offset> next(ptr.begin(), ptr.end() - 1);
        for (Index k = 0; k < P.n; ++k)
            for (Offset p = P.col_ptr[k]; p < P.col_ptr[k + 1]; ++p) col[next[P.row[p]]++] = k;
    }
    std::span<const Index> of(Index i) const { return std::span(col).subspan(ptr[i], ptr[i + 1] - ptr[i]); }
};

/// One of the columns behind t that both rows hold.
bool share_column(std::span<const Index> one, std::span<const Index> other, Index t)
{
    auto a = std::ranges::upper_bound(one, t), b = std::ranges::upper_bound(other, t);
    while (a != one.end() && b != other.end()) {
        if (*a == *b) return true;
        if (*a < *b) ++a;
        else ++b;
    }
    return false;
}

}  // namespace

PublishedDependencies published_dependencies(const LuPattern& pattern, double limit)
{
    const WallClock       clock;
    const RowLists        rows(pattern);
    PublishedDependencies found;
    for (Index i = 0; i < pattern.n && found.complete; ++i) {
        const auto row_i = rows.of(i);
        for (Offset p = pattern.diag[i] + 1; p < pattern.col_ptr[i + 1] && found.complete; ++p) {
            const Index t = pattern.row[p];
            bool        waits = false;
            for (Offset q = pattern.diag[t]; q < pattern.col_ptr[t + 1]; ++q)
                waits |= share_column(row_i, rows.of(pattern.row[q]), t);
            if (waits) found.edges.emplace_back(t, i);
            found.complete = limit <= 0 || clock.seconds() < limit;
        }
        found.columns += found.complete;
    }
    found.seconds = clock.seconds();
    return found;
}

}  // namespace ilux::app

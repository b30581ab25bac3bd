#include "ilux/direct/supernodal/block_adjacency.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace ilux {
namespace {

/// Calls visit(row, column) for each entry of a diagonal block that is not on the diagonal.
template <class Visit>
void for_each_block_entry(const LuSymbolic& s, Visit&& visit)
{
    for (std::size_t block = 0; block + 1 < s.block_ptr.size(); ++block)
        for (Index k = s.block_ptr[block]; k < s.block_ptr[block + 1]; ++k)
            for (Offset p = s.col_ptr[k]; p < s.col_ptr[k + 1]; ++p)
                if (s.row[p] >= s.block_ptr[block] && s.row[p] != k) visit(s.row[p], k);
}

}  // namespace

BlockAdjacency block_adjacency(Cpu& be, const LuSymbolic& symbolic)
{
    const auto          n = static_cast<std::size_t>(symbolic.n);
    std::vector<Offset> ptr(n + 1, 0);
    for_each_block_entry(symbolic, [&](Index i, Index k) { ++ptr[i + 1], ++ptr[k + 1]; });
    std::partial_sum(ptr.begin(), ptr.end(), ptr.begin());
    std::vector<Index>  row(ptr.back());
    std::vector<Offset> next(ptr.begin(), ptr.end() - 1);
    for_each_block_entry(symbolic, [&](Index i, Index k) { row[next[i]++] = k, row[next[k]++] = i; });

    // Columns lose their duplicates in place, then move together.
    std::vector<Offset> count(n + 1, 0);
#pragma omp parallel for schedule(static) num_threads(be.team(row.size() > 100000))
    for (std::size_t k = 0; k < n; ++k) {
        const auto begin = row.begin() + ptr[k], end = row.begin() + ptr[k + 1];
        std::sort(begin, end);
        count[k + 1] = std::unique(begin, end) - begin;
    }
    std::partial_sum(count.begin(), count.end(), count.begin());
    for (std::size_t k = 0; k < n; ++k)
        std::copy_n(row.begin() + ptr[k], count[k + 1] - count[k], row.begin() + count[k]);
    row.resize(count.back());
    return {std::move(count), std::move(row)};
}

}  // namespace ilux

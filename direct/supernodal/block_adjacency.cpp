#include "ilux/direct/supernodal/block_adjacency.hpp"

#include <algorithm>
#include <atomic>
#include <numeric>
#include <span>

#include "ilux/base/matrix/grouping.hpp"
#include "ilux/base/tasks.hpp"

namespace ilux {
namespace {

/// The diagonal blocks of B by columns: duplicates and the diagonal are left in.
class Blocks {
public:
    explicit Blocks(const LuSymbolic& s) : s_(s), first_(s.n)
    {
        for_pieces(s.n, [&](Index, Index begin, Index end) {
            auto block = std::ranges::upper_bound(s_.block_ptr, begin) - 1;
            for (Index k = begin; k < end; ++k) {
                while (block[1] <= k) ++block;
                Offset& p = first_[k] = s_.col_ptr[k];
                while (p < s_.col_ptr[k + 1] && s_.row[p] < *block) ++p;  // F comes first
            }
        });
    }
    std::span<const Index> column(Index k) const
    {
        return std::span(s_.row).subspan(first_[k], s_.col_ptr[k + 1] - first_[k]);
    }
    bool are_symmetric() const
    {
        std::atomic<bool> symmetric = true;
        for_pieces(s_.n, [&](Index, Index begin, Index end) {
            for (Index k = begin; k < end && symmetric.load(std::memory_order_relaxed); ++k)
                for (const Index i : column(k))
                    if (!std::ranges::binary_search(column(i), k)) symmetric = false;
        });
        return symmetric;
    }

private:
    const LuSymbolic&                 s_;
    UnsetVector<Offset, Pages::usual> first_;  // of each column, its first entry in the block
};

/// By rows; columns ascend.
BlockAdjacency transposed(const Blocks& blocks, Index n, Offset about)
{
    Grouping       by_row(n, about, n, [&](Index begin, Index end, auto&& take) {
        for (Index k = begin; k < end; ++k)
            for (const Index i : blocks.column(k)) take(i, k);
    });
    BlockAdjacency t{.ptr = {}, .row = EntryArray<Index>(by_row.size())};
    by_row.place([&](Offset q, Index k) { t.row[q] = k; });
    t.ptr = by_row.take_ptr();
    return t;
}

/// Calls take(i) once for each i ≠ k in a or b, both ascending.
template <class Take>
void for_union(std::span<const Index> a, std::span<const Index> b, Index k, Take&& take)
{
    Index last = k;
    for (std::size_t p = 0, q = 0; p < a.size() || q < b.size();) {
        const Index i = q == b.size() || (p < a.size() && a[p] < b[q]) ? a[p++] : b[q++];
        if (i != k && i != last) take(i);
        last = i;
    }
}

}  // namespace

BlockAdjacency block_adjacency(Cpu& be, const LuSymbolic& symbolic)
{
    constexpr std::size_t worth_threads = 50'000;
    const Index           n = symbolic.n;
    BlockAdjacency        C{.ptr = std::vector<Offset>(static_cast<std::size_t>(n) + 1, 0), .row = {}};
    with_tasks(be, symbolic.row.size() >= worth_threads, [&] {
        const Blocks blocks(symbolic);
        const bool   symmetric = blocks.are_symmetric();
        const auto   across = symmetric ? BlockAdjacency{} : transposed(blocks, n, symbolic.input_nnz);
        const auto   for_neighbours = [&](Index k, auto&& take) {
            for_union(blocks.column(k), symmetric ? std::span<const Index>() : across.column(k), k, take);
        };
        for_pieces(n, [&](Index, Index begin, Index end) {
            for (Index k = begin; k < end; ++k) {
                Offset count = 0;
                for_neighbours(k, [&count](Index) { ++count; });
                C.ptr[k + 1] = count;
            }
        });
        std::partial_sum(C.ptr.begin(), C.ptr.end(), C.ptr.begin());
        C.row.resize(C.ptr.back());
        for_pieces(n, [&](Index, Index begin, Index end) {
            Index* to = C.row.data() + C.ptr[begin];
            for (Index k = begin; k < end; ++k) for_neighbours(k, [&to](Index i) { *to++ = i; });
        });
    });
    return C;
}

}  // namespace ilux

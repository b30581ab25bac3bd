#include "ilux/direct/analysis/elimination_tree.hpp"

#include <algorithm>
#include <atomic>

#include "ilux/base/csr.hpp"
#include "ilux/base/tasks.hpp"

namespace ilux {
namespace {

/// Of each vertex in the given order. Paths to the roots are cut short where they are walked.
std::vector<Index> parents(const PatternView& C, std::span<const Index> order, std::span<const Index> inv, Steps step)
{
    std::vector<Index> parent(C.n, -1), above(C.n, -1);
    for (Index k = 0; k < C.n; ++k) {
        for (Offset p = C.row_ptr[order[k]]; p < C.row_ptr[order[k] + 1]; ++p) {
            step();
            for (Index i = inv[C.col[p]]; i >= 0 && i < k;) {
                const Index next = std::exchange(above[i], k);
                if (next < 0) parent[i] = k;
                i = next;
            }
        }
    }
    return parent;
}

std::vector<Index> subtree_sizes(std::span<const Index> parent)
{
    std::vector<Index> size(parent.size(), 1);
    for (std::size_t k = 0; k < parent.size(); ++k)
        if (parent[k] >= 0) size[parent[k]] += size[k];
    return size;
}

/// @return of each vertex its number in postorder, children by their numbers. A subtree ends just before what comes after it.
std::vector<Index> postorder(std::span<const Index> parent, std::span<const Index> size)
{
    const Index        n = static_cast<Index>(parent.size());
    std::vector<Index> number(n), first(n, 0);  // first: number of the first vertex of the next child's subtree
    Index              next_root = n;
    for (Index k = n; k-- > 0;) {  // parents before children, and the last child first
        Index& end = parent[k] >= 0 ? first[parent[k]] : next_root;
        number[k] = end - 1;
        end -= size[k];
        first[k] = number[k];
    }
    return number;
}

/// Where two paths to the root meet, by paths along the largest children: a step leaves at least half of a subtree behind.
class MeetingPoints {
public:
    explicit MeetingPoints(const EliminationTree& tree) : parent_(tree.parent), head_(tree.parent.size())
    {
        const Index        n = static_cast<Index>(parent_.size());
        std::vector<Index> heavy(n, -1);
        for (Index k = 0; k < n; ++k)
            if (const Index up = parent_[k]; up >= 0 && (heavy[up] < 0 || tree.size[k] > tree.size[heavy[up]]))
                heavy[up] = k;
        for (Index k = n; k-- > 0;) head_[k] = parent_[k] >= 0 && heavy[parent_[k]] == k ? head_[parent_[k]] : k;
    }

    /// Of two vertices of one tree.
    Index of(Index u, Index v) const
    {
        while (head_[u] != head_[v]) {  // the smaller head is no ancestor of the other vertex, in postorder
            Index& lower = head_[u] < head_[v] ? u : v;
            lower = parent_[head_[lower]];
        }
        return std::max(u, v);
    }

private:
    std::span<const Index> parent_;
    std::vector<Index>     head_;  // n; the last vertex of the path
};

}  // namespace

EliminationTree elimination_tree(const PatternView& C, std::span<const Index> order, const StopToken& stop)
{
    const auto      given = parents(C, order, inverse_permutation(order), Steps(stop));
    const auto      size = subtree_sizes(given);
    const auto      number = postorder(given, size);
    EliminationTree tree{.order = std::vector<Index>(C.n),
                         .parent = std::vector<Index>(C.n),
                         .size = std::vector<Index>(C.n)};
    for (Index k = 0; k < C.n; ++k) {
        tree.order[number[k]] = order[k];
        tree.parent[number[k]] = given[k] >= 0 ? number[given[k]] : -1;
        tree.size[number[k]] = size[k];
    }
    return tree;
}

std::vector<Index> column_counts(const Cpu& be, const PatternView& C, const EliminationTree& tree,
                                 const StopToken& stop)
{
    constexpr Offset    worth_sharing = 50'000;
    const auto          inv = inverse_permutation(tree.order);
    const MeetingPoints meeting(tree);
    std::vector<Index>  count(C.n, 0);  // first what subtrees of the tree add up to it
    const auto add = [&](Index k, Index more) { std::atomic_ref(count[k]).fetch_add(more, std::memory_order_relaxed); };
    with_tasks(be, C.nnz() >= worth_sharing, [&] {
        for_pieces(C.n, [&](Index, Index begin, Index end) {
            std::vector<Index> earlier;
            Steps              step(stop);
            for (Index k = begin; k < end; ++k) {
                earlier.clear();
                for (Offset p = C.row_ptr[tree.order[k]]; p < C.row_ptr[tree.order[k] + 1]; ++p) {
                    step();
                    if (const Index i = inv[C.col[p]]; i < k) earlier.push_back(i);
                }
                std::ranges::sort(earlier);
                Index last = -1;
                for (const Index i : earlier) {
                    if (last > i - tree.size[i]) continue;  // `last` is in the subtree of i, which is so no leaf
                    add(i, 1);
                    if (last >= 0) add(meeting.of(last, i), -1);
                    last = i;
                }
                if (last >= 0) add(k, -1);
            }
        });
    });
    for (Index k = 0; k < C.n; ++k)
        if (tree.parent[k] >= 0) count[tree.parent[k]] += count[k];
    return count;
}

}  // namespace ilux

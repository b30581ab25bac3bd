#include "ilux/direct/analysis/elimination_tree.hpp"

#include <omp.h>

#include <algorithm>
#include <atomic>
#include <numeric>
#include <utility>

#include "ilux/base/matrix/csr.hpp"
#include "ilux/base/tasks.hpp"

namespace ilux {
namespace {

constexpr Offset worth_threads = 50'000;  // entries

using Vertices = EliminationTree::Numbers;

/// The tree in the given order. Each thread has a part of neighbouring vertices and builds the forest of what joins
/// them to one another. A vertex is open where an entry of its row, or of the row of one below it, is in an earlier
/// part; those are looked at once more, in order. The others have the parents that they have in the whole tree: nothing
/// before their part leads to them or to what is below them.
class Parents {
public:
    Parents(const PatternView& C, std::span<const Index> order, const StopToken& stop)
        : C_(C), order_(order), inv_(inverse_by_tasks(order)), stop_(stop), parent_(C.n), above_(C.n)
    {}

    Vertices find()
    {
        constexpr Index parts_a_thread = 4;  // those with large separators take longer
        const Index     threads = omp_get_num_threads(), parts = threads == 1 ? 1 : parts_a_thread * threads;
        const auto      first = [&](Index part) { return static_cast<Index>(Offset{C_.n} * part / parts); };
        std::vector<std::vector<Index>> open(parts);
        for_tasks(parts, [&](Index part) { open[part] = build_part(first(part), first(part + 1)); });
        Steps step(stop_);
        for (const auto& vertices : open)
            for (const Index k : vertices) join_row(k, 0, step);
        return std::move(parent_);
    }

private:
    /// @return its open vertices, ascending; they have no parent yet
    std::vector<Index> build_part(Index begin, Index end)
    {
        std::fill(parent_.begin() + begin, parent_.begin() + end, -1);
        std::fill(above_.begin() + begin, above_.begin() + end, -1);
        std::vector<char>  is_open(end - begin);
        std::vector<Index> open;
        Steps              step(stop_);
        for (Index k = begin; k < end; ++k) is_open[k - begin] = join_row(k, begin, step);
        for (Index k = begin; k < end; ++k) {
            if (!is_open[k - begin]) continue;
            open.push_back(k);
            if (parent_[k] >= 0) is_open[parent_[k] - begin] = 1;
            parent_[k] = -1;
        }
        if (!open.empty()) std::copy(parent_.begin() + begin, parent_.begin() + end, above_.begin() + begin);
        return open;
    }

    /// k becomes the parent of the roots above what its row joins it to, from `begin` on. @return whether there is more
    /// before
    bool join_row(Index k, Index begin, Steps& step)
    {
        bool more = false;
        for (Offset p = C_.row_ptr[order_[k]]; p < C_.row_ptr[order_[k] + 1]; ++p) {
            step();
            Index i = inv_[C_.col[p]];
            more = more || i < begin;
            while (i >= begin && i < k) {  // the path to the root is cut short where it is walked
                const Index next = std::exchange(above_[i], k);
                if (next < 0) parent_[i] = k;
                i = next;
            }
        }
        return more;
    }

    PatternView            C_;
    std::span<const Index> order_;
    Vertices               inv_;
    const StopToken&       stop_;
    Vertices               parent_, above_;  // above: an ancestor, or none
};

Vertices subtree_sizes(std::span<const Index> parent)
{
    Vertices size(parent.size(), 1);
    for (std::size_t k = 0; k < parent.size(); ++k)
        if (parent[k] >= 0) size[parent[k]] += size[k];
    return size;
}

/// @return of each vertex its number in postorder, children by their numbers. A subtree ends just before what comes
/// after it.
Vertices postorder(std::span<const Index> parent, std::span<const Index> size)
{
    const Index n = static_cast<Index>(parent.size());
    Vertices    number(n), first(n);  // first: number of the first vertex of the next child's subtree
    Index       next_root = n;
    for (Index k = n; k-- > 0;) {  // parents before children, and the last child first
        Index& end = parent[k] >= 0 ? first[parent[k]] : next_root;
        number[k] = end - 1;
        end -= size[k];
        first[k] = number[k];
    }
    return number;
}

/// Where two paths to the root meet, by paths along the largest children: a step leaves at least half of a subtree
/// behind.
class MeetingPoints {
public:
    explicit MeetingPoints(const EliminationTree& tree) : parent_(tree.parent), head_(tree.parent.size())
    {
        const Index n = static_cast<Index>(parent_.size());
        Vertices    largest(n);
        for_pieces(n, [&](Index, Index begin, Index end) {
            for (Index k = begin; k < end; ++k) {
                largest[k] = k - 1;
                for (Index c = k - 1; c > k - tree.size[k]; c -= tree.size[c])  // the children in postorder
                    if (tree.size[c] > tree.size[largest[k]]) largest[k] = c;
                if (tree.size[k] == 1) largest[k] = -1;
            }
        });
        for_pieces(n, [&](Index, Index begin, Index end) {
            for (Index k = begin; k < end; ++k) {
                if (parent_[k] >= 0 && largest[parent_[k]] == k) continue;
                for (Index v = k; v >= 0; v = largest[v]) head_[v] = k;
            }
        });
    }

    /// The meeting point of two vertices of one tree.
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
    Vertices               head_;  // n; the last vertex of the path
};

/// Sums over subtrees, which are intervals of a postorder. By tasks.
void add_up_subtrees(std::span<const Index> size, std::span<Index> value)
{
    const Index                       n = static_cast<Index>(value.size());
    std::vector<Offset>               before(static_cast<std::size_t>(pieces_of(n)) + 1, 0);
    UnsetVector<Offset, Pages::usual> up_to(static_cast<std::size_t>(n) + 1);
    for_pieces(n, [&](Index piece, Index begin, Index end) {
        before[piece + 1] = std::accumulate(value.begin() + begin, value.begin() + end, Offset{0});
    });
    std::partial_sum(before.begin(), before.end(), before.begin());
    up_to[0] = 0;
    for_pieces(n, [&](Index piece, Index begin, Index end) {
        Offset sum = before[piece];
        for (Index k = begin; k < end; ++k) up_to[k + 1] = sum += value[k];
    });
    for_pieces(n, [&](Index, Index begin, Index end) {
        for (Index k = begin; k < end; ++k) value[k] = static_cast<Index>(up_to[k + 1] - up_to[k + 1 - size[k]]);
    });
}

}  // namespace

EliminationTree elimination_tree(const Cpu& be, const PatternView& C, std::span<const Index> order,
                                 const StopToken& stop)
{
    EliminationTree tree{.order = EliminationTree::Numbers(C.n),
                         .parent = EliminationTree::Numbers(C.n),
                         .size = EliminationTree::Numbers(C.n)};
    with_tasks(be, C.nnz() >= worth_threads, [&] {
        const auto given = Parents(C, order, stop).find();
        const auto size = subtree_sizes(given);
        const auto number = postorder(given, size);
        for_pieces(C.n, [&](Index, Index begin, Index end) {
            for (Index k = begin; k < end; ++k) {
                tree.order[number[k]] = order[k];
                tree.parent[number[k]] = given[k] >= 0 ? number[given[k]] : -1;
                tree.size[number[k]] = size[k];
            }
        });
    });
    return tree;
}

EliminationTree::Numbers column_counts(const Cpu& be, const PatternView& C, const EliminationTree& tree,
                                       const StopToken& stop, std::span<const Index> weight)
{
    Vertices   count(C.n);  // first what subtrees of the tree add up to it
    const auto add = [&](Index k, Index more) { std::atomic_ref(count[k]).fetch_add(more, std::memory_order_relaxed); };
    with_tasks(be, C.nnz() >= worth_threads, [&] {
        const MeetingPoints meeting(tree);
        const auto          inv = inverse_by_tasks(tree.order);
        for_pieces(C.n, [&](Index, Index begin, Index end) { std::fill_n(count.begin() + begin, end - begin, 0); });
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
                const Index each = weight.empty() ? 1 : weight[tree.order[k]];
                Index       last = -1;
                for (const Index i : earlier) {
                    if (last > i - tree.size[i]) continue;  // `last` is in the subtree of i, which is so no leaf
                    add(i, each);
                    if (last >= 0) add(meeting.of(last, i), -each);
                    last = i;
                }
                if (last >= 0) add(k, -each);
            }
        });
        add_up_subtrees(tree.size, count);
    });
    return count;
}

}  // namespace ilux

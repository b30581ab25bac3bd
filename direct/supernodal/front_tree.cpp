#include "ilux/direct/supernodal/front_tree.hpp"

#include <omp.h>

#include <algorithm>
#include <numeric>
#include <span>
#include <utility>

#include "ilux/base/matrix/csr.hpp"
#include "ilux/base/matrix/grouping.hpp"
#include "ilux/base/tasks.hpp"
#include "ilux/direct/analysis/elimination_tree.hpp"
#include "ilux/direct/supernodal/block_adjacency.hpp"

namespace ilux {
namespace {

/// A front while fronts are merged. Its members are supernodes without a stored zero.
struct Merged {
    Index  pivots = 0, updates = 0;
    double zeros = 0;  // that L stores
    Index  parent = -1;

    double entries() const { return 0.5 * pivots * (pivots + 1.0) + double(pivots) * updates; }
};

/// Columns with the same rows.
struct Supernodes {
    std::vector<Merged> node;
    EntryArray<Index>   first;  // nodes + 1; position of the first column of each
};

/// Maximal ones: a column joins the one before it in postorder where that is its child with the same rows but for
/// itself. By tasks.
/// @param below  entries of each column of L below the diagonal, by position
Supernodes maximal_supernodes(const EliminationTree& tree, std::span<const Index> below)
{
    const auto n = static_cast<Index>(below.size());
    const auto begins = [&](Index k) { return k == 0 || tree.parent[k - 1] != k || below[k - 1] != below[k] + 1; };
    std::vector<Index> before(static_cast<std::size_t>(pieces_of(n)) + 1, 0);
    for_pieces(n, [&](Index piece, Index begin, Index end) {
        for (Index k = begin; k < end; ++k) before[piece + 1] += begins(k);
    });
    std::partial_sum(before.begin(), before.end(), before.begin());
    Supernodes        all{.node = std::vector<Merged>(before.back()), .first = EntryArray<Index>(before.back() + 1)};
    EntryArray<Index> of_position(n);
    all.first.back() = n;
    for_pieces(n, [&](Index piece, Index begin, Index end) {
        Index f = before[piece] - 1;
        for (Index k = begin; k < end; ++k) {
            if (begins(k)) all.first[++f] = k;
            of_position[k] = f;
        }
    });
    for_pieces(before.back(), [&](Index, Index begin, Index end) {
        for (Index f = begin; f < end; ++f) {
            const Index last = all.first[f + 1] - 1, up = tree.parent[last];
            all.node[f].pivots = all.first[f + 1] - all.first[f];
            all.node[f].updates = below[last];
            all.node[f].parent = up < 0 ? -1 : of_position[up];
        }
    });
    return all;
}

/// What a parent with that child in it would be.
Merged joined(const Merged& parent, const Merged& child)
{
    const double missing = parent.pivots + parent.updates - child.updates;  // rows that the child lacks
    return {.pivots = parent.pivots + child.pivots,
            .updates = parent.updates,
            .zeros = parent.zeros + child.zeros + missing * child.pivots,
            .parent = parent.parent};
}

bool worth_it(const Merged& together, const FrontMerging& m)
{
    const double share = together.pivots <= m.few_pivots    ? m.few
                         : together.pivots <= m.some_pivots ? m.some
                         : together.pivots <= m.many_pivots ? m.many
                                                            : m.beyond;
    return together.zeros <= share * together.entries();
}

/// Children by parent.
struct Children {
    std::vector<Offset> ptr;
    EntryArray<Index>   child;

    explicit Children(std::span<const Merged> nodes) : child(nodes.size())
    {
        const auto n = static_cast<Index>(nodes.size());
        Grouping   by_parent(n, n, n, [&](Index begin, Index end, auto&& take) {
            for (Index f = begin; f < end; ++f)
                if (nodes[f].parent >= 0) take(nodes[f].parent, f);
        });
        by_parent.place([&](Offset q, Index f) { child[q] = f; });
        ptr = by_parent.take_ptr();
    }
    /// Those with the largest key first, else as they are.
    template <class Key>
    std::span<const Index> sorted(Index f, Key&& key)
    {
        const std::span<Index> own{child.data() + ptr[f], static_cast<std::size_t>(ptr[f + 1] - ptr[f])};
        if (own.size() > 1) std::stable_sort(own.begin(), own.end(), [&](Index a, Index b) { return key(a) > key(b); });
        return own;
    }
};

/// Bottom up, each supernode takes in those of its children that bring few zeros, those that lack the fewest rows
/// first. By tasks.
/// @return into which one each has gone; itself where it stays
std::vector<Index> merge(std::vector<Merged>& nodes, const FrontMerging& merging)
{
    Children           children(nodes);
    std::vector<Index> into(nodes.size());
    std::iota(into.begin(), into.end(), 0);
    const auto parent_of = [&](Index f) { return nodes[f].parent; };
    for_forest(static_cast<Index>(nodes.size()), parent_of, [&](Index f) {
        for (const Index c : children.sorted(f, [&](Index child) { return nodes[child].updates; })) {
            const Merged together = joined(nodes[f], nodes[c]);
            if (!worth_it(together, merging)) continue;
            nodes[f] = together;
            into[c] = f;
        }
    });
    for (Index f = static_cast<Index>(nodes.size()); f-- > 0;) into[f] = into[into[f]];  // parents are behind
    return into;
}

/// Supernodes that stayed, their parents by their own numbers. @param into  becomes the number of the one that each is
/// in
std::vector<Merged> those_left(std::span<const Merged> nodes, std::vector<Index>& into)
{
    std::vector<Merged> left;
    std::vector<Index>  number(nodes.size());
    for (std::size_t f = 0; f < nodes.size(); ++f) {
        if (into[f] != static_cast<Index>(f)) continue;
        number[f] = static_cast<Index>(left.size());
        left.push_back(nodes[f]);
    }
    for (Index& f : into) f = number[f];
    for (Merged& node : left)
        if (node.parent >= 0) node.parent = into[node.parent];
    return left;
}

/// Memory that a front's subtree needs at once, and what it leaves to its parent, in numbers.
struct Need {
    double peak = 0, left = 0;
};

/// The order in which fronts are numbered: children first, those whose peak exceeds what they leave by most come first,
/// which needs the least memory at once [liu_86].
std::vector<Index> numbering(std::span<const Merged> fronts)
{
    const Index       count = static_cast<Index>(fronts.size());
    Children          children(fronts);
    std::vector<Need> need(fronts.size());
    const auto        parent_of = [&](Index f) { return fronts[f].parent; };
    for_forest(count, parent_of, [&](Index f) {
        double held = 0, peak = 0;
        for (const Index c : children.sorted(f, [&](Index child) { return need[child].peak - need[child].left; })) {
            peak = std::max(peak, held + need[c].peak);
            held += need[c].left;
        }
        const double left = double(fronts[f].updates) * fronts[f].updates;
        need[f] = {std::max(peak, held + left), left};
    });
    std::vector<Index>  order, stack;
    std::vector<Offset> next(children.ptr.begin(), children.ptr.end() - 1);
    order.reserve(fronts.size());
    for (Index root = 0; root < count; ++root) {
        if (fronts[root].parent >= 0) continue;
        stack.push_back(root);
        while (!stack.empty()) {
            const Index f = stack.back();
            if (next[f] < children.ptr[f + 1]) stack.push_back(children.child[next[f]++]);
            else {
                order.push_back(f);
                stack.pop_back();
            }
        }
    }
    return order;
}

void find_children(FrontTree& tree)
{
    const Index fronts = tree.fronts();
    tree.child_ptr.assign(static_cast<std::size_t>(fronts) + 1, 0);
    for (const Index up : tree.parent)
        if (up >= 0) ++tree.child_ptr[up + 1];
    std::partial_sum(tree.child_ptr.begin(), tree.child_ptr.end(), tree.child_ptr.begin());
    tree.child.resize(tree.child_ptr.back());
    std::vector<Index> next(tree.child_ptr.begin(), tree.child_ptr.end() - 1);
    for (Index f = 0; f < fronts; ++f)
        if (tree.parent[f] >= 0) tree.child[next[tree.parent[f]]++] = f;
}

/// The update rows, as many as row_ptr says: those that the entries of the pivots reach, and what the children leave.
/// By tasks.
void find_rows(const BlockAdjacency& C, FrontTree& tree)
{
    const auto                      position = inverse_by_tasks(tree.order);
    std::vector<std::vector<Index>> seen_by(
        omp_get_num_threads());  // of each row, the last front that it was found for
    tree.row.resize(tree.row_ptr.back());
    const auto parent_of = [&](Index f) { return tree.parent[f]; };
    for_forest(tree.fronts(), parent_of, [&](Index f) {
        auto& seen = seen_by[omp_get_thread_num()];
        if (seen.empty()) seen.assign(tree.order.size(), -1);
        const Index end = tree.pivot_ptr[f + 1];
        Index*      to = tree.row.data() + tree.row_ptr[f];
        const auto  take = [&](Index i) {
            if (i >= end && seen[i] != f) {
                seen[i] = f;
                *to++ = i;
            }
        };
        for (Index k = tree.pivot_ptr[f]; k < end; ++k)
            for (const Index i : C.column(tree.order[k])) take(position[i]);
        for (const Index c : tree.children(f))
            for (Offset p = tree.row_ptr[c]; p < tree.row_ptr[c + 1]; ++p) take(tree.row[p]);
        ILUX_ASSERT(to == tree.row.data() + tree.row_ptr[f + 1]);
        std::sort(tree.row.data() + tree.row_ptr[f], to);
    });
}

/// Fronts numbered in that order, each with its columns in postorder. By tasks.
/// @param front_of  of each supernode
FrontTree numbered(const EliminationTree& columns, const Supernodes& supernodes, std::span<const Index> front_of,
                   std::span<const Merged> fronts, std::span<const Index> order)
{
    FrontTree  tree;
    const auto number = inverse_by_tasks(order);
    tree.pivot_ptr.push_back(0);
    tree.row_ptr.push_back(0);
    for (const Index f : order) {
        tree.pivot_ptr.push_back(tree.pivot_ptr.back() + fronts[f].pivots);
        tree.row_ptr.push_back(tree.row_ptr.back() + fronts[f].updates);
        tree.parent.push_back(fronts[f].parent < 0 ? -1 : number[fronts[f].parent]);
    }
    find_children(tree);
    const Index        nodes = static_cast<Index>(front_of.size());
    std::vector<Index> next(tree.pivot_ptr.begin(), tree.pivot_ptr.end() - 1);
    EntryArray<Index>  place(nodes);
    for (Index f = 0; f < nodes; ++f) {
        Index& at = next[number[front_of[f]]];
        place[f] = at;
        at += supernodes.first[f + 1] - supernodes.first[f];
    }
    tree.order.resize(columns.order.size());
    for_pieces(nodes, [&](Index, Index begin, Index end) {
        for (Index f = begin; f < end; ++f)
            std::copy(columns.order.begin() + supernodes.first[f], columns.order.begin() + supernodes.first[f + 1],
                      tree.order.begin() + place[f]);
    });
    return tree;
}

}  // namespace

Index FrontTree::depth() const
{
    std::vector<Index> height(fronts(), 1);
    Index              most = 0;
    for (Index f = 0; f < fronts(); ++f) {
        most = std::max(most, height[f]);
        if (parent[f] >= 0) height[parent[f]] = std::max(height[parent[f]], height[f] + 1);
    }
    return most;
}

FrontTree front_tree(Cpu& be, const LuSymbolic& symbolic, const FrontMerging& merging)
{
    constexpr Offset     worth_threads = 50'000;
    const BlockAdjacency C = block_adjacency(be, symbolic);
    std::vector<Index>   as_it_is(symbolic.n);
    std::iota(as_it_is.begin(), as_it_is.end(), 0);
    const EliminationTree columns = elimination_tree(be, C.pattern(), as_it_is);
    const auto            below = column_counts(be, C.pattern(), columns);
    FrontTree             tree;
    with_tasks(be, symbolic.input_nnz >= worth_threads, [&] {
        Supernodes supernodes = maximal_supernodes(columns, below);
        auto       front_of = merge(supernodes.node, merging);
        const auto fronts = those_left(supernodes.node, front_of);
        tree = numbered(columns, supernodes, front_of, fronts, numbering(fronts));
        find_rows(C, tree);
    });
    return tree;
}

}  // namespace ilux

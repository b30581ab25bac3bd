#include "ilux/direct/supernodal/front_tree.hpp"

#include <algorithm>
#include <numeric>
#include <span>
#include <utility>

#include "ilux/base/csr.hpp"
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

/// Maximal supernodes: a column joins the one before it in postorder where that is its child with the same rows but for itself.
/// @param below        entries of each column of L below the diagonal, by position
/// @param of_position  receives the supernode of each position
std::vector<Merged> maximal_supernodes(const EliminationTree& tree, std::span<const Index> below,
                                       std::vector<Index>& of_position)
{
    const auto          n = static_cast<Index>(below.size());
    std::vector<Merged> nodes;
    of_position.resize(n);
    for (Index k = 0; k < n; ++k) {
        const bool joins = k > 0 && tree.parent[k - 1] == k && below[k - 1] == below[k] + 1;
        if (!joins) nodes.emplace_back();
        ++nodes.back().pivots;
        nodes.back().updates = below[k];
        of_position[k] = static_cast<Index>(nodes.size()) - 1;
    }
    for (Index k = 0; k < n; ++k)
        if (const Index up = tree.parent[k]; up >= 0 && of_position[up] != of_position[k])
            nodes[of_position[k]].parent = of_position[up];
    return nodes;
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
    std::vector<Index> ptr, child;

    Children(std::span<const Merged> nodes) : ptr(nodes.size() + 1, 0), child(nodes.size())
    {
        for (const Merged& node : nodes)
            if (node.parent >= 0) ++ptr[node.parent + 1];
        std::partial_sum(ptr.begin(), ptr.end(), ptr.begin());
        std::vector<Index> next(ptr.begin(), ptr.end() - 1);
        for (std::size_t f = 0; f < nodes.size(); ++f)
            if (nodes[f].parent >= 0) child[next[nodes[f].parent]++] = static_cast<Index>(f);
    }
    std::span<Index> of(Index f) { return {child.data() + ptr[f], static_cast<std::size_t>(ptr[f + 1] - ptr[f])}; }
};

/// Bottom up, each supernode takes in those of its children that bring few zeros, those that lack the fewest rows first.
/// @return into which one each has gone; itself where it stays
std::vector<Index> merge(std::vector<Merged>& nodes, const FrontMerging& merging)
{
    Children           children(nodes);
    std::vector<Index> into(nodes.size());
    std::iota(into.begin(), into.end(), 0);
    for (Index f = 0; f < std::ssize(nodes); ++f) {
        const auto own = children.of(f);
        std::stable_sort(own.begin(), own.end(), [&](Index a, Index b) { return nodes[a].updates > nodes[b].updates; });
        for (const Index c : own) {
            const Merged together = joined(nodes[f], nodes[c]);
            if (!worth_it(together, merging)) continue;
            nodes[f] = together;
            into[c] = f;
        }
    }
    for (Index f = static_cast<Index>(nodes.size()); f-- > 0;) into[f] = into[into[f]];  // parents are behind
    for (auto& node : nodes)
        if (node.parent >= 0) node.parent = into[node.parent];
    return into;
}

/// Memory that a front's subtree needs at once, and what it leaves to its parent, in numbers.
struct Need {
    double peak = 0, left = 0;
};

/// The order in which fronts are numbered: children first, those whose peak exceeds what they leave by most come first, which needs
/// the least memory at once [liu_86].
std::vector<Index> numbering(const std::vector<Merged>& nodes, std::span<const Index> into)
{
    std::vector<Merged> kept(nodes.begin(), nodes.end());
    for (std::size_t f = 0; f < nodes.size(); ++f)
        if (into[f] != static_cast<Index>(f)) kept[f].parent = -1;
    Children           children(kept);
    std::vector<Need>  need(nodes.size());
    std::vector<Index> order, stack;
    for (std::size_t f = 0; f < nodes.size(); ++f) {
        const auto own = children.of(static_cast<Index>(f));
        std::stable_sort(own.begin(), own.end(),
                         [&](Index a, Index b) { return need[a].peak - need[a].left > need[b].peak - need[b].left; });
        double held = 0, peak = 0;
        for (const Index c : own) {
            peak = std::max(peak, held + need[c].peak);
            held += need[c].left;
        }
        const double left = double(nodes[f].updates) * nodes[f].updates;
        need[f] = {std::max(peak, held + left), left};
    }
    std::vector<Index> next(children.ptr.begin(), children.ptr.end() - 1);
    for (Index root = 0; root < std::ssize(nodes); ++root) {
        if (into[root] != root || nodes[root].parent >= 0) continue;
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

/// The update rows: those that the entries of the pivots reach, and what the children leave.
void find_rows(const BlockAdjacency& C, FrontTree& tree)
{
    const Index        n = static_cast<Index>(tree.order.size());
    const auto         position = inverse_permutation(tree.order);
    std::vector<Index> seen(n, -1);
    for (Index f = 0; f < tree.fronts(); ++f) {
        const Index  end = tree.pivot_ptr[f + 1];
        const Offset begin = static_cast<Offset>(tree.row.size());
        const auto   take = [&](Index i) {
            if (i >= end && seen[i] != f) {
                seen[i] = f;
                tree.row.push_back(i);
            }
        };
        for (Index k = tree.pivot_ptr[f]; k < end; ++k)
            for (Offset p = C.ptr[tree.order[k]]; p < C.ptr[tree.order[k] + 1]; ++p) take(position[C.row[p]]);
        for (const Index c : tree.children(f))
            for (Offset p = tree.row_ptr[c]; p < tree.row_ptr[c + 1]; ++p) take(Index(tree.row[p]));
        std::sort(tree.row.begin() + begin, tree.row.end());
        tree.row_ptr.push_back(static_cast<Offset>(tree.row.size()));
    }
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
    const BlockAdjacency C = block_adjacency(be, symbolic);
    std::vector<Index>   as_it_is(symbolic.n);
    std::iota(as_it_is.begin(), as_it_is.end(), 0);
    const EliminationTree columns = elimination_tree(C.pattern(), as_it_is);
    std::vector<Index>    of_position;
    std::vector<Merged>   nodes = maximal_supernodes(columns, column_counts(be, C.pattern(), columns), of_position);
    const auto            into = merge(nodes, merging);
    const auto            order = numbering(nodes, into);

    FrontTree          tree;
    std::vector<Index> number(nodes.size(), -1);
    tree.pivot_ptr.push_back(0);
    for (std::size_t f = 0; f < order.size(); ++f) {
        number[order[f]] = static_cast<Index>(f);
        tree.pivot_ptr.push_back(tree.pivot_ptr.back() + nodes[order[f]].pivots);
    }
    for (const Index f : order) tree.parent.push_back(nodes[f].parent < 0 ? -1 : number[nodes[f].parent]);
    find_children(tree);
    tree.order.resize(of_position.size());
    std::vector<Index> next(tree.pivot_ptr.begin(), tree.pivot_ptr.end() - 1);
    for (std::size_t at = 0; at < of_position.size(); ++at)
        tree.order[next[number[into[of_position[at]]]]++] = columns.order[at];
    tree.row_ptr.push_back(0);
    find_rows(C, tree);
    return tree;
}

}  // namespace ilux

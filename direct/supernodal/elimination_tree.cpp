#include "ilux/direct/supernodal/elimination_tree.hpp"

#include <algorithm>
#include <numeric>
#include <span>
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

std::vector<Index> parents(const BlockAdjacency& C)
{
    const Index        n = C.size();
    std::vector<Index> parent(n, -1), ancestor(n, -1);
    for (Index k = 0; k < n; ++k)
        for (Offset p = C.ptr[k]; p < C.ptr[k + 1] && C.row[p] < k; ++p)
            for (Index i = C.row[p]; i != -1 && i < k;) {
                const Index next = ancestor[i];
                ancestor[i] = k;
                if (next == -1) parent[i] = k;
                i = next;
            }
    return parent;
}

/// Children before their parent, ascending among each other.
std::vector<Index> postorder(std::span<const Index> parent)
{
    const auto         n = static_cast<Index>(parent.size());
    std::vector<Index> first_child(n, -1), sibling(n, -1), order, stack;
    for (Index k = n; k-- > 0;)
        if (const Index up = parent[k]; up >= 0) {
            sibling[k] = first_child[up];
            first_child[up] = k;
        }
    order.reserve(n);
    for (Index root = 0; root < n; ++root) {
        if (parent[root] >= 0) continue;
        stack.push_back(root);
        while (!stack.empty()) {
            const Index k = stack.back();
            if (const Index child = first_child[k]; child >= 0) {
                first_child[k] = sibling[child];
                stack.push_back(child);
            } else {
                order.push_back(k);
                stack.pop_back();
            }
        }
    }
    return order;
}

/// Finds the root of a set of nodes and shortens the path to it.
Index find_root(std::vector<Index>& ancestor, Index k)
{
    Index root = k;
    while (ancestor[root] != root) root = ancestor[root];
    while (ancestor[k] != root) k = std::exchange(ancestor[k], root);
    return root;
}

/// Column j is a leaf of row i's subtree where no earlier leaf of it is below j. Each leaf adds an entry to the columns on its way
/// to the root; where the ways of two leaves meet, one is taken back.
std::vector<Index> column_counts(const BlockAdjacency& C, const EliminationTree& tree)
{
    const Index        n = C.size();
    std::vector<Index> count(n, 0), first(n, -1), largest_first(n, -1), previous_leaf(n, -1), ancestor(n);
    for (Index at = 0; at < n; ++at) {
        Index j = tree.postorder[at];
        count[j] = first[j] == -1 ? 1 : 0;
        for (; j != -1 && first[j] == -1; j = tree.parent[j]) first[j] = at;
    }
    std::iota(ancestor.begin(), ancestor.end(), 0);
    for (const Index j : tree.postorder) {
        if (tree.parent[j] >= 0) --count[tree.parent[j]];
        const auto* end = C.row.data() + C.ptr[j + 1];
        for (const auto* i = std::upper_bound(C.row.data() + C.ptr[j], end, j); i != end; ++i) {
            if (first[j] <= largest_first[*i]) continue;
            largest_first[*i] = first[j];
            ++count[j];
            if (const Index leaf = std::exchange(previous_leaf[*i], j); leaf >= 0) --count[find_root(ancestor, leaf)];
        }
        if (tree.parent[j] >= 0) ancestor[j] = tree.parent[j];
    }
    for (const Index j : tree.postorder)
        if (tree.parent[j] >= 0) count[tree.parent[j]] += count[j];
    return count;
}

}  // namespace

BlockAdjacency block_adjacency(const LuSymbolic& symbolic)
{
    const auto          n = static_cast<std::size_t>(symbolic.n);
    std::vector<Offset> ptr(n + 1, 0);
    for_each_block_entry(symbolic, [&](Index i, Index k) { ++ptr[i + 1], ++ptr[k + 1]; });
    std::partial_sum(ptr.begin(), ptr.end(), ptr.begin());
    std::vector<Index>  row(ptr.back());
    std::vector<Offset> next(ptr.begin(), ptr.end() - 1);
    for_each_block_entry(symbolic, [&](Index i, Index k) { row[next[i]++] = k, row[next[k]++] = i; });

    BlockAdjacency C;
    C.ptr.assign(n + 1, 0);
    C.row.reserve(row.size() / 2);
    for (std::size_t k = 0; k < n; ++k) {
        const auto begin = row.begin() + ptr[k], end = row.begin() + ptr[k + 1];
        std::sort(begin, end);
        C.row.insert(C.row.end(), begin, std::unique(begin, end));
        C.ptr[k + 1] = static_cast<Offset>(C.row.size());
    }
    return C;
}

EliminationTree elimination_tree(const BlockAdjacency& C)
{
    EliminationTree tree;
    tree.parent = parents(C);
    tree.postorder = postorder(tree.parent);
    tree.count = column_counts(C, tree);
    return tree;
}

}  // namespace ilux

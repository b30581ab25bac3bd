#include "ilux/precond/coarse/aggregates.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "ilux/base/instances.hpp"
#include "ilux/precond/coarse/summed_rows.hpp"
#include "ilux/precond/rounds/round_rules.hpp"
#include "ilux/reorder/node_numbering.hpp"

namespace ilux {
namespace {

constexpr double strong = 0.1;         // of the largest tie of its row
constexpr double few_passes_left = 2;  // aggregates that are so near their size stay
constexpr double near = 6;             // aggregates that are to grow by less take neighbours alone

/// Ties between nodes: Σ |a_ij| over their unknowns; without loops.
template <class T>
CsrMatrix<double> ties_of(Cpu& be, const CsrView<T>& A, const Nodes& nodes)
{
    return summed_rows<double>(be, nodes.count(), nodes.count(), [&](Index node, RowSums<double>& ties) {
        for (const Index i : nodes.members(node))
            for (Offset p = A.row_ptr()[i]; p < A.row_ptr()[i + 1]; ++p)
                if (const Index other = nodes.of[A.col()[p]]; other != node && A.val()[p] != T(0))
                    ties.add(other, std::abs(A.val()[p]));
    });
}

/// Ties that are strong in one direction, the sum of both directions: a symmetric matrix.
CsrMatrix<double> strong_ties(Cpu& be, const CsrView<double>& ties)
{
    const Index             n = ties.rows();
    const CsrMatrix<double> back = transpose(be, ties);
    std::vector<double>     largest(n, 0.);
    for_row_blocks(be, n, [&](Index, Index begin, Index end, int) {
        for (Index i = begin; i < end; ++i)
            for (Offset p = ties.row_ptr()[i]; p < ties.row_ptr()[i + 1]; ++p)
                largest[i] = std::max(largest[i], ties.val()[p]);
    });
    return summed_rows<double>(be, n, n, [&](Index i, RowSums<double>& sums) {
        for (Offset p = ties.row_ptr()[i]; p < ties.row_ptr()[i + 1]; ++p)
            if (ties.val()[p] > strong * largest[i]) sums.add(ties.col()[p], ties.val()[p]);
        for (Offset p = back.row_ptr()[i]; p < back.row_ptr()[i + 1]; ++p)
            if (back.val()[p] > strong * largest[back.col()[p]]) sums.add(back.col()[p], back.val()[p]);
    });
}

using Key = std::uint64_t;
constexpr Key root = 0, covered = ~Key{0};

/// A maximal set of nodes no two of which are within `distance` ties: 1 or 2. A node is a root where its key is the
/// least of all undecided ones so near.
std::vector<Key> choose_roots(Cpu& be, const CsrView<double>& G, int distance)
{
    const Index      n = G.rows();
    std::vector<Key> key(n), seen(n), far(n);
    for (Index i = 0; i < n; ++i) key[i] = (Key{rounds::shuffled(static_cast<std::uint32_t>(i))} << 1) + 1;
    const auto least_near = [&](const std::vector<Key>& of, std::vector<Key>& least) {
        for_row_blocks(be, n, [&](Index, Index begin, Index end, int) {
            for (Index i = begin; i < end; ++i) {
                Key lowest = of[i];
                for (Offset p = G.row_ptr()[i]; p < G.row_ptr()[i + 1]; ++p) lowest = std::min(lowest, of[G.col()[p]]);
                least[i] = lowest;
            }
        });
    };
    for (bool undecided = true; undecided;) {
        least_near(key, seen);
        if (distance == 2) least_near(seen, far);
        const std::vector<Key>& least = distance == 2 ? far : seen;
        std::vector<char>       left(static_cast<std::size_t>(row_blocks(n)), 0);
        for_row_blocks(be, n, [&](Index b, Index begin, Index end, int) {
            for (Index i = begin; i < end; ++i) {
                if (key[i] == root || key[i] == covered) continue;
                if (least[i] == key[i]) key[i] = root;
                else if (least[i] == root) key[i] = covered;
                else left[b] = 1;
            }
        });
        undecided = std::ranges::any_of(left, [](char one) { return one != 0; });
    }
    return key;
}

/// The aggregate of the strongest tie of node i to a node that `of` has in one, or −1.
Index strongest(const CsrView<double>& G, std::span<const Index> of, Index i)
{
    double most = 0;
    Index  best = -1;
    for (Offset p = G.row_ptr()[i]; p < G.row_ptr()[i + 1]; ++p)
        if (const Index at = of[G.col()[p]]; at >= 0 && G.val()[p] > most) most = G.val()[p], best = at;
    return best;
}

/// @param alone  what has no tie is a part of its own, and else in none
Aggregates around_roots(Cpu& be, const CsrView<double>& G, int distance, bool alone)
{
    const Index            n = G.rows();
    const std::vector<Key> key = choose_roots(be, G, distance);
    std::vector<Index>     at_root(n, -1), near_root(n, -1);
    Aggregates             made{.of = std::vector<Index>(n, -1)};
    for (Index i = 0; i < n; ++i)
        if (key[i] == root && (alone || G.row_ptr()[i + 1] > G.row_ptr()[i])) at_root[i] = made.count++;
    for_row_blocks(be, n, [&](Index, Index begin, Index end, int) {
        for (Index i = begin; i < end; ++i) near_root[i] = at_root[i] >= 0 ? at_root[i] : strongest(G, at_root, i);
    });
    for_row_blocks(be, n, [&](Index, Index begin, Index end, int) {
        for (Index i = begin; i < end; ++i) made.of[i] = near_root[i] >= 0 ? near_root[i] : strongest(G, near_root, i);
    });
    return made;
}

/// Ties between aggregates.
CsrMatrix<double> ties_between(Cpu& be, const CsrView<double>& G, const Aggregates& parts)
{
    std::vector<Index>  row, col;
    std::vector<double> val;
    for (Index i = 0; i < G.rows(); ++i)
        for (Offset p = G.row_ptr()[i]; p < G.row_ptr()[i + 1]; ++p)
            if (const Index a = parts.of[i], b = parts.of[G.col()[p]]; a >= 0 && b >= 0 && a != b)
                row.push_back(a), col.push_back(b), val.push_back(G.val()[p]);
    return strong_ties(be, CsrMatrix<double>::from_triplets(parts.count, parts.count, row, col, val));
}

}  // namespace

Nodes::Nodes(std::vector<Index> node, Index count) : of(std::move(node)), begin(count + std::size_t{1}, 0)
{
    for (const Index one : of) ++begin[one + 1];
    for (Index k = 0; k < count; ++k) begin[k + 1] += begin[k];
    unknown.resize(of.size());
    std::vector<Offset> next(begin.begin(), begin.end() - 1);
    for (Index i = 0; i < size(); ++i) unknown[next[of[i]]++] = i;
}

template <class T>
Nodes nodes_of(const CsrView<T>& A)
{
    const auto         found = detail::find_nodes(detail::symmetrised_graph({A.rows(), A.row_ptr(), A.col()}));
    std::vector<Index> of(A.rows());
    for (Index i = 0; i < A.rows(); ++i) of[i] = found.node(i);
    return Nodes(std::move(of), found.nodes());
}

template <class T>
Aggregates aggregate(Cpu& be, const CsrView<T>& A, const Nodes& nodes, Index unknowns)
{
    CsrMatrix<double> G = strong_ties(be, ties_of(be, A, nodes));
    Aggregates        all = around_roots(be, G, 2, false);
    Aggregates        last = all;
    while (last.count > 1) {
        const double growth = static_cast<double>(unknowns) * all.count / static_cast<double>(nodes.size());
        if (growth < few_passes_left) break;
        G = ties_between(be, G, last);
        last = around_roots(be, G, growth < near ? 1 : 2, true);
        if (last.count == all.count) break;
        for (Index& part : all.of)
            if (part >= 0) part = last.of[part];
        all.count = last.count;
    }
    return all;
}

#define ILUX_INSTANTIATE(T)                          \
    template Nodes      nodes_of(const CsrView<T>&); \
    template Aggregates aggregate(Cpu&, const CsrView<T>&, const Nodes&, Index);
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux

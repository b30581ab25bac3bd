#include "ilux/reorder/compressed_graph.hpp"

#include <algorithm>
#include <atomic>
#include <numeric>

#include "ilux/base/tasks.hpp"
#include "ilux/reorder/node_numbering.hpp"
#include "ilux/reorder/weighted_graph.hpp"

namespace ilux {
namespace {

using detail::Graph;
using detail::mixed_bits;
using detail::NodeNumbering;

constexpr double worth_joining = 0.85;  // classes for each vertex
constexpr double few_zeros = 1.3;  // entries of nodes over those of A, for which classes that are alike are given up
constexpr Index  none = -1;

/// Compares the closed neighbourhoods of two neighbours.
bool same_closed_neighbourhood(const Graph& g, Index v, Index w)
{
    const auto of_v = g.of(v), of_w = g.of(w);
    if (of_v.size() != of_w.size()) return false;
    auto q = of_w.begin();
    for (const Index u : of_v) {
        if (u == w) continue;
        if (q != of_w.end() && *q == v) ++q;
        if (q == of_w.end() || *q != u) return false;
        ++q;
    }
    return true;
}

/// Finds for each vertex the smallest one that it cannot be told apart from; for hubs none.
std::vector<Index> representatives(const Graph& g, double dense)
{
    std::vector<std::uint64_t> sum(g.n);  // over closed neighbourhoods: nearly always equal only for equal ones
    for_pieces(g.n, [&](Index, Index begin, Index end) {
        for (Index v = begin; v < end; ++v) {
            sum[v] = mixed_bits(v);
            for (const Index u : g.of(v)) sum[v] += mixed_bits(u);
        }
    });
    std::vector<Index> first(g.n);
    for_pieces(g.n, [&](Index, Index begin, Index end) {
        for (Index v = begin; v < end; ++v) {
            const auto same = std::ranges::find_if(g.of(v), [&](Index u) {
                return u > v || (sum[u] == sum[v] && same_closed_neighbourhood(g, u, v));
            });
            const bool joined = same != g.of(v).end() && *same < v;
            first[v] = g.degree(v) > dense ? none : joined ? *same : v;
        }
    });
    return first;
}

/// Finds these vertices where the unknowns of a node are a class; all of a node are hubs where one is.
std::vector<Index> first_of_nodes(const Graph& g, const NodeNumbering& numbering, double dense)
{
    std::vector<Index> first(g.n);
    for_pieces(numbering.nodes(), [&](Index, Index begin, Index end) {
        for (Index node = begin; node < end; ++node) {
            bool hub = false;
            for (Index k = 0; k < numbering.size; ++k) hub = hub || g.degree(numbering.member(node, k)) > dense;
            for (Index k = 0; k < numbering.size; ++k)
                first[numbering.member(node, k)] = hub ? none : numbering.member(node, 0);
        }
    });
    return first;
}

/// Members of the classes, which are numbered by their first ones. @return number of the class of each vertex, or none
std::vector<Index> number_classes(const Graph& g, std::span<const Index> first, CompressedGraph& c)
{
    std::vector<Index> number(g.n, none);
    c.member_ptr.assign(1, 0);
    for (Index v = 0; v < g.n; ++v) {
        if (first[v] == none) {
            c.hub.push_back(v);
            continue;
        }
        if (first[v] == v) {
            number[v] = static_cast<Index>(c.member_ptr.size()) - 1;
            c.member_ptr.push_back(0);
        } else number[v] = number[first[v]];
        ++c.member_ptr[number[v] + 1];
    }
    std::partial_sum(c.member_ptr.begin(), c.member_ptr.end(), c.member_ptr.begin());
    c.member.resize(c.member_ptr.back());
    std::vector<Offset> next(c.member_ptr.begin(), c.member_ptr.end() - 1);
    for (Index v = 0; v < g.n; ++v)
        if (number[v] != none) c.member[next[number[v]]++] = v;
    std::ranges::stable_sort(c.hub, {}, [&](Index v) { return g.degree(v); });
    return number;
}

/// Classes that are joined: those of the first member, where all of a class have the same neighbours; else of any.
/// Ascending for each.
/// @param alike  all members of a class have the same neighbours
void join_classes(const Graph& g, std::span<const Index> number, bool alike, CompressedGraph& c)
{
    Graph& h = c.graph;
    h.n = static_cast<Index>(c.member_ptr.size()) - 1;
    h.start.assign(static_cast<std::size_t>(h.n) + 1, 0);
    c.weight.resize(h.n);
    std::vector<std::vector<Index>> found(pieces_of(h.n));
    for_pieces(h.n, [&](Index piece, Index begin, Index end) {
        auto& out = found[piece];
        for (Index k = begin; k < end; ++k) {
            const auto   at = static_cast<std::ptrdiff_t>(out.size());
            const Offset last = alike ? c.member_ptr[k] + 1 : c.member_ptr[k + 1];
            for (Offset p = c.member_ptr[k]; p < last; ++p)
                for (const Index u : g.of(c.member[p]))
                    if (number[u] != none && number[u] != k) out.push_back(number[u]);
            std::sort(out.begin() + at, out.end());
            out.erase(std::unique(out.begin() + at, out.end()), out.end());
            h.start[k + 1] = static_cast<Offset>(out.size()) - at;
            c.weight[k] = static_cast<Index>(c.member_ptr[k + 1] - c.member_ptr[k]);
        }
    });
    std::partial_sum(h.start.begin(), h.start.end(), h.start.begin());
    h.neighbour.resize(h.start.back());
    for_pieces(h.n, [&](Index piece, Index begin, Index) {
        std::ranges::copy(found[piece], h.neighbour.begin() + h.start[begin]);
        found[piece] = {};
    });
}

/// Classes for each vertex that is in one.
double share_of_classes(std::span<const Index> first)
{
    Index classes = 0, others = 0;
    for (std::size_t v = 0; v < first.size(); ++v) {
        classes += first[v] == static_cast<Index>(v);
        others += first[v] != none;
    }
    return others > 0 ? double(classes) / others : 1;
}

/// By tasks.
CompressedGraph compressed(Graph g)
{
    const double        dense = detail::hub_degree(g.n);
    std::vector<Index>  first = representatives(g, dense);
    const NodeNumbering numbering = detail::find_nodes({g.n, g.start, g.neighbour});
    const double        classes = share_of_classes(first);
    const bool          nearly_alike = numbering.entries <= few_zeros && numbering.size * classes > 1;
    const bool          alike = numbering.size == 1 || (classes <= worth_joining && !nearly_alike);
    if (!alike) first = first_of_nodes(g, numbering, dense);
    for (Index v = 0; v < g.n && alike && classes > worth_joining; ++v)
        if (first[v] != none) first[v] = v;
    CompressedGraph c;
    const auto      number = number_classes(g, first, c);
    if (std::ssize(c.member) == g.n && std::ssize(c.member_ptr) == g.n + 1) {  // nothing changes
        c.weight.assign(g.n, 1);
        c.graph = std::move(g);
    } else join_classes(g, number, alike, c);
    return c;
}

}  // namespace

std::vector<Index> CompressedGraph::expanded(std::span<const Index> order) const
{
    std::vector<Index> perm;
    perm.reserve(member.size() + hub.size());
    for (const Index k : order)
        perm.insert(perm.end(), member.begin() + member_ptr[k], member.begin() + member_ptr[k + 1]);
    perm.insert(perm.end(), hub.begin(), hub.end());
    return perm;
}

CompressedGraph compressed_graph(const Cpu& be, const PatternView& A)
{
    constexpr Offset worth_sharing = 20'000;  // entries
    CompressedGraph  c;
    with_tasks(be, A.nnz() > worth_sharing, [&] {
        Graph               g = detail::symmetrised_graph(A);
        const double        joined = double(g.neighbour.size());
        std::atomic<Offset> diagonal = 0;
        for_pieces(A.n, [&](Index, Index begin, Index end) {
            Offset stored = 0;
            for (Index i = begin; i < end; ++i)
                stored += std::ranges::binary_search(A.col.subspan(A.row_ptr[i], A.row_ptr[i + 1] - A.row_ptr[i]), i);
            diagonal += stored;
        });
        const double entries = double(A.nnz() - diagonal);  // |A ∪ Aᵀ| = 2 |A| − |A ∩ Aᵀ|
        c = compressed(std::move(g));
        if (entries > 0) c.symmetry = 2 - joined / entries;
    });
    return c;
}

}  // namespace ilux

#include "ilux/reorder/dissection_graph.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "ilux/base/tasks.hpp"

namespace ilux::detail {
namespace {

constexpr double worth_joining = 0.85;  // classes for each vertex
constexpr Index  none = -1;

/// Of two neighbours.
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

/// Of each vertex the smallest one that it cannot be told apart from; of hubs none.
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

/// @param first  of each vertex the first of its class, or none
/// @param number of each class by its first vertex
WeightedGraph graph_of_classes(const Graph& g, std::span<const Index> first, std::span<const Index> number,
                               std::span<const Offset> member_ptr)
{
    const auto    classes = member_ptr.size() - 1;
    WeightedGraph h{.start = std::vector<Offset>(classes + 1, 0), .arc = {}, .weight = std::vector<Index>(classes)};
    const auto    each_arc = [&](Index v, auto&& take) {
        for (const Index u : g.of(v))
            if (first[u] == u) take(u);  // all of a class are neighbours of v, or none
    };
    for_pieces(g.n, [&](Index, Index begin, Index end) {
        for (Index v = begin; v < end; ++v)
            if (first[v] == v) each_arc(v, [&](Index) { ++h.start[number[v] + 1]; });
    });
    std::partial_sum(h.start.begin(), h.start.end(), h.start.begin());
    h.arc.resize(h.start.back());
    for_pieces(g.n, [&](Index, Index begin, Index end) {
        for (Index v = begin; v < end; ++v) {
            if (first[v] != v) continue;
            Offset p = h.start[number[v]];
            each_arc(v, [&](Index u) { h.arc[p++] = {number[u], 1}; });
        }
    });
    for (std::size_t c = 0; c < classes; ++c) h.weight[c] = static_cast<Index>(member_ptr[c + 1] - member_ptr[c]);
    h.total = member_ptr.back();
    return h;
}

}  // namespace

DissectionGraph dissection_graph(const Graph& g)
{
    const double       dense = std::max(16.0, 10 * std::sqrt(double(g.n)));
    std::vector<Index> first = representatives(g, dense), number(g.n, none);
    DissectionGraph    d;
    Index              classes = 0, others = 0;
    for (Index v = 0; v < g.n; ++v) {
        classes += first[v] == v;
        others += first[v] != none;
        if (first[v] == none) d.hub.push_back(v);
    }
    if (classes > worth_joining * others) {
        for (Index v = 0; v < g.n; ++v)
            if (first[v] != none) first[v] = v;
        classes = others;
    }
    d.member_ptr.reserve(static_cast<std::size_t>(classes) + 1);
    d.member_ptr.assign(1, 0);
    for (Index v = 0; v < g.n; ++v) {
        if (first[v] == none) continue;
        if (first[v] == v) {
            number[v] = static_cast<Index>(d.member_ptr.size()) - 1;
            d.member_ptr.push_back(0);
        }
        ++d.member_ptr[number[first[v]] + 1];
    }
    std::partial_sum(d.member_ptr.begin(), d.member_ptr.end(), d.member_ptr.begin());
    d.member.resize(d.member_ptr.back());
    std::vector<Offset> next(d.member_ptr.begin(), d.member_ptr.end() - 1);
    for (Index v = 0; v < g.n; ++v)
        if (first[v] != none) d.member[next[number[first[v]]]++] = v;
    d.graph = graph_of_classes(g, first, number, d.member_ptr);
    std::ranges::stable_sort(d.hub, {}, [&](Index v) { return g.degree(v); });
    return d;
}

}  // namespace ilux::detail

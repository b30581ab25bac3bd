#include "ilux/reorder/nested_dissection.hpp"

#include <algorithm>
#include <array>
#include <numeric>

#include "ilux/base/tasks.hpp"
#include "ilux/reorder/compressed_graph.hpp"
#include "ilux/reorder/separator.hpp"

namespace ilux {
namespace {

using detail::Arc;
using detail::Separation;
using detail::WeightedGraph;

// Leaves of 400 vertices cost 1.02 times as many multiply-adds, those of 120 save 1 % for 7 % more time.
constexpr Index  leaf = 200;              // vertices that AMD orders
constexpr Index  worth_a_task = 1000;     // vertices
constexpr Offset worth_sharing = 20'000;  // entries
constexpr double least_side = 0.02;       // lighter ones: the graph has no separator to speak of

/// Part of the graph, with the numbers that its vertices have in the whole.
struct Part {
    WeightedGraph      graph;
    std::vector<Index> vertex;
};

/// The vertices of one side, in ascending order, and their edges.
Part side_of(const Part& whole, const Separation& s, int side, std::span<const Index> local, Index size)
{
    const WeightedGraph& g = whole.graph;
    Part                 part;
    WeightedGraph&       h = part.graph;
    part.vertex.resize(size);
    h.weight.resize(size);
    h.start.resize(static_cast<std::size_t>(size) + 1);
    h.total = s.weight[side];
    for_pieces(g.n(), [&](Index, Index begin, Index end) {
        for (Index v = begin; v < end; ++v) {
            if (s.side[v] != side) continue;
            Offset degree = 0;
            for (const Arc& e : g.of(v)) degree += s.side[e.to] == side;
            part.vertex[local[v]] = whole.vertex[v];
            h.weight[local[v]] = g.weight[v];
            h.start[local[v] + 1] = degree;
        }
    });
    std::partial_sum(h.start.begin(), h.start.end(), h.start.begin());
    h.arc.resize(h.start.back());
    for_pieces(g.n(), [&](Index, Index begin, Index end) {
        for (Index v = begin; v < end; ++v) {
            if (s.side[v] != side) continue;
            Offset q = h.start[local[v]];
            for (const Arc& e : g.of(v))
                if (s.side[e.to] == side) h.arc[q++] = {local[e.to], e.weight};
        }
    });
    return part;
}

/// Numbers of the vertices within their sides.
struct Numbering {
    std::vector<Index>   local;  // n
    std::array<Index, 3> size{};
};

Numbering number_sides(const Separation& s)
{
    const Index                       n = static_cast<Index>(s.side.size());
    std::vector<std::array<Index, 3>> next(static_cast<std::size_t>(pieces_of(n)) + 1, {0, 0, 0});
    for_pieces(n, [&](Index piece, Index begin, Index end) {
        for (Index v = begin; v < end; ++v) ++next[piece + 1][s.side[v]];
    });
    for (std::size_t k = 1; k < next.size(); ++k)
        for (int side = 0; side < 3; ++side) next[k][side] += next[k - 1][side];
    Numbering done{.local = std::vector<Index>(n), .size = next.back()};
    for_pieces(n, [&](Index piece, Index begin, Index end) {
        for (Index v = begin; v < end; ++v) done.local[v] = next[piece][s.side[v]]++;
    });
    return done;
}

class Dissection {
public:
    explicit Dissection(const StopToken& stop) : stop_(stop) {}

    /// Writes the vertices of `part` to `out`, in their order.
    void order(Part part, std::span<Index> out, std::uint64_t seed)
    {
        if (failure_.met()) return;
        stop_.check();
        if (part.graph.n() <= leaf) return order_leaf(part, out);
        std::array<Part, 2>  half;
        std::array<Index, 3> size;
        {
            const Separation s = detail::separated(part.graph, seed);
            const Offset     lighter = std::min(s.weight[0], s.weight[1]);
            if (static_cast<double>(lighter) <= least_side * static_cast<double>(part.graph.total))
                return order_leaf(part, out);
            const Numbering numbers = number_sides(s);
            size = numbers.size;
            for (const int side : {0, 1}) half[side] = side_of(part, s, side, numbers.local, size[side]);
            const auto last = out.subspan(out.size() - size[2]);
            for (Index v = 0; v < part.graph.n(); ++v)
                if (s.side[v] == Separation::separator) last[numbers.local[v]] = part.vertex[v];
        }
        part = {};
        const auto of_half = [&](int side) { return out.subspan(side == 0 ? 0 : size[0], size[side]); };
        const auto next_seed = [&](int side) { return detail::mixed_bits(2 * seed + side); };
#pragma omp task if (size[0] > worth_a_task) default(shared)
        failure_.run([&] { order(std::move(half[0]), of_half(0), next_seed(0)); });
        failure_.run([&] { order(std::move(half[1]), of_half(1), next_seed(1)); });
#pragma omp taskwait
    }

    void rethrow() const { failure_.rethrow(); }

private:
    static void order_leaf(const Part& part, std::span<Index> out)
    {
        const WeightedGraph& g = part.graph;
        std::vector<Offset>  row_ptr(g.start);
        std::vector<Index>   col(g.arc.size());
        for (Index v = 0; v < g.n(); ++v) {
            const auto begin = col.begin() + g.start[v];
            std::ranges::transform(g.of(v), begin, &Arc::to);
            std::sort(begin, begin + (g.start[v + 1] - g.start[v]));
        }
        const auto perm = fill_reducing_order({g.n(), row_ptr, col}, Ordering::amd);
        for (Index k = 0; k < g.n(); ++k) out[k] = part.vertex[perm[k]];
    }

    const StopToken& stop_;
    RegionFailure    failure_;
};

/// Arcs of weight 1.
WeightedGraph weighted(const CompressedGraph& c)
{
    WeightedGraph g{.start = c.graph.start, .arc = std::vector<Arc>(c.graph.neighbour.size()), .weight = c.weight};
    for_pieces(std::ssize(g.arc), [&](Index, Offset begin, Offset end) {
        for (Offset p = begin; p < end; ++p) g.arc[p] = {c.graph.neighbour[p], 1};
    });
    g.total = c.member_ptr.back();
    return g;
}

}  // namespace

std::vector<Index> dissected_classes(const Cpu& be, const CompressedGraph& c, const StopToken& stop)
{
    std::vector<Index> order(c.classes());
    std::iota(order.begin(), order.end(), Index{0});
    with_tasks(be, std::ssize(c.graph.neighbour) > worth_sharing, [&] {
        stop.check();
        Dissection dissection(stop);
        dissection.order({.graph = weighted(c), .vertex = order}, order, 1);
        dissection.rethrow();
    });
    return order;
}

std::vector<Index> nested_dissection(const Cpu& be, const PatternView& A, const StopToken& stop)
{
    stop.check();
    const CompressedGraph c = compressed_graph(be, A);
    return c.expanded(dissected_classes(be, c, stop));
}

}  // namespace ilux

#include "ilux/reorder/separator.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "ilux/base/tasks.hpp"
#include "ilux/reorder/coarsening.hpp"

namespace ilux::detail {
namespace {

// Measured by the multiply-adds of LU: docs/design/reorder.md.
constexpr double largest_side = 0.7;  // of all weight
constexpr Index  tiny = 50;           // vertices that are not coarsened further
constexpr Index  small = 2000;        // vertices from which on a second attempt is cheap beside the levels above
constexpr Index  large = 10'000;      // vertices whose separator is worth it
constexpr int    tries_of_tiny = 3;
constexpr int    tries_of_small = 2;
constexpr int    most_passes = 8;
constexpr double least_shrinkage = 0.95;

Separation all_on_one_side(const WeightedGraph& g)
{
    return {.side = std::vector<std::uint8_t>(g.n(), 0), .weight = {g.total, 0, 0}};
}

/// The last vertex that a breadth-first search meets.
Index far_from(const WeightedGraph& g, Index v)
{
    std::vector<char>  seen(g.n(), 0);
    std::vector<Index> met{v};
    seen[v] = 1;
    for (std::size_t k = 0; k < met.size(); ++k)
        for (const Arc& e : g.of(met[k]))
            if (!std::exchange(seen[e.to], 1)) met.push_back(e.to);
    return met.back();
}

class Multilevel {
public:
    Multilevel(const WeightedGraph& g, std::uint64_t seed)
        : heaviest_side_(static_cast<Offset>(largest_side * static_cast<double>(g.total))),
          heaviest_vertex_(static_cast<Index>(std::max(Offset{1}, g.total * 3 / (2 * tiny)))),
          seed_(seed)
    {}

    Separation of(const WeightedGraph& g, int depth, bool several)
    {
        if (g.n() <= tiny) return of_tiny(g, depth);
        if (several && g.n() <= small) return best_of_several(g, depth);
        const Coarsening c = coarsened(g, heaviest_vertex_, mixed_bits(seed_ + depth));
        if (c.graph.n() > least_shrinkage * g.n()) return of_tiny(g, depth);
        const Separation coarse = of(c.graph, depth + 1, several);
        Separation       s{.side = std::vector<std::uint8_t>(g.n()), .weight = coarse.weight};
        for_pieces(g.n(), [&](Index, Index begin, Index end) {
            for (Index v = begin; v < end; ++v) s.side[v] = coarse.side[c.coarse_of[v]];
        });
        SeparatorRefinement(g, s, heaviest_side_).improve(most_passes);
        return s;
    }

private:
    Separation of_tiny(const WeightedGraph& g, int depth)
    {
        std::optional<Separation> best;
        for (int t = 0; t < tries_of_tiny; ++t) {
            Separation          s = all_on_one_side(g);
            SeparatorRefinement refine(g, s, heaviest_side_);
            const auto          drawn = static_cast<Index>(mixed_bits(seed_ + 1000 * t + depth) % g.n());
            refine.grow(far_from(g, far_from(g, drawn)));  // from an end of the graph: fronts are short there
            refine.improve(most_passes);
            if (!best || cost(s) < cost(*best)) best = std::move(s);
        }
        return std::move(*best);
    }

    Separation best_of_several(const WeightedGraph& g, int depth)
    {
        std::optional<Separation> best;
        for (int t = 0; t < tries_of_small; ++t) {
            Separation s = of(g, depth + 100 * (t + 1), false);
            if (!best || cost(s) < cost(*best)) best = std::move(s);
        }
        return std::move(*best);
    }

    SeparationCost cost(const Separation& s) const { return {s, heaviest_side_}; }

    Offset        heaviest_side_;
    Index         heaviest_vertex_;
    std::uint64_t seed_;
};

}  // namespace

Separation separated(const WeightedGraph& g, std::uint64_t seed) { return Multilevel(g, seed).of(g, 0, g.n() > large); }

}  // namespace ilux::detail

#pragma once
// A vertex separator made lighter by moves of single vertices.

#include <array>
#include <cstdint>
#include <queue>
#include <vector>

#include "ilux/reorder/weighted_graph.hpp"

namespace ilux::detail {

/// Two sides without an edge between them, and what separates them.
struct Separation {
    static constexpr std::uint8_t separator = 2;

    std::vector<std::uint8_t> side;      ///< n; 0, 1 or `separator`
    std::array<Offset, 3>     weight{};  ///< of each

    Offset heavier_side() const { return std::max(weight[0], weight[1]); }
};

/// Moves vertices of the separator to a side; their neighbours on the other side come into the separator [ashcraft_liu_98]. A pass
/// takes the best move again and again, worsening ones too, each vertex once, and then goes back to the best state that it met
/// [fiduccia_mattheyses_82].
class SeparatorRefinement {
public:
    /// @param heaviest  what a side may weigh
    SeparatorRefinement(const WeightedGraph& g, Separation& s, Offset heaviest);

    /// From a separation with all vertices on side 0: side 1 grows out of `seed` to half of the weight.
    void grow(Index seed);
    /// Passes until one of them gains nothing.
    void improve(int most_passes);

private:
    struct Candidate {
        Index gain, v;
        bool  operator<(const Candidate& o) const { return gain != o.gain ? gain < o.gain : v < o.v; }
    };
    struct Move {
        Index         v;
        std::uint8_t  to;
        std::uint32_t pulled;  // the first of what it pulled
    };
    struct Cost {
        Offset overweight, separator, difference;
        auto   operator<=>(const Cost&) const = default;  // NOLINT(modernize-use-nullptr): not meant here
    };

    Cost  cost() const;
    Index gain(Index v, int to) const { return g_.weight[v] - next_to_[v][1 - to]; }
    void  offer(Index v);
    void  offer(Index v, int to);
    bool  top(int to);
    int   chosen_side();
    void  enter_separator(Index v);
    void  move(Index v, int to);
    void  undo_last();
    bool  pass();
    void  begin_pass();

    const WeightedGraph&              g_;
    Separation&                       s_;
    Offset                            heaviest_;
    std::vector<std::array<Index, 2>> next_to_;  // n; weight of a separator's vertex's neighbours on each side
    std::vector<std::uint8_t>         may_;      // n; bit k: may move to side k in this pass
    std::vector<Index>                members_;  // of the separator, and former ones
    std::array<std::priority_queue<Candidate>, 2> queue_;
    std::vector<Move>                             moves_;
    std::vector<Index>                            pulled_;
};

}  // namespace ilux::detail

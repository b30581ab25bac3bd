#pragma once
// A vertex separator made lighter by moves of single vertices.

#include <array>
#include <cstdint>
#include <tuple>
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

/// What a separation costs: first what a side weighs too much, then the price of the separator.
struct SeparationCost {
    Offset overweight = 0;
    double price = 0;  ///< |S| (1 + 3 δ⁴), where the sides differ by the share δ of all weight
    Offset difference = 0;

    SeparationCost(const Separation& s, Offset heaviest_side);
    bool operator<(const SeparationCost& o) const
    {
        return std::tie(overweight, price, difference) < std::tie(o.overweight, o.price, o.difference);
    }
};

/// Moves vertices of the separator to a side; their neighbours on the other side come into the separator
/// [ashcraft_liu_98]. A pass moves to one side: it takes the best move again and again, worsening ones too, each vertex
/// once, and then goes back to the best state that it met [fiduccia_mattheyses_82].
class SeparatorRefinement {
public:
    /// @param heaviest  what a side may weigh
    SeparatorRefinement(const WeightedGraph& g, Separation& s, Offset heaviest);

    /// From a separation with all vertices on side 0: side 1 grows out of `seed` to half of the weight.
    void grow(Index seed);
    /// Passes to the sides in turn, until neither gains anything.
    void improve(int most_passes);

private:
    struct Candidate {
        Index gain, v, time;  // of the offer: the latest of equals is taken, which keeps to one place
        bool  operator<(const Candidate& o) const { return gain != o.gain ? gain < o.gain : time < o.time; }
    };
    struct Move {
        Index       v;
        std::size_t pulled;  // the first of what it pulled
    };

    SeparationCost cost() const { return {s_, heaviest_}; }
    Index          gain(Index v) const { return g_.weight[v] - next_to_[v][1 - to_]; }
    void           offer(Index v);
    Index          best();
    void           enter_separator(Index v);
    void           pull(Index u);
    void           move(Index v);
    void           undo_last();
    bool           pass();
    void           begin_pass(int to);

    const WeightedGraph&              g_;
    Separation&                       s_;
    Offset                            heaviest_;
    int                               to_ = 0;   // the side that grows
    std::vector<std::array<Index, 2>> next_to_;  // n; weight of a separator's vertex's neighbours on each side
    std::vector<Index>                members_;  // of the separator, and former ones
    std::vector<Candidate>            heap_;
    Index                             time_ = 0;
    std::vector<Move>                 moves_;
    std::vector<Index>                pulled_;
};

}  // namespace ilux::detail

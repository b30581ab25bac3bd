// Pieces of the graph are matched greedily side by side. What they leave for others is matched in rounds: an edge that
// both of its ends like best is taken, all such edges at once, which needs no order of the vertices
// [manne_bisseling_07].

#include "ilux/reorder/coarsening.hpp"

#include <bit>
#include <numeric>

#include "ilux/base/tasks.hpp"

namespace ilux::detail {
namespace {

constexpr int   most_rounds = 4;  // later ones match next to nothing
constexpr Index nobody = -1;

class HeavyMatching {
public:
    HeavyMatching(const WeightedGraph& g, Index heaviest, std::uint64_t seed)
        : g_(g),
          heaviest_(heaviest),
          seed_(static_cast<std::uint32_t>(seed)),
          partner_(g.n(), nobody),
          liked_(g.n(), nobody)
    {}

    /// @return of each vertex its partner, or itself
    std::vector<Index> run()
    {
        for_pieces(g_.n(), [&](Index, Index begin, Index end) { match_within(begin, end); });
        for (int round = 0; round < most_rounds && pieces_of(g_.n()) > 1; ++round) {
            for_pieces(g_.n(), [&](Index, Index begin, Index end) { choose(begin, end); });
            for_pieces(g_.n(), [&](Index, Index begin, Index end) { agree(begin, end); });
        }
        const auto all = [](Index) { return true; };
        for_pieces(g_.n(), [&](Index, Index begin, Index end) {
            for (Index v = begin; v < end; ++v) liked_[v] = partner_[v] == nobody ? best_of(v, all) : nobody;
        });
        for_pieces(g_.n(), [&](Index, Index begin, Index end) { pair_admirers(begin, end); });
        for_pieces(g_.n(), [&](Index, Index begin, Index end) {
            for (Index v = begin; v < end; ++v)
                if (partner_[v] == nobody) partner_[v] = v;
        });
        return std::move(partner_);
    }

private:
    /// Decides among edges of equal weight; the same from both ends.
    std::uint32_t lot(Index v, Index w) const
    {
        const auto of_end = [&](Index u) { return (static_cast<std::uint32_t>(u) + seed_) * 0x9e37'79b1U; };
        const auto both = of_end(v) ^ of_end(w);
        return (both ^ both >> 15) * 0x85eb'ca6bU;
    }

    /// The neighbour of v with the heaviest edge for its weight, of those that may be.
    template <class May>
    Index best_of(Index v, const May& may) const
    {
        Index         best = nobody;
        Offset        edge = 0, weight = 1;  // of the best
        std::uint32_t drawn = 0;
        for (const Arc& e : g_.of(v)) {
            if (!may(e.to)) continue;
            const Offset now = e.weight * weight, then = edge * g_.weight[e.to];
            if (now < then) continue;
            const std::uint32_t draw = lot(v, e.to);
            if (now == then && draw <= drawn) continue;
            best = e.to;
            edge = e.weight;
            weight = g_.weight[e.to];
            drawn = draw;
        }
        return best;
    }
    bool fit(Index v, Index w) const { return g_.weight[v] + g_.weight[w] <= heaviest_; }

    /// One after another, within a piece: what lies in another piece is left for the rounds.
    void match_within(Index begin, Index end)
    {
        const auto is_here = [&](Index w) { return w >= begin && w < end; };
        Index stride = static_cast<Index>(0.618 * (end - begin)) | 1;  // matches from end to end follow the numbering
        while (std::gcd(stride, end - begin) != 1) stride += 2;
        Index v = begin, lonely = nobody;
        for (Index k = begin; k < end; ++k) {
            v = v < end - stride ? v + stride : v - (end - begin - stride);
            if (partner_[v] != nobody) continue;
            if (g_.of(v).empty()) {
                lonely = paired_with(lonely, v);
                continue;
            }
            const Index w = best_of(v, [&](Index u) { return !(is_here(u) && partner_[u] != nobody) && fit(v, u); });
            if (w == nobody || !is_here(w)) continue;
            partner_[v] = w;
            partner_[w] = v;
        }
    }

    /// The best neighbour stays the best until it is matched, since others only go.
    void choose(Index begin, Index end)
    {
        for (Index v = begin; v < end; ++v) {
            if (partner_[v] != nobody) continue;
            if (liked_[v] == v || (liked_[v] != nobody && partner_[liked_[v]] == nobody)) continue;
            const Index best = best_of(v, [&](Index u) { return partner_[u] == nobody && fit(v, u); });
            liked_[v] = best == nobody ? v : best;  // itself: there is none for it, now or later
        }
    }

    void agree(Index begin, Index end)
    {
        for (Index v = begin; v < end; ++v)
            if (partner_[v] == nobody && liked_[v] != v && liked_[liked_[v]] == v) partner_[v] = liked_[v];
    }

    /// Each vertex pairs those that like it best and have no partner, so no two tasks meet.
    void pair_admirers(Index begin, Index end)
    {
        for (Index v = begin; v < end; ++v) {
            Index waiting = nobody;
            for (const Arc& e : g_.of(v)) {
                if (liked_[e.to] == v) waiting = paired_with(waiting, e.to);
            }
        }
    }

    /// @return who waits now
    Index paired_with(Index waiting, Index v)
    {
        if (waiting == nobody || !fit(waiting, v)) return v;
        partner_[waiting] = v;
        partner_[v] = waiting;
        return nobody;
    }

    const WeightedGraph& g_;
    Index                heaviest_;
    std::uint32_t        seed_;
    std::vector<Index>   partner_, liked_;
};

/// Numbers pairs by their smaller vertex. @return the first vertex of each
std::vector<Index> number_pairs(std::span<const Index> partner, std::span<Index> coarse_of)
{
    const Index        n = static_cast<Index>(partner.size());
    std::vector<Index> first_of_piece(static_cast<std::size_t>(pieces_of(n)) + 1, 0);
    for_pieces(n, [&](Index piece, Index begin, Index end) {
        for (Index v = begin; v < end; ++v) first_of_piece[piece + 1] += partner[v] >= v;
    });
    std::partial_sum(first_of_piece.begin(), first_of_piece.end(), first_of_piece.begin());
    std::vector<Index> first(first_of_piece.back());
    for_pieces(n, [&](Index piece, Index begin, Index end) {
        Index c = first_of_piece[piece];
        for (Index v = begin; v < end; ++v) {
            if (partner[v] < v) continue;
            first[c] = v;
            coarse_of[v] = coarse_of[partner[v]] = c++;
        }
    });
    return first;
}

/// Adds up the arcs of one coarse vertex by their ends.
class ArcSum {
public:
    explicit ArcSum(std::vector<Arc>& out) : out_(out) {}

    /// @param most  arcs to come
    void begin(Offset most)
    {
        begin_ = out_.size();
        hashed_ = most > short_list;
        if (!hashed_) return;
        slot_.assign(std::bit_ceil(static_cast<std::size_t>(2 * most)), nobody);
        mask_ = slot_.size() - 1;
    }
    void add(Arc e)
    {
        if (Arc* same = hashed_ ? looked_up(e.to) : listed(e.to)) same->weight += e.weight;
        else out_.push_back(e);
    }
    Offset end() const { return static_cast<Offset>(out_.size() - begin_); }

private:
    static constexpr Offset short_list = 8;  // it is searched faster than a table

    Arc* listed(Index to)
    {
        for (std::size_t k = begin_; k < out_.size(); ++k)
            if (out_[k].to == to) return &out_[k];
        return nullptr;
    }
    /// Open addressing. An arc that is not there is expected next.
    Arc* looked_up(Index to)
    {
        std::size_t s = static_cast<std::uint32_t>(to) * 0x9e37'79b1U & mask_;
        for (; slot_[s] != nobody; s = (s + 1) & mask_)
            if (out_[begin_ + slot_[s]].to == to) return &out_[begin_ + slot_[s]];
        slot_[s] = static_cast<Index>(out_.size() - begin_);
        return nullptr;
    }

    std::vector<Arc>&  out_;
    std::vector<Index> slot_;  // numbers among the arcs of this vertex
    std::size_t        begin_ = 0, mask_ = 0;
    bool               hashed_ = false;
};

WeightedGraph contracted(const WeightedGraph& g, std::span<const Index> partner, std::span<const Index> first,
                         std::span<const Index> coarse_of)
{
    const Index   n = static_cast<Index>(first.size());
    WeightedGraph c;
    c.total = g.total;
    c.weight.resize(n);
    c.start.resize(static_cast<std::size_t>(n) + 1);
    std::vector<std::vector<Arc>> arcs(pieces_of(n));
    for_pieces(n, [&](Index piece, Index begin, Index end) {
        ArcSum     sum(arcs[piece]);
        const auto add_all = [&](Index v, Index own) {
            for (const Arc& e : g.of(v))
                if (coarse_of[e.to] != own) sum.add({coarse_of[e.to], e.weight});
        };
        for (Index k = begin; k < end; ++k) {
            const Index u = first[k], v = partner[u];
            sum.begin(g.start[u + 1] - g.start[u] + g.start[v + 1] - g.start[v]);
            add_all(u, k);
            if (v != u) add_all(v, k);
            c.weight[k] = g.weight[u] + (v != u ? g.weight[v] : 0);
            c.start[k + 1] = sum.end();
        }
    });
    std::partial_sum(c.start.begin(), c.start.end(), c.start.begin());
    c.arc.resize(c.start.back());
    for_pieces(n, [&](Index piece, Index begin, Index) {
        std::ranges::copy(arcs[piece], c.arc.begin() + c.start[begin]);
        arcs[piece] = {};
    });
    return c;
}

}  // namespace

Coarsening coarsened(const WeightedGraph& g, Index heaviest, std::uint64_t seed)
{
    const auto partner = HeavyMatching(g, heaviest, seed).run();
    Coarsening done{.graph = {}, .coarse_of = std::vector<Index>(g.n())};
    const auto first = number_pairs(partner, done.coarse_of);
    done.graph = contracted(g, partner, first, done.coarse_of);
    return done;
}

}  // namespace ilux::detail

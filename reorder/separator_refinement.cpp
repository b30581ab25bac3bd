#include "ilux/reorder/separator_refinement.hpp"

#include <algorithm>

namespace ilux::detail {
namespace {

constexpr std::uint8_t separator = Separation::separator;
/// How many moves without a better state are gone before a pass ends.
std::size_t longest_detour(std::size_t members) { return std::clamp<std::size_t>(2 * members, 10, 300); }

}  // namespace

SeparatorRefinement::SeparatorRefinement(const WeightedGraph& g, Separation& s, Offset heaviest)
    : g_(g), s_(s), heaviest_(heaviest), next_to_(g.n()), may_(g.n(), 3)
{
    for (Index v = 0; v < g.n(); ++v)
        if (s.side[v] == separator) enter_separator(v);
}

SeparatorRefinement::Cost SeparatorRefinement::cost() const
{
    return {std::max(Offset{0}, s_.heavier_side() - heaviest_), s_.weight[separator],
            std::abs(s_.weight[0] - s_.weight[1])};
}

/// v has just come into the separator, or is there without being known.
void SeparatorRefinement::enter_separator(Index v)
{
    next_to_[v] = {0, 0};
    for (const Arc& e : g_.of(v))
        if (s_.side[e.to] != separator) next_to_[v][s_.side[e.to]] += g_.weight[e.to];
    members_.push_back(v);
}

void SeparatorRefinement::offer(Index v, int to)
{
    if (may_[v] >> to & 1) queue_[to].push({gain(v, to), v});
}
void SeparatorRefinement::offer(Index v)
{
    offer(v, 0);
    offer(v, 1);
}

/// Whether there is a move to this side: drops what was overtaken by later offers.
bool SeparatorRefinement::top(int to)
{
    auto& q = queue_[to];
    while (!q.empty()) {
        const Candidate& c = q.top();
        if (s_.side[c.v] == separator && (may_[c.v] >> to & 1) && gain(c.v, to) == c.gain) return true;
        q.pop();
    }
    return false;
}

/// Of the best move within the weights, or −1.
int SeparatorRefinement::chosen_side()
{
    std::array<bool, 2> able{};
    for (const int to : {0, 1}) able[to] = top(to) && s_.weight[to] + g_.weight[queue_[to].top().v] <= heaviest_;
    if (!able[0] || !able[1]) return able[0] ? 0 : able[1] ? 1 : -1;
    const Index to_0 = queue_[0].top().gain, to_1 = queue_[1].top().gain;
    if (to_0 != to_1) return to_0 > to_1 ? 0 : 1;
    return s_.weight[0] <= s_.weight[1] ? 0 : 1;
}

void SeparatorRefinement::move(Index v, int to)
{
    const int other = 1 - to;
    moves_.push_back({v, static_cast<std::uint8_t>(to), static_cast<std::uint32_t>(pulled_.size())});
    s_.side[v] = static_cast<std::uint8_t>(to);
    s_.weight[separator] -= g_.weight[v];
    s_.weight[to] += g_.weight[v];
    may_[v] = 0;
    for (const Arc& e : g_.of(v)) {
        if (s_.side[e.to] == separator) {
            next_to_[e.to][to] += g_.weight[v];
            offer(e.to, other);
        } else if (s_.side[e.to] == other) {
            pulled_.push_back(e.to);
        }
    }
    for (std::size_t k = moves_.back().pulled; k < pulled_.size(); ++k) {
        const Index u = pulled_[k];
        s_.side[u] = separator;
        s_.weight[other] -= g_.weight[u];
        s_.weight[separator] += g_.weight[u];
        for (const Arc& e : g_.of(u)) {
            if (s_.side[e.to] != separator) continue;
            next_to_[e.to][other] -= g_.weight[u];
            offer(e.to, to);
        }
        enter_separator(u);
        may_[u] = static_cast<std::uint8_t>(may_[u] & 1 << to);  // not back where it came from
        offer(u, to);
    }
}

void SeparatorRefinement::undo_last()
{
    const Move m = moves_.back();
    const int  other = 1 - m.to;
    for (; pulled_.size() > m.pulled; pulled_.pop_back()) {
        const Index u = pulled_.back();
        s_.side[u] = static_cast<std::uint8_t>(other);
        s_.weight[separator] -= g_.weight[u];
        s_.weight[other] += g_.weight[u];
        for (const Arc& e : g_.of(u))
            if (s_.side[e.to] == separator) next_to_[e.to][other] += g_.weight[u];
    }
    s_.side[m.v] = separator;
    s_.weight[m.to] -= g_.weight[m.v];
    s_.weight[separator] += g_.weight[m.v];
    for (const Arc& e : g_.of(m.v))
        if (s_.side[e.to] == separator) next_to_[e.to][m.to] -= g_.weight[m.v];
    enter_separator(m.v);
    moves_.pop_back();
}

void SeparatorRefinement::begin_pass()
{
    moves_.clear();
    pulled_.clear();
    queue_ = {};
}

bool SeparatorRefinement::pass()
{
    begin_pass();
    for (const Index v : members_) may_[v] = 3;
    std::erase_if(members_, [&](Index v) { return s_.side[v] != separator; });
    std::ranges::sort(members_);
    members_.erase(std::unique(members_.begin(), members_.end()), members_.end());
    for (std::size_t k = 0, known = members_.size(); k < known; ++k) offer(members_[k]);
    const std::size_t detour = longest_detour(members_.size());
    const Cost        before = cost();
    Cost              best = before;
    std::size_t       best_at = 0;
    for (int to = chosen_side(); to >= 0; to = chosen_side()) {
        move(queue_[to].top().v, to);
        if (const Cost now = cost(); now < best) {
            best = now;
            best_at = moves_.size();
        } else if (moves_.size() - best_at > detour) {
            break;
        }
    }
    while (moves_.size() > best_at) undo_last();
    return best < before;
}

void SeparatorRefinement::improve(int most_passes)
{
    for (int k = 0; k < most_passes && pass(); ++k) {
    }
}

void SeparatorRefinement::grow(Index seed)
{
    begin_pass();
    std::ranges::fill(may_, 2);
    Index next = seed;
    while (s_.weight[1] < s_.weight[0]) {
        if (top(1)) {
            move(queue_[1].top().v, 1);
            continue;
        }
        while (s_.side[next] != 0) next = next + 1 < g_.n() ? next + 1 : 0;  // a component is full
        s_.side[next] = separator;
        s_.weight[0] -= g_.weight[next];
        s_.weight[separator] += g_.weight[next];
        enter_separator(next);
        offer(next, 1);
    }
    std::ranges::fill(may_, 3);
}

}  // namespace ilux::detail

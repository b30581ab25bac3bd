#include "ilux/reorder/separator_refinement.hpp"

#include <algorithm>
#include <cstdlib>

namespace ilux::detail {
namespace {

constexpr std::uint8_t separator = Separation::separator;
/// How many moves without a better state are gone before a pass ends.
std::size_t longest_detour(std::size_t members) { return std::clamp<std::size_t>(members, 50, 600); }

}  // namespace

SeparationCost::SeparationCost(const Separation& s, Offset heaviest_side)
    : overweight(std::max(Offset{0}, s.heavier_side() - heaviest_side)), difference(std::abs(s.weight[0] - s.weight[1]))
{
    const auto   all = static_cast<double>(s.weight[0] + s.weight[1] + s.weight[separator]);
    const double share = static_cast<double>(difference) / all;
    price = static_cast<double>(s.weight[separator]) * (1 + 3 * share * share * share * share);
}

SeparatorRefinement::SeparatorRefinement(const WeightedGraph& g, Separation& s, Offset heaviest)
    : g_(g), s_(s), heaviest_(heaviest), next_to_(g.n())
{
    for (Index v = 0; v < g.n(); ++v)
        if (s.side[v] == separator) enter_separator(v);
}

/// v has just come into the separator, or is there without being known.
void SeparatorRefinement::enter_separator(Index v)
{
    next_to_[v] = {0, 0};
    for (const Arc& e : g_.of(v))
        if (s_.side[e.to] != separator) next_to_[v][s_.side[e.to]] += g_.weight[e.to];
    members_.push_back(v);
}

void SeparatorRefinement::offer(Index v)
{
    heap_.push_back({gain(v), v, ++time_});
    std::push_heap(heap_.begin(), heap_.end());
}

/// The vertex with the best move, or −1. Gains have changed since the offers: a larger one was offered again.
Index SeparatorRefinement::best()
{
    while (!heap_.empty()) {
        const auto [was, v, time] = heap_.front();
        const Index now = s_.side[v] == separator ? gain(v) : was + 1;
        if (now == was) return v;
        std::pop_heap(heap_.begin(), heap_.end());
        heap_.pop_back();
        if (now < was) offer(v);
    }
    return -1;
}

/// u comes into the separator from the side that shrinks.
void SeparatorRefinement::pull(Index u)
{
    const int from = 1 - to_;
    s_.side[u] = separator;
    s_.weight[from] -= g_.weight[u];
    s_.weight[separator] += g_.weight[u];
    std::array<Index, 2> next_to{};
    for (const Arc& e : g_.of(u)) {
        if (s_.side[e.to] != separator) {
            next_to[s_.side[e.to]] += g_.weight[e.to];
        } else {
            next_to_[e.to][from] -= g_.weight[u];
            offer(e.to);
        }
    }
    next_to_[u] = next_to;
    members_.push_back(u);
    offer(u);
}

void SeparatorRefinement::move(Index v)
{
    moves_.push_back({v, pulled_.size()});
    s_.side[v] = static_cast<std::uint8_t>(to_);
    s_.weight[separator] -= g_.weight[v];
    s_.weight[to_] += g_.weight[v];
    for (const Arc& e : g_.of(v)) {
        if (s_.side[e.to] == separator) next_to_[e.to][to_] += g_.weight[v];
        else if (s_.side[e.to] != to_) pulled_.push_back(e.to);
    }
    for (std::size_t k = moves_.back().pulled; k < pulled_.size(); ++k) pull(pulled_[k]);
}

/// What v was next to is as it was when v left the separator: nothing counts that for vertices of a side.
void SeparatorRefinement::undo_last()
{
    const auto [v, first_pulled] = moves_.back();
    const auto back = [&](Index u, int from, int to) {
        s_.side[u] = static_cast<std::uint8_t>(to);
        s_.weight[from] -= g_.weight[u];
        s_.weight[to] += g_.weight[u];
    };
    for (; pulled_.size() > first_pulled; pulled_.pop_back()) {
        const Index u = pulled_.back();
        back(u, separator, 1 - to_);
        for (const Arc& e : g_.of(u))
            if (s_.side[e.to] == separator) next_to_[e.to][1 - to_] += g_.weight[u];
    }
    for (const Arc& e : g_.of(v))
        if (s_.side[e.to] == separator) next_to_[e.to][to_] -= g_.weight[v];
    back(v, to_, separator);
    moves_.pop_back();
}

void SeparatorRefinement::begin_pass(int to)
{
    to_ = to;
    moves_.clear();
    pulled_.clear();
    heap_.clear();
}

bool SeparatorRefinement::pass()
{
    std::erase_if(members_, [&](Index v) { return s_.side[v] != separator; });
    std::ranges::sort(members_);
    members_.erase(std::unique(members_.begin(), members_.end()), members_.end());
    for (std::size_t k = 0, known = members_.size(); k < known; ++k) offer(members_[k]);
    const std::size_t    detour = longest_detour(members_.size());
    const SeparationCost before = cost();
    SeparationCost       least = before;
    std::size_t          least_at = 0;
    for (Index v = best(); v >= 0 && s_.weight[to_] + g_.weight[v] <= heaviest_; v = best()) {
        move(v);
        if (const SeparationCost now = cost(); now < least) {
            least = now;
            least_at = moves_.size();
        } else if (moves_.size() - least_at > detour) {
            break;
        }
    }
    while (moves_.size() > least_at) undo_last();
    return least < before;
}

void SeparatorRefinement::improve(int most_passes)
{
    int to = s_.weight[0] <= s_.weight[1] ? 0 : 1;
    for (int k = 0, idle = 0; k < most_passes && idle < 2; ++k, to = 1 - to) {
        begin_pass(to);
        idle = pass() ? 0 : idle + 1;
    }
}

void SeparatorRefinement::grow(Index seed)
{
    begin_pass(1);
    Index next = seed;
    while (s_.weight[1] < s_.weight[0]) {
        if (const Index v = best(); v >= 0) {
            move(v);
            continue;
        }
        while (s_.side[next] != 0) next = next + 1 < g_.n() ? next + 1 : 0;  // a component is full
        s_.side[next] = separator;
        s_.weight[0] -= g_.weight[next];
        s_.weight[separator] += g_.weight[next];
        enter_separator(next);
        offer(next);
    }
}

}  // namespace ilux::detail

#pragma once
// A round whose pivots were chosen for other numbers.

#include <span>
#include <string>

#include "ilux/base/cpu.hpp"
#include "ilux/precond/rounds/round_set.hpp"

namespace ilux {

/// What pivots chosen for other numbers have to keep to: 4 κ and 10 γ. An update that grows is measured by the largest entry,
/// which need not be about 1 where the scale factors of an old matching meet new numbers.
inline RoundBounds bounds_of_replay(RoundBounds bounds, double largest_entry)
{
    bounds.inverse *= 4;
    bounds.growth *= 10 * largest_entry;
    return bounds;
}

/// What may be cut from a level's rows between pivots of one round, where `cut` was when the rounds were chosen; both as
/// MlIluLevelReport::cut.
constexpr double most_cut(double cut)
{
    constexpr double factor = 3, unseen = 0.01;
    return factor * (cut > unseen ? cut : unseen);
}

/// `set` is complete where `why_not` is empty; else that says what spoke against it.
template <class T>
struct ReplayedRound {
    RoundSet<T> set;
    std::string why_not;
};

/// @param pivots  ascending, of the rows of S
template <class T>
ReplayedRound<T> replay_round(Cpu& be, const RoundSystem<T>& system, std::span<const Index> pivots,
                              const RoundBounds& bounds);

}  // namespace ilux

#pragma once
// A round whose pivots were chosen for other numbers.

#include <span>
#include <string>

#include "ilux/base/cpu.hpp"
#include "ilux/precond/rounds/replay_bounds.hpp"
#include "ilux/precond/rounds/round_set.hpp"

namespace ilux {

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

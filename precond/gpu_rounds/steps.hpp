#pragma once
// The steps of the rounds on a device, each a few launches. Internal to gpu_rounds/.

#include "ilux/precond/gpu_rounds/rounds_state.hpp"
#include "ilux/precond/mlilu/rounds_ilu.hpp"

namespace ilux::rounds {

/// What a level's scaled diagonal is like.
struct DiagonalFacts {
    Index  small = 0, zero = 0, not_positive = 0;
    Index  dominant = 0, even = 0;  ///< rows: in the test vector; coupling unknowns of like t alone
    double largest = 0;             ///< of all entries
};

/// Whether A = Aᵀ, exactly. Needs rows in which columns ascend, as those of a DeviceCsr.
bool is_symmetric(Gpu& gpu, RoundsState& state);
/// Begins a level: estimates are 1, rows and columns are equilibrated where `scaling` says so, as on the host, the test vector goes along.
DiagonalFacts begin_level(Gpu& gpu, RoundsState& state, bool scaling);
/// A set of pivots, as choose_pivots() has it; a sweep sees at once what the one before has excluded. Leaves them in
/// state.pivots, and the others in the other list of active rows. @return both counts, and the sums over the pivots
Counters choose_pivots(Gpu& gpu, RoundsState& state, const RoundBounds& bounds);
/// Eliminates them. @return "" or why it cannot be done here; S is then spoiled
const char* eliminate(Gpu& gpu, RoundsState& state, const Counters& chosen, const RoundDropping& dropping);

}  // namespace ilux::rounds

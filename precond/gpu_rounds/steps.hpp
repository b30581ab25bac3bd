#pragma once
// The steps of the rounds on a device, each a few launches. Internal to gpu_rounds/.

#include <string>

#include "ilux/base/stop_token.hpp"
#include "ilux/precond/gpu_rounds/rounds_state.hpp"
#include "ilux/precond/mlilu/mlilu_options.hpp"
#include "ilux/precond/rounds/replay_bounds.hpp"
#include "ilux/precond/rounds/rounds_ilu.hpp"

namespace ilux::rounds {

/// What a level's scaled diagonal is like.
struct DiagonalFacts {
    Index  small = 0, zero = 0, not_positive = 0;
    Index  dominant = 0, even = 0;  ///< rows: in the test vector; coupling unknowns of like t alone
    bool   saddle_point = false;    ///< it has zeros on its diagonal, and may_wait()
    double largest = 0;             ///< of all entries
};

/// Whether A = Aᴴ or A = Aᵀ, exactly, as ilux::mirror_of() says it. Needs rows in which columns ascend, as those of a
/// DeviceCsr.
template <Scalar S>
Mirror find_mirror(Gpu& gpu, RoundsState<S>& state);
/// What damped.hpp asks of a matrix.
struct DampingFacts {
    Index  positive = 0;          ///< rows where −Re Σ_k a_jk/a_jj is so, and finite
    double middle = 0, sign = 1;  ///< the median there; that of Im Σ_j a_jj
};
template <Scalar S>
DampingFacts damping_facts(Gpu& gpu, RoundsState<S>& state);
/// a_jj ← a_jj + iβ |a_jj|
template <Scalar S>
void damp(Gpu& gpu, RoundsState<S>& state, double beta);
/// Begins a level: estimates are 1; rows and columns are equilibrated and balanced as on the host, and the test vector
/// goes along. @param mirror  of the level's matrix
template <Scalar S>
DiagonalFacts begin_level(Gpu& gpu, RoundsState<S>& state, const MlIluOptions& options, Mirror mirror);
/// Scales the level by the row_scale and col_scale that are there.
template <Scalar S>
DiagonalFacts scale_by_matching(Gpu& gpu, RoundsState<S>& state);
/// A level whose columns have the numbers of the rows that they are matched to.
struct MatchedLevel {
    std::string   why_not = {};  ///< "": it is matched; else it is as it was
    DiagonalFacts facts = {};
    bool          moved = false, optimal = true;  ///< a column has another number; the product is the largest
};
/// Matches the columns of a level that begin_level() has scaled, as the host's setup does it, on the host: the level
/// goes there and its new numbers come back. @param scaling  by the matching's factors @param stop  ends it
template <Scalar S>
MatchedLevel match_level(const Cpu& cpu, Gpu& gpu, RoundsState<S>& state, bool scaling, const StopToken& stop);
/// The set of pivots that ilux::choose_pivots() takes. Leaves them in state.pivots, and the others in the other list of
/// active rows. @return both counts, and the sums over the pivots
template <Scalar S>
Counters choose_pivots(Gpu& gpu, RoundsState<S>& state, const RoundBounds& bounds);
/// Pivots that an earlier setup chose, whatever they are like now: listed as choose_pivots() does it.
struct KeptPivots {
    Counters   counts;
    WorstPivot worst;
};
/// @param pivots  rows that are active
template <Scalar S>
KeptPivots replay_pivots(Gpu& gpu, RoundsState<S>& state, DeviceSpan<const Index> pivots, bool positive);
/// Eliminates them. @return "" or why it cannot be done here; S is then spoiled
template <Scalar S>
const char* eliminate(Gpu& gpu, RoundsState<S>& state, const Counters& chosen, const RoundDropping& dropping);

}  // namespace ilux::rounds

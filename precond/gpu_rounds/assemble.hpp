#pragma once
// The rounds of all levels, put together as what is applied. Internal to gpu_rounds/.

#include "ilux/precond/gpu_rounds/apply_rounds.hpp"
#include "ilux/precond/gpu_rounds/rounds_state.hpp"

namespace ilux::rounds {

/// The rows that are left come last in the order of elimination. Before the others.
template <Scalar S>
void place_rest(Gpu& gpu, RoundsState<S>& state);
/// L, D, U and the frame; W stays empty. @return how many values T cannot hold
template <class T, Scalar S>
Offset assemble(Gpu& gpu, RoundsState<S>& state, RoundsFactors<T>& to);
/// Threads a row, by the lengths of the rows that are there.
template <class T>
void choose_lanes(Gpu& gpu, RoundsFactors<T>& factors);
/// The factors of Mᴴ.
template <class T>
RoundsFactors<T> adjoint(Gpu& gpu, const RoundsFactors<T>& factors);

}  // namespace ilux::rounds

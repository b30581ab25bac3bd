#pragma once
// The dense end of the rounds: inverted on the device, or brought to the host. Internal to gpu_rounds/.

#include <optional>
#include <vector>

#include "ilux/precond/gpu_rounds/apply_rounds.hpp"
#include "ilux/precond/gpu_rounds/rounds_state.hpp"

namespace ilux::rounds {

/// The inverse of what is left of S, by invert_by_blocks() and without the scales of later levels: W of RoundsFactors,
/// by rows. To be called after place_rest().
/// @param definite  S ought to be: its pivots are taken in their order, and must be positive
/// @return nothing where S lacks rank or is not definite: the host should judge it
template <Scalar S>
std::optional<DeviceBuffer<S>> inverse_of_rest(Gpu& gpu, const RoundsState<S>& state, bool definite);

/// What is left of S on the host, by columns, in the order of elimination, without the scales of later levels.
template <Scalar S>
std::vector<S> rest_on_host(Gpu& gpu, const RoundsState<S>& state);

/// W stored as T. @return how many values T cannot hold
template <class T, Scalar S>
Offset store(Gpu& gpu, RoundsState<S>& state, const DeviceBuffer<S>& W, DeviceBuffer<T>& to);

}  // namespace ilux::rounds

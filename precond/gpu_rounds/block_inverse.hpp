#pragma once
// The inverse of a dense matrix on a device. Internal to gpu_rounds/.

#include <optional>

#include "ilux/base/gpu/gpu.hpp"
#include "ilux/precond/rounds/round_rules.hpp"

namespace ilux::rounds {

/// How large the pivots were that were taken.
struct Extremes {
    Status smallest = ~Status{0}, largest = 0;  ///< bits of magnitudes
    Index  wrong = 0;                           ///< one is not finite, or not positive where it should be
};

/// Whether invert_at_once() has room for n columns.
template <Scalar S>
bool fits_at_once(Gpu& gpu, Index n);
/// A⁻¹ by Gauss and Jordan's elimination with the largest pivot of each column, in one launch; n×n by columns.
/// @param definite  pivots are taken in their order  @param found  is widened by the pivots
/// @return nothing where a pivot is wrong
template <Scalar S>
std::optional<DeviceBuffer<S>> invert_at_once(Gpu& gpu, DeviceBuffer<S> A, Index n, bool definite, Extremes& found);
/// A⁻¹ for any n: what does not fit is inverted by halves, and pivots are sought in each half by itself, so that
/// defect_of_inverse() should be asked unless A is definite. Cost 2 n³ flops and memory for 2.3 n² numbers.
template <Scalar S>
std::optional<DeviceBuffer<S>> invert_by_blocks(Gpu& gpu, DeviceBuffer<S> A, Index n, bool definite, Extremes& found);

/// max |A W e − e|, e of ones. @param A, W  n×n by columns
template <Scalar S>
double defect_of_inverse(Gpu& gpu, const DeviceBuffer<S>& A, const DeviceBuffer<S>& W, Index n);

}  // namespace ilux::rounds

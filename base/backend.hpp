#pragma once
// The primitives an algorithm may call, whatever machine runs it. An algorithm is a template over Backend, written
// in these alone; Cpu (cpu.hpp) and Gpu (gpu.hpp) provide them as overloads found by argument.

#include <concepts>
#include <span>

#include "ilux/base/scalar.hpp"
#include "ilux/base/types.hpp"

namespace ilux {

/// A view of n values where B computes: std::span on the host, DeviceSpan on the device.
template <class B, class T = double>
using Span = typename B::template span<T>;
template <class B, class T = double>
using ConstSpan = typename B::template span<const T>;
/// Owning storage where B computes; converts to Span and ConstSpan.
template <class B, class T = double>
using Buffer = typename B::template buffer<T>;

/// xᴴ y and ‖y‖₂ from one pass.
template <class S = double>
struct DotNorm {
    S          dot = 0;
    real_of<S> norm = 0;
};

/// Vectors have equal lengths; a block of k vectors is one contiguous array of k·n values, a vector after another.
/// S is given, double where it is not: dot<S>(be, x, y). Dots conjugate their first vector, dotu (BLAS's name) does
/// not. Reductions are summed in an order fixed by n alone, so a result does not depend on the number of threads; on a
/// GPU, by n and the kind of device. Sums of float are taken in double. Besides there are narrow and widen, between S
/// and its float.
// clang-format off
template <class B, class S = double>
concept Backend = Scalar<S> &&
    requires(B& be, Span<B, S> y, ConstSpan<B, S> x, std::span<S> h, std::span<const S> c, S a) {
    { dot<S>(be, x, x) } -> std::same_as<S>;          // xᴴy
    { dotu<S>(be, x, x) } -> std::same_as<S>;         // xᵀy: nothing is conjugated
    { norm2<S>(be, x) } -> std::same_as<real_of<S>>;  // ‖x‖₂, safe against overflow and underflow
    { dot_norm<S>(be, x, x) } -> std::same_as<DotNorm<S>>;  // xᴴy and ‖y‖₂, on a GPU for the price of one
    { is_finite<S>(be, x) } -> std::same_as<bool>;    // no NaN, no Inf
    copy<S>(be, x, y);                                // y ← x
    fill<S>(be, a, y);                                // y ← a
    scale<S>(be, a, y);                               // y ← a y
    axpy<S>(be, a, x, y);                             // y ← y + a x
    axpby<S>(be, a, x, a, y);                         // y ← a x + b y
    multiply<S>(be, x, x, y);                         // y_i ← d_i x_i; x and y may be the same vector
    multi_dot<S>(be, x, x, h);                        // h_i ← v_iᴴ w for the h.size() vectors of the block x
    multi_axpy<S>(be, c, x, y);                       // y ← y + Σ c_i v_i over the block x
};
// clang-format on

}  // namespace ilux

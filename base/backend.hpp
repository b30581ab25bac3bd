#pragma once
// The primitives an algorithm may call, whatever machine runs it. An algorithm is a template over Backend, written
// in these alone; Cpu (cpu.hpp) and Gpu (gpu.hpp) provide them as overloads found by argument.

#include <concepts>
#include <span>

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

/// xᵀ y and ‖x‖₂ from one pass.
struct DotNorm {
    double dot = 0, norm = 0;
};

/// Vectors have equal lengths; a block of k vectors is one contiguous array of k·n values, a vector after another.
/// Reductions are summed in an order fixed by n alone, so a result does not depend on the number of threads; on a GPU,
/// by n and the kind of device.
// clang-format off
template <class B>
concept Backend = requires(B& be, Span<B> y, ConstSpan<B> x, std::span<double> h, std::span<const double> c, double a) {
    { dot(be, x, x) } -> std::same_as<double>;    // xᵀy
    { norm2(be, x) } -> std::same_as<double>;     // ‖x‖₂, safe against overflow and underflow
    { dot_norm(be, x, x) } -> std::same_as<DotNorm>;  // xᵀy and ‖y‖₂, on a GPU for the price of one
    { is_finite(be, x) } -> std::same_as<bool>;   // no NaN, no Inf
    copy(be, x, y);                               // y ← x
    fill(be, a, y);                               // y ← a
    scale(be, a, y);                              // y ← a y
    axpy(be, a, x, y);                            // y ← y + a x
    axpby(be, a, x, a, y);                        // y ← a x + b y
    multiply(be, x, x, y);                        // y_i ← d_i x_i; x and y may be the same vector
    multi_dot(be, x, x, h);                       // h_i ← v_iᵀ w for the h.size() vectors of the block x
    multi_axpy(be, c, x, y);                      // y ← y + Σ c_i v_i over the block x
};
// clang-format on

}  // namespace ilux

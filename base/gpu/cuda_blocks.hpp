#pragma once
// Passes over a block of vectors, a vector after another, that leave their sums on the device. What multi_dot,
// multi_axpy and the Gram-Schmidt processes are made of. Only .cu files include this.

#include "ilux/base/gpu/cuda.hpp"
#include "ilux/base/gpu/device_value.hpp"

namespace ilux::cuda {

constexpr int sums_a_pass = 32;  ///< doubles, without that of the squares

/// Vectors of one pass: their dots fit the registers of a thread.
template <class Number>
constexpr int vectors_a_pass = sums_a_pass / parts<Number>;

template <class Number>
struct Coefficients {
    working_of<Number> c[vectors_a_pass<Number>];
};

/// One pass over k ≤ vectors_a_pass vectors v_j of n numbers and over w:
///     w ← w + scale·Σ c_j v_j   if it updates,   then   d_j ← v_jᴴ w   if it takes dots,   and   s ← wᴴ w.
/// Each v_ji and w_i is read once. Sums go where a pointer says, on the device or in State::sums; null: not wanted.
/// @tparam Number  double, float, or Complex of these, which is a sum of two doubles. A thread adds products of float
/// in float, and
///                 whatever crosses threads, coefficients too, is double.
template <class Number>
struct BlockPass {
    const Number* V = nullptr;
    std::size_t   n = 0;
    int           k = 0;
    Number*       w = nullptr;  ///< not written by a pass that only takes dots
    bool backwards = false;     ///< from the last row to the first: what an earlier pass read last is in the cache

    const working_of<Number>* coefficients = nullptr;  ///< c on the device; null: `given`
    Coefficients<Number>      given = {};
    double                    scale = 1;

    double* dots = nullptr;          ///< k numbers, on the device
    double* dots_host = nullptr;     ///< k numbers
    double* squares = nullptr;       ///< 1, on the device
    double* squares_host = nullptr;  ///< 1
};

/// Enqueue a pass. The order of its sums is fixed by n, k, the direction, what the pass does besides and the kind of
/// device: bitwise repeatable on devices of one kind. Cost: n(k + 1) numbers read, n more written to update.
template <class Number>
void block_dots(Gpu& be, const BlockPass<Number>& pass);
template <class Number>
void block_update(Gpu& be, const BlockPass<Number>& pass);
template <class Number>
void block_update_dots(Gpu& be, const BlockPass<Number>& pass);

}  // namespace ilux::cuda

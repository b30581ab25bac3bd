#pragma once
// Passes over a block of vectors, a vector after another, that leave their sums on the device. What multi_dot,
// multi_axpy and the Gram-Schmidt processes are made of. Only .cu files include this.

#include "ilux/base/gpu/cuda.hpp"

namespace ilux::cuda {

struct Coefficients {
    double c[max_vectors];
};

/// One pass over k ≤ max_vectors vectors v_j of n values and over w:
///     w ← w + scale·Σ c_j v_j   if it updates,   then   d_j ← v_jᵀ w   if it takes dots,   and   s ← wᵀ w.
/// Each v_ji and w_i is read once. Sums go where a pointer says, on the device or in State::sums; null: not wanted.
struct BlockPass {
    const double* V = nullptr;
    std::size_t   n = 0;
    int           k = 0;
    double*       w = nullptr;  ///< not written by a pass that only takes dots
    bool backwards = false;     ///< from the last row to the first: what an earlier pass read last is in the cache

    const double* coefficients = nullptr;  ///< c on the device; null: `given`
    Coefficients  given = {};
    double        scale = 1;

    double* dots = nullptr;          ///< k, on the device
    double* dots_host = nullptr;     ///< k
    double* squares = nullptr;       ///< 1, on the device
    double* squares_host = nullptr;  ///< 1
};

/// Enqueue a pass. The order of its sums is fixed by n, k, the direction, what the pass does besides and the kind of
/// device: bitwise repeatable on devices of one kind. Cost: 8n(k + 1) bytes, 8n more to update.
void block_dots(Gpu& be, const BlockPass& pass);
void block_update(Gpu& be, const BlockPass& pass);
void block_update_dots(Gpu& be, const BlockPass& pass);

}  // namespace ilux::cuda

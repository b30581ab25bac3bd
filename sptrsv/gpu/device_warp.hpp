#pragma once
// One task of a WarpLayout, solved by one warp. Only .cu files include this.

#include "ilux/sptrsv/gpu/device_row.hpp"
#include "ilux/sptrsv/gpu/warp_rows.hpp"

namespace ilux {

/// Whether the unknowns that a task reads are known before its kernel or its level starts, or have to be waited for.
enum class Unknowns { known, awaited };

constexpr unsigned pilot_nap = 20;  // nanoseconds between looks at a pilot

/// One 16-byte load.
__device__ inline WarpTask load_task(const WarpTask* task)
{
    const int4 raw = *reinterpret_cast<const int4*>(task);
    WarpTask   copy;
    memcpy(&copy, &raw, sizeof copy);
    return copy;
}

/// Σ val·x over steps 0 to min(steps, depth) − 1 of this lane, whose entries begin at `at`. All of them are polled
/// together, until every lane of the warp has its own: the warp is converged afterwards.
template <Unknowns unknowns, int depth, class T, class S = working_of<T>>
__device__ S collect(const WarpRowsView<T>& L, std::size_t at, int steps, Index pilot, const S* x)
{
    Index     col[depth];
    T         val[depth];
    BitsOf<S> bits[depth];
#pragma unroll
    for (int s = 0; s < depth; ++s) {
        col[s] = s < steps ? L.col[at + 32 * s] : -1;
        val[s] = s < steps ? L.val[at + 32 * s] : T{};
    }
    if constexpr (unknowns == Unknowns::known) {
#pragma unroll
        for (int s = 0; s < depth; ++s) bits[s] = col[s] < 0 ? bits_of_zero<S>() : as_bits(x[col[s]]);
    } else {
        if (pilot >= 0)
            while (is_unset(load_relaxed(x + pilot))) __nanosleep(pilot_nap);
        __syncwarp();
#pragma unroll
        for (int s = 0; s < depth; ++s) bits[s] = col[s] < 0 ? bits_of_zero<S>() : bits_of_unset<S>();
        for (bool waiting = true; __any_sync(whole_warp, waiting);) {
#pragma unroll
            for (int s = 0; s < depth; ++s) poll(x + col[s], bits[s]);
            waiting = false;
#pragma unroll
            for (int s = 0; s < depth; ++s) waiting |= is_unset(bits[s]);
        }
    }
    S sum{};
#pragma unroll
    for (int s = 0; s < depth; ++s) sum = cuda::plus_product(sum, cuda::widened(val[s]), as_number(bits[s]));
    return sum;
}

/// x and out of the rows of one task; all lanes of a warp call it. What needs no unknown is loaded before the wait.
template <Unknowns unknowns, class T, class S = working_of<T>>
__device__ void solve_task(const WarpRowsView<T>& L, const WarpTask task, const S* b, S* x, S* out)
{
    constexpr int batch = 8;  // steps in flight at once in longer rows
    const int     lane = threadIdx.x & 31, part = 1 << task.log2_part, r = lane >> task.log2_part;
    const Index   i = task.first + r;
    const bool    leads = r < task.rows && (lane & (part - 1)) == 0;
    const S       rhs = leads ? framed_rhs(L.frame, i, b) : S{};
    const S       inv = leads ? inv_pivot(L.frame, i) : cuda::from_real<S>(1);
    std::size_t   at = 32 * static_cast<std::size_t>(task.entries) + lane;
    S             sum{};  // Σ_j l_ij x_j
    if (task.steps <= 1) sum = collect<unknowns, 1>(L, at, task.steps, task.pilot, x);
    else if (task.steps <= 2) sum = collect<unknowns, 2>(L, at, task.steps, task.pilot, x);
    else if (task.steps <= 4) sum = collect<unknowns, 4>(L, at, task.steps, task.pilot, x);
    else
        for (int s = 0; s < task.steps; s += batch, at += 32 * batch)
            sum += collect<unknowns, batch>(L, at, task.steps - s, task.pilot, x);
    sum = sum_over(part, sum);
    if (!leads) return;
    const S value = (rhs - sum) * inv;
    if constexpr (unknowns == Unknowns::awaited) store_relaxed(x + i, published(value));
    else x[i] = value;
    store_framed(L.frame, i, value, out);
}

}  // namespace ilux

#pragma once
// One task of a WarpLayout, solved by one warp. Only .cu files include this.

#include "ilux/sptrsv/device_row.hpp"
#include "ilux/sptrsv/warp_rows.hpp"

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
template <Unknowns unknowns, int depth, class T>
__device__ double collect(const WarpRowsView<T>& L, std::size_t at, int steps, Index pilot, const double* x)
{
    Index         col[depth];
    T             val[depth];
    std::uint64_t bits[depth];
#pragma unroll
    for (int s = 0; s < depth; ++s) {
        col[s] = s < steps ? L.col[at + 32 * s] : -1;
        val[s] = s < steps ? L.val[at + 32 * s] : T{0};
    }
    if constexpr (unknowns == Unknowns::known) {
#pragma unroll
        for (int s = 0; s < depth; ++s) bits[s] = col[s] < 0 ? 0 : __double_as_longlong(x[col[s]]);
    } else {
        if (pilot >= 0)
            while (load_relaxed(x + pilot) == unset) __nanosleep(pilot_nap);
        __syncwarp();
#pragma unroll
        for (int s = 0; s < depth; ++s) bits[s] = col[s] < 0 ? 0 : unset;
        for (bool waiting = true; __any_sync(whole_warp, waiting);) {
#pragma unroll
            for (int s = 0; s < depth; ++s) poll(x + col[s], bits[s]);
            waiting = false;
#pragma unroll
            for (int s = 0; s < depth; ++s) waiting |= bits[s] == unset;
        }
    }
    double sum = 0;
#pragma unroll
    for (int s = 0; s < depth; ++s) sum += static_cast<double>(val[s]) * as_double(bits[s]);
    return sum;
}

/// x and out of the rows of one task; all lanes of a warp call it. What needs no unknown is loaded before the wait.
template <Unknowns unknowns, class T>
__device__ void solve_task(const WarpRowsView<T>& L, const WarpTask task, const double* b, double* x, double* out)
{
    constexpr int batch = 8;  // steps in flight at once in longer rows
    const int     lane = threadIdx.x & 31, part = 1 << task.log2_part, r = lane >> task.log2_part;
    const Index   i = task.first + r;
    const bool    leads = r < task.rows && (lane & (part - 1)) == 0;
    const double  rhs = leads ? framed_rhs(L.frame, i, b) : 0;
    const double  inv = leads ? inv_pivot(L.frame, i) : 1;
    std::size_t   at = 32 * static_cast<std::size_t>(task.entries) + lane;
    double        sum = 0;  // Σ_j l_ij x_j
    if (task.steps <= 1) sum = collect<unknowns, 1>(L, at, task.steps, task.pilot, x);
    else if (task.steps <= 2) sum = collect<unknowns, 2>(L, at, task.steps, task.pilot, x);
    else if (task.steps <= 4) sum = collect<unknowns, 4>(L, at, task.steps, task.pilot, x);
    else
        for (int s = 0; s < task.steps; s += batch, at += 32 * batch)
            sum += collect<unknowns, batch>(L, at, task.steps - s, task.pilot, x);
    sum = sum_over(part, sum);
    if (!leads) return;
    const double value = (rhs - sum) * inv;
    if constexpr (unknowns == Unknowns::awaited) store_relaxed(x + i, published(value));
    else x[i] = value;
    store_framed(L.frame, i, value, out);
}

}  // namespace ilux

#pragma once
// Substitution with a small front by a warp, a lane a row. Only .cu files include this.

#include "ilux/direct/supernodal_gpu/device_substitution.hpp"
#include "ilux/direct/supernodal_gpu/overlapped_launch.hpp"

namespace ilux {

// The forward pass reads s.y and writes s.z; the backward pass the other way.

/// Numbers first, first + 1, … of a row, as far as there are any.
template <class V, int ahead, class Number>
__device__ void ask_for(V (&numbers)[ahead], Index first, Index end, Number&& number)
{
#pragma unroll
    for (int q = 0; q < ahead; ++q) numbers[q] = first + q < end ? number(first + q) : V{};
}

template <int rhs, bool transposed, class V>
__device__ void warp_forward(const FrontSolveView<V>& s, const DeviceFront& d)
{
    constexpr int    ahead = 16;
    const int        lane = threadIdx.x & 31;
    const V* const   a = s.F.val + d.val;
    const bool       mine = lane < d.k;
    const V          pivot = transposed && mine ? a[Offset{lane} * d.m + lane] : V{};
    const RowSources from = mine ? sources_of(s, d, pivot_place<transposed>(s, d, lane) - d.first) : RowSources{};
    const auto       own = [&](Index j) { return cuda::load_constant(&lower<transposed>(a, d, lane, j)); };
    V                number[ahead];
    ask_for(number, 0, mine ? lane : 0, own);
    cuda::wait_for_previous();
    Values<V, rhs> v{};
    if (mine) v = gathered<rhs>(s, d, from);
    for (Index begin = 0; begin < d.k; begin += ahead) {
        if (begin > 0) ask_for(number, begin, mine ? lane : 0, own);
#pragma unroll
        for (int q = 0; q < ahead; ++q) {
            if (begin + q >= d.k) break;
            if (transposed && lane == begin + q) divide_all(v, pivot);
            const auto x = of_lane(v, begin + q);
            if (lane > begin + q) take(v, number[q], x);
        }
    }
    if (mine) store(s.z, d.first + lane, v);
    for (Index i = d.k + lane; i - lane < d.m; i += 32) {
        Values<V, rhs> w{};
        if (i < d.m) w = gathered<rhs>(s, d, sources_of(s, d, i));
        for (Index begin = 0; begin < d.k; begin += ahead) {
            ask_for(number, begin, i < d.m ? d.k : 0,
                    [&](Index j) { return cuda::load_constant(&lower<transposed>(a, d, i, j)); });
#pragma unroll
            for (int q = 0; q < ahead; ++q) {
                if (begin + q >= d.k) break;
                take(w, number[q], of_lane(v, begin + q));
            }
        }
        if (i < d.m) store(s.left, d.row + i - d.k, w);
    }
}

template <int rhs, bool transposed, class V>
__device__ void warp_backward(const FrontSolveView<V>& s, const DeviceFront& d)
{
    constexpr int  ahead = 16;
    const int      lane = threadIdx.x & 31;
    const V* const a = s.F.val + d.val;
    const bool     mine = lane < d.k;
    const V        pivot = !transposed && mine ? a[Offset{lane} * d.m + lane] : V{};
    const auto     own = [&](Index j) { return cuda::load_constant(&upper<transposed>(a, d, lane, j)); };
    V              number[ahead];
    ask_for(number, d.k, mine ? d.m : 0, own);
    cuda::wait_for_previous();
    Values<V, rhs> v{};
    if (mine) v = load<V, rhs>(s.z, d.first + lane);
    for (Index first = d.k; first < d.m; first += 32) {
        Values<V, rhs> solved{};
        if (first + lane < d.m) solved = load<V, rhs>(s.y, s.F.row[d.row + first + lane - d.k]);
        for (Index begin = first; begin < min(first + 32, d.m); begin += ahead) {
            if (begin > d.k) ask_for(number, begin, mine ? d.m : 0, own);
#pragma unroll
            for (int q = 0; q < ahead; ++q) {
                if (begin + q >= d.m) break;
                take(v, number[q], of_lane(solved, begin + q - first));
            }
        }
    }
    for (Index end = d.k; end > 0; end -= ahead) {
#pragma unroll
        for (int q = 0; q < ahead; ++q) {
            const Index j = end - 1 - q;
            number[q] = j >= 0 && lane < j ? own(j) : V{};
        }
#pragma unroll
        for (int q = 0; q < ahead; ++q) {
            const Index j = end - 1 - q;
            if (j < 0) break;
            if (!transposed && lane == j) divide_all(v, pivot);
            const auto x = of_lane(v, j);
            if (lane < j) take(v, number[q], x);
        }
    }
    if (mine) store(s.y, pivot_place<!transposed>(s, d, lane), v);
}

template <int rhs, bool transposed, bool forward, class V>
__device__ void solve_by_warp(const FrontSolveView<V>& s, Index front)
{
    if constexpr (forward) warp_forward<rhs, transposed>(s, s.F.front[front]);
    else warp_backward<rhs, transposed>(s, s.F.front[front]);
}

}  // namespace ilux

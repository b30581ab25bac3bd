#pragma once
// What a front begins with, gathered in shared memory, and where its numbers go. Only .cu files include this.

#include "ilux/base/gpu/device_value.hpp"
#include "ilux/direct/supernodal_gpu/fronts_view.hpp"

namespace ilux {

/// Number of column c of B, for column j of a front.
template <class V>
__device__ Index column_of(const FrontsView<V>& F, const DeviceFront& d, Index j)
{
    return j < d.k ? d.first + j : F.row[d.row + j - d.k];
}

/// Where the number of row i and column j of a front lies.
template <class V>
__device__ V* number_at(const FrontsView<V>& F, const DeviceFront& d, Index i, Index j)
{
    if (j < d.k) return F.val + d.val + Offset{j} * d.m + i;
    if (i < d.k) return F.val + d.val + Offset{d.m} * d.k + Offset{j - d.k} * d.k + i;
    return F.rest + d.rest + Offset{j - d.k} * (d.m - d.k) + i - d.k;
}

/// a ← the front, by columns with stride ld; `threads` threads of number `thread` work together and meet in sync.
template <class V, class Sync>
__device__ void assemble_front(const FrontsView<V>& F, const DeviceFront& d, V* a, int ld, int thread, int threads,
                               Sync&& sync)
{
    for (int e = thread; e < ld * d.m; e += threads) a[e] = V{};
    sync();
    for (Index e = thread; e < d.inputs; e += threads) {
        const std::uint32_t at = F.input_at[d.input + e];
        a[(at & 0xFFFFu) + (at >> 16) * ld] = F.input[d.input + e];
    }
    const int lane = thread & 31, warp = thread >> 5, warps = threads >> 5;
    for (Index c = d.child_begin; c < d.child_end; ++c) {
        const DeviceFront& child = F.front[F.child[c]];
        const Index        u = child.m - child.k;
        const Index* const place = F.place + child.row;
        const V* const     rest = F.rest + child.rest;
        sync();
        for (Index j = warp; j < u; j += warps) {
            V* const column = a + place[j] * ld;
            for (Index i = lane; i < u; i += 32) column[place[i]] += rest[Offset{j} * u + i];
        }
    }
    sync();
}

}  // namespace ilux

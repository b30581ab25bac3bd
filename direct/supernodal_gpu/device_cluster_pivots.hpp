#pragma once
// Substitution with the pivots of one front by the blocks of a cluster. Only .cu files include this.

#include <cooperative_groups.h>

#include "ilux/direct/supernodal_gpu/device_mail.hpp"
#include "ilux/direct/supernodal_gpu/device_substitution.hpp"

namespace ilux {

constexpr int solve_threads = 256, solve_warps = solve_threads / 32;

/// Pivots of a front that a cluster works on, in chunks of 32; blocks and solve_warps take them in turns. A warp has the numbers that it
/// needs next in registers before it meets the others.
template <class V, int rhs, bool transposed, bool forward>
struct ClusterFront {
    const FrontSolveView<V>& s;
    const DeviceFront&       d;
    const V*                 a;
    Index                    blocks, rank;
    V*                       w;       // shared: of this block's chunks
    Values<V, rhs>*          solved;  // shared: of all chunks, as they come
    cuda::MailCount*         mail;    // of each chunk

    __device__ Index  chunks() const { return (d.k + solve_block - 1) / solve_block; }
    __device__ Index  lane() const { return static_cast<Index>(threadIdx.x & 31); }
    __device__ Index  step() const { return blocks * solve_warps; }
    __device__ Index  first() const { return rank + static_cast<Index>(threadIdx.x / 32) * blocks; }
    __device__ Index  row(Index chunk) const { return chunk * solve_block + lane(); }
    __device__ Offset shared_row(Index chunk) const { return Offset{chunk / blocks} * solve_block + lane(); }
    /// This warp's chunk that comes next after `by`, in the order of the substitution; −1: none.
    __device__ Index next(Index by) const
    {
        if (forward) {
            const Index chunk = by < first() ? first() : first() + ((by - first()) / step() + 1) * step();
            return chunk < chunks() ? chunk : -1;
        }
        return by <= first() ? -1 : first() + (by - 1 - first()) / step() * step();
    }
    /// This lane's row of the inverse of a chunk's diagonal block.
    __device__ void load_inverse(Index chunk, V (&row_of)[solve_block]) const
    {
        if (chunk < 0) return;
        constexpr bool by_L = forward != transposed;
        const V* const inverse = s.F.inverse + (Offset{d.inverse} + chunk) * 2 * solve_block * solve_block +
                                 (by_L ? 0 : solve_block * solve_block);
#pragma unroll
        for (int q = 0; q < solve_block; ++q)
            row_of[q] = transposed ? inverse[lane() * solve_block + q] : inverse[q * solve_block + lane()];
    }
    __device__ void load_block(Index chunk, Index by, V (&row_of)[solve_block]) const
    {
        const Index i = row(chunk), begin = by * solve_block;
#pragma unroll
        for (int q = 0; q < solve_block; ++q)
            row_of[q] = chunk >= 0 && i < d.k && begin + q < d.k
                            ? (forward ? lower<transposed>(a, d, i, begin + q) : upper<transposed>(a, d, i, begin + q))
                            : V{};
    }
    /// Pivots of a chunk: into y, and to all blocks.
    __device__ void publish(Index chunk, const V (&inverse)[solve_block]) const
    {
        const auto v = load<V, rhs>(w, shared_row(chunk));
        auto       x = Values<V, rhs>{}, odd = Values<V, rhs>{};
#pragma unroll
        for (int q = 0; q < solve_block; ++q) {
            const auto other = of_lane(v, q);
            auto&      sum = q % 2 == 0 ? x : odd;
#pragma unroll
            for (int r = 0; r < rhs; ++r) sum.of[r] = cuda::plus_product(sum.of[r], inverse[q], other.of[r]);
        }
        add(x, odd);
        for (Index to = 0; to < blocks; ++to) {
            const auto there = cuda::address_at(solved + shared_slot(chunk), to),
                       count = cuda::address_at(mail + chunk, to);
#pragma unroll
            for (int r = 0; r < rhs; ++r) cuda::send(there + r * sizeof(V), x.of[r], count);
        }
        if (const Index i = row(chunk); i < d.k)
            store(s.y, forward ? d.first + i : pivot_place<!transposed>(s, d, i), x);
    }
    __device__ void apply(Index chunk, Index by, const V (&row_of)[solve_block]) const
    {
        auto v = load<V, rhs>(w, shared_row(chunk)), odd = Values<V, rhs>{};
#pragma unroll
        for (int q = 0; q < solve_block; ++q) take(q % 2 == 0 ? v : odd, row_of[q], solved[by * solve_block + q]);
        add(v, odd);
        store(w, shared_row(chunk), v);
    }
    __device__ Index shared_slot(Index chunk) const { return chunk * solve_block + lane(); }
};

/// Shared memory of a block: its chunks, all chunks as they come, and what counts them.
template <class V, int rhs>
__host__ __device__ constexpr std::size_t pivots_bytes(Index chunks, Index blocks)
{
    return (std::size_t(chunks + blocks - 1) / blocks + chunks) * solve_block * rhs * sizeof(V) +
           chunks * sizeof(cuda::MailCount);
}

/// y of pivots becomes L⁻¹ y (transposed: U⁻ᵀ y), or U⁻¹ y (L⁻ᵀ y): diagonal blocks one after the other. A warp waits only for the
/// solve_block that it needs next.
template <class V, int rhs, bool transposed, bool forward>
__global__ void __launch_bounds__(solve_threads) cluster_pivots(FrontSolveView<V> s, const Index* list, int blocks)
{
    extern __shared__ __align__(16) unsigned char memory[];
    const DeviceFront                             d = s.F.front[list[blockIdx.x / blocks]];
    const Index                                   rank = static_cast<Index>(blockIdx.x) % blocks;
    const Index chunks = (d.k + solve_block - 1) / solve_block, begin = forward ? 0 : chunks - 1,
                way = forward ? 1 : -1;
    V* const    w = reinterpret_cast<V*>(memory);
    auto* const solved = reinterpret_cast<Values<V, rhs>*>(w + (chunks + blocks - 1) / blocks * solve_block * rhs);
    const ClusterFront<V, rhs, transposed, forward>
        c{s,    d, s.F.val + d.val, blocks,
          rank, w, solved,          reinterpret_cast<cuda::MailCount*>(solved + chunks * solve_block)};
    for (Index chunk = static_cast<Index>(threadIdx.x); chunk < chunks; chunk += solve_threads) {
        cuda::init_mail(c.mail + chunk);
        cuda::expect_mail(c.mail + chunk, solve_block * rhs * sizeof(V));
    }
    V inverse[solve_block], early[solve_block];
    c.load_inverse(c.next(begin - way), inverse);
    c.load_block(c.next(begin), begin, early);
    for (Index chunk = c.first(); chunk < chunks; chunk += c.step()) {
        const Index    i = c.row(chunk);
        Values<V, rhs> v{};
        if (i < d.k)
            v = forward ? gathered<rhs>(s, d, pivot_place<transposed>(s, d, i) - d.first)
                        : load<V, rhs>(s.y, d.first + i);
        store(c.w, c.shared_row(chunk), v);
    }
    cooperative_groups::this_cluster().sync();  // all blocks are there, and y was read
    if (c.next(begin - way) == begin) {
        c.publish(begin, inverse);
        c.load_inverse(c.next(begin), inverse);
    }
    for (Index by = begin; by != begin + (chunks - 1) * way; by += way) {
        Index chunk = c.next(by);
        if (chunk < 0) break;
        cuda::wait_for_mail(c.mail + by, 0);
        c.apply(chunk, by, early);
        if (chunk == by + way) {
            c.publish(chunk, inverse);
            c.load_inverse(c.next(chunk), inverse);
        }
        c.load_block(c.next(by + way), by + way, early);
        for (chunk = c.next(chunk); chunk >= 0; chunk = c.next(chunk)) {
            V numbers[solve_block];
            c.load_block(chunk, by, numbers);
            c.apply(chunk, by, numbers);
        }
    }
    for (Index chunk = static_cast<Index>(threadIdx.x); chunk < chunks; chunk += solve_threads)
        cuda::wait_for_mail(c.mail + chunk, 0);
    cooperative_groups::this_cluster().sync();  // none leaves before all has come
}

}  // namespace ilux

#pragma once
// A row of the next matrix while it is summed up: a hash table in shared memory. Only .cu files include this.

#include <bit>

#include "ilux/base/types.hpp"
#include "ilux/precond/gpu_rounds/device_tile.hpp"

namespace ilux::rounds {

/// Slots of the largest table of a row: what the shared memory of a multiprocessor holds, as a power of two.
template <class V>
constexpr int largest_table = is_complex<V> ? 8192 : 16384;

/// `slots`, a power of two, places; those with a column are taken, and listed in any order.
template <class V, int slots>
struct Table {
    static constexpr std::size_t bytes = slots * (sizeof(V) + sizeof(Index) + sizeof(unsigned short)) + sizeof(Index);
    static constexpr Index       free = -1;
    static constexpr unsigned    shift = 32 - (std::bit_width(static_cast<unsigned>(slots)) - 1);

    V*              val;    ///< of a place just taken: not set yet
    Index*          col;    ///< `free` at first
    Index*          count;  ///< of places taken; 0 at first
    unsigned short* list;

    /// The table number `which` of a block, in `memory`, which holds `tables` of them.
    __device__ Table(void* memory, int which, int tables)
    {
        const auto all = static_cast<std::size_t>(tables) * slots, mine = static_cast<std::size_t>(which) * slots;
        val = static_cast<V*>(memory) + mine;
        Index* const cols = reinterpret_cast<Index*>(static_cast<V*>(memory) + all);
        col = cols + mine;
        count = cols + all + which;
        list = reinterpret_cast<unsigned short*>(cols + all + tables) + mine;
    }

    /// value is added to what column j has. No two threads come with one column at a time. @return false where there is
    /// no place
    __device__ bool add(Index j, V value)
    {
        unsigned s = static_cast<unsigned>(j) * 0x9e3779b1U >> shift;
        for (int probe = 0; probe < slots; ++probe) {
            Index there = *static_cast<volatile Index*>(col + s);
            if (there == free) there = atomicCAS(col + s, free, j);
            if (there == free) {
                val[s] = value;
                list[atomicAdd(count, 1)] = static_cast<unsigned short>(s);
                return true;
            }
            if (there == j) {
                val[s] = plain_sum(val[s], value);
                return true;
            }
            s = (s + 1) & (slots - 1);
        }
        return false;
    }
};

/// A block of `threads` that works on one row; the same words as Tile's.
template <int threads>
class BlockGroup {
public:
    static constexpr int size = threads, per_block = 1;

    __device__ int         lane() const { return static_cast<int>(threadIdx.x); }
    __device__ static int  in_block() { return 0; }
    __device__ static long in_grid() { return blockIdx.x; }
    __device__ void        sync() const { __syncthreads(); }

    __device__ double max(double value) const
    {
        return over(value, [](double a, double b) { return fmax(a, b); });
    }
    template <class V>
    __device__ V sum(V value) const
    {
        return over(value, [](V a, V b) { return a + b; });
    }
    template <class R>
    __device__ cuda::Complex<R> sum(cuda::Complex<R> value) const
    {
        return {sum(value.re), sum(value.im)};
    }
    /// The place as Tile has it, but entries may come in any order.
    __device__ Index place(bool stays, Index& count) const
    {
        __shared__ Index next;
        __syncthreads();
        if (threadIdx.x == 0) next = count;
        __syncthreads();
        const Index mine = stays ? atomicAdd(&next, 1) : 0;
        __syncthreads();
        count = next;
        return mine;
    }

private:
    template <class V, class Op>
    __device__ V over(V value, Op op) const
    {
        __shared__ V of_warp[threads / 32];
#pragma unroll
        for (int step = 16; step > 0; step /= 2) value = op(value, __shfl_xor_sync(~0U, value, step));
        __syncthreads();
        if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = value;
        __syncthreads();
        V all = of_warp[0];
        for (int w = 1; w < threads / 32; ++w) all = op(all, of_warp[w]);
        return all;
    }
};

}  // namespace ilux::rounds

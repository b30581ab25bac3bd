// The dense end of an elimination in the registers of one thread block, right-looking.
//
// Launch shape: one block of 8 warps. Lane l of warp w has the entries of rows l + 32 a and
// columns w + 8 b, so that all of a column is in one warp, and the work left is spread evenly until the end. Step k: the warp of
// column k has published that column, divided, in shared memory; every warp subtracts it from its own columns, times their
// entries of row k, which it has itself. The warp of column k + 1 does so with that column first, divides and publishes it, and
// only then goes on to its others: the chain of a step is a load, a multiply-add, a division, a store and a barrier.
// Two named barriers take turns. Who publishes arrives there and does not wait, all others wait; it can only be one step
// ahead of a reader, hence two copies of what is published.
// Terminates: every warp meets every barrier once, in order. Repeatable: bitwise, for an entry has one owner and k ascends.

#include <algorithm>

#include "ilux/direct/device_dots.hpp"
#include "ilux/direct/gpu_dense_tail.hpp"

namespace ilux {
namespace {

constexpr int warps = 8;  // two to each of the four schedulers: each thread may have 255 registers
constexpr int threads = 32 * warps;
constexpr int per_tile = 32 / warps;  // columns that a warp has of 32

template <int tiles>
constexpr int own_columns = 32 * tiles / warps;

/// The last two columns published, and each warp's entries of the last two pivot rows.
template <int tiles>
struct Published {
    double column[2][32 * tiles];
    alignas(16) double2 row[2][warps][own_columns<tiles> / 2];
};

/// Of all threads, at column k; what came before it is seen behind it. All lanes of the warp call it.
__device__ void wait_for_column(int k) { asm volatile("bar.sync %0, %1;" ::"r"(1 + (k & 1)), "n"(threads) : "memory"); }
__device__ void column_is_ready(int k)
{
    asm volatile("bar.arrive %0, %1;" ::"r"(1 + (k & 1)), "n"(threads) : "memory");
}

/// What a lane of an eliminating warp does; `t` is the tile, of 32 rows and columns, that column k is in.
template <int tiles>
struct Eliminator {
    Published<tiles>&       published;
    const DotProgram::Slot* slot;
    double*                 v;
    int                     size, warp, lane;
    double                  x[tiles][own_columns<tiles>];

    __device__ DotProgram::Slot slot_of(int a, int column) const { return slot[column * (32 * tiles) + 32 * a + lane]; }

    __device__ void load()
    {
#pragma unroll
        for (int b = 0; b < own_columns<tiles>; ++b)
#pragma unroll
            for (int a = 0; a < tiles; ++a) x[a][b] = v[slot_of(a, warp + warps * b)];
    }

    /// Divides column k, `column` less all products, and says so; its rows up to k are U's. t is the tile of column k or of the
    /// one before.
    template <int t>
    __device__ void publish(int k, const double (&column)[tiles])
    {
        const bool   next_tile = t + 1 < tiles && k == 32 * (t + 1);
        const double pivot = __shfl_sync(whole_warp, next_tile ? column[t + 1 < tiles ? t + 1 : t] : column[t], k & 31);
        double* const to = published.column[k & 1];
#pragma unroll
        for (int a = 0; a < tiles; ++a)
            to[32 * a + lane] = a >= t && 32 * a + lane > k ? divide(column[a], pivot) : column[a];
        __syncwarp();
        column_is_ready(k);
    }

    /// Column k + 1 before all others, in its owner.
    template <int t>
    __device__ void publish_next(int k, const double (&l)[tiles])
    {
        const int r = k & 31, own = (r + 1) / warps;  // its number among the warp's, from 4 t on
        double    column[tiles];
#pragma unroll
        for (int j = 0; j <= per_tile; ++j)
            if (j == own && per_tile * t + j < own_columns<tiles>)
#pragma unroll
                for (int a = 0; a < tiles; ++a) column[a] = x[a][per_tile * t + j];
        const double u = reinterpret_cast<const double*>(published.row[k & 1][warp])[per_tile * t + own];
#pragma unroll
        for (int a = t; a < tiles; ++a)
            if (a > t || lane > r) column[a] = __fma_rn(-l[a], u, column[a]);
        publish<t>(k + 1, column);
    }

    /// x_ij ← x_ij − l_ik u_kj for i > k. Columns up to k among these may lose what is below the diagonal: it was published.
    template <int t>
    __device__ void update(int k, const double (&l)[tiles])
    {
        const bool below = lane > (k & 31);
#pragma unroll
        for (int b = per_tile * t; b < own_columns<tiles>; b += 2) {
            const double2 u = published.row[k & 1][warp][b / 2];
            if (below) x[t][b] = __fma_rn(-l[t], u.x, x[t][b]);
            if (below) x[t][b + 1] = __fma_rn(-l[t], u.y, x[t][b + 1]);
#pragma unroll
            for (int a = t + 1; a < tiles; ++a) {
                x[a][b] = __fma_rn(-l[a], u.x, x[a][b]);
                x[a][b + 1] = __fma_rn(-l[a], u.y, x[a][b + 1]);
            }
        }
    }

    /// Column k, as it was published, to its slots.
    __device__ void write(int k, const DotProgram::Slot (&at)[tiles])
    {
#pragma unroll
        for (int a = 0; a < tiles; ++a)
            if (at[a] != DotProgram::zero_slot) v[at[a]] = published.column[k & 1][32 * a + lane];
    }

    /// Columns 32 t … 32 t + 31.
    template <int t>
    __device__ void eliminate_tile()
    {
        const int last = min(size, 32 * (t + 1));
        for (int k = 32 * t; k < last; ++k) {
            if (lane == (k & 31))
#pragma unroll
                for (int b = per_tile * t; b < own_columns<tiles>; b += 2)
                    published.row[k & 1][warp][b / 2] = make_double2(x[t][b], x[t][b + 1]);
            __syncwarp();
            const bool       writes = warp == (k + warps / 2) % warps;  // column k; it publishes none soon
            DotProgram::Slot at[tiles];
            if (writes)
#pragma unroll
                for (int a = 0; a < tiles; ++a) at[a] = slot_of(a, k);
            if (warp != k % warps) wait_for_column(k);
            double l[tiles];
#pragma unroll
            for (int a = t; a < tiles; ++a) l[a] = published.column[k & 1][32 * a + lane];
            if (k + 1 < size && warp == (k + 1) % warps) publish_next<t>(k, l);
            if (k + 1 < size) update<t>(k, l);
            if (writes) write(k, at);
        }
    }

    template <int t = 0>
    __device__ void eliminate()
    {
        eliminate_tile<t>();
        if constexpr (t + 1 < tiles) eliminate<t + 1>();
    }
};

template <int tiles>
__global__ void __launch_bounds__(threads, 1) eliminate_tail(int size, const DotProgram::Slot* slot, double* v)
{
    __shared__ Published<tiles> published;
    const int                   warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) & 31;
    Eliminator<tiles>           own{published, slot, v, size, warp, lane};
    own.load();
    if (warp == 0) {
        double column[tiles];
#pragma unroll
        for (int a = 0; a < tiles; ++a) column[a] = own.x[a][0];
        own.template publish<0>(0, column);
    }
    own.eliminate();
}

int tiles_of(Index size) { return (size + 31) / 32; }

}  // namespace

GpuDenseTail::GpuDenseTail(Gpu& gpu, const DenseTail& tail) : size_(tail.size)
{
    require(tail.size <= TailColumns::most, [&] {
        return "dense tail of " + std::to_string(tail.size) + " columns: at most " + std::to_string(TailColumns::most);
    });
    const std::size_t m = static_cast<std::size_t>(tail.size), padded = 32 * std::size_t(tiles_of(tail.size));
    std::vector<DotProgram::Slot> slot(padded * padded, DotProgram::zero_slot);
    for (std::size_t k = 0; k < m; ++k) std::copy_n(tail.slot.begin() + k * m, m, slot.begin() + k * padded);
    arrays_.add(slot, slot_);
    arrays_.upload(gpu);
}

void GpuDenseTail::run(Gpu& gpu, double* v) const
{
    static_assert(TailColumns::most == 5 * 32);
    constexpr decltype(&eliminate_tail<1>) kernels[] = {eliminate_tail<1>, eliminate_tail<2>, eliminate_tail<3>,
                                                        eliminate_tail<4>, eliminate_tail<5>};
    if (size_ == 0) return;
    const cuda::Range range("dense_tail");
    kernels[tiles_of(size_) - 1]<<<1, threads, 0, cuda::stream(gpu)>>>(size_, slot_, v);
    cuda::check_launch("eliminate_tail");
}

}  // namespace ilux

// The dense end of an elimination in the shared memory of one thread block, right-looking by tiles of 32 × 32.
//
// Launch shape: one block of 16 warps for each member. In phase t warp 0 factors diagonal tile t in its registers, a
// row a lane; all others wait for that, so it does nothing else. The others each take a tile below or beside it, bring
// that up to date with the tiles of phase t − 1 and follow warp 0, eight columns behind; those left over write what
// phase t − 1 made to its slots and bring the rest of the matrix up to date. Then eight warps do so with the next
// diagonal tile. In phase 0 they fetch the matrix instead, the first tile first. Terminates: within a phase warp 0
// waits for nobody after its first tile, and the others only for warp 0. Repeatable: bitwise, for every entry has one
// writer at a time and k ascends in its products.
//
// What bounds it is the chain of divisions: an approximate reciprocal and nine multiply-adds a column, by count about
// 110 cycles. A warp a column in turn with a barrier a column, all in registers, took 300 to 490 ns a column (H200).

#include <algorithm>
#include <type_traits>

#include "ilux/direct/dataflow/device_dataflow.hpp"
#include "ilux/direct/dataflow/gpu_dense_tail.hpp"

namespace ilux {
namespace {

constexpr int warps = 16;
constexpr int threads = 32 * warps;
constexpr int helpers = warps - 1;
constexpr int tile_size = 32;
constexpr int stride = tile_size + 2;  // between columns: pairs stay aligned, those of neighbours lie in other banks
constexpr int tile_doubles = tile_size * stride;
constexpr int unused_row = tile_size;  // of the pivot rows: a branch around a store costs more than storing there
constexpr int chunk = 8;               // columns that warp 0 publishes at once
constexpr int moved = 8;               // columns of a tile that a warp fetches or writes at once
constexpr int units = tile_size / moved;

__device__ double2& pair_at(double* at) { return *reinterpret_cast<double2*>(at); }
__device__ double2  pair_at(const double* at) { return *reinterpret_cast<const double2*>(at); }

// Named barriers: 1 … 4 for the chunks of a phase, then one for the first tile's arrival. What came before an arrival
// is seen behind the wait. All lanes of a warp call them.
constexpr int   first_tile_barrier = 1 + tile_size / chunk;
__device__ void arrive(int barrier, int members)
{
    asm volatile("bar.arrive %0, %1;" ::"r"(barrier), "r"(32 * members) : "memory");
}
__device__ void wait(int barrier, int members)
{
    asm volatile("bar.sync %0, %1;" ::"r"(barrier), "r"(32 * members) : "memory");
}

/// *to ← *from without a register; `to` is in shared memory.
__device__ void copy_async(double* to, const double* from)
{
    const auto at = static_cast<unsigned>(__cvta_generic_to_shared(to));
    asm volatile("cp.async.ca.shared.global [%0], [%1], 8;" ::"r"(at), "l"(from) : "memory");
}
__device__ void wait_for_copies() { asm volatile("cp.async.wait_all;" ::: "memory"); }

/// |x| in [2^-399, 2^400), where quotient() is right: by the exponent's bits, off the multiply-adds' pipe.
__device__ bool in_range(double x)
{
    constexpr unsigned least = (1023u - 399u) << 20, width = 799u << 20;
    return (static_cast<unsigned>(__double2hiint(x)) & 0x7FFF'FFFFu) - least < width;
}
__device__ bool plain(double x) { return in_range(x) | (((__double2hiint(x) << 1) | __double2loint(x)) == 0); }

struct Place {
    int i, j;  // of a tile, in tiles
};

/// What the warps of a block share; every member function is of one warp.
/// @tparam T  of the slots; tiles are double
template <class T>
struct Tail {
    int                          size, tiles, warp, lane;
    const DataflowProgram::Slot* slot;
    T*                           v;        // of this block's member
    std::uint32_t                between;  // numbers from a slot to the next of the same member
    double*                      shared;   // tiles by columns, each by columns; then the pivot rows

    __device__ T* number(DataflowProgram::Slot at) const { return v + std::size_t{at} * between; }

    __device__ double* tile(Place at) const { return shared + (at.j * tiles + at.i) * tile_doubles; }

    /// Row k of the diagonal tile's U from column k on, at k * stride; 1 / u_kk behind it.
    __device__ double* pivot_rows() const { return shared + tiles * tiles * tile_doubles; }

    __device__ int beside(int t) const { return 2 * (tiles - 1 - t); }  // tiles below and right of diagonal tile t

    /// This warp among the helpers. Those that share a scheduler with warp 0 come last, so that it has it to itself.
    __device__ int helper() const
    {
        const int row = warp / 4, column = warp % 4;
        return column > 0 ? 3 * row + column - 1 : 3 * warps / 4 + row - 1;
    }

    /// Tile q of those not yet factored but diagonal tile t: first the tiles beside it, below and right in turns.
    __device__ Place place(int t, int q) const
    {
        const int rest = tiles - 1 - t, near = t + 1 + q / 2;
        if (q < beside(t)) return q % 2 == 0 ? Place{near, t} : Place{t, near};
        const int far = q - beside(t);
        return {t + 1 + far % rest, t + 1 + far / rest};
    }

    template <int columns>
    __device__ void slots(Place from, int first, DataflowProgram::Slot (&at)[columns]) const
    {
        const DataflowProgram::Slot* own =
            slot + (tile_size * from.j + first) * (tile_size * tiles) + tile_size * from.i + lane;
#pragma unroll
        for (int c = 0; c < columns; ++c) at[c] = own[c * (tile_size * tiles)];
    }

    /// Some columns of a tile; wait_for_copies ends it. Pivots beyond `size` are 1, which divides fast.
    template <int columns>
    __device__ void fetch(Place from, int first) const
    {
        DataflowProgram::Slot at[columns];
        slots(from, first, at);
        double* const to = tile(from) + first * stride + lane;
        const auto    beyond = [&](int c) {
            return from.i == from.j && lane == first + c && tile_size * from.i + lane >= size;
        };
        if constexpr (std::is_same_v<T, double>) {
#pragma unroll
            for (int c = 0; c < columns; ++c) {
                if (beyond(c)) to[c * stride] = 1;
                else copy_async(to + c * stride, number(at[c]));
            }
        } else {
            T x[columns];
#pragma unroll
            for (int c = 0; c < columns; ++c) x[c] = *number(at[c]);
#pragma unroll
            for (int c = 0; c < columns; ++c) to[c * stride] = beyond(c) ? 1 : static_cast<double>(x[c]);
        }
    }

    template <int columns>
    __device__ void write(Place from, int first, const DataflowProgram::Slot (&at)[columns]) const
    {
        const double* const own = tile(from) + first * stride + lane;
#pragma unroll
        for (int c = 0; c < columns; ++c)
            if (at[c] != DataflowProgram::zero_slot) *number(at[c]) = static_cast<T>(own[c * stride]);
    }

    /// The first tile by all warps, so that it is there first; then a helper's own tile of phase 0, if it has one, or
    /// its share of the others.
    __device__ void fetch_all() const
    {
        fetch<tile_size / warps>({0, 0}, tile_size / warps * warp);
        wait_for_copies();
        if (warp == 0) return wait(first_tile_barrier, warps);
        arrive(first_tile_barrier, warps);
        const int  h = helper(), near = beside(0), far = (tiles - 1) * (tiles - 1);
        const bool own = h < near;
        const int  end = own ? units * (h + 1) : units * (near + far);
        for (int unit = own ? units * h : units * near + h - near; unit < end; unit += own ? 1 : helpers - near)
            fetch<moved>(place(0, unit / units), unit % units * moved);
        wait_for_copies();
        __syncwarp();
    }

    /// x_ij ← x_ij − Σ_k l_ik u_kj in 16 · row_pairs rows and 4 · columns columns from c on, k from 0 to 31. A lane
    /// has a pair of rows of every 16 and every fourth column.
    template <int row_pairs, int columns>
    __device__ void multiply(double* c, const double* l, const double* u) const
    {
        // A lane shares its rows with its neighbour and its columns with the one after that: 16-byte loads of a warp
        // then take two cycles instead of four.
        const int row = (lane & 2) | ((lane & 24) >> 1), column = (lane & 1) | ((lane & 4) >> 1);
        c += column * stride + row;
        l += row;
        u += column * stride;
        double2 x[columns][row_pairs];
#pragma unroll
        for (int b = 0; b < columns; ++b)
#pragma unroll
            for (int a = 0; a < row_pairs; ++a) x[b][a] = pair_at(c + 4 * b * stride + 16 * a);
#pragma unroll(row_pairs* columns < 8 ? 4 : 1)
        for (int k = 0; k < tile_size; k += 2) {
            double2 l0[row_pairs], l1[row_pairs];
#pragma unroll
            for (int a = 0; a < row_pairs; ++a) {
                l0[a] = pair_at(l + k * stride + 16 * a);
                l1[a] = pair_at(l + (k + 1) * stride + 16 * a);
            }
#pragma unroll
            for (int b = 0; b < columns; ++b) {
                const double2 u_k = pair_at(u + 4 * b * stride + k);  // rows k and k + 1
#pragma unroll
                for (int a = 0; a < row_pairs; ++a) {
                    x[b][a].x = __fma_rn(-l1[a].x, u_k.y, __fma_rn(-l0[a].x, u_k.x, x[b][a].x));
                    x[b][a].y = __fma_rn(-l1[a].y, u_k.y, __fma_rn(-l0[a].y, u_k.x, x[b][a].y));
                }
            }
        }
#pragma unroll
        for (int b = 0; b < columns; ++b)
#pragma unroll
            for (int a = 0; a < row_pairs; ++a) pair_at(c + 4 * b * stride + 16 * a) = x[b][a];
    }

    __device__ void factor_diagonal(int t) const;
    __device__ void eliminate_rows(int t, double* c) const;
    __device__ void eliminate_columns(int t, double* c) const;
    template <bool diagonal>
    __device__ void eliminate_rows_slowly(int t, double* c, int first) const;
    __device__ void help(int t) const;

    /// Warps 8 to 15 each: four columns of diagonal tile t, whose U factor_diagonal leaves among the pivot rows.
    __device__ bool completes() const { return warp >= warps / 2; }
    __device__ int  completed() const { return 4 * (warp - warps / 2); }
    __device__ void complete(int t) const
    {
        double* const c = tile({t, t});
        for (int j = completed(); j < completed() + 4; ++j)
            if (lane <= j) c[j * stride + lane] = pivot_rows()[lane * stride + j];
    }

    /// Diagonal tile t + 1 less the products of phase t; diagonal tile t as a whole.
    __device__ void update_next_diagonal(int t) const
    {
        if (completes()) return complete(t);
        const int row = warp % 2 * 16, column = warp / 2 * 8;
        multiply<1, 2>(tile({t + 1, t + 1}) + column * stride + row, tile({t + 1, t}) + row,
                       tile({t, t + 1}) + column * stride);
    }
};

/// l_ik ← x_ik / u_kk, x_ij ← x_ij − l_ik u_kj in diagonal tile t, a row a lane, whatever becomes of a row once it has
/// been a pivot row and is published. Every lane also has l_{k+1,k} and so the next pivot, with no shuffle in between.
template <class T>
__device__ void Tail<T>::factor_diagonal(int t) const
{
    double* const c = tile({t, t});
    double* const rows = pivot_rows();
    double        x[tile_size];
#pragma unroll
    for (int j = 0; j < tile_size; ++j) x[j] = c[j * stride + lane];
    double pivot = __shfl_sync(whole_warp, x[0], 0);
#pragma unroll
    for (int first = 0; first < tile_size; first += chunk) {
        if (tile_size * t + first >= size) return;
        bool fast = true;
#pragma unroll
        for (int k = first; k < first + chunk; ++k) {
            constexpr int last = tile_size - 1;
            const int     n = k < last ? k + 1 : last;
            const double  below = __shfl_sync(whole_warp, x[k], n), right = __shfl_sync(whole_warp, x[n], k);
            const double  next = __shfl_sync(whole_warp, x[n], n);
            const double  r = reciprocal(pivot), l = quotient(x[k], pivot, r);
            double* const to = rows + (lane == k ? k : unused_row) * stride;
#pragma unroll
            for (int j = k & ~1; j < tile_size; j += 2) pair_at(to + j) = make_double2(x[j], x[j + 1]);
            __syncwarp();
            fast &= in_range(pivot) & (plain(x[k]) | (lane <= k));
            pivot = __fma_rn(-quotient(below, pivot, r), right, next);
            x[k] = l;
#pragma unroll
            for (int j = k + 1; j < tile_size; ++j) x[j] = __fma_rn(-l, rows[k * stride + j], x[j]);
            rows[k * stride + tile_size] = r;
        }
        if (!__all_sync(whole_warp, fast)) return eliminate_rows_slowly<true>(t, c, first);
#pragma unroll
        for (int j = first; j < first + chunk; ++j) c[j * stride + lane] = x[j];
        __syncwarp();
        if (beside(t) > 0) arrive(1 + first / chunk, 1 + beside(t));
    }
}

/// Eliminates in the same way in a tile below the diagonal one.
template <class T>
__device__ void Tail<T>::eliminate_rows(int t, double* c) const
{
    const double* const rows = pivot_rows();
    double              x[tile_size];
#pragma unroll
    for (int j = 0; j < tile_size; ++j) x[j] = c[j * stride + lane];
#pragma unroll
    for (int first = 0; first < tile_size; first += chunk) {
        wait(1 + first / chunk, 1 + beside(t));
        bool fast = true;
#pragma unroll
        for (int k = first; k < first + chunk; ++k) {
            const double pivot = rows[k * stride + k];
            fast &= in_range(pivot) & plain(x[k]);
            x[k] = quotient(x[k], pivot, rows[k * stride + tile_size]);
#pragma unroll
            for (int j = k + 1; j < tile_size; ++j) x[j] = __fma_rn(-x[k], rows[k * stride + j], x[j]);
        }
        if (!__all_sync(whole_warp, fast)) return eliminate_rows_slowly<false>(t, c, first);
    }
#pragma unroll
    for (int j = 0; j < tile_size; ++j) c[j * stride + lane] = x[j];
}

/// Either, whatever the values: the chunk from column `first` on had some that quotient() is not for. On the diagonal
/// columns before it are published; of a tile below nothing is stored yet, but warp 0 has been waited for that far.
template <class T>
template <bool diagonal>
__device__ void Tail<T>::eliminate_rows_slowly(int t, double* c, int first) const
{
    double* const rows = pivot_rows();
    const int     stored = diagonal ? first : 0;
    for (int k = 0; k < tile_size; ++k) {
        if (!diagonal && k % chunk == 0 && k > first) wait(1 + k / chunk, 1 + beside(t));
        if (diagonal && k >= stored && lane >= k) rows[k * stride + lane] = c[lane * stride + k];
        __syncwarp();
        const double pivot = rows[k * stride + k];
        const bool   own = !diagonal || lane > k;
        if (own && k >= stored) c[k * stride + lane] /= pivot;
        const double l = c[k * stride + lane];
        for (int j = max(k + 1, stored); own && j < tile_size; ++j)
            c[j * stride + lane] = __fma_rn(-l, rows[k * stride + j], c[j * stride + lane]);
        if (diagonal && k >= stored && lane == 0) rows[k * stride + tile_size] = reciprocal(pivot);
        __syncwarp();
        if (diagonal && k >= stored && k % chunk == chunk - 1 && beside(t) > 0) arrive(1 + k / chunk, 1 + beside(t));
    }
}

/// The tile right of diagonal tile t: x_ij ← x_ij − l_ik x_kj, a column a lane.
template <class T>
__device__ void Tail<T>::eliminate_columns(int t, double* c) const
{
    const double* const l = tile({t, t});
    double* const       own = c + lane * stride;
    double              x[tile_size];
#pragma unroll
    for (int i = 0; i < tile_size; i += 2) {
        const double2 both = pair_at(static_cast<const double*>(own + i));
        x[i] = both.x, x[i + 1] = both.y;
    }
#pragma unroll
    for (int k = 0; k < tile_size; ++k) {
        if (k % chunk == 0) wait(1 + k / chunk, 1 + beside(t));
#pragma unroll
        for (int i = k + 1; i < tile_size; ++i) x[i] = __fma_rn(-l[k * stride + i], x[k], x[i]);
    }
#pragma unroll
    for (int i = 0; i < tile_size; i += 2) pair_at(own + i) = make_double2(x[i], x[i + 1]);
}

/// Phase t of a warp other than 0.
template <class T>
__device__ void Tail<T>::help(int t) const
{
    const int  h = helper(), near = beside(t), rest = tiles - 1 - t;
    const bool follows = h < near;
    if (t > 0 && !follows)  // write what phase t − 1 left
        for (int unit = h - near; unit < units * (1 + beside(t - 1)); unit += helpers - near) {
            const int             q = unit / units;
            const Place           from = q == 0 ? Place{t - 1, t - 1} : place(t - 1, q - 1);
            const int             first = unit % units * moved;
            DataflowProgram::Slot at[moved];
            slots(from, first, at);
            write(from, first, at);
        }
    if (t > 0)
        for (int q = h; q < near + rest * rest; q += follows ? near + rest * rest : helpers - near) {
            const Place at = place(t, q);
            multiply<2, 8>(tile(at), tile({at.i, t - 1}), tile({t - 1, at.j}));
        }
    if (!follows) return;
    __syncwarp();
    const Place at = place(t, h);
    if (at.j == t) eliminate_rows(t, tile(at));
    else eliminate_columns(t, tile(at));
}

template <class T>
__global__ void __launch_bounds__(threads, 1)
    eliminate_tail(int size, int tiles, const DataflowProgram::Slot* slot, T* v, std::uint32_t between)
{
    extern __shared__ double2 shared[];  // of pairs for their alignment
    const int                 lane = static_cast<int>(threadIdx.x) & 31;
    // By a shuffle, so that the compiler sees that branches on it are those of whole warps.
    const int     warp = __shfl_sync(whole_warp, static_cast<int>(threadIdx.x) / 32, 0);
    const Tail<T> own{size, tiles, warp, lane, slot, v + blockIdx.x, between, reinterpret_cast<double*>(shared)};
    own.fetch_all();
    const int last = tiles - 1;
    for (int t = 0;; ++t) {
        if (warp == 0) own.factor_diagonal(t);
        else own.help(t);
        if (t == last) break;
        __syncthreads();
        own.update_next_diagonal(t);
        __syncthreads();
    }
    DataflowProgram::Slot at[4];
    if (own.completes()) own.slots({last, last}, own.completed(), at);  // while warp 0 is still at it
    __syncthreads();
    if (!own.completes()) return;
    own.complete(last);
    own.write({last, last}, own.completed(), at);
}

int tiles_of(Index size) { return (size + tile_size - 1) / tile_size; }

std::size_t shared_bytes(Index size)
{
    const auto tiles = static_cast<std::size_t>(tiles_of(size));
    return ((tiles * tiles + 1) * tile_doubles + stride) * sizeof(double);
}

}  // namespace

GpuDenseTail::GpuDenseTail(Gpu& gpu, const DenseTail& tail) : size_(tail.size)
{
    require(tail.size <= TailColumns::most, [&] {
        return "dense tail of " + std::to_string(tail.size) + " columns: at most " + std::to_string(TailColumns::most);
    });
    const std::size_t m = static_cast<std::size_t>(tail.size), padded = tile_size * std::size_t(tiles_of(tail.size));
    std::vector<DataflowProgram::Slot> slot(padded * padded, DataflowProgram::zero_slot);
    for (std::size_t k = 0; k < m; ++k) std::copy_n(tail.slot.begin() + k * m, m, slot.begin() + k * padded);
    arrays_.add(slot, slot_);
    arrays_.upload(gpu);
    const auto most = static_cast<int>(shared_bytes(TailColumns::most));
    cuda::check(cudaFuncSetAttribute(eliminate_tail<double>, cudaFuncAttributeMaxDynamicSharedMemorySize, most),
                "cudaFuncSetAttribute");
    cuda::check(cudaFuncSetAttribute(eliminate_tail<float>, cudaFuncAttributeMaxDynamicSharedMemorySize, most),
                "cudaFuncSetAttribute");
}

template <class T>
void GpuDenseTail::run(Gpu& gpu, T* v, Index members, Index stride) const
{
    if (size_ == 0 || members == 0) return;
    const cuda::Range range("dense_tail");
    const auto        blocks = static_cast<unsigned>(members);
    eliminate_tail<<<blocks, threads, shared_bytes(size_), cuda::stream(gpu)>>>(size_, tiles_of(size_), slot_, v,
                                                                                static_cast<std::uint32_t>(stride));
    cuda::check_launch("eliminate_tail");
}

template void GpuDenseTail::run(Gpu&, double*, Index, Index) const;
template void GpuDenseTail::run(Gpu&, float*, Index, Index) const;

}  // namespace ilux

// Inverses of diagonal blocks of pivots: substitution multiplies by them. Tiles of 32 first, then pairs of twice the
// size:
//
//   (L11    )⁻¹   (L11⁻¹                    )     (U11 U12)⁻¹   (U11⁻¹  −U11⁻¹ U12 U22⁻¹)
//   (L21 L22)   = (−L22⁻¹ L21 L11⁻¹   L22⁻¹ ),    (    U22)   = (                 U22⁻¹ )
//
// Launch shape: a warp a tile, a lane a column of the inverse; of pairs a block a strip of columns, products on tensor
// cores. Nobody waits for others. Repeatable: bitwise.

#include "ilux/base/gpu/cuda.hpp"
#include "ilux/base/gpu/device_division.hpp"
#include "ilux/direct/supernodal_gpu/device_product.hpp"
#include "ilux/direct/supernodal_gpu/front_kernels.hpp"
#include "ilux/direct/supernodal_gpu/front_solve_kernels.hpp"
#include "ilux/direct/supernodal_gpu/shared_room.hpp"

namespace ilux {
namespace {

constexpr int tile = solve_tile, tile_warps = 2;
constexpr int join_threads = 256, join_warps = join_threads / 32;

/// Where a tile lies: in its front, and in the block of pivots that is inverted.
template <class V>
struct InverseTile {
    DeviceFront d;
    Index       block, row, size;  ///< first pivot of the block; first row within; pivots of the block
    const V*    factor;            ///< of the block; stride d.m
    V*          inverse;           ///< stride size

    __device__ InverseTile(const FrontsView<V>& F, const FrontItem& item) : d(F.front[item.front])
    {
        const Index at = Index{item.row} * tile;
        block = at / solve_block * solve_block;
        row = at - block;
        size = min(solve_block, d.k - block);
        factor = F.val + d.val + Offset{block} * (d.m + 1);
        inverse = F.inverse + d.inverse + Offset{block} * solve_block;
    }
};

template <class V>
__global__ void __launch_bounds__(32 * tile_warps) invert_tiles(FrontsView<V> F, Index count, const FrontItem* items)
{
    __shared__ V tiles[tile_warps][tile][tile];
    const int    lane = threadIdx.x & 31;
    const Index  which = static_cast<Index>(blockIdx.x) * tile_warps + static_cast<Index>(threadIdx.x / 32);
    if (which >= count) return;
    auto&                a = tiles[threadIdx.x / 32];
    const InverseTile<V> at(F, items[which]);
    const Index          size = min(tile, at.size - at.row);
    const V* const       from = at.factor + Offset{at.row} * (at.d.m + 1);
#pragma unroll 8
    for (int j = 0; j < tile; ++j)
        a[j][lane] = lane < size && j < size ? from[Offset{j} * at.d.m + lane] : cuda::from_real<V>(lane == j);
    __syncwarp();
    V* const to = at.inverse + Offset{at.row} * (at.size + 1) + Offset{lane} * at.size;
    V        x[tile];
#pragma unroll
    for (int i = 0; i < tile; ++i) {  // L x = e
        V sum = cuda::from_real<V>(lane == i);
#pragma unroll
        for (int j = 0; j < i; ++j) sum = cuda::minus_product(sum, a[j][i], x[j]);
        x[i] = sum;
        if (i > lane && i < size) to[i] = sum;
    }
#pragma unroll
    for (int i = tile - 1; i >= 0; --i) {  // U x = e
        V sum = cuda::from_real<V>(lane == i);
#pragma unroll
        for (int j = i + 1; j < tile; ++j) sum = cuda::minus_product(sum, a[j][i], x[j]);
        x[i] = divide(sum, a[i][i]);
        if (i <= lane && lane < size) to[i] = x[i];
    }
}

/// Columns of a strip, and room for its numbers: those of a factor, then those of a product.
template <class V>
struct JoinStrip {
    static constexpr int cols = is_complex<V> ? 16 : 32, stride = cols + 4;
    static constexpr int parts = tile / cols;  ///< strips of a tile

    static std::size_t bytes(Index half) { return 2 * std::size_t(half) * stride * sizeof(V); }
};

/// to ← ± P Q for the row tiles of 16 of this warp. P: number(i, j), 0 outside of first(i) ≤ j < last(i) for the 16
/// rows from i on.
template <class V, class Number, class First, class Last, class Store>
__device__ void multiply_strip(Index rows, const V* q_of, Number&& number, First&& first, Last&& last, Store&& store)
{
    constexpr int cols = JoinStrip<V>::cols, stride = JoinStrip<V>::stride, groups = cols / 8;
    const int     lane = threadIdx.x & 31, g = lane / 4, t = lane % 4;
    for (Index i = static_cast<Index>(threadIdx.x / 32) * 16; i < rows; i += join_warps * 16) {
        Fragment<V, 4> sum[groups];
#pragma unroll
        for (int b = 0; b < groups; ++b)
#pragma unroll
            for (int e = 0; e < 4; ++e) sum[b].set(e, V{});
        for (Index j = first(i); j < last(i); j += 16) {
            Fragment<V, 4> p[2];
#pragma unroll
            for (int half = 0; half < 2; ++half)
#pragma unroll
                for (int e = 0; e < 4; ++e) p[half].set(e, number(i + g + 8 * (e & 1), j + 8 * half + t + 4 * (e / 2)));
#pragma unroll
            for (int half = 0; half < 2; ++half)
#pragma unroll
                for (int b = 0; b < groups; ++b) {
                    Fragment<V, 2> q;
#pragma unroll
                    for (int e = 0; e < 2; ++e) q.set(e, q_of[(j + 8 * half + t + 4 * e) * stride + 8 * b + g]);
                    add_product(sum[b], p[half], q);
                }
        }
#pragma unroll
        for (int b = 0; b < groups; ++b)
#pragma unroll
            for (int e = 0; e < 4; ++e) store(i + g + 8 * (e / 2), 8 * b + 2 * t + (e & 1), sum[b].get(e));
    }
}

/// A strip of columns of what joins two inverted halves: of L⁻¹ where the strip is in the first half, else of U⁻¹.
template <class V>
__global__ void __launch_bounds__(join_threads) join_inverses(FrontsView<V> F, const FrontItem* items, Index half)
{
    constexpr int     cols = JoinStrip<V>::cols, stride = JoinStrip<V>::stride;
    extern __shared__ __align__(16) unsigned char memory[];
    V* const                                      q = reinterpret_cast<V*>(memory);
    V* const                                      product = q + half * stride;
    const InverseTile<V>                          at(F, items[blockIdx.x]);
    const Index ld = at.size, stored = at.d.m, col = at.row + static_cast<Index>(blockIdx.y) * cols;
    const Index pair = col / (2 * half) * 2 * half, second = pair + half, rest = min(half, at.size - second);
    if (rest <= 0 || col >= at.size) return;
    const bool of_L = col < second;
    const V *  X = at.inverse, *A = at.factor;
    // The strip's known rows are those of its own half; the product has the rows of the other half.
    const Index known = of_L ? pair : second, depth = of_L ? half : rest, rows = of_L ? rest : half;
    const Index to = of_L ? second : pair, begin = of_L ? col - pair : 0;
    const Index end = of_L ? half : min(col - second + cols, (depth + 15) / 16 * 16);
    for (Index e = static_cast<Index>(threadIdx.x); e < (end - begin) * cols; e += join_threads) {
        const Index i = begin + e % (end - begin), j = e / (end - begin), row = known + i, c = col + j;
        V           x{};
        if (i < depth && c < at.size) {
            if (of_L ? row > c : row <= c) x = X[Offset{c} * ld + row];
            else if (of_L && row == c) x = cuda::from_real<V>(1);
        }
        q[i * stride + j] = x;
    }
    __syncthreads();
    const auto beside = [&](Index i, Index j) {  // L21 or U12
        return i < rows && j < depth ? cuda::load_constant(A + Offset{known + j} * stored + to + i) : V{};
    };
    multiply_strip<V>(
        rows, q, beside, [&](Index) { return begin; }, [&](Index) { return end; },
        [&](Index i, Index j, V x) { product[i * stride + j] = x; });
    __syncthreads();
    const auto inverted = [&](Index i, Index j) {  // L22⁻¹ or U11⁻¹
        if (i >= rows || j >= rows || (of_L ? j > i : j < i)) return V{};
        return of_L && i == j ? cuda::from_real<V>(1) : X[Offset{to + j} * ld + to + i];
    };
    const Index padded = (rows + 15) / 16 * 16;
    multiply_strip<V>(
        rows, product, inverted, [&](Index i) { return of_L ? Index{0} : i; },
        [&](Index i) { return of_L ? i + 16 : padded; },
        [&](Index i, Index j, V x) {
            if (i < rows && col + j < at.size) at.inverse[Offset{col + j} * ld + to + i] = negative(x);
        });
}

}  // namespace

template <class V>
void launch_inverses(Gpu& gpu, const FrontsView<V>& F, Index count, const FrontItem* items, Index largest)
{
    if (count == 0) return;
    const cuda::Range range("front_inverses");
    const auto        blocks = static_cast<unsigned>((count + tile_warps - 1) / tile_warps);
    invert_tiles<<<blocks, 32 * tile_warps, 0, cuda::stream(gpu)>>>(F, count, items);
    cuda::check_launch("invert_tiles");
    cuda::allow_all_shared(gpu, join_inverses<V>);
    for (Index half = tile; half < largest; half *= 2) {
        const dim3 strips(static_cast<unsigned>(count), JoinStrip<V>::parts);
        join_inverses<<<strips, join_threads, JoinStrip<V>::bytes(half), cuda::stream(gpu)>>>(F, items, half);
        cuda::check_launch("join_inverses");
    }
}

#define ILUX_INSTANTIATE(V) \
    template void launch_inverses<V>(Gpu&, const FrontsView<V>&, Index, const FrontItem*, Index);
ILUX_FRONT_VALUES(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux

// What a panel takes from all that is below it and to its right, in large fronts: products on tensor cores.
//
// Launch shape: a block a tile of 64×64, a warp a quarter of it. Nobody waits for others. Repeatable: bitwise.

#include <cuda_pipeline.h>

#include "ilux/base/gpu/cuda.hpp"
#include "ilux/direct/supernodal_gpu/device_assembly.hpp"
#include "ilux/direct/supernodal_gpu/device_product.hpp"
#include "ilux/direct/supernodal_gpu/front_kernels.hpp"

namespace ilux {
namespace {

constexpr int threads = 128, tile = front_tile;

/// Rows or columns of a tile: those of pivots and those of updates are never in one.
struct Strip {
    Index begin, end;

    __device__ Strip(Index number, Index from, Index k, Index m)
    {
        const Index of_pivots = (k - from + tile - 1) / tile;
        const bool  pivots = number < of_pivots;
        begin = pivots ? from + number * tile : k + (number - of_pivots) * tile;
        end = min(begin + tile, pivots ? k : m);
    }
};

/// Operands of a tile; strides so that no two lanes of a half warp meet in a bank.
template <class V>
struct Operands {
    static constexpr int width = is_complex<V> ? 16 : 32;
    V                    l[width][tile + 4];
    V                    u[tile][width + 4];
};

/// Begins to copy; what does not exist is 0.
template <class V>
__device__ void load_operands(Operands<V>& of, const V* l, Offset l_stride, Index rows, const V* u, Offset u_stride,
                              Index cols, Index columns)
{
    constexpr int width = Operands<V>::width;
    const auto    copy = [](V* to, const V* from, bool there) {
        __pipeline_memcpy_async(to, from, sizeof(V), there ? 0 : sizeof(V));
    };
#pragma unroll
    for (int e = threadIdx.x; e < width * tile; e += threads) {
        const int  i = e % tile, q = e / tile;
        const bool there = i < rows && q < columns;
        copy(&of.l[q][i], there ? l + q * l_stride + i : l, there);
    }
#pragma unroll
    for (int e = threadIdx.x; e < width * tile; e += threads) {
        const int  q = e % width, j = e / width;
        const bool there = j < cols && q < columns;
        copy(&of.u[j][q], there ? u + j * u_stride + q : u, there);
    }
    __pipeline_commit();
}

template <class V>
__global__ void __launch_bounds__(threads, is_complex<V> ? 2 : 3)
    update_tiles(FrontsView<V> F, const FrontItem* items, Index panel)
{
    constexpr int width = Operands<V>::width;
    __shared__ Operands<V> of;
    const FrontItem        item = items[blockIdx.x];
    const DeviceFront      d = F.front[item.front];
    const Index            done = panel * width, columns = min(width, d.k - done);
    const Strip            rows(item.row, done + columns, d.k, d.m), cols(item.col, done + columns, d.k, d.m);
    const Offset           stride = cols.begin < d.k ? d.m : rows.begin < d.k ? d.k : d.m - d.k;
    V* const               c = number_at(F, d, rows.begin, cols.begin);
    const Index            height = rows.end - rows.begin, wide = cols.end - cols.begin;

    const int lane = threadIdx.x & 31, warp = threadIdx.x / 32, g = lane / 4, t = lane % 4;
    const int row = warp % 2 * 32 + g, col = warp / 2 * 32 + 2 * t;
    load_operands(of, F.val + d.val + Offset{done} * d.m + rows.begin, d.m, height,
                  static_cast<const V*>(number_at(F, d, done, cols.begin)), cols.begin < d.k ? d.m : d.k, wide,
                  columns);
    Fragment<V, 4> sum[2][4];
#pragma unroll
    for (int a = 0; a < 2; ++a)
#pragma unroll
        for (int b = 0; b < 4; ++b)
#pragma unroll
            for (int i = 0; i < 4; ++i) {
                const int r = row + 16 * a + 8 * (i / 2), s = col + 8 * b + (i & 1);
                sum[a][b].set(i, r < height && s < wide ? c[s * stride + r] : V{});
            }
    __pipeline_wait_prior(0);
    __syncthreads();
#pragma unroll
    for (int q = 0; q < width; q += 8) {
        if (q >= columns) break;
        Fragment<V, 4> l[2];
        Fragment<V, 2> u[4];
#pragma unroll
        for (int a = 0; a < 2; ++a)
#pragma unroll
            for (int i = 0; i < 4; ++i) l[a].set(i, negative(of.l[q + t + 4 * (i / 2)][row + 16 * a + 8 * (i & 1)]));
#pragma unroll
        for (int b = 0; b < 4; ++b)
#pragma unroll
            for (int i = 0; i < 2; ++i) u[b].set(i, of.u[warp / 2 * 32 + 8 * b + g][q + t + 4 * i]);
#pragma unroll
        for (int a = 0; a < 2; ++a)
#pragma unroll
            for (int b = 0; b < 4; ++b) add_product(sum[a][b], l[a], u[b]);
    }
#pragma unroll
    for (int a = 0; a < 2; ++a)
#pragma unroll
        for (int b = 0; b < 4; ++b)
#pragma unroll
            for (int i = 0; i < 4; ++i) {
                const int r = row + 16 * a + 8 * (i / 2), s = col + 8 * b + (i & 1);
                if (r < height && s < wide) c[s * stride + r] = sum[a][b].get(i);
            }
}

}  // namespace

template <class V>
void launch_update(Gpu& gpu, const FrontsView<V>& F, const PanelStep& step, const FrontItem* item)
{
    if (step.update.empty()) return;
    const cuda::Range range("front_update");
    update_tiles<<<step.update.count(), threads, 0, cuda::stream(gpu)>>>(F, item + step.update.begin, step.panel);
    cuda::check_launch("update_tiles");
}

#define ILUX_INSTANTIATE(V) \
    template void launch_update<V>(Gpu&, const FrontsView<V>&, const PanelStep&, const FrontItem*);
ILUX_FRONT_VALUES(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux

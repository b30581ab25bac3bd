// Inverses of diagonal blocks of 32 pivots: substitution multiplies by them.
//
// Launch shape: a warp a block, a lane a column of the inverse. Nobody waits for others. Repeatable: bitwise.

#include "ilux/base/gpu/cuda.hpp"
#include "ilux/base/gpu/device_division.hpp"
#include "ilux/direct/supernodal_gpu/front_kernels.hpp"
#include "ilux/direct/supernodal_gpu/front_solve_kernels.hpp"

namespace ilux {
namespace {

constexpr int block = solve_block, warps = 2;

template <class V>
__global__ void __launch_bounds__(32 * warps) invert_blocks(FrontsView<V> F, Index count, const FrontItem* items)
{
    __shared__ V tiles[warps][block][block];
    const int    lane = threadIdx.x & 31;
    const Index  which = static_cast<Index>(blockIdx.x) * warps + static_cast<Index>(threadIdx.x / 32);
    if (which >= count) return;
    auto&             a = tiles[threadIdx.x / 32];
    const DeviceFront d = F.front[items[which].front];
    const Index       begin = items[which].row * block, size = min(block, d.k - begin);
    const V* const    from = F.val + d.val + Offset{begin} * d.m + begin;
#pragma unroll 8
    for (int j = 0; j < block; ++j)
        a[j][lane] = lane < size && j < size ? from[Offset{j} * d.m + lane] : cuda::from_real<V>(lane == j);
    __syncwarp();
    V* const to = F.inverse + (Offset{d.inverse} + items[which].row) * 2 * block * block + lane * block;
    V        x[block];
#pragma unroll
    for (int i = 0; i < block; ++i) {  // L x = e
        V sum = cuda::from_real<V>(lane == i);
#pragma unroll
        for (int j = 0; j < i; ++j) sum = cuda::minus_product(sum, a[j][i], x[j]);
        x[i] = sum;
        to[i] = sum;
    }
#pragma unroll
    for (int i = block - 1; i >= 0; --i) {  // U x = e
        V sum = cuda::from_real<V>(lane == i);
#pragma unroll
        for (int j = i + 1; j < block; ++j) sum = cuda::minus_product(sum, a[j][i], x[j]);
        x[i] = divide(sum, a[i][i]);
        to[block * block + i] = x[i];
    }
}

}  // namespace

template <class V>
void launch_inverses(Gpu& gpu, const FrontsView<V>& F, Index count, const FrontItem* items)
{
    if (count == 0) return;
    const cuda::Range range("front_inverses");
    const auto        blocks = static_cast<unsigned>((count + warps - 1) / warps);
    invert_blocks<<<blocks, 32 * warps, 0, cuda::stream(gpu)>>>(F, count, items);
    cuda::check_launch("invert_blocks");
}

#define ILUX_INSTANTIATE(V) template void launch_inverses<V>(Gpu&, const FrontsView<V>&, Index, const FrontItem*);
ILUX_FRONT_VALUES(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux

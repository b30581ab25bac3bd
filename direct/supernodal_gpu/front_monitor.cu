// Extremes of columns, then of all columns: a block for many, and one block for what the blocks found. Repeatable:
// bitwise.

#include <cub/block/block_reduce.cuh>

#include <algorithm>
#include <limits>

#include "ilux/base/gpu/cuda.hpp"
#include "ilux/direct/supernodal_gpu/front_kernels.hpp"

namespace ilux {
namespace {

constexpr int       threads = 256;
constexpr Magnitude infinite = 0x7FF0'0000'0000'0000u;  // magnitudes from here on are not finite

/// Smaller numbers of columns win among equals; −1 is none.
__device__ bool earlier(Index a, Index b) { return b < 0 || (a >= 0 && a < b); }

struct Join {
    __device__ FrontExtremes operator()(const FrontExtremes& a, const FrontExtremes& b) const
    {
        FrontExtremes c = a;
        c.bad = min(a.bad, b.bad);
        c.min_pivot = min(a.min_pivot, b.min_pivot);
        c.max_pivot = max(a.max_pivot, b.max_pivot);
        c.replaced = a.replaced + b.replaced;
        if (b.rgrowth < a.rgrowth || (b.rgrowth == a.rgrowth && earlier(b.growth_column, a.growth_column)))
            c.rgrowth = b.rgrowth, c.growth_column = b.growth_column;
        if (b.max_multiplier > a.max_multiplier ||
            (b.max_multiplier == a.max_multiplier && earlier(b.multiplier_column, a.multiplier_column)))
            c.max_multiplier = b.max_multiplier, c.multiplier_column = b.multiplier_column;
        return c;
    }
};

__device__ FrontExtremes none()
{
    FrontExtremes e;
    e.min_pivot = e.rgrowth = __longlong_as_double(static_cast<long long>(infinite));
    return e;
}

__device__ double number(Magnitude bits) { return __longlong_as_double(static_cast<long long>(bits)); }

template <class V>
__device__ FrontExtremes of_column(const FrontsView<V>& F, Index c)
{
    FrontExtremes e = none();
    const auto    b = F.bmax[c], u = F.umax[c], l = F.lmax[c];
    const double  pivot = F.pivot[c];
    if (b == 0) e.bad = 2ull * c;  // 0 / 0 follows
    else if (max(max(b, u), l) >= infinite || !isfinite(pivot)) e.bad = 2ull * c + 1;
    else if (pivot == 0) e.bad = 2ull * c;
    if (e.bad != ~0ull) return e;
    e.min_pivot = e.max_pivot = fabs(pivot);
    e.replaced = pivot < 0;
    e.rgrowth = number(b) / number(u);
    e.growth_column = c;
    e.max_multiplier = number(l);
    e.multiplier_column = l > 0 ? c : -1;
    return e;
}

using Reduce = cub::BlockReduce<FrontExtremes, threads>;

template <class V>
__global__ void __launch_bounds__(threads) watch_columns(FrontsView<V> F, Index n, FrontExtremes* extremes)
{
    __shared__ typename Reduce::TempStorage storage;
    FrontExtremes                           mine = none();
    for (Index c = static_cast<Index>(blockIdx.x * threads + threadIdx.x); c < n;
         c += static_cast<Index>(gridDim.x) * threads)
        mine = Join{}(mine, of_column(F, c));
    mine = Reduce(storage).Reduce(mine, Join{});
    if (threadIdx.x == 0) extremes[1 + blockIdx.x] = mine;
}

__global__ void __launch_bounds__(threads) join_blocks(FrontExtremes* extremes)
{
    static_assert(threads == monitor_blocks);
    __shared__ typename Reduce::TempStorage storage;
    const FrontExtremes                     all = Reduce(storage).Reduce(extremes[1 + threadIdx.x], Join{});
    if (threadIdx.x == 0) extremes[0] = all;
}

}  // namespace

template <class V>
void launch_monitor(Gpu& gpu, const FrontsView<V>& F, Index n, FrontExtremes* extremes)
{
    const cuda::Range range("front_monitor");
    watch_columns<<<monitor_blocks, threads, 0, cuda::stream(gpu)>>>(F, n, extremes);
    cuda::check_launch("watch_columns");
    join_blocks<<<1, threads, 0, cuda::stream(gpu)>>>(extremes);
    cuda::check_launch("join_blocks");
}

#define ILUX_INSTANTIATE(V) template void launch_monitor<V>(Gpu&, const FrontsView<V>&, Index, FrontExtremes*);
ILUX_FRONT_VALUES(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux

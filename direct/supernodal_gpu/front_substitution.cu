// Substitution with fronts, level by level: a front adds what its children left it, and leaves to its parent what it takes from the
// rows beyond its pivots.
//
// Launch shape: a warp a small front, a lane a row. Of larger ones a cluster of up to 16 blocks the pivots: chunks of 32 rows take
// turns among its warps; who has the next pivots brings them up to date first, multiplies them by the inverse of their diagonal block
// and sends them to all blocks. What is beyond the pivots is a launch of its own, a block 32 rows. The order
// of additions does not depend on the number of right-hand sides. Repeatable: bitwise.

#include "ilux/base/gpu/cuda.hpp"
#include "ilux/direct/gpu/cluster_launch.hpp"
#include "ilux/direct/supernodal_gpu/device_cluster_pivots.hpp"
#include "ilux/direct/supernodal_gpu/front_kernels.hpp"
#include "ilux/direct/supernodal_gpu/shared_room.hpp"

namespace ilux {
namespace {

constexpr int threads = solve_threads, warps = solve_warps, block = solve_block;

constexpr int ahead = 16;  ///< numbers that a lane asks for together

template <class V, int rhs, bool transposed>
__global__ void __launch_bounds__(threads) warp_forward(FrontSolveView<V> s, const Index* list, Index count)
{
    const int   lane = threadIdx.x & 31;
    const Index which = static_cast<Index>(blockIdx.x) * warps + threadIdx.x / 32;
    if (which >= count) return;
    const DeviceFront d = s.F.front[list[which]];
    const V* const    a = s.F.val + d.val;
    const bool        mine = lane < d.k;
    const V           pivot = transposed && mine ? a[Offset{lane} * d.m + lane] : V{};
    Values<V, rhs>    v{};
    if (mine) v = gathered<rhs>(s, d, pivot_place<transposed>(s, d, lane) - d.first);
    for (Index begin = 0; begin < d.k; begin += ahead) {
        V number[ahead];
#pragma unroll
        for (int q = 0; q < ahead; ++q)
            number[q] = mine && lane > begin + q ? cuda::load_constant(&lower<transposed>(a, d, lane, begin + q)) : V{};
#pragma unroll
        for (int q = 0; q < ahead; ++q) {
            if (begin + q >= d.k) break;
            if (transposed && lane == begin + q) divide_all(v, pivot);
            const auto x = of_lane(v, begin + q);
            if (lane > begin + q) take(v, number[q], x);
        }
    }
    if (mine) store(s.y, d.first + lane, v);
    for (Index i = d.k + lane; i - lane < d.m; i += 32) {
        Values<V, rhs> w{};
        if (i < d.m) w = gathered<rhs>(s, d, i);
        for (Index begin = 0; begin < d.k; begin += ahead) {
            V number[ahead];
#pragma unroll
            for (int q = 0; q < ahead; ++q)
                number[q] =
                    i < d.m && begin + q < d.k ? cuda::load_constant(&lower<transposed>(a, d, i, begin + q)) : V{};
#pragma unroll
            for (int q = 0; q < ahead; ++q) {
                if (begin + q >= d.k) break;
                take(w, number[q], of_lane(v, begin + q));
            }
        }
        if (i < d.m) store(s.left, d.row + i - d.k, w);
    }
}

template <class V, int rhs, bool transposed>
__global__ void __launch_bounds__(threads) warp_backward(FrontSolveView<V> s, const Index* list, Index count)
{
    const int   lane = threadIdx.x & 31;
    const Index which = static_cast<Index>(blockIdx.x) * warps + threadIdx.x / 32;
    if (which >= count) return;
    const DeviceFront d = s.F.front[list[which]];
    const V* const    a = s.F.val + d.val;
    const bool        mine = lane < d.k;
    const V           pivot = !transposed && mine ? a[Offset{lane} * d.m + lane] : V{};
    Values<V, rhs>    v{};
    if (mine) v = load<V, rhs>(s.y, d.first + lane);
    for (Index first = d.k; first < d.m; first += 32) {
        Values<V, rhs> solved{};
        if (first + lane < d.m) solved = load<V, rhs>(s.y, s.F.row[d.row + first + lane - d.k]);
        for (Index begin = first; begin < min(first + 32, d.m); begin += ahead) {
            V number[ahead];
#pragma unroll
            for (int q = 0; q < ahead; ++q)
                number[q] =
                    mine && begin + q < d.m ? cuda::load_constant(&upper<transposed>(a, d, lane, begin + q)) : V{};
#pragma unroll
            for (int q = 0; q < ahead; ++q) {
                if (begin + q >= d.m) break;
                take(v, number[q], of_lane(solved, begin + q - first));
            }
        }
    }
    for (Index end = d.k; end > 0; end -= ahead) {
        V number[ahead];
#pragma unroll
        for (int q = 0; q < ahead; ++q) {
            const Index j = end - 1 - q;
            number[q] = j >= 0 && lane < j ? cuda::load_constant(&upper<transposed>(a, d, lane, j)) : V{};
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

/// Sums of the block's warps, in their order; complete in the first.
template <class V, int rhs>
__device__ Values<V, rhs> sum_of_warps(const Values<V, rhs>& mine)
{
    __shared__ Values<V, rhs> of[warps][32];
    of[threadIdx.x / 32][threadIdx.x & 31] = mine;
    __syncthreads();
    Values<V, rhs> sum{};
    for (int w = 0; w < warps && threadIdx.x < 32; ++w)
#pragma unroll
        for (int r = 0; r < rhs; ++r) sum.of[r] += of[w][threadIdx.x].of[r];
    return sum;
}

/// A block 32 update rows: what they leave to the parent. Warps share the pivots.
template <class V, int rhs, bool transposed>
__global__ void __launch_bounds__(threads) leave_rows(FrontSolveView<V> s, const FrontItem* items)
{
    const FrontItem   item = items[blockIdx.x];
    const DeviceFront d = s.F.front[item.front];
    const V* const    a = s.F.val + d.val;
    const Index       i = d.k + item.row * block + static_cast<Index>(threadIdx.x & 31);
    const Index       each = (d.k + warps - 1) / warps, begin = static_cast<Index>(threadIdx.x / 32) * each;
    const Index       end = min(d.k, begin + each);
    Values<V, rhs>    v{};
    for (Index j = begin; j < end; j += ahead) {
        V              number[ahead];
        Values<V, rhs> x[ahead];
#pragma unroll
        for (int q = 0; q < ahead; ++q) {
            number[q] = i < d.m && j + q < end ? cuda::load_constant(&lower<transposed>(a, d, i, j + q)) : V{};
            x[q] = load<V, rhs>(s.y, d.first + min(j + q, end - 1));
        }
#pragma unroll
        for (int q = 0; q < ahead; ++q) take(v, number[q], x[q]);
    }
    const auto sum = sum_of_warps(v);
    if (threadIdx.x >= 32 || i >= d.m) return;
    auto left = gathered<rhs>(s, d, i);
#pragma unroll
    for (int r = 0; r < rhs; ++r) left.of[r] += sum.of[r];
    store(s.left, d.row + i - d.k, left);
}

/// A block 32 pivots: what the update rows, which are solved, take from them. Warps share the update rows.
template <class V, int rhs, bool transposed>
__global__ void __launch_bounds__(threads) take_rows(FrontSolveView<V> s, const FrontItem* items)
{
    const FrontItem   item = items[blockIdx.x];
    const DeviceFront d = s.F.front[item.front];
    const V* const    a = s.F.val + d.val;
    const Index       i = item.row * block + static_cast<Index>(threadIdx.x & 31), u = d.m - d.k;
    const Index       each = (u + warps - 1) / warps, begin = static_cast<Index>(threadIdx.x / 32) * each;
    const Index       end = min(u, begin + each);
    Values<V, rhs>    v{};
    for (Index j = begin; j < end; j += ahead) {
        V              number[ahead];
        Values<V, rhs> x[ahead];
#pragma unroll
        for (int q = 0; q < ahead; ++q) {
            number[q] = i < d.k && j + q < end ? cuda::load_constant(&upper<transposed>(a, d, i, d.k + j + q)) : V{};
            x[q] = load<V, rhs>(s.y, s.F.row[d.row + min(j + q, end - 1)]);
        }
#pragma unroll
        for (int q = 0; q < ahead; ++q) take(v, number[q], x[q]);
    }
    const auto sum = sum_of_warps(v);
    if (threadIdx.x >= 32 || i >= d.k) return;
    auto y = load<V, rhs>(s.y, d.first + i);
#pragma unroll
    for (int r = 0; r < rhs; ++r) y.of[r] += sum.of[r];
    store(s.y, d.first + i, y);
}

/// A warp a row: what blocks that are solved already take from it.
template <class V, int rhs>
__global__ void __launch_bounds__(threads) take_F(FrontSolveView<V> s, FrontRange rows)
{
    const int   lane = threadIdx.x & 31;
    const Index which = rows.begin + static_cast<Index>(blockIdx.x) * warps + static_cast<Index>(threadIdx.x / 32);
    if (which >= rows.end) return;
    Values<V, rhs> sum{};
    for (Offset p = s.f_ptr[which] + lane; p < s.f_ptr[which + 1]; p += 32)
        take(sum, s.f_val[s.f_entry[p]], load<V, rhs>(s.y, s.f_col[p]));
#pragma unroll
    for (int step = 16; step > 0; step /= 2)
#pragma unroll
        for (int r = 0; r < rhs; ++r) sum.of[r] += cuda::shuffled_xor(sum.of[r], step);
    if (lane == 0) {
        auto v = load<V, rhs>(s.y, s.f_row[which]);
#pragma unroll
        for (int r = 0; r < rhs; ++r) v.of[r] += sum.of[r];
        store(s.y, s.f_row[which], v);
    }
}

template <class V, int rhs>
__global__ void __launch_bounds__(threads) enter(FrontSolveFrame frame, const V* b, V* y, int count)
{
    const Index k = static_cast<Index>(blockIdx.x) * threads + static_cast<Index>(threadIdx.x);
    if (k >= frame.n) return;
    const double scale = frame.scale ? frame.scale[k] : 1;
    for (int r = 0; r < rhs; ++r)
        y[Offset{k} * rhs + r] = r < count ? scale * b[Offset{r} * frame.n + frame.perm[k]] : V{};
}
template <class V, int rhs>
__global__ void __launch_bounds__(threads) leave(FrontSolveFrame frame, const V* y, V* x, int count)
{
    const Index k = static_cast<Index>(blockIdx.x) * threads + static_cast<Index>(threadIdx.x);
    if (k >= frame.n) return;
    const double scale = frame.scale ? frame.scale[k] : 1;
    for (int r = 0; r < count; ++r) x[Offset{r} * frame.n + frame.perm[k]] = scale * y[Offset{k} * rhs + r];
}

unsigned blocks_of(Index count, int each) { return static_cast<unsigned>((count + each - 1) / each); }

template <class V, int rhs, bool transposed, bool forward>
void launch_pivots(Gpu& gpu, const FrontSolveView<V>& s, const FrontSolveGroup& group)
{
    for (int kind = 0; kind < FrontSolveGroup::kinds; ++kind) {
        const FrontRange fronts = group.by_kind[kind];
        if (fronts.empty()) continue;
        const Index* const list = s.list + fronts.begin;
        if (kind == 0) {
            const auto kernel = forward ? warp_forward<V, rhs, transposed> : warp_backward<V, rhs, transposed>;
            kernel<<<blocks_of(fronts.count(), warps), threads, 0, cuda::stream(gpu)>>>(s, list, fronts.count());
            cuda::check_launch("warp substitution");
            continue;
        }
        const int  blocks = 1 << (kind - 1);
        const auto kernel = cluster_pivots<V, rhs, transposed, forward>;
        cuda::allow_all_shared(gpu, kernel);
        cuda::check(cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1),
                    "cudaFuncSetAttribute");
        cuda::ClusterLaunch launch(static_cast<unsigned>(fronts.count()), static_cast<unsigned>(blocks), threads,
                                   cuda::stream(gpu));
        const Index         chunks = (group.pivots[kind] + block - 1) / block;
        launch.config.dynamicSmemBytes = pivots_bytes<V, rhs>(chunks, blocks);
        cuda::check(cudaLaunchKernelEx(&launch.config, kernel, s, list, blocks), "cluster substitution");
    }
}

template <class V, int rhs, bool transposed>
void go_forward(Gpu& gpu, const FrontSolveView<V>& s, const FrontSolveGroup& group)
{
    launch_pivots<V, rhs, transposed, true>(gpu, s, group);
    if (group.below.empty()) return;
    leave_rows<V, rhs, transposed>
        <<<group.below.count(), threads, 0, cuda::stream(gpu)>>>(s, s.item + group.below.begin);
    cuda::check_launch("leave_rows");
}
template <class V, int rhs, bool transposed>
void go_back(Gpu& gpu, const FrontSolveView<V>& s, const FrontSolveGroup& group)
{
    if (!group.above.empty()) {
        take_rows<V, rhs, transposed>
            <<<group.above.count(), threads, 0, cuda::stream(gpu)>>>(s, s.item + group.above.begin);
        cuda::check_launch("take_rows");
    }
    launch_pivots<V, rhs, transposed, false>(gpu, s, group);
}

template <class V, int rhs, bool transposed>
void run_stage(Gpu& gpu, const FrontSolveView<V>& s, const FrontSolveStage& stage)
{
    if (!stage.f.empty()) {
        take_F<V, rhs><<<blocks_of(stage.f.count(), warps), threads, 0, cuda::stream(gpu)>>>(s, stage.f);
        cuda::check_launch("take_F");
    }
    for (std::size_t g = 0; g < stage.groups.size(); ++g) go_forward<V, rhs, transposed>(gpu, s, stage.groups[g]);
    for (std::size_t g = stage.groups.size(); g-- > 0;) go_back<V, rhs, transposed>(gpu, s, stage.groups[g]);
}

}  // namespace

template <class V>
void launch_stage(Gpu& gpu, const FrontSolveView<V>& view, const FrontSolveStage& stage, bool transposed, bool several)
{
    const cuda::Range range("front_stage");
    constexpr int     together = solve_together<V>;
    if (several) {
        if (transposed) run_stage<V, together, true>(gpu, view, stage);
        else run_stage<V, together, false>(gpu, view, stage);
    } else {
        if (transposed) run_stage<V, 1, true>(gpu, view, stage);
        else run_stage<V, 1, false>(gpu, view, stage);
    }
}

template <class V>
void launch_enter(Gpu& gpu, const FrontSolveFrame& frame, const V* b, V* y, int count, bool several)
{
    const auto kernel = several ? enter<V, solve_together<V>> : enter<V, 1>;
    kernel<<<blocks_of(frame.n, threads), threads, 0, cuda::stream(gpu)>>>(frame, b, y, count);
    cuda::check_launch("enter");
}

template <class V>
void launch_leave(Gpu& gpu, const FrontSolveFrame& frame, const V* y, V* x, int count, bool several)
{
    const auto kernel = several ? leave<V, solve_together<V>> : leave<V, 1>;
    kernel<<<blocks_of(frame.n, threads), threads, 0, cuda::stream(gpu)>>>(frame, y, x, count);
    cuda::check_launch("leave");
}

#define ILUX_INSTANTIATE(V)                                                                            \
    template void launch_stage<V>(Gpu&, const FrontSolveView<V>&, const FrontSolveStage&, bool, bool); \
    template void launch_enter<V>(Gpu&, const FrontSolveFrame&, const V*, V*, int, bool);              \
    template void launch_leave<V>(Gpu&, const FrontSolveFrame&, const V*, V*, int, bool);
ILUX_FRONT_VALUES(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux

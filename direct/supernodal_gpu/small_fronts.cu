// Fronts that fit a warp's registers or a block's shared memory, from inputs and children to what they leave, in one
// launch.
//
// Launch shape: a warp a front of up to 32 rows, a lane a row; a block a front of more, a thread a row. Nobody waits
// for others. Repeatable: bitwise.

#include <array>

#include "ilux/base/gpu/cuda.hpp"
#include "ilux/direct/gpu/branches.hpp"
#include "ilux/direct/supernodal_gpu/device_assembly.hpp"
#include "ilux/direct/supernodal_gpu/device_panel.hpp"
#include "ilux/direct/supernodal_gpu/device_product.hpp"
#include "ilux/direct/supernodal_gpu/front_kernels.hpp"
#include "ilux/direct/supernodal_gpu/shared_room.hpp"

namespace ilux {
namespace {

constexpr int block_warps = 4;  // of fronts of a warp

/// Pivots of a front whose row number `at` this lane has. Of L, column by column, into `front`, where the row came
/// from; the values of the other columns move up by one.
/// @return lane c: largest |l| of column c
template <class V, int most>
__device__ __forceinline__ Magnitude eliminate_in_warp(const FrontsView<V>& F, const DeviceFront& d, V (&a)[most],
                                                       Index& at, V* front, int ld)
{
    const int    lane = threadIdx.x & 31;
    const double least =
        lane < d.k ? least_pivot * __longlong_as_double(static_cast<long long>(F.bmax[d.first + lane])) : 0;
    Magnitude largest = 0;
#pragma unroll 1
    for (Index j = 0; j < d.k; ++j) {
        Candidate own{0, no_row};
        if (at >= j && at < d.k) own = {magnitude_bits(a[0]), at};
        const Candidate best = best_of_warp(own);
        const int       source = __ffs(__ballot_sync(whole_warp, at == best.row)) - 1;
        bool            replaced;
        const V         pivot = held_pivot(cuda::shuffled_from(a[0], source), cuda::shuffled_from(least, j), replaced);
        if (lane == 0) {
            F.swap[d.first + j] = best.row;
            F.pivot[d.first + j] = replaced ? -size_of(pivot) : size_of(pivot);
        }
        const bool chosen = lane == source, below = !chosen && at >= j;
        if (at == j) at = best.row;
        if (chosen) at = j;
        const V l = below ? divide(a[0], pivot) : V{};
        if (below) front[j * ld + lane] = l;
        if (chosen) a[0] = pivot;
#pragma unroll
        for (int c = 1; c < most; ++c) {
            const V u = cuda::shuffled_from(a[c], source);
            if (below) a[c - 1] = eliminated(a[c], l, u);
        }
        const Magnitude of_column = best_of_warp({magnitude_bits(l), 0}).size;
        if (lane == j) largest = of_column;
    }
    return largest;
}

template <class V, int most>
__global__ void __launch_bounds__(32 * block_warps) warp_fronts(FrontsView<V> F, const Index* list, Index count)
{
    constexpr int     ld = most + 1;
    extern __shared__ __align__(16) unsigned char memory[];
    const int                                     warp = threadIdx.x / 32, lane = threadIdx.x & 31;
    const Index                                   which = static_cast<Index>(blockIdx.x) * block_warps + warp;
    if (which >= count) return;
    const DeviceFront d = F.front[list[which]];
    V* const          front = reinterpret_cast<V*>(memory) + warp * most * ld;
    assemble_front(F, d, front, ld, lane, 32, [] { __syncwarp(); });
    V a[most];
#pragma unroll
    for (int c = 0; c < most; ++c) a[c] = lane < d.m && c < d.m ? front[c * ld + lane] : V{};
    Index           at = lane < d.m ? lane : -1;
    const Magnitude l_max = eliminate_in_warp<V, most>(F, d, a, at, front, ld);
    const Index     eliminated_columns = min(at, d.k);
#pragma unroll
    for (int c = 0; c < most; ++c)
        if (at >= 0 && eliminated_columns + c < d.m) front[(eliminated_columns + c) * ld + lane] = a[c];
    __syncwarp();
    if (at >= 0 && at < d.k) F.perm[d.first + at] = lane;
    for (Index c = 0; c < d.m; ++c)
        if (at >= 0) *number_at(F, d, at, c) = front[c * ld + lane];
    Magnitude u_max = 0;
    for (Index r = 0; r < d.m; ++r) {
        const Index row = __shfl_sync(whole_warp, at, r);
        if (lane < d.m && row < d.k && row <= lane) u_max = max(u_max, magnitude_bits(front[lane * ld + r]));
    }
    if (lane < d.m && u_max > 0) atomicMax(F.umax + column_of(F, d, lane), u_max);
    if (lane < d.k) F.lmax[d.first + lane] = l_max;
}

/// Stride of columns in shared memory: no two lanes of a product's operand meet in a bank.
__host__ __device__ constexpr int stride_for(int m) { return (m + 3) / 8 * 8 + 4; }

template <class V, int width>
struct BlockFront {
    const FrontsView<V>& F;
    const DeviceFront&   d;
    V*                   a;
    int                  ld;
    PanelMoves<width>&   moves;
    Index*               perm;
};

/// Columns done … done + columns − 1, whose rows below are eliminated too.
template <int threads, class V, int width>
__device__ void panel_of_block(BlockFront<V, width>& b, Index done, Index columns,
                               PanelMeeting<V, width, threads / 32, 1>& meeting)
{
    const Index            from = static_cast<Index>(threadIdx.x);
    const bool             there = done + from < b.d.m;
    const PanelPlace<V>    place{b.a + done * b.ld + done, b.ld, columns, b.d.k - done, 1};
    PanelRows<V, width, 1> mine;
    mine.from[0] = mine.at[0] = there ? from : -1;
#pragma unroll
    for (int c = 0; c < width; ++c) mine.a[0][c] = there && c < columns ? place.numbers[c * b.ld + from] : V{};
    if (from < columns)
        meeting.least[from] =
            least_pivot * __longlong_as_double(static_cast<long long>(b.F.bmax[b.d.first + done + from]));
    const Index row = done + from < b.d.k ? b.perm[done + from] : 0;
    __syncthreads();
    PanelSizes sizes;
    eliminate_columns<width>(mine, place, meeting, sizes, [&](Index j, Index pivot_row, double size) {
        b.F.swap[b.d.first + done + j] = done + pivot_row;
        b.F.pivot[b.d.first + done + j] = size;
    });
    settle_rows(mine, place, meeting);
    const Index at = mine.at[0];
    if (there && from < columns) b.moves.to[from] = at >= columns ? at : -1;
    if (there && at < columns) b.moves.from[at] = from;
    if (done + from < b.d.k) b.perm[done + at] = row;
    raise_sizes(sizes, columns, b.F.umax + b.d.first + done, b.F.lmax + b.d.first + done);
}

/// Rows of the other columns change places; U of those to the right.
template <int threads, class V, int width>
__device__ void rows_beside(BlockFront<V, width>& b, Index done, Index columns)
{
    const int  lane = threadIdx.x & 31;
    const bool mine = lane < columns;
    V          l[width];
#pragma unroll
    for (int q = 0; q < width; ++q) l[q] = mine && q < lane ? b.a[(done + q) * b.ld + done + lane] : V{};
    const Index from = mine ? b.moves.from[lane] : 0, to = mine ? b.moves.to[lane] : -1;
    for (Index j = threadIdx.x / 32; j < b.d.m - columns; j += threads / 32) {
        const bool right = j >= done;
        V* const   column = b.a + (right ? j + columns : j) * b.ld + done;
        V          v = mine ? column[from] : V{};
        const V    was = mine ? column[lane] : V{};
        __syncwarp();
        if (to >= 0) column[to] = was;
        if (right) {
#pragma unroll
            for (int q = 0; q < width; ++q) {
                if (q >= columns) break;
                v = eliminated(v, l[q], cuda::shuffled_from(v, q));
            }
            const Magnitude size = mine ? magnitude_bits(v) : 0;
            const Candidate best = best_of_warp({size, lane});
            if (lane == 0 && best.size > 0) atomicMax(b.F.umax + column_of(b.F, b.d, j + columns), best.size);
        }
        if (mine) column[lane] = v;
    }
}

/// What lies below and right of the panel, 16×16 numbers a warp at a time.
template <int threads, class V, int width>
__device__ void update_in_block(BlockFront<V, width>& b, Index done, Index columns)
{
    const int   lane = threadIdx.x & 31, g = lane / 4, t = lane % 4;
    const Index begin = done + columns, m = b.d.m, tiles = (m - begin + 15) / 16;
    for (Index tile = threadIdx.x / 32; tile < tiles * tiles; tile += threads / 32) {
        const Index    row = begin + tile % tiles * 16 + g, col = begin + tile / tiles * 16;
        Fragment<V, 4> sum[2];
#pragma unroll
        for (int i = 0; i < 4; ++i) sum[0].set(i, V{}), sum[1].set(i, V{});
        const auto l = [&](Index i, Index q) { return i < m && q < columns ? b.a[(done + q) * b.ld + i] : V{}; };
        const auto u = [&](Index q, Index j) { return j < m && q < columns ? b.a[j * b.ld + done + q] : V{}; };
        for (Index q = t; q < columns + t; q += 8) {
            Fragment<V, 4> left;
            left.set(0, l(row, q)), left.set(1, l(row + 8, q)), left.set(2, l(row, q + 4)),
                left.set(3, l(row + 8, q + 4));
#pragma unroll
            for (int half = 0; half < 2; ++half) {
                Fragment<V, 2> right;
                right.set(0, u(q, col + 8 * half + g)), right.set(1, u(q + 4, col + 8 * half + g));
                add_product(sum[half], left, right);
            }
        }
#pragma unroll
        for (int half = 0; half < 2; ++half)
#pragma unroll
            for (int i = 0; i < 4; ++i) {
                const Index r = row + (i / 2) * 8, c = col + 8 * half + 2 * t + (i & 1);
                if (r < m && c < m) b.a[c * b.ld + r] = b.a[c * b.ld + r] - sum[half].get(i);
            }
    }
}

template <class V, int threads>
__global__ void __launch_bounds__(threads) block_fronts(FrontsView<V> F, const Index* list)
{
    constexpr int     width = panel_width<V>;
    extern __shared__ __align__(16) unsigned char memory[];
    using Meeting = PanelMeeting<V, width, threads / 32, 1>;
    __shared__ PanelMoves<width> moves;
    __shared__ Index             perm[threads];
    const DeviceFront            d = F.front[list[blockIdx.x]];
    BlockFront<V, width>         b{F, d, reinterpret_cast<V*>(memory + sizeof(Meeting)), stride_for(d.m), moves, perm};
    Meeting&                     meeting = *reinterpret_cast<Meeting*>(memory);
    perm[threadIdx.x] = static_cast<Index>(threadIdx.x);
    assemble_front(F, d, b.a, b.ld, static_cast<int>(threadIdx.x), threads, [] { __syncthreads(); });
    for (Index done = 0; done < d.k; done += width) {
        const Index columns = min(width, d.k - done);
        panel_of_block<threads>(b, done, columns, meeting);
        __syncthreads();
        rows_beside<threads>(b, done, columns);
        __syncthreads();
        update_in_block<threads>(b, done, columns);
        __syncthreads();
    }
    for (Index j = threadIdx.x / 32; j < d.m; j += threads / 32)
        for (Index i = threadIdx.x & 31; i < d.m; i += 32) *number_at(F, d, i, j) = b.a[j * b.ld + i];
    if (static_cast<Index>(threadIdx.x) < d.k) F.perm[d.first + threadIdx.x] = perm[threadIdx.x];
}

template <class V, int most>
void launch_warps(Gpu& gpu, cudaStream_t stream, const FrontsView<V>& F, const Index* list, Index count)
{
    const std::size_t shared = sizeof(V) * most * (most + 1) * block_warps;
    cuda::allow_all_shared(gpu, warp_fronts<V, most>);
    warp_fronts<V, most><<<(count + block_warps - 1) / block_warps, 32 * block_warps, shared, stream>>>(F, list, count);
    cuda::check_launch("warp_fronts");
}

template <class V, int most>
void launch_blocks(Gpu& gpu, cudaStream_t stream, const FrontsView<V>& F, const Index* list, Index count)
{
    cuda::allow_all_shared(gpu, block_fronts<V, most>);
    const std::size_t shared =
        sizeof(V) * stride_for(most) * most + sizeof(PanelMeeting<V, panel_width<V>, most / 32, 1>);
    block_fronts<V, most><<<count, most, shared, stream>>>(F, list);
    cuda::check_launch("block_fronts");
}

constexpr int lanes = 4;  ///< fronts of warps, and those of blocks by size

/// Which stream has the fronts of each lane: −1: that of the Gpu, or none; else a branch.
struct LaneStreams {
    std::array<Index, lanes> branch;
    Index                    branches = 0;

    LaneStreams(const FrontLevel& level, const FrontClasses& classes)
    {
        branch.fill(-1);
        bool own_is_free = level.large.empty();
        int  last = -1;
        for (std::size_t c = 0; c < level.small.size(); ++c) {
            const int lane = lane_of(classes.limits[c]);
            if (level.small[c].empty() || lane == last) continue;
            last = lane;
            if (!own_is_free) branch[lane] = branches++;
            own_is_free = false;
        }
    }
    static int lane_of(Index limit) { return limit <= 32 ? 0 : limit <= 64 ? 1 : limit <= 96 ? 2 : 3; }
};

}  // namespace

std::shared_ptr<const cuda::Branches> front_branches(Gpu& gpu)
{
    cuda::stream(gpu);  // makes the device current
    return std::make_shared<cuda::Branches>(lanes);
}

void join_small_fronts(Gpu& gpu, const FrontLevel& level, const FrontClasses& classes, const cuda::Branches& branches)
{
    branches.join(cuda::stream(gpu), LaneStreams(level, classes).branches);
}

template <class V>
void launch_small_fronts(Gpu& gpu, const FrontsView<V>& F, const FrontLevel& level, const FrontClasses& classes,
                         const Index* small, const cuda::Branches& branches)
{
    const cuda::Range range("small_fronts");
    const LaneStreams on(level, classes);
    branches.fork(cuda::stream(gpu), on.branches);
    for (std::size_t c = 0; c < level.small.size(); ++c) {
        const FrontRange fronts = level.small[c];
        if (fronts.empty()) continue;
        const Index branch = on.branch[LaneStreams::lane_of(classes.limits[c])];
        const auto  stream = branch < 0 ? cuda::stream(gpu) : branches[branch];
        const auto  launch = [&](auto&& kind) { kind(gpu, stream, F, small + fronts.begin, fronts.count()); };
        switch (classes.limits[c]) {
            case 16:
                launch(launch_warps<V, 16>);
                break;
            case 24:
                launch(launch_warps<V, 24>);
                break;
            case 32:
                launch(launch_warps<V, 32>);
                break;
            case 64:
                launch(launch_blocks<V, 64>);
                break;
            case 96:
                launch(launch_blocks<V, 96>);
                break;
            case 128:
                if constexpr (!is_complex<V>) {
                    launch(launch_blocks<V, 128>);
                    break;
                }
            default:
                throw InvalidInput("no kernel for fronts of " + std::to_string(classes.limits[c]) + " rows");
        }
    }
}

#define ILUX_INSTANTIATE(V)                                                                                  \
    template void launch_small_fronts<V>(Gpu&, const FrontsView<V>&, const FrontLevel&, const FrontClasses&, \
                                         const Index*, const cuda::Branches&);
ILUX_FRONT_VALUES(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux

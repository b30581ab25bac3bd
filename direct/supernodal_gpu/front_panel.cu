// Pivots of a panel of large fronts, then what is beside the panel: rows that change places, L below, U to the right.
//
// Launch shape: a cluster a panel, a thread a row (or two). Its blocks meet once a column. Then a block a piece of 32
// columns to the right, 128 rows below, or 64 columns to the left. Repeatable: bitwise.

#include "ilux/base/gpu/cuda.hpp"
#include "ilux/direct/gpu/cluster_launch.hpp"
#include "ilux/direct/supernodal_gpu/device_assembly.hpp"
#include "ilux/direct/supernodal_gpu/device_panel.hpp"
#include "ilux/direct/supernodal_gpu/front_kernels.hpp"
#include "ilux/direct/supernodal_gpu/shared_room.hpp"

namespace ilux {
namespace {

constexpr int panel_threads = GpuFrontSchedule::panel_rows;
constexpr int beside_threads = 128;

/// A panel of a front.
template <class V>
struct Panel {
    static constexpr int width = panel_width<V>;
    DeviceFront          d;
    Index                done, columns;
    V*                   numbers;  // of its first row and column

    __device__ Panel(const FrontsView<V>& F, Index f, Index panel)
        : d(F.front[f]),
          done(panel * width),
          columns(min(width, d.k - done)),
          numbers(F.val + d.val + Offset{done} * d.m + done)
    {}
};

template <class V, int rows, int most>
__global__ void __launch_bounds__(panel_threads)
    eliminate_panels(FrontsView<V> F, const Index* list, Index panel, int blocks)
{
    constexpr int width = panel_width<V>;
    using Meeting = PanelMeeting<V, width, panel_threads / 32, most>;
    extern __shared__ __align__(16) unsigned char memory[];
    Meeting&                                      meeting = *reinterpret_cast<Meeting*>(memory);
    const Panel<V>                                p(F, list[blockIdx.x / blocks], panel);
    const Index                                   rank = static_cast<Index>(blockIdx.x) % blocks, left = p.d.k - p.done;
    const PanelPlace<V>                           place{p.numbers, p.d.m, p.columns, left, blocks};
    PanelRows<V, width, rows>                     mine;
    Index                                         perm[rows];
#pragma unroll
    for (int r = 0; r < rows; ++r) {
        const Index from = (r * blocks + rank) * panel_threads + static_cast<Index>(threadIdx.x);
        mine.from[r] = mine.at[r] = from < left ? from : -1;
#pragma unroll
        for (int c = 0; c < width; ++c)
            mine.a[r][c] = from < left && c < p.columns ? p.numbers[Offset{c} * p.d.m + from] : V{};
        perm[r] = from < left && panel > 0 ? F.perm[p.d.first + p.done + from] : p.done + from;
    }
    if (static_cast<Index>(threadIdx.x) < p.columns)
        meeting.least[threadIdx.x] =
            least_pivot * __longlong_as_double(static_cast<long long>(F.bmax[p.d.first + p.done + threadIdx.x]));
    if (most > 1 && threadIdx.x == 0)
        for (auto& mail : meeting.mail) cuda::init_mail(&mail);
    place.meet();  // all blocks are there
    PanelSizes sizes;
    eliminate_columns<width>(mine, place, meeting, sizes, [&](Index j, Index row, double size) {
        if (rank > 0) return;
        F.swap[p.d.first + p.done + j] = p.done + row;
        F.pivot[p.d.first + p.done + j] = size;
    });
    settle_rows(mine, place, meeting);
    PanelMoves<width>& moves = F.moves[p.d.slot];
#pragma unroll
    for (int r = 0; r < rows; ++r) {
        const Index at = mine.at[r], from = mine.from[r];
        if (from < 0) continue;
        F.perm[p.d.first + p.done + at] = perm[r];
        if (from < p.columns) moves.to[from] = at >= p.columns ? at : -1;
        if (at < p.columns) moves.from[at] = from;
    }
    raise_sizes(sizes, p.columns, rank == 0 ? F.umax + p.d.first + p.done : nullptr, F.lmax + p.d.first + p.done);
}

/// L of update rows: l U = a, a thread a row.
template <class V>
__device__ void below(const FrontsView<V>& F, const Panel<V>& p, Index piece, V (&u)[panel_width<V>][panel_width<V>])
{
    constexpr int width = panel_width<V>;
    for (int e = threadIdx.x; e < width * width; e += beside_threads) {
        const int q = e % width, c = e / width;
        u[q][c] = q < p.columns && c < p.columns ? p.numbers[Offset{c} * p.d.m + q] : V{};
    }
    __syncthreads();
    const Index row = p.d.k + piece * rows_below + static_cast<Index>(threadIdx.x);
    const bool  there = row < p.d.m;
    V* const    numbers = F.val + p.d.val + Offset{p.done} * p.d.m + row;
    V           a[width];
    Magnitude   largest[width];
#pragma unroll
    for (int c = 0; c < width; ++c) a[c] = there && c < p.columns ? numbers[Offset{c} * p.d.m] : V{};
#pragma unroll
    for (int q = 0; q < width; ++q) {
        if (q < p.columns && there) {
            a[q] = divide(a[q], u[q][q]);
            numbers[Offset{q} * p.d.m] = a[q];
        }
#pragma unroll
        for (int c = q + 1; c < width; ++c) a[c] = eliminated(a[c], a[q], u[q][c]);
        largest[q] = magnitude_bits(a[q]);
    }
    const Magnitude most = largest_by_column<width>(largest);
    const Index     lane = static_cast<Index>(threadIdx.x & 31);
    if (lane < p.columns && most > 0) atomicMax(F.lmax + p.d.first + p.done + lane, most);
}

/// The panel's rows of another column, wherever it lies.
template <class V>
__device__ V* beside_panel(const FrontsView<V>& F, const Panel<V>& p, Index j)
{
    return number_at(F, p.d, p.done, j);
}

template <class V>
__device__ void move_left(const FrontsView<V>& F, const Panel<V>& p, Index piece)
{
    const int                         lane = threadIdx.x & 31;
    const bool                        mine = lane < p.columns;
    const PanelMoves<panel_width<V>>& moves = F.moves[p.d.slot];
    const Index                       from = mine ? moves.from[lane] : 0, to = mine ? moves.to[lane] : -1;
    for (Index j = piece * left_columns + threadIdx.x / 32; j < min(p.done, (piece + 1) * left_columns);
         j += beside_threads / 32) {
        V* const column = beside_panel(F, p, j);
        const V  v = mine ? column[from] : V{}, was = mine ? column[lane] : V{};
        __syncwarp();
        if (mine) column[lane] = v;
        if (to >= 0) column[to] = was;
    }
}

/// Rows change places, and L u = a.
template <class V>
__device__ void to_the_right(const FrontsView<V>& F, const Panel<V>& p, Index piece)
{
    constexpr int            width = panel_width<V>, warps = beside_threads / 32, each = right_columns / warps;
    const int                lane = threadIdx.x & 31;
    const bool               mine = lane < p.columns;
    const PanelMoves<width>& moves = F.moves[p.d.slot];
    const Index              from = mine ? moves.from[lane] : 0, to = mine ? moves.to[lane] : -1;
    const Index begin = p.done + p.columns + piece * right_columns + static_cast<Index>(threadIdx.x / 32) * each;
    V           v[each];
#pragma unroll
    for (int i = 0; i < each; ++i) {
        v[i] = V{};
        if (begin + i >= p.d.m || !mine) continue;
        V* const column = beside_panel(F, p, begin + i);
        v[i] = column[from];
    }
    V was[each];
#pragma unroll
    for (int i = 0; i < each; ++i) was[i] = begin + i < p.d.m && to >= 0 ? beside_panel(F, p, begin + i)[lane] : V{};
    __syncwarp();
#pragma unroll
    for (int i = 0; i < each; ++i)
        if (begin + i < p.d.m && to >= 0) beside_panel(F, p, begin + i)[to] = was[i];
#pragma unroll
    for (int q = 0; q < width; ++q) {
        if (q >= p.columns) break;
        const V l = mine && lane > q ? p.numbers[Offset{q} * p.d.m + lane] : V{};
#pragma unroll
        for (int i = 0; i < each; ++i) v[i] = eliminated(v[i], l, cuda::shuffled_from(v[i], q));
    }
#pragma unroll
    for (int i = 0; i < each; ++i) {
        if (begin + i >= p.d.m) continue;
        if (mine) beside_panel(F, p, begin + i)[lane] = v[i];
        const Candidate best = best_of_warp({mine ? magnitude_bits(v[i]) : 0, lane});
        if (lane == 0 && best.size > 0) atomicMax(F.umax + column_of(F, p.d, begin + i), best.size);
    }
}

template <class V>
__global__ void __launch_bounds__(beside_threads) beside_panels(FrontsView<V> F, const FrontItem* items, Index panel)
{
    __shared__ V    u[panel_width<V>][panel_width<V>];
    const FrontItem item = items[blockIdx.x];
    const Panel<V>  p(F, item.front, panel);
    switch (static_cast<BesidePanel>(item.row)) {
        case BesidePanel::left:
            return move_left(F, p, item.col);
        case BesidePanel::right:
            return to_the_right(F, p, item.col);
        case BesidePanel::below:
            return below(F, p, item.col, u);
    }
}

template <class V, int rows, int most>
void launch_panels(Gpu& gpu, const FrontsView<V>& F, const Index* list, Index count, Index panel, int blocks)
{
    const auto kernel = eliminate_panels<V, rows, most>;
    cuda::allow_all_shared(gpu, kernel);
    cuda::check(cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1),
                "cudaFuncSetAttribute");
    cuda::ClusterLaunch launch(static_cast<unsigned>(count), static_cast<unsigned>(blocks), panel_threads,
                               cuda::stream(gpu));
    launch.config.dynamicSmemBytes = sizeof(PanelMeeting<V, panel_width<V>, panel_threads / 32, most>);
    cuda::check(cudaLaunchKernelEx(&launch.config, kernel, F, list, panel, blocks), "eliminate_panels");
}

}  // namespace

template <class V>
void launch_panel(Gpu& gpu, const FrontsView<V>& F, const PanelStep& step, const Index* large)
{
    const cuda::Range range("front_panel");
    for (std::size_t size = 0; size < step.by_cluster.size(); ++size) {
        const FrontRange fronts = step.by_cluster[size];
        if (fronts.empty()) continue;
        const Index* const list = large + fronts.begin;
        if (size == 0) launch_panels<V, 1, 1>(gpu, F, list, fronts.count(), step.panel, 1);
        else if (size <= 4) launch_panels<V, 1, 16>(gpu, F, list, fronts.count(), step.panel, 1 << size);
        else launch_panels<V, 2, 16>(gpu, F, list, fronts.count(), step.panel, 16);
    }
}

template <class V>
void launch_beside(Gpu& gpu, const FrontsView<V>& F, const PanelStep& step, const FrontItem* item)
{
    if (step.beside.empty()) return;
    const cuda::Range range("beside_panel");
    const Index       blocks = step.beside.count();
    beside_panels<<<blocks, beside_threads, 0, cuda::stream(gpu)>>>(F, item + step.beside.begin, step.panel);
    cuda::check_launch("beside_panels");
}

#define ILUX_INSTANTIATE(V)                                                                    \
    template void launch_panel<V>(Gpu&, const FrontsView<V>&, const PanelStep&, const Index*); \
    template void launch_beside<V>(Gpu&, const FrontsView<V>&, const PanelStep&, const FrontItem*);
ILUX_FRONT_VALUES(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux

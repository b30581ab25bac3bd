// Substitution with fronts, level by level: a front adds what its children left it, and leaves to its parent what it
// takes from the rows beyond its pivots.
//
// Launch shape: a warp a small front, a lane a row. Of larger ones a block 32 rows, whose warps share the columns:
// pivots are products with inverted triangles of up to solve_block pivots; what those take from other rows is a launch
// of its own. A launch begins while the one before it ends, and asks for its numbers of the factors; then it waits for
// that one as a whole. The order of additions does not depend on the number of right-hand sides. Repeatable: bitwise.

#include "ilux/base/gpu/cuda.hpp"
#include "ilux/direct/supernodal_gpu/device_warp_substitution.hpp"
#include "ilux/direct/supernodal_gpu/front_kernels.hpp"

namespace ilux {
namespace {

constexpr int threads = solve_block, warps = threads / 32, tile = solve_tile;
constexpr int small_threads = 256;
constexpr int solve_room = solve_block + threads;

/// How many blocks of threads a multiprocessor has: one, whose lanes ask for twice as many numbers together, or two.
enum class Room { one, two };
template <class V, Room room>
constexpr int ahead_of = (is_complex<V> ? 16 : 32) / (room == Room::one ? 1 : 2);
template <Room room>
constexpr int blocks_of_room = room == Room::one ? 1 : 2;

/// What a row of each lane has at first, less number(j) times what column j is known to be, for begin ≤ j < end: warps
/// share the columns. Complete in the first warp, which must not meet others afterwards.
/// @param x  shared, solve_room: solve_block of the columns at a time, then a sum of each thread
/// @param where  of a column, where its value is: asked before the kernel waits for the one before it; value and row:
/// after
template <class V, int rhs, Room room, class Number, class Where, class Value, class Row>
__device__ Values<V, rhs> minus_columns(Values<V, rhs>* x, Index begin, Index end, Number&& number, Where&& where,
                                        Value&& value, Row&& row)
{
    constexpr int  ahead = ahead_of<V, room>;
    const auto     thread = static_cast<Index>(threadIdx.x);
    Values<V, rhs> v{};
    for (Index base = begin; base < end; base += solve_block) {
        const Index count = min(solve_block, end - base), each = (count + warps - 1) / warps;
        const Index from = base + thread / 32 * each, to = min(base + count, from + each);
        const auto  place = where(base + min(thread, count - 1));
        V           a[ahead];
        ask_for(a, from, to, number);
        if (base > begin) __syncthreads();
        else cuda::wait_for_previous();
        if (thread < count) x[thread] = value(place);
        if (base == begin && thread < 32) v = row();
        __syncthreads();
        for (Index j = from; j < to; j += ahead) {
            if (j > from) ask_for(a, j, to, number);
#pragma unroll
            for (int q = 0; q < ahead; ++q)
                if (j + q < to) take(v, a[q], x[j + q - base]);
        }
    }
    Values<V, rhs>* const of = x + solve_block;
    of[thread] = v;
    __syncthreads();
    if (thread < 32)
        for (int w = 1; w < warps; ++w) add(v, of[32 * w + thread]);
    return v;
}

/// Pivots of a tile: those of its block, which know what others take from them, times the inverse.
template <int rhs, bool transposed, bool forward, Room room, class V>
__device__ void multiply_inverse(const FrontSolveView<V>& s, const FrontItem& item, Values<V, rhs>* x)
{
    constexpr bool    unit = forward != transposed;  // L is, U is not
    const DeviceFront d = s.F.front[item.front];
    const Index       first = Index{item.col} * solve_block, size = min(solve_block, d.k - first);
    const Index       row = Index{item.row} * tile - first, i = row + static_cast<Index>(threadIdx.x & 31);
    const auto sources = [&](Index j) { return sources_of(s, d, pivot_place<transposed>(s, d, first + j) - d.first); };
    if (row >= size) {  // forward: a later block waits, and its rows are gathered
        cuda::wait_for_previous();
        if (threadIdx.x < 32 && first + i < d.k) store(s.z, d.first + first + i, gathered<rhs>(s, d, sources(i)));
        return;
    }
    const V* const inverse = s.F.inverse + d.inverse + Offset{first} * solve_block;
    const auto     number = [&](Index j) {
        const bool there = i < size && ((forward ? j < i : j > i) || (!unit && j == i));
        return there ? cuda::load_constant(inverse + (transposed ? Offset{i} * size + j : Offset{j} * size + i)) : V{};
    };
    const auto     none = [] { return Values<V, rhs>{}; };
    const auto     by_position = [&](Index j) { return d.first + first + j; };
    const auto     at = [](const V* from) { return [from](Index place) { return load<V, rhs>(from, place); }; };
    const Index    begin = forward ? 0 : row, end = forward ? min(row + tile, size) : size;
    Values<V, rhs> sum;
    if constexpr (!forward) sum = minus_columns<V, rhs, room>(x, begin, end, number, by_position, at(s.z), none);
    else if (first > 0) sum = minus_columns<V, rhs, room>(x, begin, end, number, by_position, at(s.y), none);
    else
        sum = minus_columns<V, rhs, room>(
            x, begin, end, number, sources, [&](const RowSources& from) { return gathered<rhs>(s, d, from); }, none);
    if (threadIdx.x >= 32 || i >= size) return;
    auto v = unit ? x[i - begin] : Values<V, rhs>{};
    subtract(v, sum);
    if (forward) store(s.z, d.first + first + i, v);
    else store(s.y, pivot_place<!transposed>(s, d, first + i), v);
}

/// Blocks of threads beyond the items have a small front each warp.
template <class V, int rhs, bool transposed, bool forward, Room room>
__global__ void __launch_bounds__(threads, blocks_of_room<room>)
    solve_pivots(FrontSolveView<V> s, const FrontItem* items, Index count, const Index* small, Index small_count)
{
    __shared__ Values<V, rhs> x[solve_room];
    cuda::let_next_begin();
    const auto block = static_cast<Index>(blockIdx.x);
    if (block < count) return multiply_inverse<rhs, transposed, forward, room>(s, items[block], x);
    const Index which = (block - count) * warps + static_cast<Index>(threadIdx.x / 32);
    if (which < small_count) solve_by_warp<rhs, transposed, forward>(s, small[which]);
}

/// Small fronts alone, a warp each.
template <class V, int rhs, bool transposed, bool forward>
__global__ void __launch_bounds__(small_threads, 1024 / small_threads)
    solve_small(FrontSolveView<V> s, const Index* small, Index count)
{
    cuda::let_next_begin();
    const Index which = static_cast<Index>(blockIdx.x) * (small_threads / 32) + static_cast<Index>(threadIdx.x / 32);
    if (which < count) solve_by_warp<rhs, transposed, forward>(s, small[which]);
}

/// What the pivots of a block, which are solved, take from a tile of other pivots of the front.
template <class V, int rhs, bool transposed, bool forward, Room room>
__global__ void __launch_bounds__(threads, blocks_of_room<room>) take_block(FrontSolveView<V> s, const FrontItem* items)
{
    __shared__ Values<V, rhs> x[solve_room];
    cuda::let_next_begin();
    const FrontItem   item = items[blockIdx.x];
    const DeviceFront d = s.F.front[item.front];
    const V* const    a = s.F.val + d.val;
    const Index       i = Index{item.row} * tile + static_cast<Index>(threadIdx.x & 31);
    const Index       begin = Index{item.col} * solve_block, end = min(d.k, begin + solve_block);
    const auto        number = [&](Index j) {
        if (i >= d.k) return V{};
        return cuda::load_constant(forward ? &lower<transposed>(a, d, i, j) : &upper<transposed>(a, d, i, j));
    };
    const auto v = minus_columns<V, rhs, room>(
        x, begin, end, number, [&](Index j) { return forward ? d.first + j : pivot_place<!transposed>(s, d, j); },
        [&](Index place) { return load<V, rhs>(forward ? s.z : s.y, place); },
        [&] { return i < d.k ? load<V, rhs>(s.z, d.first + i) : Values<V, rhs>{}; });
    // All tiles of the next block read what it begins with, so that must not be where they write.
    if (threadIdx.x < 32 && i < d.k) store(forward && i < end + solve_block ? s.y : s.z, d.first + i, v);
}

/// A tile of update rows: what they leave to the parent.
template <class V, int rhs, bool transposed, Room room>
__global__ void __launch_bounds__(threads, blocks_of_room<room>) leave_rows(FrontSolveView<V> s, const FrontItem* items)
{
    __shared__ Values<V, rhs> x[solve_room];
    cuda::let_next_begin();
    const FrontItem   item = items[blockIdx.x];
    const DeviceFront d = s.F.front[item.front];
    const V* const    a = s.F.val + d.val;
    const Index       i = d.k + Index{item.row} * tile + static_cast<Index>(threadIdx.x & 31);
    const RowSources  from = i < d.m ? sources_of(s, d, i) : RowSources{};
    const auto        v = minus_columns<V, rhs, room>(
        x, 0, d.k, [&](Index j) { return i < d.m ? cuda::load_constant(&lower<transposed>(a, d, i, j)) : V{}; },
        [&](Index j) { return d.first + j; }, [&](Index place) { return load<V, rhs>(s.z, place); },
        [&] { return i < d.m ? gathered<rhs>(s, d, from) : Values<V, rhs>{}; });
    if (threadIdx.x < 32 && i < d.m) store(s.left, d.row + i - d.k, v);
}

/// A tile of pivots: what the update rows, which are solved, take from them.
template <class V, int rhs, bool transposed, Room room>
__global__ void __launch_bounds__(threads, blocks_of_room<room>) take_rows(FrontSolveView<V> s, const FrontItem* items)
{
    __shared__ Values<V, rhs> x[solve_room];
    cuda::let_next_begin();
    const FrontItem   item = items[blockIdx.x];
    const DeviceFront d = s.F.front[item.front];
    const V* const    a = s.F.val + d.val;
    const Index       i = Index{item.row} * tile + static_cast<Index>(threadIdx.x & 31);
    const auto        v = minus_columns<V, rhs, room>(
        x, d.k, d.m, [&](Index j) { return i < d.k ? cuda::load_constant(&upper<transposed>(a, d, i, j)) : V{}; },
        [&](Index j) { return s.F.row[d.row + j - d.k]; }, [&](Index place) { return load<V, rhs>(s.y, place); },
        [&] { return i < d.k ? load<V, rhs>(s.z, d.first + i) : Values<V, rhs>{}; });
    if (threadIdx.x < 32 && i < d.k) store(s.z, d.first + i, v);
}

/// A warp a row: what blocks that are solved already take from it.
template <class V, int rhs>
__global__ void __launch_bounds__(threads) take_F(FrontSolveView<V> s, FrontRange rows)
{
    cuda::let_next_begin();
    cuda::wait_for_previous();
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
    cuda::let_next_begin();
    const Index k = static_cast<Index>(blockIdx.x) * threads + static_cast<Index>(threadIdx.x);
    if (k >= frame.n) return;
    const double scale = frame.scale ? frame.scale[k] : 1;
    for (int r = 0; r < rhs; ++r)
        y[Offset{k} * rhs + r] = r < count ? scale * b[Offset{r} * frame.n + frame.perm[k]] : V{};
}
template <class V, int rhs>
__global__ void __launch_bounds__(threads) leave(FrontSolveFrame frame, const V* y, V* x, int count)
{
    cuda::wait_for_previous();
    const Index k = static_cast<Index>(blockIdx.x) * threads + static_cast<Index>(threadIdx.x);
    if (k >= frame.n) return;
    const double scale = frame.scale ? frame.scale[k] : 1;
    for (int r = 0; r < count; ++r) x[Offset{r} * frame.n + frame.perm[k]] = scale * y[Offset{k} * rhs + r];
}

unsigned blocks_of(Index count, int each) { return static_cast<unsigned>((count + each - 1) / each); }

/// Two blocks a multiprocessor where there are more blocks than multiprocessors.
template <int rhs>
Room room_for(Gpu& gpu, unsigned blocks)
{
    return rhs == 1 && blocks > static_cast<unsigned>(gpu.state().multiprocessors) ? Room::two : Room::one;
}

/// @param small  of the group, or none
template <class V, int rhs, bool transposed, bool forward>
void launch_pivots(Gpu& gpu, const FrontSolveView<V>& s, FrontRange tiles, FrontRange small)
{
    const auto stream = cuda::stream(gpu);
    if (small.count() > gpu.state().multiprocessors * warps) {
        cuda::OverlappedLaunch{blocks_of(small.count(), small_threads / 32), small_threads, 0,
                               stream}(solve_small<V, rhs, transposed, forward>, s, s.list + small.begin,
                                       small.count());
        small = {};
    }
    const unsigned blocks = static_cast<unsigned>(tiles.count()) + blocks_of(small.count(), warps);
    if (blocks == 0) return;
    const auto kernel = room_for<rhs>(gpu, blocks) == Room::one ? solve_pivots<V, rhs, transposed, forward, Room::one>
                                                                : solve_pivots<V, rhs, transposed, forward, Room::two>;
    cuda::OverlappedLaunch{blocks, threads, 0, stream}(kernel, s, s.item + tiles.begin, tiles.count(),
                                                       s.list + small.begin, small.count());
}

template <class V>
using TileKernel = void (*)(FrontSolveView<V>, const FrontItem*);

template <int rhs, class V>
void launch_tiles(Gpu& gpu, const FrontSolveView<V>& s, TileKernel<V> one, TileKernel<V> two, FrontRange tiles)
{
    if (tiles.empty()) return;
    const auto blocks = static_cast<unsigned>(tiles.count());
    cuda::OverlappedLaunch{blocks, threads, 0, cuda::stream(gpu)}(room_for<rhs>(gpu, blocks) == Room::one ? one : two,
                                                                  s, s.item + tiles.begin);
}

template <class V, int rhs, bool transposed>
void go_forward(Gpu& gpu, const FrontSolveView<V>& s, const FrontSolveGroup& group)
{
    for (const FrontSolveStep& step : group.steps) {
        const bool       first = &step == &group.steps.front();
        const FrontRange tiles{step.pivots.begin, first ? step.later.end : step.pivots.end};
        launch_pivots<V, rhs, transposed, true>(gpu, s, tiles, first ? group.small : FrontRange{});
        launch_tiles<rhs>(gpu, s, take_block<V, rhs, transposed, true, Room::one>,
                          take_block<V, rhs, transposed, true, Room::two>, step.later);
    }
    launch_tiles<rhs>(gpu, s, leave_rows<V, rhs, transposed, Room::one>, leave_rows<V, rhs, transposed, Room::two>,
                      group.updates);
}
template <class V, int rhs, bool transposed>
void go_back(Gpu& gpu, const FrontSolveView<V>& s, const FrontSolveGroup& group)
{
    launch_tiles<rhs>(gpu, s, take_rows<V, rhs, transposed, Room::one>, take_rows<V, rhs, transposed, Room::two>,
                      group.above);
    for (std::size_t i = group.steps.size(); i-- > 0;) {
        const FrontSolveStep& step = group.steps[i];
        launch_pivots<V, rhs, transposed, false>(gpu, s, step.pivots, i == 0 ? group.small : FrontRange{});
        launch_tiles<rhs>(gpu, s, take_block<V, rhs, transposed, false, Room::one>,
                          take_block<V, rhs, transposed, false, Room::two>, step.earlier);
    }
}

template <class V, int rhs, bool transposed>
void run_stage(Gpu& gpu, const FrontSolveView<V>& s, const FrontSolveStage& stage)
{
    if (!stage.f.empty()) {
        cuda::OverlappedLaunch{blocks_of(stage.f.count(), warps), threads, 0, cuda::stream(gpu)}(take_F<V, rhs>, s,
                                                                                                 stage.f);
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
    cuda::OverlappedLaunch{blocks_of(frame.n, threads), threads, 0, cuda::stream(gpu)}(kernel, frame, y, x, count);
}

#define ILUX_INSTANTIATE(V)                                                                            \
    template void launch_stage<V>(Gpu&, const FrontSolveView<V>&, const FrontSolveStage&, bool, bool); \
    template void launch_enter<V>(Gpu&, const FrontSolveFrame&, const V*, V*, int, bool);              \
    template void launch_leave<V>(Gpu&, const FrontSolveFrame&, const V*, V*, int, bool);
ILUX_FRONT_VALUES(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux

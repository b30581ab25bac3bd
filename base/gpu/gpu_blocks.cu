// Passes over a block of vectors (cuda_blocks.hpp), and the primitives made of them.
//
// One thread a row, grid-stride, a grid that fills the device once: the thread loads the row's k values and w_i at once
// (k is rounded up to a multiple of 4 at compile time: enough loads in flight, all sums in registers), uses them, and
// goes on. At the end a warp adds the k sums of its lanes in 31 exchanges, a block those of its warps, the last block
// of each 32 neighbours to end those of the 32, and the last of these the rest: always the same sums in the same order.

#include "ilux/base/gpu/cuda_blocks.hpp"

#include <algorithm>
#include <array>
#include <atomic>

#include "ilux/base/gpu/cuda_reduce.hpp"
#include "ilux/base/gpu/gpu_instances.hpp"
#include "ilux/base/instances.hpp"

namespace ilux {
namespace {

using cuda::BlockPass;
using cuda::check;
using cuda::sums_a_pass;

constexpr int block_size = 128;  // small: few registers go unused where a thread needs 170
constexpr int warps = block_size / 32;
constexpr int columns = sums_a_pass + 1;  // of partial: the dots, then the squares

constexpr unsigned neighbours = 32;                                      // blocks whose sums are added first
constexpr int      max_blocks = cuda::max_partials / columns / 33 * 32;  // with a row more for each 32
static_assert(max_blocks / neighbours < cuda::max_tickets);

/// Adds each of 32 values over the warp; lane j returns the sum of value j. Each exchange halves the values in play.
template <int half = 16, class Real>
__device__ double over_lanes_each(Real (&value)[32])
{
    const bool upper = threadIdx.x & half;
#pragma unroll
    for (int j = 0; j < half; ++j) {
        const Real leaves = upper ? value[j] : value[j + half];
        const Real stays = upper ? value[j + half] : value[j];
        value[j] = stays + __shfl_xor_sync(~0u, leaves, half);
    }
    if constexpr (half > 1) return over_lanes_each<half / 2>(value);
    else return value[0];
}

/// The sums of the columns of `count` rows; thread j < columns returns sum j. Called by all threads of a block.
__device__ double add_rows(const double* rows, int count)
{
    constexpr int     shares = block_size / columns;
    __shared__ double of_share[shares][columns];
    const int         share = threadIdx.x / columns, j = threadIdx.x % columns;
    double            sum = 0;
    if (share < shares) {
#pragma unroll 16
        for (int r = share; r < count; r += shares) sum += __ldcg(rows + r * columns + j);
        of_share[share][j] = sum;
    }
    __syncthreads();
    sum = 0;
    if (threadIdx.x < columns)
        for (int from = 0; from < shares; ++from) sum += of_share[from][threadIdx.x];
    __syncthreads();  // before another call writes
    return sum;
}

/// Adds the rows of partial, one a block, and gives the sums out. Called by all blocks, each after writing its row.
template <class Number>
__device__ void add_blocks(const BlockPass<Number>& pass, double* partial, unsigned* tickets)
{
    const unsigned group = blockIdx.x / neighbours, groups = (gridDim.x + neighbours - 1) / neighbours;
    const unsigned first = group * neighbours, members = min(neighbours, gridDim.x - first);
    if (!cuda::last_of(members, tickets + 1 + group)) return;
    double sum = add_rows(partial + first * columns, members);
    if (groups > 1) {
        double* const of_group = partial + gridDim.x * columns;
        if (threadIdx.x < columns) of_group[group * columns + threadIdx.x] = sum;
        if (!cuda::last_of(groups, tickets)) return;
        sum = add_rows(of_group, groups);
    }
    const int  j = threadIdx.x;
    const bool of_dots = j < cuda::parts<Number> * pass.k;
    if (of_dots && pass.dots) pass.dots[j] = sum;
    if (of_dots && pass.dots_host) pass.dots_host[j] = sum;
    if (j == sums_a_pass && pass.squares) *pass.squares = sum;
    if (j == sums_a_pass && pass.squares_host) *pass.squares_host = sum;
}

/// Adds v̄ w to the dot of vector j.
template <class Real>
__device__ void add_product(Real (&dot)[32], int j, Real v, Real w)
{
    dot[j] += v * w;
}
template <class Real>
__device__ void add_product(Real (&dot)[32], int j, cuda::Complex<Real> v, cuda::Complex<Real> w)
{
    dot[2 * j] += v.re * w.re + v.im * w.im;
    dot[2 * j + 1] += v.re * w.im - v.im * w.re;
}

/// width − 4 < k ≤ width, and k > 0. A thread works on `rows` rows at a time: about 32 loads are under way in each.
template <int width, bool update, bool dots, class Number>
__global__ void __launch_bounds__(block_size)
    pass_over(const __grid_constant__ BlockPass<Number> pass, double* partial, unsigned* tickets)
{
    constexpr int     loads = width * cuda::parts<Number>, rows = loads <= 8 ? 4 : loads <= 16 ? 2 : 1;
    __shared__ Number c[width];
    if (update && threadIdx.x < width) {
        const int j = threadIdx.x;
        c[j] = j >= pass.k
                   ? Number{}
                   : cuda::converted<Number>(pass.scale * (pass.coefficients ? pass.coefficients[j] : pass.given.c[j]));
    }
    __syncthreads();

    real_of<Number>   dot[32] = {};
    double            squares = 0;
    const std::size_t stride = std::size_t(gridDim.x) * block_size;
    for (std::size_t first = std::size_t(blockIdx.x) * block_size + threadIdx.x; first < pass.n;
         first += rows * stride) {
        Number v[rows][width], w[rows];
#pragma unroll
        for (int r = 0; r < rows; ++r) {
            const std::size_t row = first + r * stride;
            const bool        inside = row < pass.n;
            const std::size_t i = !inside ? 0 : pass.backwards ? pass.n - 1 - row : row;
            const Number*     at = pass.V + i;
            w[r] = inside ? pass.w[i] : Number{};
#pragma unroll
            for (int j = 0; j < width; ++j) {
                v[r][j] = inside ? *at : Number{};
                if (j < width - 4 || j + 1 < pass.k) at += pass.n;  // beyond k: the last one again, from the cache
            }
        }
#pragma unroll
        for (int r = 0; r < rows; ++r) {
            const std::size_t row = first + r * stride;
            if (update) {
#pragma unroll
                for (int j = 0; j < width; ++j) w[r] = cuda::plus_product(w[r], c[j], v[r][j]);
                if (row < pass.n) pass.w[pass.backwards ? pass.n - 1 - row : row] = w[r];
            }
            if (dots) {
#pragma unroll
                for (int j = 0; j < width; ++j) add_product(dot, j, v[r][j], w[r]);
            }
            squares += cuda::squared(cuda::widened(w[r]));
        }
    }
    if (!dots && !pass.squares && !pass.squares_host) return;

    __shared__ double of_warp[warps][columns];
    const int         lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    if (dots) of_warp[warp][lane] = over_lanes_each(dot);
    squares = cuda::over_lanes<cuda::Add>(squares);
    if (lane == 0) of_warp[warp][sums_a_pass] = squares;
    __syncthreads();
    if (threadIdx.x < columns) {
        double sum = 0;
        if (dots || threadIdx.x == sums_a_pass)
            for (int from = 0; from < warps; ++from) sum += of_warp[from][threadIdx.x];
        partial[blockIdx.x * columns + threadIdx.x] = sum;
    }
    add_blocks(pass, partial, tickets);
}

/// Blocks that fill the device once.
template <class Kernel>
int blocks_at_once(Kernel kernel, const Gpu::State& state)
{
    const int count = std::clamp(cuda::blocks_a_multiprocessor(kernel, block_size), 1, 8);
    return std::min(count * state.multiprocessors, max_blocks);
}

template <int width, bool update, bool dots, class Number>
void launch(Gpu& be, const BlockPass<Number>& pass, const char* name)
{
    static std::array<std::atomic<int>, 64> most;  // by device; 0: not asked yet
    const auto                              stream = cuda::stream(be);
    auto&                                   state = be.state();
    const auto                              kernel = pass_over<width, update, dots, Number>;
    auto&                                   at_once = most[state.device % most.size()];
    if (at_once == 0) at_once = blocks_at_once(kernel, state);
    const auto all = std::max<std::size_t>((pass.n + block_size - 1) / block_size, 1);
    const auto blocks = std::min<std::size_t>(all, at_once);
    kernel<<<static_cast<unsigned>(blocks), block_size, 0, stream>>>(pass, state.partial.data(), state.tickets.data());
    cuda::check_launch(name);
}

/// By the least multiple of 4 vectors that holds the pass's.
template <bool update, bool dots, int width = 4, class Number>
void launch_fitting(Gpu& be, const BlockPass<Number>& pass, const char* name)
{
    if constexpr (width < cuda::vectors_a_pass<Number>)
        if (pass.k > width) return launch_fitting<update, dots, width + 4>(be, pass, name);
    const cuda::Range range(name);
    ILUX_ASSERT(pass.k > 0 && pass.k <= width);
    launch<width, update, dots>(be, pass, name);
}

}  // namespace

namespace cuda {

template <class Number>
void block_dots(Gpu& be, const BlockPass<Number>& pass)
{
    launch_fitting<false, true>(be, pass, "block_dots");
}
template <class Number>
void block_update(Gpu& be, const BlockPass<Number>& pass)
{
    launch_fitting<true, false>(be, pass, "block_update");
}
template <class Number>
void block_update_dots(Gpu& be, const BlockPass<Number>& pass)
{
    launch_fitting<true, true>(be, pass, "block_update_dots");
}

#define ILUX_INSTANTIATE(S)                                       \
    template void block_dots(Gpu&, const BlockPass<Value<S>>&);   \
    template void block_update(Gpu&, const BlockPass<Value<S>>&); \
    template void block_update_dots(Gpu&, const BlockPass<Value<S>>&);
ILUX_WORKING(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace cuda

template <class S>
void multi_dot(Gpu& be, DeviceSpan<const NotDeduced<S>> block, DeviceSpan<const NotDeduced<S>> w,
               std::span<NotDeduced<S>> h)
{
    using Number = cuda::Value<S>;
    constexpr std::size_t most = cuda::max_results / cuda::parts<Number>, at_once = cuda::vectors_a_pass<Number>;
    ILUX_ASSERT(block.size() == w.size() * h.size());
    const auto        stream = cuda::stream(be);
    const std::size_t n = w.size();
    double* const     sums = be.state().sums;
    for (std::size_t begin = 0; begin < h.size(); begin += most) {
        const std::size_t end = std::min(h.size(), begin + most);
        for (std::size_t first = begin; first < end; first += at_once)
            cuda::block_dots<Number>(be, {.V = cuda::as_values(block.data()) + first * n,
                                          .n = n,
                                          .k = static_cast<int>(std::min(at_once, end - first)),
                                          .w = const_cast<Number*>(cuda::as_values(w.data())),  // only read
                                          .dots_host = sums + cuda::parts<Number> * (first - begin)});
        check(cudaStreamSynchronize(stream), "multi_dot");
        const auto* const found = reinterpret_cast<const working_of<S>*>(sums);
        std::transform(found, found + (end - begin), h.begin() + begin, [](working_of<S> sum) { return S(sum); });
    }
}

template <class S>
void multi_axpy(Gpu& be, std::span<const NotDeduced<S>> c, DeviceSpan<const NotDeduced<S>> block,
                DeviceSpan<NotDeduced<S>> y)
{
    using Number = cuda::Value<S>;
    constexpr std::size_t at_once = cuda::vectors_a_pass<Number>;
    ILUX_ASSERT(block.size() == y.size() * c.size());
    const std::size_t n = y.size();
    for (std::size_t first = 0; first < c.size(); first += at_once) {
        BlockPass<Number> pass{.V = cuda::as_values(block.data()) + first * n,
                               .n = n,
                               .k = static_cast<int>(std::min(at_once, c.size() - first)),
                               .w = cuda::as_values(y.data())};
        for (int j = 0; j < pass.k; ++j) pass.given.c[j] = cuda::as_value(working_of<S>(c[first + j]));
        cuda::block_update(be, pass);
    }
}

ILUX_WORKING(ILUX_GPU_BLOCK_PRIMITIVES)

}  // namespace ilux

// b − A x and how large it is beside |A||x| + |b|.
//
// Launch shape: in the first launch the warps of the leading blocks take a piece each, those of the others the short
// rows, several rows a warp (residual_rows.hpp). The second has a warp for each long row, which adds up its pieces, and
// ends with the block that finds itself last. The largest error is gathered by its bits, which order numbers below Inf:
// an integer maximum, whose order does not matter. Each system has a row of either grid, and partial sums, a maximum
// and a count of its own. Nobody waits.

#include <cub/block/block_reduce.cuh>

#include <algorithm>
#include <string>
#include <utility>

#include "ilux/base/gpu/cuda.hpp"
#include "ilux/base/gpu/host_buffer.hpp"
#include "ilux/base/instances.hpp"
#include "ilux/direct/gpu/device_elimination.hpp"
#include "ilux/direct/solve/gpu_lu_refine.hpp"
#include "ilux/direct/solve/residual_rows.hpp"
#include "ilux/sptrsv/gpu/device_arrays.hpp"
#include "ilux/sptrsv/gpu/device_row.hpp"

namespace ilux {
namespace {

using Bits = unsigned long long;

constexpr int  threads = 256;
constexpr int  warps = threads / 32;
constexpr Bits infinite = 0x7FF0'0000'0000'0000u;  // of Inf

// Sums of smaller terms lose digits to underflow, larger ones may overflow. Of terms below least_size, times scale_up,
// none overflows.
constexpr double least_size = 0x1p-960, scale_up = 0x1p1000, scale_down = 0x1p-40;
constexpr double least_number = 0x1p-1074;  // stands for products that vanish: a size of 0 means that there are none

/// Sums of a row, or of a part of one: Σ −a x and Σ |a x|, with b at last.
template <class V>
struct Sums {
    V      r = {};
    double size = 0;
};

/// What kernels get.
struct ResidualView {
    const Offset*              ptr = nullptr;
    const Index*               col = nullptr;
    const std::int32_t*        source = nullptr;  // null: the identity
    const Index*               short_row = nullptr;
    const ResidualRows::Piece* piece = nullptr;
    const Index*               long_row = nullptr;
    const Index*               partial_ptr = nullptr;
    int                        log2_part = 0;
    Index                      n = 0, short_rows = 0, pieces = 0, long_rows = 0, partials = 0;
    unsigned                   piece_blocks = 0;
};

/// The system that the values and vectors of this run make, and what it works in.
template <class V>
struct System {
    std::size_t stride;  // from the values of one system to those of the next
    const V *   values, *x, *b;
    V*          r;
    Sums<V>*    partial;
    Bits*       worst;  // of the errors so far; 0 between runs
    unsigned*   done;   // blocks of the second launch; 0 between launches
    double*     error;  // on the host
};

/// That of this block. @param S  the first one
template <class V>
__device__ System<V> system_of_block(const ResidualView& A, System<V> S)
{
    const std::size_t k = blockIdx.y, n = static_cast<std::size_t>(A.n);
    return {.stride = S.stride,
            .values = S.values + k * S.stride,
            .x = S.x + k * n,
            .b = S.b + k * n,
            .r = S.r + k * n,
            .partial = S.partial + k * static_cast<std::size_t>(A.partials),
            .worst = S.worst + k,
            .done = S.done + k,
            .error = S.error + k};
}

__device__ bool below_one(double x) { return fabs(x) < 1; }
__device__ bool below_one(cuda::Complex<double> z) { return below_one(z.re) && below_one(z.im); }
__device__ bool is_finite_number(double x) { return isfinite(x); }
__device__ bool is_finite_number(cuda::Complex<double> z) { return isfinite(z.re) && isfinite(z.im); }

/// s (Σ −a x, Σ |a x|) over entries first … end − 1 by `part` neighbouring lanes, which all get it. All lanes of the
/// warp call it, with one `part`. s multiplies the smaller factor, lest that overflow.
template <class V>
__device__ Sums<V> sum_entries(const ResidualView& A, const System<V>& S, Offset first, Offset end, int part, double s)
{
    Sums<V> own;
#pragma unroll 4
    for (Offset p = first + (static_cast<int>(threadIdx.x) & (part - 1)); p < end; p += part) {
        const V    a = S.values[A.source ? A.source[p] : p], x = S.x[A.col[p]];
        const bool small = below_one(a), both = !cuda::is_zero(a) && !cuda::is_zero(x);
        const V    a_s = small ? s * a : a, x_s = small ? x : s * x;
        own.r = eliminated(own.r, a_s, x_s);
        own.size += fmax(size_of(a_s * x_s), both ? least_number : 0);
    }
    own.r = sum_over(part, own.r);
    own.size = sum_over(part, own.size);
    return own;
}

/// The exponent of a number, biased; of complex ones that of the smaller part.
__device__ int exponent_of(double x) { return static_cast<int>(__double_as_longlong(x) >> 52) & 0x7FF; }
__device__ int exponent_of(cuda::Complex<double> z) { return min(exponent_of(z.re), exponent_of(z.im)); }

/// The slack of row_residual.hpp, times s = scale_up. Called as sum_entries is.
template <class V>
__device__ double least_step(const ResidualView& A, const System<V>& S, Offset first, Offset end, int part)
{
    constexpr int scale = 1000 - 1075;  // of scale_up, and of a step beside the exponent's bits
    double        own = __longlong_as_double(infinite);
    for (Offset p = first + (static_cast<int>(threadIdx.x) & (part - 1)); p < end; p += part) {
        const V a = S.values[A.source ? A.source[p] : p];
        if (cuda::is_zero(a)) continue;
        own = fmin(own, size_of(a) * ldexp(0.5, max(exponent_of(S.x[A.col[p]]), 1) + scale));
    }
    for (int lanes = part / 2; lanes > 0; lanes /= 2) own = fmin(own, __shfl_xor_sync(whole_warp, own, lanes));
    return isinf(own) ? 0 : own;
}

template <class V>
__device__ Sums<V> with_rhs(Sums<V> sums, V b)
{
    return {b + sums.r, size_of(b) + sums.size};
}

template <class V>
__device__ bool is_regular(const Sums<V>& sums)
{
    return is_finite_number(sums.r) && isfinite(sums.size) && (sums.size >= least_size || sums.size == 0);
}

/// What row i leaves: its residual and error. `sums` are those of entries first … end − 1 without b. All lanes of the
/// warp call it; the leading lane of a live row stores.
/// @return the bits of the error; 0 for lanes that lead no row
template <class V>
__device__ Bits finish_row(const ResidualView& A, const System<V>& S, bool live, Index i, Offset first, Offset end,
                           int part, Sums<V> sums)
{
    const V b = live ? S.b[i] : V{};
    double  s = 1, slack = 0;
    sums = with_rhs(sums, b);
    const bool regular = is_regular(sums);
    if (__any_sync(whole_warp, !regular)) {
        if (!regular) s = sums.size < least_size ? scale_up : scale_down;
        const Sums<V> scaled = with_rhs(sum_entries(A, S, first, end, part, s), s * b);
        const double  explained = least_step(A, S, first, end, part);
        if (!regular) sums = scaled;
        if (s == scale_up) slack = explained;
    }
    if (!live || (threadIdx.x & (part - 1)) != 0) return 0;
    const V r = cuda::divided(sums.r, s);
    S.r[i] = r;
    // An x_i that no entry multiplies leaves no trace in r. What is too small even when scaled is left to the host.
    if (!is_finite_number(r) || !is_regular(sums) || !is_finite_number(S.x[i])) return infinite;
    const double size = size_of(sums.r);
    return size <= slack ? 0 : static_cast<Bits>(__double_as_longlong(size / sums.size));
}

template <class V>
__device__ Bits finish_piece(const ResidualView& A, const System<V>& S, Offset number)
{
    if (number >= A.pieces) return 0;
    const ResidualRows::Piece piece = A.piece[number];
    const Offset              end = piece.first + piece.count;
    const Sums<V>             sums = sum_entries(A, S, piece.first, end, 32, 1);
    if (piece.row >= 0) return finish_row(A, S, true, piece.row, piece.first, end, 32, sums);
    if (threadIdx.x % 32 == 0) S.partial[~piece.row] = sums;
    return 0;
}

template <class V>
__device__ Bits finish_short_row(const ResidualView& A, const System<V>& S, Offset number)
{
    const bool   live = number < A.short_rows;
    const Index  i = live ? A.short_row[number] : 0;
    const Offset first = live ? A.ptr[i] : 0, end = live ? A.ptr[i + 1] : 0;
    const int    part = 1 << A.log2_part;
    return finish_row(A, S, live, i, first, end, part, sum_entries(A, S, first, end, part, 1));
}

struct Larger {
    __device__ Bits operator()(Bits x, Bits y) const { return x < y ? y : x; }
};

/// All threads of the block call it, once in a launch.
__device__ void raise(Bits* worst, Bits error)
{
    using Reduce = cub::BlockReduce<Bits, threads>;
    __shared__ typename Reduce::TempStorage shared;
    error = Reduce(shared).Reduce(error, Larger{});
    if (threadIdx.x == 0 && error > 0) atomicMax(worst, error);
}

/// Repeatable: bitwise.
template <class V>
__global__ void __launch_bounds__(threads) sum_rows(ResidualView A, System<V> first)
{
    const System<V> S = system_of_block(A, first);
    Bits            error = 0;
    if (blockIdx.x < A.piece_blocks) error = finish_piece(A, S, Offset{blockIdx.x} * warps + threadIdx.x / 32);
    else error = finish_short_row(A, S, (Offset{blockIdx.x - A.piece_blocks} * threads + threadIdx.x) >> A.log2_part);
    raise(S.worst, error);
}

/// Repeatable: bitwise.
template <class V>
__global__ void __launch_bounds__(threads) sum_long_rows(ResidualView A, System<V> first)
{
    const System<V> S = system_of_block(A, first);
    const Offset    number = Offset{blockIdx.x} * warps + threadIdx.x / 32;
    Bits            error = 0;
    if (number < A.long_rows) {
        const Index i = A.long_row[number];
        Sums<V>     sums;
        for (Index p = A.partial_ptr[number] + static_cast<Index>(threadIdx.x % 32); p < A.partial_ptr[number + 1];
             p += 32) {
            sums.r += S.partial[p].r;
            sums.size += S.partial[p].size;
        }
        sums.r = sum_over(32, sums.r);
        sums.size = sum_over(32, sums.size);
        error = finish_row(A, S, true, i, A.ptr[i], A.ptr[i + 1], 32, sums);
    }
    raise(S.worst, error);
    if (threadIdx.x != 0) return;
    __threadfence();
    if (atomicInc(S.done, gridDim.x - 1) != gridDim.x - 1) return;  // the last one makes it 0 again
    *S.error = __longlong_as_double(static_cast<long long>(min(atomicExch(S.worst, 0), infinite)));
}

/// What runs of up to `count` systems work in.
template <class V>
struct Room {
    Room() = default;
    Room(std::size_t count, std::size_t partials) : error(count), partial(count * partials), worst(count), done(count)
    {}

    HostBuffer<double>     error;  // outlives the others, whose end waits for the kernels
    DeviceBuffer<Sums<V>>  partial;
    DeviceBuffer<Bits>     worst;
    DeviceBuffer<unsigned> done;
};

}  // namespace

template <Scalar S>
struct GpuResidual<S>::State {
    using V = cuda::Value<S>;

    Room<V>      one, several;
    DeviceArrays arrays;
    ResidualView view;

    std::size_t partials() const { return static_cast<std::size_t>(view.partials); }
    Room<V>&    room_for(Index count) { return count == 1 ? one : several; }
};

template <Scalar S>
GpuResidual<S>::GpuResidual(Gpu& gpu, const LuSymbolic& symbolic, Transpose transpose)
{
    const ResidualRows rows = residual_rows(symbolic, transpose);
    gpu.make_current();
    state_ = std::make_unique<State>();
    DeviceArrays& arrays = state_->arrays;
    ResidualView& view = state_->view;
    view.log2_part = rows.log2_part;
    view.short_rows = static_cast<Index>(rows.short_row.size());
    view.pieces = static_cast<Index>(rows.piece.size());
    view.long_rows = static_cast<Index>(rows.long_row.size());
    view.piece_blocks = static_cast<unsigned>((rows.piece.size() + warps - 1) / warps);
    arrays.add(rows.ptr, view.ptr);
    arrays.add(rows.col, view.col);
    arrays.add(rows.source, view.source);
    arrays.add(rows.short_row, view.short_row);
    arrays.add(rows.piece, view.piece);
    arrays.add(rows.long_row, view.long_row);
    arrays.add(rows.partial_ptr, view.partial_ptr);
    arrays.upload(gpu);
    view.n = symbolic.n;
    view.partials = rows.partial_ptr.back();
    state_->one = {1, state_->partials()};
}
template <Scalar S>
GpuResidual<S>::~GpuResidual() = default;
template <Scalar S>
GpuResidual<S>::GpuResidual(GpuResidual&&) noexcept = default;
template <Scalar S>
GpuResidual<S>& GpuResidual<S>::operator=(GpuResidual&&) noexcept = default;

template <Scalar S>
void GpuResidual<S>::make_room(Gpu& gpu, Index count)
{
    if (count <= room()) return;
    gpu.make_current();
    state_->several = {static_cast<std::size_t>(count), state_->partials()};
}

template <Scalar S>
Index GpuResidual<S>::room() const
{
    return std::max(Index{1}, static_cast<Index>(state_->several.error.size()));
}

template <Scalar S>
std::size_t GpuResidual<S>::room_bytes() const
{
    return sizeof(Sums<cuda::Value<S>>) * state_->partials() + sizeof(Bits) + sizeof(unsigned);
}

template <Scalar S>
void GpuResidual<S>::run(Gpu& gpu, const S* values, const S* x, const S* b, S* r, Index count, std::size_t stride)
{
    require(count >= 1 && count <= room(), [&] {
        return "residuals of " + std::to_string(count) + " systems; there is room for 1 to " + std::to_string(room());
    });
    const ResidualView& A = state_->view;
    auto&               room = state_->room_for(count);
    if (A.short_rows == 0 && A.pieces == 0) return;
    const cuda::Range            range("residual");
    const auto                   stream = cuda::stream(gpu);
    const System<cuda::Value<S>> system{.stride = stride,
                                        .values = cuda::as_values(values),
                                        .x = cuda::as_values(x),
                                        .b = cuda::as_values(b),
                                        .r = cuda::as_values(r),
                                        .partial = room.partial.data(),
                                        .worst = room.worst.data(),
                                        .done = room.done.data(),
                                        .error = room.error.data()};
    const Offset                 short_threads = Offset{A.short_rows} << A.log2_part;
    const auto blocks = A.piece_blocks + static_cast<unsigned>((short_threads + threads - 1) / threads);
    const auto systems = static_cast<unsigned>(count);
    sum_rows<<<dim3(blocks, systems), threads, 0, stream>>>(A, system);
    cuda::check_launch("sum_rows");
    const auto long_blocks = static_cast<unsigned>(std::max(1, (A.long_rows + warps - 1) / warps));
    sum_long_rows<<<dim3(long_blocks, systems), threads, 0, stream>>>(A, system);
    cuda::check_launch("sum_long_rows");
}

template <Scalar S>
std::span<const double> GpuResidual<S>::backward_errors(Gpu& gpu, Index count) const
{
    gpu.synchronize();
    return std::as_const(state_->room_for(count).error).span().first(static_cast<std::size_t>(count));
}

template <Scalar S>
std::size_t GpuResidual<S>::bytes() const
{
    return state_->arrays.bytes() + room_bytes() * (1 + state_->several.error.size());
}

#define ILUX_INSTANTIATE(S) template class GpuResidual<S>;
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux

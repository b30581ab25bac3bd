// b − A x and how large it is beside |A||x| + |b|.
//
// Launch shape: in the first launch the warps of the leading blocks take a piece each, those of the others the short rows,
// several rows a warp (residual_rows.hpp). The second has a warp for each long row, which adds up its pieces, and ends with
// the block that finds itself last. The largest error is gathered by its bits, which order numbers below Inf: an integer
// maximum, whose order does not matter. Nobody waits.

#include <cub/block/block_reduce.cuh>

#include <algorithm>
#include <bit>
#include <limits>
#include <utility>

#include "ilux/base/cuda.hpp"
#include "ilux/base/host_buffer.hpp"
#include "ilux/direct/gpu_lu_refine.hpp"
#include "ilux/direct/residual_rows.hpp"
#include "ilux/sptrsv/device_arrays.hpp"
#include "ilux/sptrsv/device_row.hpp"

namespace ilux {
namespace {

using Bits = unsigned long long;

constexpr int  threads = 256;
constexpr int  warps = threads / 32;
constexpr Bits infinite = 0x7FF0'0000'0000'0000u;  // of Inf

// As lu_refine has them: sums of smaller terms lose digits to underflow, larger ones may overflow.
constexpr double least_size = 0x1p-960, scale_up = 0x1p128, scale_down = 0x1p-40;

/// Of a row, or a part of one: Σ −a x and Σ |a x|, with b at last.
struct Sums {
    double r = 0, size = 0;
};

/// As kernels get it.
struct ResidualView {
    const Offset*              ptr = nullptr;
    const Index*               col = nullptr;
    const std::int32_t*        source = nullptr;  // null: the identity
    const Index*               short_row = nullptr;
    const ResidualRows::Piece* piece = nullptr;
    const Index*               long_row = nullptr;
    const Index*               partial_ptr = nullptr;
    Sums*                      partial = nullptr;
    Bits*                      worst = nullptr;  // of the errors so far; 0 between runs
    unsigned*                  done = nullptr;   // blocks of the second launch; 0 between launches
    int                        log2_part = 0;
    Index                      short_rows = 0, pieces = 0, long_rows = 0;
    unsigned                   piece_blocks = 0;
};

/// The system that the values and vectors of this run make.
struct System {
    const double *values, *x, *b;
    double*       r;
};

/// s (Σ −a x, Σ |a x|) over entries first … end − 1 by `part` neighbouring lanes, which all get it. All lanes of the warp call
/// it, with one `part`. s multiplies the smaller factor, lest that overflow.
__device__ Sums sum_entries(const ResidualView& A, const System& S, Offset first, Offset end, int part, double s)
{
    Sums own;
#pragma unroll 4
    for (Offset p = first + (static_cast<int>(threadIdx.x) & (part - 1)); p < end; p += part) {
        const double a = S.values[A.source ? A.source[p] : p], x = S.x[A.col[p]];
        const bool   small = fabs(a) < 1;
        const double a_s = small ? s * a : a, x_s = small ? x : s * x;
        own.r = fma(-a_s, x_s, own.r);
        own.size += fabs(a_s * x_s);
    }
    own.r = sum_over(part, own.r);
    own.size = sum_over(part, own.size);
    return own;
}

__device__ Sums with_rhs(Sums sums, double b) { return {b + sums.r, fabs(b) + sums.size}; }

__device__ bool is_regular(const Sums& sums)
{
    return isfinite(sums.r) && isfinite(sums.size) && (sums.size >= least_size || sums.size == 0);
}

/// What row i leaves: its residual and error. `sums` are those of entries first … end − 1 without b. All lanes of the warp call
/// it; the leading lane of a live row stores.
/// @return the bits of the error; 0 for lanes that lead no row
__device__ Bits finish_row(const ResidualView& A, const System& S, bool live, Index i, Offset first, Offset end,
                           int part, Sums sums)
{
    const double b = live ? S.b[i] : 0;
    double       s = 1;
    sums = with_rhs(sums, b);
    const bool regular = is_regular(sums);
    if (__any_sync(whole_warp, !regular)) {
        if (!regular) s = sums.size < least_size ? scale_up : scale_down;
        const Sums scaled = with_rhs(sum_entries(A, S, first, end, part, s), s * b);
        if (!regular) sums = scaled;
    }
    if (!live || (threadIdx.x & (part - 1)) != 0) return 0;
    const double r = sums.r / s;
    S.r[i] = r;
    // An x_i that no entry multiplies leaves no trace in r.
    if (!isfinite(r) || !isfinite(sums.size) || !isfinite(S.x[i])) return infinite;
    return sums.r == 0 ? 0 : static_cast<Bits>(__double_as_longlong(fabs(sums.r / sums.size)));
}

__device__ Bits finish_piece(const ResidualView& A, const System& S, Offset number)
{
    if (number >= A.pieces) return 0;
    const ResidualRows::Piece piece = A.piece[number];
    const Offset              end = piece.first + piece.count;
    const Sums                sums = sum_entries(A, S, piece.first, end, 32, 1);
    if (piece.row >= 0) return finish_row(A, S, true, piece.row, piece.first, end, 32, sums);
    if (threadIdx.x % 32 == 0) A.partial[~piece.row] = sums;
    return 0;
}

__device__ Bits finish_short_row(const ResidualView& A, const System& S, Offset number)
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
__global__ void __launch_bounds__(threads) sum_rows(ResidualView A, System S)
{
    Bits error = 0;
    if (blockIdx.x < A.piece_blocks) error = finish_piece(A, S, Offset{blockIdx.x} * warps + threadIdx.x / 32);
    else error = finish_short_row(A, S, (Offset{blockIdx.x - A.piece_blocks} * threads + threadIdx.x) >> A.log2_part);
    raise(A.worst, error);
}

/// Repeatable: bitwise.
__global__ void __launch_bounds__(threads) sum_long_rows(ResidualView A, System S, Bits* result)
{
    const Offset number = Offset{blockIdx.x} * warps + threadIdx.x / 32;
    Bits         error = 0;
    if (number < A.long_rows) {
        const Index i = A.long_row[number];
        Sums        sums;
        for (Index p = A.partial_ptr[number] + static_cast<Index>(threadIdx.x % 32); p < A.partial_ptr[number + 1];
             p += 32) {
            sums.r += A.partial[p].r;
            sums.size += A.partial[p].size;
        }
        sums.r = sum_over(32, sums.r);
        sums.size = sum_over(32, sums.size);
        error = finish_row(A, S, true, i, A.ptr[i], A.ptr[i + 1], 32, sums);
    }
    raise(A.worst, error);
    if (threadIdx.x != 0) return;
    __threadfence();
    if (atomicInc(A.done, gridDim.x - 1) != gridDim.x - 1) return;  // the last one makes it 0 again
    *result = atomicExch(A.worst, 0);
}

}  // namespace

struct GpuResidual::State {
    HostBuffer<Bits> error{1};  // outlives the arrays, whose end waits for the kernels
    DeviceArrays     arrays;
    ResidualView     view;
};

GpuResidual::GpuResidual(Gpu& gpu, const LuSymbolic& symbolic, Transpose transpose)
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
    arrays.room(static_cast<std::size_t>(rows.partial_ptr.back()), view.partial);
    arrays.room(1, view.worst);
    arrays.room(1, view.done);
    arrays.upload(gpu);
}
GpuResidual::~GpuResidual() = default;
GpuResidual::GpuResidual(GpuResidual&&) noexcept = default;
GpuResidual& GpuResidual::operator=(GpuResidual&&) noexcept = default;

void GpuResidual::run(Gpu& gpu, const double* values, const double* x, const double* b, double* r)
{
    const ResidualView& A = state_->view;
    if (A.short_rows == 0 && A.pieces == 0) return;
    const cuda::Range range("residual");
    const auto        stream = cuda::stream(gpu);
    const System      system{values, x, b, r};
    const Offset      short_threads = Offset{A.short_rows} << A.log2_part;
    const auto        blocks = A.piece_blocks + static_cast<unsigned>((short_threads + threads - 1) / threads);
    sum_rows<<<blocks, threads, 0, stream>>>(A, system);
    cuda::check_launch("sum_rows");
    const auto long_blocks = static_cast<unsigned>(std::max(1, (A.long_rows + warps - 1) / warps));
    sum_long_rows<<<long_blocks, threads, 0, stream>>>(A, system, state_->error.data());
    cuda::check_launch("sum_long_rows");
}

double GpuResidual::backward_error(Gpu& gpu) const
{
    gpu.synchronize();
    const Bits bits = state_->error[0];
    return bits < infinite ? std::bit_cast<double>(bits) : std::numeric_limits<double>::infinity();
}

std::size_t GpuResidual::bytes() const { return state_->arrays.bytes(); }

}  // namespace ilux

// y ← a A x + b y for a matrix in device memory.
//
// One launch: its first blocks add the segments of the long rows, a block a segment; in the others `lanes` neighbouring
// threads share each of the remaining rows. Rows of several segments are finished by a second launch, a warp a row.

#include "ilux/base/gpu/cuda_reduce.hpp"
#include "ilux/base/gpu/device_csr.hpp"
#include "ilux/base/instances.hpp"

namespace ilux {
namespace {

constexpr int block_size = 256;

/// The arguments of one product.
template <class T, class S>
struct Product {
    using Sum = S;
    Index                     rows;
    Offset                    longest;
    const Offset*             row_ptr;
    const Index*              col;
    const T*                  val;
    const detail::RowSegment* segments;
    unsigned                  segment_count;
    const Sum*                x;
    Sum*                      y;
    Sum*                      slots;
    Sum                       a, b;

    __device__ void add(Offset p, Sum& sum) const
    {
        const Sum a_ij = cuda::converted<Sum>(cuda::load_constant(val + p));
        sum = cuda::plus_product(sum, a_ij, cuda::load_constant(x + __ldg(col + p)));
    }
    __device__ void store(Index i, Sum sum) const { y[i] = cuda::is_zero(b) ? a * sum : a * sum + b * y[i]; }
};

template <class T, class S>
__device__ void add_segment(const Product<T, S>& of, const detail::RowSegment& segment)
{
    S sum{};
#pragma unroll 4
    for (Offset p = segment.begin + threadIdx.x; p < segment.end; p += block_size) of.add(p, sum);
    sum = cuda::over_block<cuda::Add, block_size>(sum);
    if (threadIdx.x != 0) return;
    if (segment.slot < 0) of.store(segment.row, sum);
    else of.slots[segment.slot] = sum;
}

template <int lanes, class T, class S>
__global__ void __launch_bounds__(block_size) multiply(const Product<T, S> of)
{
    if (blockIdx.x < of.segment_count) return add_segment(of, of.segments[blockIdx.x]);

    const Offset i = Offset{blockIdx.x - of.segment_count} * (block_size / lanes) + threadIdx.x / lanes;
    const int    lane = threadIdx.x % lanes;
    Offset       begin = 0, end = 0;
    if (i < of.rows) {
        begin = __ldg(of.row_ptr + i);
        end = __ldg(of.row_ptr + i + 1);
    }
    const bool mine = i < of.rows && end - begin <= of.longest;
    S          sum{};
    if (mine) {
#pragma unroll 4
        for (Offset p = begin + lane; p < end; p += lanes) of.add(p, sum);
    }
    sum = cuda::over_lanes<cuda::Add, lanes>(sum);
    if (mine && lane == 0) of.store(static_cast<Index>(i), sum);
}

/// y_i from the sums of row i's segments, in order of their lanes.
template <class T, class S>
__global__ void __launch_bounds__(block_size) finish(const Product<T, S> of, const detail::SplitRow* split, int count)
{
    const int    lane = threadIdx.x % 32;
    const Offset which = Offset{blockIdx.x} * (block_size / 32) + threadIdx.x / 32;
    if (which >= count) return;  // whole warps
    const detail::SplitRow row = split[which];
    S                      sum{};
    for (int slot = row.first + lane; slot < row.last; slot += 32) sum += of.slots[slot];
    sum = cuda::over_lanes<cuda::Add>(sum);
    if (lane == 0) of.store(row.row, sum);
}

template <class T, class S>
auto kernel_for(int lanes)
{
    switch (lanes) {
        case 1:
            return multiply<1, T, S>;
        case 2:
            return multiply<2, T, S>;
        case 4:
            return multiply<4, T, S>;
        case 8:
            return multiply<8, T, S>;
        case 16:
            return multiply<16, T, S>;
        default:
            return multiply<32, T, S>;
    }
}

}  // namespace

template <class T, class S>
void spmv(Gpu& be, NotDeduced<S> a, const DeviceCsr<T>& A, DeviceSpan<const NotDeduced<S>> x, NotDeduced<S> b,
          DeviceSpan<NotDeduced<S>> y)
{
    const cuda::Range range("spmv");
    ILUX_ASSERT(x.size() == static_cast<std::size_t>(A.cols()) && y.size() == static_cast<std::size_t>(A.rows()));
    static_assert(detail::max_row_slots * sizeof(S) <= cuda::max_partials * sizeof(double));
    if (A.rows() == 0) return;
    const auto stream = cuda::stream(be);
    using V = cuda::Value<T>;
    using W = cuda::Value<S>;
    const Product<V, W> of{A.rows(),
                           A.longest(),
                           A.row_ptr().data(),
                           A.col().data(),
                           cuda::as_values(A.val().data()),
                           A.segments().data(),
                           static_cast<unsigned>(A.segments().size()),
                           cuda::as_values(x.data()),
                           cuda::as_values(y.data()),
                           reinterpret_cast<cuda::Value<S>*>(be.state().partial.data()),
                           cuda::as_value(a),
                           cuda::as_value(b)};
    const Offset        rows_a_block = block_size / A.lanes();
    const auto          blocks = static_cast<unsigned>((A.rows() + rows_a_block - 1) / rows_a_block);
    kernel_for<V, W>(A.lanes())<<<of.segment_count + blocks, block_size, 0, stream>>>(of);
    cuda::check_launch("spmv");
    if (A.split().empty()) return;
    const auto split = static_cast<int>(A.split().size());
    finish<<<(split + block_size / 32 - 1) / (block_size / 32), block_size, 0, stream>>>(of, A.split().data(), split);
    cuda::check_launch("spmv");
}

#define ILUX_PRODUCT(T, S) \
    template void spmv<T, S>(Gpu&, S, const DeviceCsr<T>&, DeviceSpan<const S>, S, DeviceSpan<S>);
#define ILUX_INSTANTIATE(T) ILUX_PRODUCT(T, working_of<T>)
ILUX_STORED(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE
#define ILUX_INSTANTIATE(T) ILUX_PRODUCT(T, T)
ILUX_SINGLES(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE
#undef ILUX_PRODUCT

}  // namespace ilux

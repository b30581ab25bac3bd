// A dense matrix inverted by halves: with A = [A₁₁ A₁₂; A₂₁ A₂₂], W₁ = A₁₁⁻¹ and W₂ = (A₂₂ − A₂₁ W₁ A₁₂)⁻¹ the inverse
// is [W₁ + X B₂₁, X W₂; B₂₁, W₂], X = −W₁ A₁₂ and B₂₁ = −W₂ A₂₁ W₁.

#include <cmath>
#include <vector>

#include "ilux/base/gpu/cuda.hpp"
#include "ilux/base/gpu/device_value.hpp"
#include "ilux/base/instances.hpp"
#include "ilux/precond/gpu_rounds/block_inverse.hpp"

namespace ilux::rounds {
namespace {

constexpr int edge = 64, depth = 16;          // of a tile of C, and of what goes into it at once
constexpr int side = 16, each = edge / side;  // threads beside one another; rows and columns of a thread

/// C ← C + sign A B, or sign A B alone. Matrices by columns, so many numbers from one column to the next.
template <class V>
struct Product {
    const V *A, *B;
    V*       C;
    Index    A_step, B_step, C_step;
    Index    rows, cols, inner;
    double   sign = 1;
    bool     adds = false;
};

template <class V>
__device__ V part_of(const V* A, Index step, Index i, Index j, bool inside)
{
    return inside ? A[static_cast<std::size_t>(j) * step + i] : V{};
}

/// A block has a tile of C, a thread every 16th row and column of it; A and B pass by in slices of 16.
template <class V>
__global__ void __launch_bounds__(side* side) multiply(Product<V> in)
{
    __shared__ V a[depth][edge], b[depth][edge + 1];
    const Index  first_row = static_cast<Index>(blockIdx.x) * edge, first_col = static_cast<Index>(blockIdx.y) * edge;
    const int    thread = static_cast<int>(threadIdx.x), at_row = thread % side, at_col = thread / side;
    V            sum[each][each] = {};
    for (Index from = 0; from < in.inner; from += depth) {
        for (int e = thread; e < edge * depth; e += side * side) {
            const int   i = e % edge, of_A = e / edge, of_B = e % depth, j = e / depth;
            const Index row = first_row + i, col = first_col + j;
            a[of_A][i] = in.sign * part_of(in.A, in.A_step, row, from + of_A, row < in.rows && from + of_A < in.inner);
            b[of_B][j] = part_of(in.B, in.B_step, from + of_B, col, col < in.cols && from + of_B < in.inner);
        }
        __syncthreads();
#pragma unroll
        for (int k = 0; k < depth; ++k)
#pragma unroll
            for (int r = 0; r < each; ++r)
#pragma unroll
                for (int c = 0; c < each; ++c)
                    sum[r][c] = cuda::plus_product(sum[r][c], a[k][at_row + side * r], b[k][at_col + side * c]);
        __syncthreads();
    }
    for (int c = 0; c < each; ++c)
        for (int r = 0; r < each; ++r) {
            const Index i = first_row + at_row + side * r, j = first_col + at_col + side * c;
            if (i >= in.rows || j >= in.cols) continue;
            V& to = in.C[static_cast<std::size_t>(j) * in.C_step + i];
            to = in.adds ? sum[r][c] + to : sum[r][c];
        }
}

template <class V>
void launch(Gpu& gpu, const Product<V>& product)
{
    const auto tiles = [](Index n) { return static_cast<unsigned>((n + edge - 1) / edge); };
    multiply<V><<<dim3(tiles(product.rows), tiles(product.cols)), side * side, 0, cuda::stream(gpu)>>>(product);
    cuda::check_launch("multiply");
}

/// Columns of one matrix, or a part of it, to another.
template <class V>
void copy_part(Gpu& gpu, const V* from, Index from_step, V* to, Index to_step, Index rows, Index cols)
{
    cuda::check(cudaMemcpy2DAsync(to, to_step * sizeof(V), from, from_step * sizeof(V), rows * sizeof(V), cols,
                                  cudaMemcpyDeviceToDevice, cuda::stream(gpu)),
                "cudaMemcpy2DAsync");
}

}  // namespace

template <Scalar S>
std::optional<DeviceBuffer<S>> invert_by_blocks(Gpu& gpu, DeviceBuffer<S> A, Index n, bool definite, Extremes& found)
{
    if (fits_at_once<S>(gpu, n)) return invert_at_once<S>(gpu, std::move(A), n, definite, found);
    using V = cuda::Value<S>;
    const Index n1 = (n + 1) / 2, n2 = n - n1;
    const auto  size = [](Index rows, Index cols) { return static_cast<std::size_t>(rows) * cols; };
    V* const    A11 = cuda::as_values(A.data());
    V* const    A12 = A11 + size(n, n1);
    V* const    A21 = A11 + n1;
    V* const    A22 = A12 + n1;
    const auto  inverse_of = [&](const V* part, Index order) {
        DeviceBuffer<S> copy(size(order, order));
        copy_part(gpu, part, n, cuda::as_values(copy.data()), order, order, order);
        return invert_by_blocks<S>(gpu, std::move(copy), order, definite, found);
    };
    const auto W1 = inverse_of(A11, n1);
    if (!W1) return {};
    const V* const  w1 = cuda::as_values(W1->data());
    DeviceBuffer<S> X_values(size(n1, n2)), Y_values(size(n2, n1));
    V* const        X = cuda::as_values(X_values.data());
    V* const        Y = cuda::as_values(Y_values.data());
    launch<V>(gpu, {w1, A12, X, n1, n, n1, n1, n2, n1, -1, false});
    launch<V>(gpu, {A21, w1, Y, n, n1, n2, n2, n1, n1, -1, false});
    launch<V>(gpu, {A21, X, A22, n, n1, n, n2, n2, n1, 1, true});
    const auto W2 = inverse_of(A22, n2);
    if (!W2) return {};
    const V* const w2 = cuda::as_values(W2->data());
    copy_part(gpu, w1, n1, A11, n, n1, n1);
    copy_part(gpu, w2, n2, A22, n, n2, n2);
    launch<V>(gpu, {X, w2, A12, n1, n2, n, n1, n2, n2, 1, false});
    launch<V>(gpu, {w2, Y, A21, n2, n2, n, n2, n1, n2, 1, false});
    launch<V>(gpu, {X, A21, A11, n1, n, n, n1, n1, n2, 1, true});
    gpu.synchronize();  // for what they read
    return A;
}

template <Scalar S>
double defect_of_inverse(Gpu& gpu, const DeviceBuffer<S>& A, const DeviceBuffer<S>& W, Index n)
{
    using V = cuda::Value<S>;
    std::vector<S>  numbers(n, S(1));
    DeviceBuffer<S> e(n), x(n), y(n);
    upload<S>(gpu, numbers, e);
    launch<V>(gpu, {cuda::as_values(W.data()), cuda::as_values(e.data()), cuda::as_values(x.data()), n, n, n, n, 1, n});
    launch<V>(gpu, {cuda::as_values(A.data()), cuda::as_values(x.data()), cuda::as_values(y.data()), n, n, n, n, 1, n});
    download<S>(gpu, y, numbers);
    double largest = 0;
    for (const S number : numbers) {
        const double off = std::abs(number - S(1));
        largest = off <= largest ? largest : off;  // NaN stays
    }
    return largest;
}

#define ILUX_INSTANTIATE(S)                                                                                  \
    template std::optional<DeviceBuffer<S>> invert_by_blocks(Gpu&, DeviceBuffer<S>, Index, bool, Extremes&); \
    template double defect_of_inverse(Gpu&, const DeviceBuffer<S>&, const DeviceBuffer<S>&, Index);
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux::rounds

// The vector primitives of Backend on a Gpu; those of blocks of vectors are in gpu_blocks.cu.
//
// Element-wise: one thread an element, grid-stride. Reductions, one launch: `chunks(n)` blocks sum a chunk each
// (threads stride by the block, then a shuffle tree); the block that ends last adds the chunks. Both orders depend on n
// alone.

#include <algorithm>
#include <cmath>

#include "ilux/base/gpu/cuda_reduce.hpp"
#include "ilux/base/gpu/gpu_instances.hpp"
#include "ilux/base/instances.hpp"

namespace ilux {
namespace {

using cuda::check;

constexpr int block_size = 256;
constexpr int max_chunks = 1024;
constexpr int chunk_size = 8 * block_size;  // per block at least: fewer values do not pay for its partial sum

int chunks(std::size_t n)
{
    return static_cast<int>(std::clamp<std::size_t>((n + chunk_size - 1) / chunk_size, 1, max_chunks));
}

/// The terms that one i adds to `count` sums.
template <int count>
struct Terms {
    double of[count];
};

/// sums[v] ← Op over i < n of term(i).of[v]. 0 is neutral: terms of Largest are ≥ 0.
template <int count, class Op, class Term>
__global__ void reduce_all(std::size_t n, Term term, double* partial, unsigned* ticket, double* sums)
{
    const std::size_t chunk = (n + gridDim.x - 1) / gridDim.x;
    const std::size_t begin = blockIdx.x * chunk;
    const std::size_t end = begin + chunk < n ? begin + chunk : n;
    double            value[count] = {};
#pragma unroll 4
    for (std::size_t i = begin + threadIdx.x; i < end; i += block_size) {
        const Terms<count> terms = term(i);
        for (int v = 0; v < count; ++v) value[v] = Op::combine(value[v], terms.of[v]);
    }
    for (int v = 0; v < count; ++v) {
        value[v] = cuda::over_block<Op, block_size>(value[v]);
        if (threadIdx.x == 0) (gridDim.x == 1 ? sums : partial)[v * gridDim.x + blockIdx.x] = value[v];
    }
    if (gridDim.x == 1 || !cuda::last_of(gridDim.x, ticket)) return;
    for (int v = 0; v < count; ++v) {
        double sum = 0;
        for (int c = threadIdx.x; c < gridDim.x; c += block_size)
            sum = Op::combine(sum, __ldcg(partial + v * gridDim.x + c));
        sum = cuda::over_block<Op, block_size>(sum);
        if (threadIdx.x == 0) sums[v] = sum;
    }
}

/// Op over i < n of the terms; waits for it.
template <int count, class Op = cuda::Add, class Term>
Terms<count> reduce(Gpu& be, const char* name, std::size_t n, Term term)
{
    const cuda::Range range(name);
    const auto        stream = cuda::stream(be);
    auto&             state = be.state();
    Terms<count>      result{};
    if (n == 0) return result;
    reduce_all<count, Op>
        <<<chunks(n), block_size, 0, stream>>>(n, term, state.partial.data(), state.tickets.data(), state.sums);
    cuda::check_launch(name);
    check(cudaStreamSynchronize(stream), name);
    std::copy_n(state.sums, count, result.of);
    return result;
}

template <class Body>
__global__ void call_each(std::size_t n, Body body)
{
    const std::size_t stride = std::size_t(gridDim.x) * block_size;
    for (std::size_t i = std::size_t(blockIdx.x) * block_size + threadIdx.x; i < n; i += stride) body(i);
}

template <class Body>
void for_each(Gpu& be, const char* name, std::size_t n, Body body)
{
    const cuda::Range range(name);
    const auto        stream = cuda::stream(be);
    if (n == 0) return;
    const auto blocks = std::min<std::size_t>((n + block_size - 1) / block_size, 1 << 16);
    call_each<<<static_cast<unsigned>(blocks), block_size, 0, stream>>>(n, body);
    cuda::check_launch(name);
}

/// z, and then |y|² where it is wanted, as terms.
__device__ Terms<1> terms_of(double x) { return {x}; }
__device__ Terms<2> terms_of(cuda::Complex<double> z) { return {{z.re, z.im}}; }
__device__ Terms<2> terms_of(double x, double square) { return {{x, square}}; }
__device__ Terms<3> terms_of(cuda::Complex<double> z, double square) { return {{z.re, z.im, square}}; }

/// x̄ y in double.
template <class V>
__device__ working_of<V> inner_product(V x, V y)
{
    return cuda::conjugate(cuda::widened(x)) * cuda::widened(y);
}

/// The number that the first terms are.
template <class S, int count>
S first_of(const Terms<count>& terms)
{
    using Real = real_of<S>;
    if constexpr (is_complex<S>) return {static_cast<Real>(terms.of[0]), static_cast<Real>(terms.of[1])};
    else return static_cast<Real>(terms.of[0]);
}

/// ‖v‖₂ from Σ v_i², or, where that may have under- or overflowed, by two more sums.
template <class V>
double norm_from(double squares, Gpu& be, const V* v, std::size_t n)
{
    if (squares > 1e-280 && std::isfinite(squares)) return std::sqrt(squares);
    const double largest = reduce<1, cuda::Largest>(be, "norm2", n, [v] __device__(std::size_t i) {
                               return Terms<1>{cuda::magnitude(cuda::widened(v[i]))};
                           }).of[0];
    if (largest == 0 || !std::isfinite(largest)) return largest;
    const auto scaled = reduce<1>(be, "norm2", n, [v, largest] __device__(std::size_t i) {
        return Terms<1>{cuda::squared(cuda::divided(cuda::widened(v[i]), largest))};
    });
    return largest * std::sqrt(scaled.of[0]);
}

}  // namespace

template <class S>
S dot(Gpu& be, DeviceSpan<const NotDeduced<S>> x, DeviceSpan<const NotDeduced<S>> y)
{
    ILUX_ASSERT(x.size() == y.size());
    const auto term = [x = cuda::as_values(x.data()), y = cuda::as_values(y.data())] __device__(std::size_t i) {
        return terms_of(inner_product(x[i], y[i]));
    };
    return first_of<S>(reduce<cuda::parts<cuda::Value<S>>>(be, "dot", x.size(), term));
}

template <class S>
S dotu(Gpu& be, DeviceSpan<const NotDeduced<S>> x, DeviceSpan<const NotDeduced<S>> y)
{
    ILUX_ASSERT(x.size() == y.size());
    const auto term = [x = cuda::as_values(x.data()), y = cuda::as_values(y.data())] __device__(std::size_t i) {
        return terms_of(cuda::widened(x[i]) * cuda::widened(y[i]));
    };
    return first_of<S>(reduce<cuda::parts<cuda::Value<S>>>(be, "dotu", x.size(), term));
}

template <class S>
real_of<S> norm2(Gpu& be, DeviceSpan<const NotDeduced<S>> x)
{
    const auto* v = cuda::as_values(x.data());
    const auto  squares = reduce<1>(be, "norm2", x.size(), [v] __device__(std::size_t i) {
        return Terms<1>{cuda::squared(cuda::widened(v[i]))};
    });
    return static_cast<real_of<S>>(norm_from(squares.of[0], be, v, x.size()));
}

template <class S>
DotNorm<S> dot_norm(Gpu& be, DeviceSpan<const NotDeduced<S>> x, DeviceSpan<const NotDeduced<S>> y)
{
    ILUX_ASSERT(x.size() == y.size());
    constexpr int parts = cuda::parts<cuda::Value<S>>;
    const auto    both =
        reduce<parts + 1>(be, "dot_norm", x.size(),
                          [x = cuda::as_values(x.data()), y = cuda::as_values(y.data())] __device__(std::size_t i) {
                              return terms_of(inner_product(x[i], y[i]), cuda::squared(cuda::widened(y[i])));
                          });
    const double norm = norm_from(both.of[parts], be, cuda::as_values(y.data()), y.size());
    return {first_of<S>(both), static_cast<real_of<S>>(norm)};
}

template <class S>
bool is_finite(Gpu& be, DeviceSpan<const NotDeduced<S>> x)
{
    return reduce<1>(be, "is_finite", x.size(), [v = cuda::as_values(x.data())] __device__(std::size_t i) {
               return Terms<1>{isfinite(cuda::magnitude(cuda::widened(v[i]))) ? 0. : 1.};
           }).of[0] == 0;
}

template <class S>
void copy(Gpu& be, DeviceSpan<const NotDeduced<S>> x, DeviceSpan<NotDeduced<S>> y)
{
    ILUX_ASSERT(x.size() == y.size());
    for_each(be, "copy", x.size(),
             [x = cuda::as_values(x.data()), y = cuda::as_values(y.data())] __device__(std::size_t i) { y[i] = x[i]; });
}

template <class S>
void fill(Gpu& be, NotDeduced<S> a, DeviceSpan<NotDeduced<S>> y)
{
    for_each(be, "fill", y.size(),
             [a = cuda::as_value(a), y = cuda::as_values(y.data())] __device__(std::size_t i) { y[i] = a; });
}

template <class S>
void scale(Gpu& be, NotDeduced<S> a, DeviceSpan<NotDeduced<S>> y)
{
    for_each(be, "scale", y.size(),
             [a = cuda::as_value(a), y = cuda::as_values(y.data())] __device__(std::size_t i) { y[i] = a * y[i]; });
}

template <class S>
void axpy(Gpu& be, NotDeduced<S> a, DeviceSpan<const NotDeduced<S>> x, DeviceSpan<NotDeduced<S>> y)
{
    ILUX_ASSERT(x.size() == y.size());
    for_each(be, "axpy", x.size(),
             [a = cuda::as_value(a), x = cuda::as_values(x.data()),
              y = cuda::as_values(y.data())] __device__(std::size_t i) { y[i] += a * x[i]; });
}

template <class S>
void axpby(Gpu& be, NotDeduced<S> a, DeviceSpan<const NotDeduced<S>> x, NotDeduced<S> b, DeviceSpan<NotDeduced<S>> y)
{
    ILUX_ASSERT(x.size() == y.size());
    for_each(be, "axpby", x.size(),
             [a = cuda::as_value(a), b = cuda::as_value(b), x = cuda::as_values(x.data()),
              y = cuda::as_values(y.data())] __device__(std::size_t i) { y[i] = a * x[i] + b * y[i]; });
}

template <class S>
void multiply(Gpu& be, DeviceSpan<const NotDeduced<S>> d, DeviceSpan<const NotDeduced<S>> x,
              DeviceSpan<NotDeduced<S>> y)
{
    ILUX_ASSERT(d.size() == y.size() && x.size() == y.size());
    for_each(be, "multiply", x.size(),
             [d = cuda::as_values(d.data()), x = cuda::as_values(x.data()),
              y = cuda::as_values(y.data())] __device__(std::size_t i) { y[i] = d[i] * x[i]; });
}

template <class S>
void narrow(Gpu& be, double a, DeviceSpan<const NotDeduced<S>> x, DeviceSpan<single_of<NotDeduced<S>>> y)
{
    ILUX_ASSERT(x.size() == y.size());
    using Single = cuda::Value<single_of<S>>;
    for_each(be, "narrow", x.size(),
             [a, x = cuda::as_values(x.data()), y = cuda::as_values(y.data())] __device__(std::size_t i) {
                 y[i] = cuda::converted<Single>(a * x[i]);
             });
}

template <class S>
void widen(Gpu& be, DeviceSpan<const single_of<NotDeduced<S>>> x, DeviceSpan<NotDeduced<S>> y)
{
    ILUX_ASSERT(x.size() == y.size());
    for_each(be, "widen", x.size(),
             [x = cuda::as_values(x.data()), y = cuda::as_values(y.data())] __device__(std::size_t i) {
                 y[i] = cuda::widened(x[i]);
             });
}

ILUX_WORKING(ILUX_GPU_VECTOR_PRIMITIVES)
ILUX_SCALARS(ILUX_GPU_PRECISION_PRIMITIVES)

}  // namespace ilux

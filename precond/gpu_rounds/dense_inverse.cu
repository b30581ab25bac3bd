// A dense matrix inverted in place by one cooperative launch. Every block keeps some columns in shared memory; the
// block with the pivot's column publishes it, and all others wait for that. The next pivot's column is updated and
// published first.

#include <algorithm>
#include <bit>
#include <numeric>

#include "ilux/base/instances.hpp"
#include "ilux/precond/gpu_rounds/block_inverse.hpp"
#include "ilux/precond/gpu_rounds/dense_inverse.hpp"
#include "ilux/precond/gpu_rounds/launch.hpp"
#include "ilux/precond/mlilu/dense_level.hpp"

namespace ilux::rounds {
namespace {

using cuda::check;

constexpr int    threads = 512;
constexpr int    most_rows = 4;        // a thread
constexpr double least_pivot = 1e-11;  // relative to the largest entry: less, and the host judges the rank

template <class V>
struct Inversion {
    Index     n;
    int       columns;  ///< a block, at most
    bool      definite;
    V*        matrix;     ///< n×n by columns; afterwards the inverse, its columns in the order of the pivots' rows
    V*        published;  ///< n×n: column k when its pivot is taken
    Index*    pivot;      ///< n: the row that was exchanged with row k
    unsigned* ready;      ///< n
    Extremes* extremes;
};

/// The block's columns, and what all its threads share.
template <class V>
struct Slab {
    V* column;  ///< columns × n
    V* factor;  ///< columns

    __device__ V* of(const Inversion<V>& in, Index j) const
    {
        return column + static_cast<std::size_t>(j / static_cast<Index>(gridDim.x)) * in.n;
    }
    __device__ bool has(const Inversion<V>& in, Index j) const
    {
        return j < in.n && j % static_cast<Index>(gridDim.x) == static_cast<Index>(blockIdx.x);
    }
};

/// The row, from k on, with the largest magnitude; the first of equal ones. All threads get it.
template <class V>
__device__ Index largest_from(const V* column, Index k, Index n)
{
    __shared__ double of_warp[threads / 32];
    __shared__ Index  row_of_warp[threads / 32];
    double            best = -1;
    Index             at = k;
    for (Index i = k + static_cast<Index>(threadIdx.x); i < n; i += threads)
        if (const double size = modulus(column[i]); size > best) best = size, at = i;
    const auto take = [&](double other, Index other_at) {
        if (other > best || (other == best && other_at < at)) best = other, at = other_at;
    };
    for (int step = 16; step > 0; step /= 2) {
        const double other = __shfl_xor_sync(~0U, best, step);
        take(other, __shfl_xor_sync(~0U, at, step));
    }
    __syncthreads();
    if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = best, row_of_warp[threadIdx.x / 32] = at;
    __syncthreads();
    best = of_warp[0], at = row_of_warp[0];
    for (int w = 1; w < threads / 32; ++w) take(of_warp[w], row_of_warp[w]);
    return at;
}

/// Column k, up to date, with its pivot in row k.
template <class V>
__device__ void publish(const Inversion<V>& in, const Slab<V>& slab, Index k)
{
    V* const    column = slab.of(in, k);
    const Index p = in.definite ? k : largest_from(column, k, in.n);
    __syncthreads();
    if (threadIdx.x == 0) {
        const V pivot = column[p];
        column[p] = column[k];
        column[k] = pivot;
        in.pivot[k] = p;
        if (!cuda::is_finite(pivot) || (in.definite && cuda::real_part(pivot) <= 0)) in.extremes->wrong = 1;
        atomicMin(&in.extremes->smallest, bits_of(modulus(pivot)));
        atomicMax(&in.extremes->largest, bits_of(modulus(pivot)));
    }
    __syncthreads();
    for (Index i = static_cast<Index>(threadIdx.x); i < in.n; i += threads)
        in.published[static_cast<std::size_t>(k) * in.n + i] = column[i];
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) atomicExch(in.ready + k, 1U);
}

template <class V>
__device__ void await(const Inversion<V>& in, Index k)
{
    if (threadIdx.x == 0) {
        unsigned ready = 0;
        do asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(ready) : "l"(in.ready + k) : "memory");
        while (ready == 0);
    }
    __syncthreads();
}

/// a_i ← a_i − c_i f, but for row k.
template <class V>
__device__ void update(V* column, const V (&c)[most_rows], V f, Index k, Index n)
{
#pragma unroll
    for (int r = 0; r < most_rows; ++r) {
        const Index i = static_cast<Index>(threadIdx.x) + r * threads;
        if (i < n && i != k) column[i] = cuda::minus_product(column[i], c[r], f);
    }
}

/// Rows k and p exchanged in the block's columns but k; the factor of each.
template <class V>
__device__ void exchange_rows(const Inversion<V>& in, const Slab<V>& slab, Index k, Index p, V pivot)
{
    const Index j = static_cast<Index>(threadIdx.x * gridDim.x + blockIdx.x);
    if (j < in.n && j != k) {
        V* const column = slab.of(in, j);
        const V  above = column[k], f = Divisor<V>(pivot)(column[p]);
        column[p] = above;
        column[k] = f;
        slab.factor[threadIdx.x] = f;
    }
    __syncthreads();
}

template <class V>
__device__ void step(const Inversion<V>& in, const Slab<V>& slab, Index k)
{
    const V* published = in.published + static_cast<std::size_t>(k) * in.n;
    V        c[most_rows];
#pragma unroll
    for (int r = 0; r < most_rows; ++r) {
        const Index i = static_cast<Index>(threadIdx.x) + r * threads;
        c[r] = i < in.n ? loaded_past_cache(published + i) : V{};
    }
    const V pivot = loaded_past_cache(published + k);
    exchange_rows(in, slab, k, __ldcg(in.pivot + k), pivot);
    const bool next_is_here = slab.has(in, k + 1);
    if (next_is_here) {
        update(slab.of(in, k + 1), c, slab.factor[(k + 1) / static_cast<Index>(gridDim.x)], k, in.n);
        __syncthreads();
        publish(in, slab, k + 1);
    }
    for (Index j = static_cast<Index>(blockIdx.x), which = 0; j < in.n; j += static_cast<Index>(gridDim.x), ++which)
        if (j == k) {
            V* const         column = slab.of(in, k);
            const Divisor<V> by_pivot(pivot);
#pragma unroll
            for (int r = 0; r < most_rows; ++r) {
                const Index i = static_cast<Index>(threadIdx.x) + r * threads;
                if (i < in.n) column[i] = by_pivot(i == k ? cuda::from_real<V>(1) : negated(c[r]));
            }
        } else if (j != k + 1) {
            update(slab.of(in, j), c, slab.factor[which], k, in.n);
        }
    __syncthreads();
}

template <class V>
__global__ void __launch_bounds__(threads) invert(Inversion<V> in)
{
    extern __shared__ double2 memory[];
    V* const                  columns = reinterpret_cast<V*>(memory);
    const Slab<V>             slab{columns, columns + static_cast<std::size_t>(in.columns) * in.n};
    for (Index j = static_cast<Index>(blockIdx.x); j < in.n; j += static_cast<Index>(gridDim.x))
        for (Index i = static_cast<Index>(threadIdx.x); i < in.n; i += threads)
            slab.of(in, j)[i] = in.matrix[static_cast<std::size_t>(j) * in.n + i];
    __syncthreads();
    if (slab.has(in, 0)) publish(in, slab, 0);
    for (Index k = 0; k < in.n; ++k) {
        await(in, k);
        step(in, slab, k);
    }
    for (Index j = static_cast<Index>(blockIdx.x); j < in.n; j += static_cast<Index>(gridDim.x))
        for (Index i = static_cast<Index>(threadIdx.x); i < in.n; i += threads)
            in.matrix[static_cast<std::size_t>(j) * in.n + i] = slab.of(in, j)[i];
}

/// By columns, in the order of elimination. @param unscaled  without the scales of later levels
template <int lanes, class V>
__global__ void __launch_bounds__(tile_threads) fill(ActiveRows<V> rows, Index first, bool unscaled, V* dense)
{
    const Tile<lanes> tile;
    const long        i = tile.in_grid();
    const Index       k = rows.row(i);
    if (k < 0) return;
    for_entries(rows.S, tile, k, [&](Index j, Offset p) {
        const double fold = unscaled ? rows.at.row_fold[k] * rows.at.col_fold[j] : 1;
        dense[static_cast<Offset>(rows.at.place[j] - first) * rows.count + i] = cuda::divided(rows.S.val[p], fold);
    });
}

/// @return n×n by columns
template <Scalar S>
DeviceBuffer<S> filled(Gpu& gpu, const RoundsState<S>& state, bool unscaled)
{
    const auto      n = static_cast<std::size_t>(state.active_count);
    DeviceBuffer<S> dense(n * n);
    launch_tiles<32>(gpu, fill<32, cuda::Value<S>>, state.active_count, active_rows(state), state.done, unscaled,
                     cuda::as_values(dense.data()));
    return dense;
}

/// Puts each column of the inverse where the row of its pivot stood.
template <class V>
__global__ void restore_columns(const V* inverse, Index n, const Index* row, V* to)
{
    const Offset e = static_cast<Offset>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (e < static_cast<Offset>(n) * n) to[static_cast<Offset>(row[e / n]) * n + e % n] = inverse[e];
}

/// Writes the inverse by rows to W, and puts the scales of later levels in.
template <class V>
__global__ void turn(const V* inverse, Index n, const Index* active, RowArrays<V> at, V* W)
{
    const Offset e = static_cast<Offset>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (e >= static_cast<Offset>(n) * n) return;
    const Index j = static_cast<Index>(e / n), i = static_cast<Index>(e % n);
    W[static_cast<Offset>(i) * n + j] = at.row_fold[active[j]] * (at.col_fold[active[i]] * inverse[e]);
}

template <class T, class V>
__global__ void store_as(const V* from, Offset count, T* to, unsigned long long* too_large)
{
    const Offset e = static_cast<Offset>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (e >= count) return;
    to[e] = cuda::converted<T>(from[e]);
    if (!cuda::is_finite(to[e])) atomicAdd(too_large, 1ULL);
}

/// Blocks that are there at once, and the columns that each takes; none where they do not fit.
struct Shape {
    int         blocks, columns;
    std::size_t bytes;
};
template <class V>
std::optional<Shape> shape_for(Gpu& gpu, Index n)
{
    const int  blocks = std::min<int>(gpu.multiprocessors(), n);
    const int  columns = (n + blocks - 1) / blocks;
    const auto bytes = static_cast<std::size_t>(columns) * (static_cast<std::size_t>(n) + 1) * sizeof(V);
    if (n > most_rows * threads || columns > threads) return {};
    if (bytes + cuda::reserved_shared > static_cast<std::size_t>(gpu.state().shared_bytes)) return {};
    return Shape{blocks, columns, bytes};
}

/// row[k]: where the row of pivot k stood at first.
std::vector<Index> rows_of(const std::vector<Index>& pivot)
{
    std::vector<Index> row(pivot.size());
    std::iota(row.begin(), row.end(), Index{0});
    for (std::size_t k = 0; k < row.size(); ++k) std::swap(row[k], row[pivot[k]]);
    return row;
}

}  // namespace

template <Scalar S>
bool fits_at_once(Gpu& gpu, Index n)
{
    return shape_for<cuda::Value<S>>(gpu, n).has_value();
}

template <Scalar S>
std::optional<DeviceBuffer<S>> invert_at_once(Gpu& gpu, DeviceBuffer<S> matrix, Index n, bool definite, Extremes& found)
{
    using V = cuda::Value<S>;
    const auto shape = shape_for<V>(gpu, n);
    ILUX_ASSERT(shape);
    const auto             order = static_cast<std::size_t>(n);
    DeviceBuffer<S>        published(order * order);
    DeviceBuffer<Index>    pivot(order), row(order);
    DeviceBuffer<unsigned> ready(order);
    DeviceBuffer<Extremes> extremes(1);
    detail::upload_bytes(gpu, &found, extremes.data(), sizeof found);
    Inversion<V> in{n,
                    shape->columns,
                    definite,
                    cuda::as_values(matrix.data()),
                    cuda::as_values(published.data()),
                    pivot.data(),
                    ready.data(),
                    extremes.data()};
    void*        arguments[] = {&in};
    cuda::allow_shared(gpu, invert<V>);
    check(cudaLaunchCooperativeKernel(invert<V>, dim3(static_cast<unsigned>(shape->blocks)), dim3(threads), arguments,
                                      shape->bytes, cuda::stream(gpu)),
          "invert");
    std::vector<Index> exchanged(order);
    download<Index>(gpu, pivot, exchanged);
    detail::download_bytes(gpu, extremes.data(), &found, sizeof found);
    if (found.wrong != 0) return {};
    upload<Index>(gpu, rows_of(exchanged), row);
    launch(gpu, restore_columns<V>, static_cast<Offset>(n) * n, cuda::as_values(matrix.data()), n, row.data(),
           cuda::as_values(published.data()));
    gpu.synchronize();  // for what it reads
    return published;
}

template <Scalar S>
std::optional<DeviceBuffer<S>> inverse_of_rest(Gpu& gpu, const RoundsState<S>& state, bool definite)
{
    const Index      n = state.active_count;
    constexpr double most_defect = 1e-6;
    if (n == 0) return DeviceBuffer<S>();
    const bool at_once = fits_at_once<S>(gpu, n);
    if (!at_once && n > DenseLevel<S>::largest) return {};
    Extremes     found;
    const auto   inverse = invert_by_blocks<S>(gpu, filled(gpu, state, false), n, definite, found);
    const double smallest = std::bit_cast<double>(found.smallest), largest = std::bit_cast<double>(found.largest);
    if (!inverse || !(smallest > least_pivot * largest)) return {};
    if (!at_once && !definite && !(defect_of_inverse<S>(gpu, filled(gpu, state, false), *inverse, n) <= most_defect))
        return {};
    DeviceBuffer<S> W(inverse->size());
    launch(gpu, turn<cuda::Value<S>>, static_cast<Offset>(n) * n, cuda::as_values(inverse->data()), n,
           state.active[state.now], state.at, cuda::as_values(W.data()));
    gpu.synchronize();  // for what it reads
    return W;
}

template <Scalar S>
std::vector<S> rest_on_host(Gpu& gpu, const RoundsState<S>& state)
{
    const auto     dense = filled(gpu, state, true);
    std::vector<S> host(dense.size());
    download<S>(gpu, dense, host);
    return host;
}

template <class T, Scalar S>
Offset store(Gpu& gpu, RoundsState<S>& state, const DeviceBuffer<S>& W, DeviceBuffer<T>& to)
{
    state.clear(gpu);
    to = DeviceBuffer<T>(W.size());
    const auto count = static_cast<Offset>(W.size());
    launch(gpu, store_as<cuda::Value<T>, cuda::Value<S>>, count, cuda::as_values(W.data()), count,
           cuda::as_values(to.data()), &state.count->entries);
    return static_cast<Offset>(state.read(gpu).entries);
}

#define ILUX_INSTANTIATE(S)                                                                                         \
    template bool                           fits_at_once<S>(Gpu&, Index);                                           \
    template std::optional<DeviceBuffer<S>> invert_at_once(Gpu&, DeviceBuffer<S>, Index, bool, Extremes&);          \
    template std::optional<DeviceBuffer<S>> inverse_of_rest(Gpu&, const RoundsState<S>&, bool);                     \
    template std::vector<S>                 rest_on_host(Gpu&, const RoundsState<S>&);                              \
    template Offset                         store(Gpu&, RoundsState<S>&, const DeviceBuffer<S>&, DeviceBuffer<S>&); \
    template Offset store(Gpu&, RoundsState<S>&, const DeviceBuffer<S>&, DeviceBuffer<single_of<S>>&);
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux::rounds

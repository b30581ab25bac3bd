// Modified Gram-Schmidt with selective re-orthogonalization in one cooperative launch, w and the decisions on the
// device.
//
// Launch: blocks of 512 threads, one a multiprocessor. A thread keeps `items` rows of w in registers and the same rows
// of v_i and v_{i+1} in shared memory, where only it writes and reads: v_{i+1} is copied there, asynchronously, while
// h_i is summed. Rows beyond what the device holds so are streamed from memory in every step.
// h_i: a block adds its part, publishes it, and adds all blocks' parts in order, so that all blocks hold the same bits
// and take the same decisions. A part travels with the number of its exchange in both halves of one 16-byte slot, so no
// fence and no reset are needed. No other data passes between threads.
// Terminates: a cooperative launch runs all its blocks at once, and every block takes part in every exchange.
// Repeatable: bitwise, on devices of one kind.

#include <cuda_pipeline.h>

#include <algorithm>
#include <cmath>

#include "ilux/base/gpu/cuda_reduce.hpp"
#include "ilux/base/instances.hpp"
#include "ilux/ortho/mgso.hpp"

namespace ilux {
namespace {

using cuda::check;

constexpr int      threads = 512;
constexpr int      warps = threads / 32;
constexpr unsigned slots_a_lane = 5;  // read together: 160 blocks, more than an H200 has multiprocessors

/// @tparam Number  double, float or Complex of these: of V and w. What crosses threads, coefficients too, is double.
template <class Number>
struct Problem {
    const Number* V;
    std::size_t   n;
    int           k;
    Number*       w;
    double        threshold;
    ulonglong2*   slots;    // 4 × max_neighbours: two exchanges of two doubles a block
    unsigned      epoch;    // of the last exchange before this launch
    double*       results;  // h_0 … h_k, then the Extension as a number
};

__device__ void publish(ulonglong2* slot, double value, unsigned epoch)
{
    const auto bits = static_cast<unsigned long long>(__double_as_longlong(value)), tag = 1ull * epoch << 32;
    asm volatile("st.volatile.global.v2.u64 [%0], {%1, %2};" ::"l"(slot), "l"(tag | (bits & 0xffffffffu)),
                 "l"(tag | bits >> 32)
                 : "memory");
}

__device__ void publish(ulonglong2* slot, cuda::Complex<double> value, unsigned epoch)
{
    publish(slot, value.re, epoch);
    publish(slot + cuda::max_neighbours, value.im, epoch);
}

/// Whether the slot holds the value of exchange `epoch`.
__device__ bool arrived(const ulonglong2* slot, unsigned epoch, double& value)
{
    unsigned long long low, high;
    asm volatile("ld.volatile.global.v2.u64 {%0, %1}, [%2];" : "=l"(low), "=l"(high) : "l"(slot) : "memory");
    value = __longlong_as_double(static_cast<long long>(high << 32 | (low & 0xffffffffu)));
    return low >> 32 == epoch && high >> 32 == epoch;
}

__device__ bool arrived(const ulonglong2* slot, unsigned epoch, cuda::Complex<double>& value)
{
    const bool real = arrived(slot, epoch, value.re);
    return arrived(slot + cuda::max_neighbours, epoch, value.im) && real;
}

/// Op over the blocks' values, in order of lanes; called by warp 0, whose lane 0 has the result.
template <class Op, class V>
__device__ V gather(const ulonglong2* slots, unsigned epoch)
{
    V result{};
    for (unsigned first = 0; first < gridDim.x; first += 32 * slots_a_lane) {
        V    value[slots_a_lane];
        bool complete;
        do {
            complete = true;
#pragma unroll
            for (unsigned s = 0; s < slots_a_lane; ++s) {
                const unsigned block = first + 32 * s + threadIdx.x;
                value[s] = V{};
                if (block < gridDim.x) complete &= arrived(slots + block, epoch, value[s]);
            }
        } while (!complete);
#pragma unroll
        for (unsigned s = 0; s < slots_a_lane; ++s) result = Op::combine(result, value[s]);
    }
    __syncwarp();  // lanes leave the wait at different times
    return cuda::over_lanes<Op>(result);
}

/// What one thread does of the whole: its rows of w, and its part in every exchange.
template <int items, class Number>
class Worker {
public:
    __device__ Worker(const Problem<Number>& p, Number* buffer)
        : p_(p),
          buffer_(buffer + threadIdx.x),
          epoch_(p.epoch),
          first_(std::size_t(blockIdx.x) * items * threads + threadIdx.x)
    {
        const std::size_t rows = p.n > first_ ? (p.n - first_ + threads - 1) / threads : 0;
        mine_ = rows < items ? static_cast<int>(rows) : items;
#pragma unroll
        for (int q = 0; q < items; ++q) {
            w_[q] = q < mine_ ? p.w[first_ + q * threads] : Number{};
            if (q >= mine_) at(0, q) = at(1, q) = Number{};
        }
    }

    /// Begins to copy v_j into shared memory; beyond the last one nothing, which counts as a copy too.
    __device__ void fetch(int j)
    {
        const Number* v = p_.V + j * p_.n + first_;
        if (j < p_.k) {
#pragma unroll
            for (int q = 0; q < items; ++q)
                if (q < mine_) __pipeline_memcpy_async(&at(j, q), v + q * threads, sizeof(Number));
        }
        __pipeline_commit();
    }
    __device__ void await_all_but_the_newest() const { __pipeline_wait_prior(1); }
    __device__ void await_all() const { __pipeline_wait_prior(0); }

    /// h ← v_jᴴ w,  w ← w − h v_j. For streamed rows that update is left to whatever reads them next.
    __device__ working_of<Number> project(int j)
    {
        Number sum{};
#pragma unroll
        for (int q = 0; q < items; ++q) sum = cuda::plus_product(sum, cuda::conjugate(at(j, q)), w_[q]);
        const Number* v = p_.V + j * p_.n;
        each_streamed(v, [&](std::size_t, Number wi, Number vi) {
            sum = cuda::plus_product(sum, cuda::conjugate(vi), wi);
        });
        const working_of<Number> sum_of_all = over_grid<cuda::Add>(cuda::widened(sum));
        const Number             h = cuda::converted<Number>(sum_of_all);
#pragma unroll
        for (int q = 0; q < items; ++q) w_[q] = cuda::minus_product(w_[q], h, at(j, q));
        late_v_ = v;
        late_h_ = h;
        return sum_of_all;
    }

    /// ‖w‖₂, safe against overflow and underflow
    __device__ double norm()
    {
        const double squares = over_rows<cuda::Add>([](Number wi) { return cuda::squared(cuda::widened(wi)); });
        if (squares > 1e-280 && isfinite(squares)) return sqrt(squares);
        const double largest = over_rows<cuda::Largest>([](Number wi) { return cuda::magnitude(cuda::widened(wi)); });
        if (largest == 0 || !isfinite(largest)) return largest;
        return largest * sqrt(over_rows<cuda::Add>(
                             [=](Number wi) { return cuda::squared(cuda::divided(cuda::widened(wi), largest)); }));
    }

    /// Writes factor·w.
    __device__ void store(double by)
    {
        const auto factor = static_cast<real_of<Number>>(by);
#pragma unroll
        for (int q = 0; q < items; ++q)
            if (q < mine_) p_.w[first_ + q * threads] = factor * w_[q];
        each_streamed(nullptr, [&](std::size_t i, Number wi, Number) { p_.w[i] = factor * wi; });
    }

private:
    __device__ Number& at(int j, int q) { return buffer_[((j & 1) * items + q) * threads]; }

    /// Calls body(i, w_i, v_i) for the thread's rows beyond those kept, after the update that they still lack. v may be
    /// null. A few rows' loads are under way together.
    template <class Body>
    __device__ void each_streamed(const Number* v, Body body)
    {
        constexpr int       batch = 4 / cuda::parts<Number>;
        const std::size_t   stride = std::size_t(gridDim.x) * threads;
        const Number* const late_v = late_v_;
        const Number        late_h = late_h_;
        for (std::size_t first = stride * items + std::size_t(blockIdx.x) * threads + threadIdx.x; first < p_.n;
             first += batch * stride) {
            Number wi[batch], vi[batch], late[batch];
#pragma unroll
            for (int u = 0; u < batch; ++u) {
                const std::size_t i = first + u * stride;
                wi[u] = i < p_.n ? p_.w[i] : Number{};
                vi[u] = i < p_.n && v ? v[i] : Number{};
                late[u] = i < p_.n && late_v ? late_v[i] : Number{};
            }
#pragma unroll
            for (int u = 0; u < batch; ++u) {
                const std::size_t i = first + u * stride;
                if (i >= p_.n) continue;
                if (late_v) p_.w[i] = wi[u] = cuda::minus_product(wi[u], late_h, late[u]);
                body(i, wi[u], vi[u]);
            }
        }
        late_v_ = nullptr;
    }

    template <class Op, class Term>
    __device__ double over_rows(Term term)
    {
        double value = 0;
#pragma unroll
        for (int q = 0; q < items; ++q) value = Op::combine(value, term(w_[q]));
        each_streamed(nullptr, [&](std::size_t, Number wi, Number) { value = Op::combine(value, term(wi)); });
        return over_grid<Op>(value);
    }

    /// Op over all threads; all have the result.
    template <class Op, class V>
    __device__ V over_grid(V value)
    {
        __shared__ V of_warp[warps], total;
        const int    lane = threadIdx.x % 32, warp = threadIdx.x / 32;
        ++epoch_;
        value = cuda::over_lanes<Op>(value);
        if (lane == 0) of_warp[warp] = value;
        __syncthreads();
        if (warp == 0) {
            value = cuda::over_lanes<Op, warps>(lane < warps ? of_warp[lane] : V{});
            if (gridDim.x > 1) {
                ulonglong2* const slots = p_.slots + (epoch_ & 1) * 2 * cuda::max_neighbours;
                if (lane == 0) publish(slots + blockIdx.x, value, epoch_);
                value = gather<Op, V>(slots, epoch_);
            }
            if (lane == 0) total = value;
        }
        __syncthreads();
        return total;
    }

    const Problem<Number>& p_;
    Number*                buffer_;  ///< 2 × items × threads, the thread's places `threads` apart
    unsigned               epoch_;
    const std::size_t      first_;
    int                    mine_;  ///< rows kept, ≤ items
    Number                 w_[items];
    const Number*          late_v_ = nullptr;  ///< streamed rows still lack w ← w − late_h_·late_v_; null: nothing
    Number                 late_h_{};
};

template <int items, class Number>
__global__ void __launch_bounds__(threads, 1) orthogonalize(const __grid_constant__ Problem<Number> p)
{
    extern __shared__ double2 buffer[];
    Worker<items, Number>     worker(p, reinterpret_cast<Number*>(buffer));
    const bool                leader = blockIdx.x == 0 && threadIdx.x == 0;
    using Sum = working_of<Number>;
    Sum* const    h_out = reinterpret_cast<Sum*>(p.results);
    double* const ended = p.results + cuda::parts<Number> * (p.k + 1);
    worker.fetch(0);

    const double before = worker.norm();
    if (before == 0 || !isfinite(before)) {
        worker.await_all();
        if (!leader) return;
        for (int j = 0; j <= p.k; ++j) h_out[j] = Sum{};
        *ended = static_cast<int>(before == 0 ? Extension::nothing_left : Extension::not_finite);
        return;
    }
    double omega = 1;  // ω in units of ‖w‖², which itself might overflow
    for (int j = 0; j < p.k; ++j) {
        worker.fetch(j + 1);
        worker.await_all_but_the_newest();
        Sum          h = worker.project(j);
        const double cosine = cuda::squared(cuda::divided(h, before));
        if (cosine > p.threshold * omega) h += worker.project(j);
        omega = fmax(0., omega - cuda::squared(cuda::divided(h, before)));
        if (leader) h_out[j] = h;
    }

    constexpr bool   single = std::is_same_v<real_of<Number>, float>;
    constexpr double eps = single ? 1.1920928955078125e-07 : 2.220446049250313e-16;
    constexpr double least = single ? 1.1754943508222875e-38 : 2.2250738585072014e-308;
    const double     norm = worker.norm();
    const bool       finite = isfinite(norm), left = norm > eps * before && norm >= least;
    worker.store(finite && left ? 1 / norm : 1);
    if (!leader) return;
    h_out[p.k] = cuda::from_real<Sum>(left ? norm : 0);
    *ended = static_cast<int>(!finite ? Extension::not_finite : left ? Extension::extended : Extension::nothing_left);
}

template <int items>
bool fits(const Gpu::State& state, std::size_t n)
{
    return n <= std::size_t{items} * threads * state.multiprocessors;
}

template <int items, class Number>
constexpr std::size_t shared_bytes = std::size_t{2} * items* threads * sizeof(Number);

template <int items, class Number>
void launch(const Gpu::State& state, Problem<Number> problem)
{
    const auto        kernel = reinterpret_cast<const void*>(orthogonalize<items, Number>);
    const auto        bytes = static_cast<int>(shared_bytes<items, Number>);
    const std::size_t rows = std::size_t{items} * threads;
    const auto        most = static_cast<std::size_t>(std::min(state.multiprocessors, cuda::max_neighbours));
    const auto        blocks = std::clamp<std::size_t>((problem.n + rows - 1) / rows, 1, most);
    void*             arguments[] = {&problem};
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes), "mgso");
    check(cudaLaunchCooperativeKernel(kernel, dim3(static_cast<unsigned>(blocks)), dim3(threads), arguments, bytes,
                                      state.stream),
          "mgso");
}

/// Launches with as few rows a thread as hold all of w, or as many as the shared memory allows.
template <int items = 1, class Number>
void launch_fitting(const Gpu::State& state, const Problem<Number>& problem)
{
    constexpr int         most = 24 / cuda::parts<Number>, next = std::min(2 * items, most);
    constexpr std::size_t own = 1024;  // shared memory of the kernel beside its buffer
    if constexpr (items < most)
        if (!fits<items>(state, problem.n) &&
            (next * cuda::parts<Number> <= 4 || state.shared_bytes - own >= shared_bytes<next, Number>))
            return launch_fitting<next>(state, problem);
    launch<items>(state, problem);
}

}  // namespace

template <class S>
Extension mgso(Gpu& be, DeviceSpan<const NotDeduced<S>> V, DeviceSpan<NotDeduced<S>> w, std::span<NotDeduced<S>> h,
               double threshold)
{
    const cuda::Range range("mgso");
    const std::size_t k = h.size() - 1;
    ILUX_ASSERT(V.size() == w.size() * k);
    using Number = cuda::Value<S>;
    constexpr std::size_t parts = cuda::parts<Number>;
    if (parts * (k + 1) + 1 > cuda::max_results) return mgso_hybrid<Gpu, S>(be, V, w, h, threshold);

    const auto stream = cuda::stream(be);
    auto&      state = be.state();
    const auto exchanges = static_cast<unsigned>(2 * k + 6);
    if (state.epoch > ~0u - exchanges) {  // numbers come round: no slot may hold an old one
        check(cudaMemsetAsync(state.exchange.data(), 0, state.exchange.size() * sizeof(ulonglong2), stream), "mgso");
        state.epoch = 0;
    }
    launch_fitting(state,
                   Problem<Number>{cuda::as_values(V.data()), w.size(), static_cast<int>(k), cuda::as_values(w.data()),
                                   threshold, state.exchange.data(), state.epoch, state.sums});
    state.epoch += exchanges;
    check(cudaStreamSynchronize(stream), "mgso");

    const auto* const found = reinterpret_cast<const working_of<S>*>(state.sums);
    std::transform(found, found + k + 1, h.begin(), [](working_of<S> sum) { return S(sum); });
    return static_cast<Extension>(static_cast<int>(state.sums[parts * (k + 1)]));
}

#define ILUX_INSTANTIATE(S) template Extension mgso<S>(Gpu&, DeviceSpan<const S>, DeviceSpan<S>, std::span<S>, double);
ILUX_WORKING(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux

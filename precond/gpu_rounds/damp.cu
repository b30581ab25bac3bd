// Damping, as damped.cpp adds it to the diagonal. Complex matrices alone have it.

#include <cmath>
#include <complex>

#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_reduce.cuh>

#include "ilux/precond/gpu_rounds/launch.hpp"
#include "ilux/precond/gpu_rounds/steps.hpp"

namespace ilux::rounds {
namespace {

using Number = cuda::Complex<double>;

/// −Re Σ_k a_jk/a_jj of row j, or 0 where that is not positive or not finite; Im a_jj.
__global__ void look_at_rows(Index n, RowsView<Number> A, double* excess, double* imaginary, Counters* counters)
{
    const Index i = thread_in_grid();
    if (i >= n) return;
    Number sum{}, d{};
    for (Offset p = A.start[i]; p < A.start[i] + A.length[i]; ++p) {
        sum += A.val[p];
        if (A.col[p] == i) d = A.val[p];
    }
    const double of_row = -divide(sum, d).re;
    const bool   counts = of_row > 0 && isfinite(of_row);
    excess[i] = counts ? of_row : 0;
    imaginary[i] = d.im;
    if (counts) atomicAdd(&counters->dominant, 1);
}

/// One number, from `at` of an array on the device.
double number_at(Gpu& gpu, const double* at)
{
    double host = 0;
    detail::download_bytes(gpu, at, &host, sizeof host);
    return host;
}

/// call(scratch, its bytes), once to ask for its size.
template <class Call>
void with_scratch(Call&& call, const char* name)
{
    std::size_t bytes = 0;
    cuda::check(call(nullptr, bytes), name);
    DeviceBuffer<std::byte> scratch(bytes + 1);
    cuda::check(call(scratch.data(), bytes), name);
}

__global__ void damp_rows(Index n, RowsView<Number> A, Number* val, double beta)
{
    const Index i = thread_in_grid();
    if (i >= n) return;
    for (Offset p = A.start[i]; p < A.start[i] + A.length[i]; ++p)
        if (A.col[p] == i) val[p].im += beta * modulus(val[p]);
}

}  // namespace

template <Scalar S>
DampingFacts damping_facts(Gpu& gpu, RoundsState<S>& state)
{
    const auto           n = static_cast<std::size_t>(state.n);
    const auto           stream = cuda::stream(gpu);
    DeviceBuffer<double> excess(n), sorted(n), imaginary(n), sum(1);
    state.clear(gpu);
    launch(gpu, look_at_rows, state.n, state.n, state.rows(), excess.data(), imaginary.data(), state.count);
    with_scratch(
        [&](void* scratch, std::size_t& bytes) {
            return cub::DeviceRadixSort::SortKeys(scratch, bytes, excess.data(), sorted.data(), state.n, 0, 64, stream);
        },
        "cub::DeviceRadixSort");
    with_scratch(
        [&](void* scratch, std::size_t& bytes) {
            return cub::DeviceReduce::Sum(scratch, bytes, imaginary.data(), sum.data(), state.n, stream);
        },
        "cub::DeviceReduce");
    const Index positive = state.read(gpu).dominant, middle = state.n - positive + positive / 2;
    return {.positive = positive,
            .middle = positive > 0 ? number_at(gpu, sorted.data() + middle) : 0,
            .sign = std::copysign(1., number_at(gpu, sum.data()))};
}

template <Scalar S>
void damp(Gpu& gpu, RoundsState<S>& state, double beta)
{
    Number* const val = state.entries[state.now].val.data();
    launch(gpu, damp_rows, state.n, state.n, state.rows(), val, beta);
}

template DampingFacts damping_facts(Gpu&, RoundsState<std::complex<double>>&);
template void         damp(Gpu&, RoundsState<std::complex<double>>&, double);

}  // namespace ilux::rounds

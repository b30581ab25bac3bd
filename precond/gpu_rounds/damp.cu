// Damping, as damped.cpp adds it to the diagonal. Complex matrices alone have it.

#include <complex>

#include "ilux/precond/gpu_rounds/launch.hpp"
#include "ilux/precond/gpu_rounds/steps.hpp"

namespace ilux::rounds {
namespace {

using Number = cuda::Complex<double>;

/// −Re Σ_k a_jk/a_jj and Im a_jj of row j, by one thread in the order of the columns, as on the host.
__global__ void look_at_rows(Index n, RowsView<Number> A, Number* facts)
{
    const Index i = thread_in_grid();
    if (i >= n) return;
    Number sum{}, d{};
    for (Offset p = A.start[i]; p < A.start[i] + A.length[i]; ++p) {
        sum += A.val[p];
        if (A.col[p] == i) d = A.val[p];
    }
    facts[i] = {-divide(sum, d).re, d.im};
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
DampingFacts damping_facts(Gpu& gpu, const RoundsState<S>& state)
{
    const auto      n = static_cast<std::size_t>(state.n);
    DeviceBuffer<S> facts(n);
    std::vector<S>  on_host(n);
    launch(gpu, look_at_rows, state.n, state.n, state.rows(), cuda::as_values(facts.data()));
    download<S>(gpu, facts, std::span(on_host));
    DampingFacts found;
    found.excess.reserve(n);
    for (const S& of_row : on_host) {
        found.excess.push_back(of_row.real());
        found.sum += of_row.imag();
    }
    return found;
}

template <Scalar S>
void damp(Gpu& gpu, RoundsState<S>& state, double beta)
{
    Number* const val = state.entries[state.now].val.data();
    launch(gpu, damp_rows, state.n, state.n, state.rows(), val, beta);
}

template DampingFacts damping_facts(Gpu&, const RoundsState<std::complex<double>>&);
template void         damp(Gpu&, RoundsState<std::complex<double>>&, double);

}  // namespace ilux::rounds

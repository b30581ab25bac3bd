// LinearSolver for arrays in device memory.

#include <fmt/core.h>

#include "ilux/base/gpu/device_copy.hpp"
#include "ilux/base/error.hpp"
#include "ilux/base/gpu/gpu.hpp"
#include "ilux/base/instances.hpp"
#include "ilux/solver/linear_solver_impl.hpp"

namespace ilux {
namespace {

/// By their parts: a caller's complex numbers may stand on multiples of 8 bytes only.
template <Scalar S>
bool is_finite_there(Gpu& gpu, DeviceSpan<const S> v)
{
    constexpr std::size_t parts = is_complex<S> ? 2 : 1;
    return is_finite<double>(gpu, {reinterpret_cast<const double*>(v.data()), parts * v.size()});
}

template <Scalar S>
void require_columns(Index n, DeviceSpan<const S> B, DeviceSpan<const S> X)
{
    const auto rows = static_cast<std::size_t>(n);
    require(B.size() == X.size() && (n == 0 ? B.empty() : B.size() % rows == 0), [&] {
        return fmt::format("solve: B has {} and X {} entries, which are no columns of {}", B.size(), X.size(), n);
    });
}

template <Scalar S>
void require_system(Gpu& gpu, Index n, DeviceSpan<const S> b, DeviceSpan<const S> x)
{
    const auto rows = static_cast<std::size_t>(n);
    require(b.size() == rows && x.size() == rows,
            [&] { return fmt::format("solve: b has {} and x {} entries, A {} rows", b.size(), x.size(), n); });
    require(is_finite_there(gpu, b), [] { return "solve: b is not finite"; });
}

}  // namespace

template <Scalar S>
void LinearSolver<S>::Impl::take_values(Gpu& gpu, DeviceSpan<const S> values)
{
    fetched_.resize(values.size());
    download<S>(gpu, values, fetched_);
    take_values(fetched_);
}

template <Scalar S>
FactorReport LinearSolver<S>::Impl::refactor(Gpu& gpu, DeviceSpan<const S> values)
{
    if (!direct()) return refactor();
    struct Guard {
        Impl& impl;
        Gpu&  gpu;
        ~Guard() { impl.strategies->direct().values_are(gpu, {}); }  // the caller's array may change from now on
    } guard{*this, gpu};
    strategies->direct().values_are(gpu, values);
    return refactor();
}

template <Scalar S>
FactorReport LinearSolver<S>::factor(Gpu& gpu, DeviceSpan<const S> values)
{
    impl_->require_allowed(SolverCall::factor);
    impl_->take_values(gpu, values);
    return impl_->factor();
}

template <Scalar S>
FactorReport LinearSolver<S>::refactor(Gpu& gpu, DeviceSpan<const S> values)
{
    impl_->require_allowed(SolverCall::refactor);
    impl_->take_values(gpu, values);
    return impl_->refactor(gpu, values);
}

template <Scalar S>
SolverReport LinearSolver<S>::solve(Gpu& gpu, DeviceSpan<const S> b, DeviceSpan<S> x, Transpose transpose)
{
    impl_->require_allowed(SolverCall::solve);
    require_system<S>(gpu, impl_->matrix().rows(), b, x);
    if (is_complex<S> && transpose == Transpose::yes) {
        std::vector<S> host_x = on_host<S>(gpu, x);
        SolverReport   report = solve(on_host<S>(gpu, b), host_x, transpose);
        upload<S>(gpu, host_x, x);
        return report;
    }
    const bool       guessed = impl_->takes_guess() && is_finite_there<S>(gpu, x);
    SystemVectors<S> given(gpu, b, x, guessed);
    return impl_->solve(given, transpose);
}

template <Scalar S>
std::vector<SolverReport> LinearSolver<S>::solve_columns(Gpu& gpu, DeviceSpan<const S> B, DeviceSpan<S> X,
                                                         Transpose transpose)
{
    impl_->require_allowed(SolverCall::solve);
    const auto n = static_cast<std::size_t>(impl_->matrix().rows());
    require_columns<S>(impl_->matrix().rows(), B, X);
    require(is_finite_there<S>(gpu, B), [] { return "solve: B is not finite"; });
    std::vector<SolverReport> reports;
    for (std::size_t begin = 0; begin < B.size(); begin += n)
        reports.push_back(solve(gpu, B.subspan(begin, n), X.subspan(begin, n), transpose));
    return reports;
}

template <Scalar S>
void LinearSolver<S>::precondition(Gpu& gpu, DeviceSpan<const S> r, DeviceSpan<S> z, Transpose transpose)
{
    impl_->require_allowed(SolverCall::solve);
    const auto n = static_cast<std::size_t>(impl_->matrix().rows());
    require(impl_->loop.factored(), [] { return "precondition: the last values have no factors"; });
    require(r.size() == n && z.size() == n,
            [&] { return fmt::format("precondition: r has {} and z {} entries, A {} rows", r.size(), z.size(), n); });
    SystemVectors<S> given(gpu, r, z, false);
    const bool       conjugated = is_complex<S> && transpose == Transpose::yes;
    if (!conjugated && impl_->precondition_on_gpu(given, transpose)) return;
    std::vector<S> host_z(n);
    precondition(given.b(), host_z, transpose);
    given.deliver(host_z);
}

template <Scalar S>
SolverReport LinearSolver<S>::refactor_and_solve(Gpu& gpu, DeviceSpan<const S> values, DeviceSpan<const S> b,
                                                 DeviceSpan<S> x)
{
    impl_->require_allowed(SolverCall::refactor_and_solve);
    require_system<S>(gpu, impl_->matrix().rows(), b, x);
    (void)refactor(gpu, values);
    return solve(gpu, b, x);
}

#define ILUX_INSTANTIATE(S)                                                                                         \
    template void                      LinearSolver<S>::Impl::take_values(Gpu&, DeviceSpan<const S>);               \
    template FactorReport              LinearSolver<S>::Impl::refactor(Gpu&, DeviceSpan<const S>);                  \
    template FactorReport              LinearSolver<S>::factor(Gpu&, DeviceSpan<const S>);                          \
    template FactorReport              LinearSolver<S>::refactor(Gpu&, DeviceSpan<const S>);                        \
    template SolverReport              LinearSolver<S>::solve(Gpu&, DeviceSpan<const S>, DeviceSpan<S>, Transpose); \
    template std::vector<SolverReport> LinearSolver<S>::solve_columns(Gpu&, DeviceSpan<const S>, DeviceSpan<S>,     \
                                                                      Transpose);                                   \
    template void         LinearSolver<S>::precondition(Gpu&, DeviceSpan<const S>, DeviceSpan<S>, Transpose);       \
    template SolverReport LinearSolver<S>::refactor_and_solve(Gpu&, DeviceSpan<const S>, DeviceSpan<const S>,       \
                                                              DeviceSpan<S>);
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux

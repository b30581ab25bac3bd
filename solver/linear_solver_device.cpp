// LinearSolver for arrays in device memory.

#include <fmt/core.h>

#include <algorithm>

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
    if (take_on_gpu(gpu, values)) return;
    fetched_.resize(values.size());
    download<S>(gpu, values, fetched_);
    take_values(fetched_);
}

/// Values for an iteration on that GPU stay there, and the host gets them when it has to look at them. @return whether
/// that is so
template <Scalar S>
bool LinearSolver<S>::Impl::take_on_gpu(Gpu& gpu, DeviceSpan<const S> values)
{
    if (null_space.asked() || direct() || values.size() != A_.val().size() || !is_finite_there(gpu, values))
        return false;
    values_.resize(values.size());  // may lack memory, before anything has changed
    const auto norm = strategies->iterative().take_values(gpu, values, values_);
    if (!norm) return false;
    A_ = A_.with_values(values_);
    adjoint_.reset();
    norm_ = usable_norm(*norm);
    return true;
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
    return solve_checked(gpu, b, x, transpose);
}

template <Scalar S>
SolverReport LinearSolver<S>::solve_checked(Gpu& gpu, DeviceSpan<const S> b, DeviceSpan<S> x, Transpose transpose)
{
    const bool       guessed = impl_->takes_guess() && is_finite_there<S>(gpu, x);
    const bool       conjugated = is_complex<S> && transpose == Transpose::yes;  // Aᵀ x = b is Aᴴ x̄ = b̄
    SystemVectors<S> given(gpu, b, x, guessed, conjugated);
    SolverReport     report = impl_->solve(given, conjugated ? Transpose::adjoint : transpose);
    if (conjugated) conjugate_tries<S>(report);
    return report;
}

template <Scalar S>
std::vector<SolverReport> LinearSolver<S>::solve_columns(Gpu& gpu, DeviceSpan<const S> B, DeviceSpan<S> X,
                                                         Transpose transpose)
{
    impl_->require_allowed(SolverCall::solve);
    const auto n = static_cast<std::size_t>(impl_->matrix().rows());
    require(B.size() == X.size() && (n == 0 ? B.empty() : B.size() % n == 0), [&] {
        return fmt::format("solve: B has {} and X {} entries, which are no columns of {}", B.size(), X.size(), n);
    });
    return solve_columns(gpu, n == 0 ? 0 : B.size() / n, B, n, X, n, transpose);
}

template <Scalar S>
std::vector<SolverReport> LinearSolver<S>::solve_columns(Gpu& gpu, std::size_t count, DeviceSpan<const S> B,
                                                         std::size_t ldb, DeviceSpan<S> X, std::size_t ldx,
                                                         Transpose transpose)
{
    impl_->require_allowed(SolverCall::solve);
    const auto n = static_cast<std::size_t>(impl_->matrix().rows());
    require_columns(count, n, ldb, B.size(), "B");
    require_columns(count, n, ldx, X.size(), "X");
    if (n == 0) ldb = ldx = 0;
    const bool        together = ldb == n;
    const std::size_t pieces = together ? std::min<std::size_t>(count, 1) : count;
    for (std::size_t k = 0; k < pieces; ++k)
        require(is_finite_there<S>(gpu, B.subspan(k * ldb, together ? count * n : n)),
                [] { return "solve: B is not finite"; });
    return impl_->solve_columns(count, [&](std::size_t k) {
        return solve_checked(gpu, B.subspan(k * ldb, n), X.subspan(k * ldx, n), transpose);
    });
}

template <Scalar S>
void LinearSolver<S>::precondition(Gpu& gpu, DeviceSpan<const S> r, DeviceSpan<S> z, Transpose transpose)
{
    impl_->require_allowed(SolverCall::solve);
    const auto n = static_cast<std::size_t>(impl_->matrix().rows());
    require(impl_->loop.factored(), [] { return "precondition: the last values have no factors"; });
    require(r.size() == n && z.size() == n,
            [&] { return fmt::format("precondition: r has {} and z {} entries, A {} rows", r.size(), z.size(), n); });
    const bool       conjugated = is_complex<S> && transpose == Transpose::yes;
    SystemVectors<S> given(gpu, r, z, false, conjugated);
    impl_->precondition(given, conjugated ? Transpose::adjoint : transpose);
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
    template bool                      LinearSolver<S>::Impl::take_on_gpu(Gpu&, DeviceSpan<const S>);               \
    template FactorReport              LinearSolver<S>::Impl::refactor(Gpu&, DeviceSpan<const S>);                  \
    template FactorReport              LinearSolver<S>::factor(Gpu&, DeviceSpan<const S>);                          \
    template FactorReport              LinearSolver<S>::refactor(Gpu&, DeviceSpan<const S>);                        \
    template SolverReport              LinearSolver<S>::solve(Gpu&, DeviceSpan<const S>, DeviceSpan<S>, Transpose); \
    template std::vector<SolverReport> LinearSolver<S>::solve_columns(Gpu&, DeviceSpan<const S>, DeviceSpan<S>,     \
                                                                      Transpose);                                   \
    template std::vector<SolverReport> LinearSolver<S>::solve_columns(Gpu&, std::size_t, DeviceSpan<const S>,       \
                                                                      std::size_t, DeviceSpan<S>, std::size_t,      \
                                                                      Transpose);                                   \
    template SolverReport LinearSolver<S>::solve_checked(Gpu&, DeviceSpan<const S>, DeviceSpan<S>, Transpose);      \
    template void         LinearSolver<S>::precondition(Gpu&, DeviceSpan<const S>, DeviceSpan<S>, Transpose);       \
    template SolverReport LinearSolver<S>::refactor_and_solve(Gpu&, DeviceSpan<const S>, DeviceSpan<const S>,       \
                                                              DeviceSpan<S>);
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux

#include "ilux/engine/iterative_solver.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "ilux/base/instances.hpp"
#include "ilux/base/units.hpp"
#include "ilux/base/wall_clock.hpp"
#include "ilux/engine/named_device.hpp"

namespace ilux {
namespace {

/// Options that say something to a GPU only.
void note_what_is_ignored(const Machine& machine, const KrylovOptions& krylov, Attempt& tried)
{
    const auto note = [&](const std::string& option) {
        tried.decisions.push_back(fmt::format("{} has no effect on the CPU", option));
    };
    if (tried.plan.precond.precision != Precision::in_double) note("precond.precision=single");
    if (machine.memory_limit.value > 0) note(fmt::format("device_memory={}", field_text(machine.memory_limit)));
    if (machine.engine != GpuSpTrsvEngine::automatic) note(fmt::format("sptrsv.engine={}", field_text(machine.engine)));
    if (krylov.ortho == Orthogonalization::mgso_hybrid || krylov.ortho == Orthogonalization::mgso_host)
        note(fmt::format("krylov.ortho={} instead of mgso", field_text(krylov.ortho)));
}

}  // namespace

Method method_of(MethodChoice choice)
{
    ILUX_ASSERT(choice != MethodChoice::automatic && choice != MethodChoice::lu);
    return static_cast<Method>(static_cast<int>(choice) - 1);  // the same names in the same order, after auto
}

ProgressListener history_of(Attempt& tried, const AttemptListener& listener, const KrylovOptions& krylov)
{
    // One point for the start and one a step, exact ones at restarts besides: reserved here, for a listener must not
    // throw.
    if (listener.keep_history)
        tried.history.reserve(2 * std::min<std::size_t>(static_cast<std::size_t>(krylov.max_steps), 1'000'000) + 16);
    return [&tried, &listener, clock = WallClock()](const Progress& now) {
        if (listener.on_progress) listener.on_progress(now);
        if (now.phase == Progress::Phase::solve && tried.history.size() < tried.history.capacity())
            tried.history.push_back({now.done, now.residual, now.exact, clock.seconds()});
    };
}

KrylovOptions fitted(const KrylovOptions& krylov, Index n)
{
    KrylovOptions fits = krylov;
    fits.restart = std::clamp(std::min(n, krylov.max_steps), 1, krylov.restart);
    return fits;
}

template <Scalar S>
IterativeSolver<S>::IterativeSolver(Machine machine, const SolverOptions& options)
    : machine_(std::move(machine)), options_(options), maker_(options.memory_limit)
{}

template <Scalar S>
void IterativeSolver<S>::set_null_space(std::shared_ptr<const NullSpace<S>> space)
{
    if (space == maker_.factors().null_space) return;
    release();
    maker_.set_null_space(std::move(space));
}

template <Scalar S>
void IterativeSolver<S>::give_up_gpu(const std::string& why, Attempt& tried)
{
    tried.decisions.push_back("device cpu after all: " + why);
    drop_place();
    machine_.gpu = nullptr;
    tried.device = machine_.device();
}

template <Scalar S>
void IterativeSolver<S>::place_on_host(Attempt& tried)
{
    const auto put = [&](KrylovPrecision precision) {
        const Method method = method_of(tried.plan.method);
        if (!here_ || here_->is_mixed() || precision == KrylovPrecision::mixed || here_->method() != method)
            here_ =
                std::make_unique<HostSystem<S>>(machine_.cpu, method, fitted(options_.krylov, A_->rows()), precision);
        here_->renew(*A_);
        here_->put(factors());
    };
    note_what_is_ignored(machine_, options_.krylov, tried);
    std::string why;  // single precision cannot hold M, or memory both precisions
    if (mixed()) try {
            put(KrylovPrecision::mixed);
            const std::size_t limit = options_.memory_limit.value, both = tried.factor_bytes + here_->single_bytes();
            if (limit > 0 && both > limit)
                why = fmt::format("memory_limit is {}, and M in both precisions takes {}", bytes_text(double(limit)),
                                  bytes_text(double(both)));
        } catch (const InvalidInput& error) {
            why = error.what();
        }
    if (!why.empty()) {
        tried.decisions.push_back("krylov.precision=double after all: " + why);
        needs_double_ = true;
    }
    if (!mixed()) put(KrylovPrecision::in_double);
    here_->note(tried);
}

/// Puts M where it is to be applied. @return false where that is the host, which cannot apply this kind of M
template <Scalar S>
bool IterativeSolver<S>::place(Attempt& tried)
{
    if (there_ && machine_.gpu_by_choice && !factors().rounds && !factors().coarse_there) {
        const bool saved = tried.plan.precond.mlilu.off_diagonal == OffDiagonal::save;
        if (const std::string why = why_not_gpu(*A_, factors(), saved); !why.empty()) give_up_gpu(why, tried);
    }
    if (there_) try {
            with_device_named(tried.device, [&] { there_->put(factors()); });
            there_->note(tried);
            return true;
        } catch (const OutOfMemory& error) {
            tried.device_is_full = !machine_.gpu_by_choice;
            if (tried.device_is_full) throw;
            give_up_gpu(error.what(), tried);
        }
    if (factors().rounds || factors().coarse_there) return false;
    place_on_host(tried);
    return true;
}

/// @return false where M could not be made; then `tried` says why
template <Scalar S>
bool IterativeSolver<S>::make_and_place(const AttemptListener& listener, const StopToken& stop, Attempt& tried)
{
    const std::function<void()> bring = [this] { bring_values(); };
    const auto                  make_where_it_is = [&] {
        return maker_.make({*A_, bring, machine_, there_.get(), listener, stop}, tried);
    };
    const auto make = [&] {
        try {
            return make_where_it_is();
        } catch (const OutOfMemory& error) {
            if (!there_ || !tried.device_is_full || !machine_.gpu_by_choice) throw;
            tried.device_is_full = false;
            give_up_gpu(error.what(), tried);
            maker_.drop();
            return make_where_it_is();
        }
    };
    if (!make()) return false;
    if (place(tried)) return true;
    maker_.drop();
    return make() && place(tried);
}

/// All but M goes there while M is factored.
template <Scalar S>
void IterativeSolver<S>::begin_there(const Plan& plan, std::unique_ptr<ComingMatrix<S>> coming)
{
    there_ =
        std::make_unique<GpuSystem<S>>(machine_.cpu, *machine_.gpu, *A_, method_of(plan.method),
                                       fitted(options_.krylov, A_->rows()), options_there(plan), std::move(coming));
}

template <Scalar S>
GpuSystemOptions IterativeSolver<S>::options_there(const Plan& plan) const
{
    return {.precision = plan.precond.precision,
            .arithmetic = mixed() ? KrylovPrecision::mixed : KrylovPrecision::in_double,
            .engine = machine_.engine,
            .memory_limit = machine_.memory_limit};
}

template <Scalar S>
bool IterativeSolver<S>::factor(const CsrView<S>& A, const AttemptListener& listener, const StopToken& stop,
                                Attempt& tried, std::unique_ptr<ComingMatrix<S>> coming)
{
    witness_.numbers_changed();
    adjoint_.reset();
    factored_ = false;
    const bool same = there_ && options_.krylov.precision != KrylovPrecision::mixed &&
                      there_->serves(A, method_of(tried.plan.method), options_there(tried.plan));
    if (there_) there_->drop_factors();
    if (here_) here_->drop_factors();
    maker_.begin_next();
    if (!same) drop_place();
    if (tried.plan.change.empty()) needs_double_ = false;  // else it is a retry with the same numbers
    if (needs_double_) tried.decisions.emplace_back("krylov.precision=double: mixed did not do for these numbers");
    tried.device = machine_.device();
    try {
        if (same && awaited_.empty()) there_->renew(A);
        A_ = &A;
        if (machine_.gpu && !same) begin_there(tried.plan, std::move(coming));
        factored_ = make_and_place(listener, stop, tried);
    } catch (...) {
        release();
        throw;
    }
    if (!factored_) release();
    maker_.end_next();
    if (factored_)
        tried.action = tried.plan.precond.kind == PrecondKind::none ? SolverAction::none : SolverAction::refresh;
    return factored_;
}

template <Scalar S>
void IterativeSolver<S>::keep(const CsrView<S>& A, Attempt& tried)
{
    require(factored_, [] { return "there is no preconditioner to be kept"; });
    adjoint_.reset();
    witness_.numbers_changed();
    tried.device = machine_.device();
    bool made_anew = false;
    try {
        if (there_ && there_->serves(A, method_of(tried.plan.method), options_there(tried.plan))) {
            with_device_named(tried.device, [&] {
                if (awaited_.empty()) there_->renew(A);
                there_->await_values();
            });
            A_ = &A;
            there_->note(tried);
        } else {
            if (there_) drop_place();
            A_ = &A;
            if (machine_.gpu) begin_there(tried.plan);
            made_anew = !place(tried);
        }
        if (made_anew) {  // given up for want of memory, and the host cannot apply it
            maker_.drop();
            if (!make_and_place({}, {}, tried)) return release();
        }
    } catch (...) {
        release();
        throw;
    }
    tried.action = tried.plan.precond.kind == PrecondKind::none ? SolverAction::none
                   : made_anew                                  ? SolverAction::refresh
                                                                : SolverAction::lagged;
}

template <Scalar S>
std::optional<double> IterativeSolver<S>::take_values(Gpu& caller, DeviceSpan<const S> values, std::span<S> host)
{
    const bool there = factored_ && there_ && there_->gpu().device() == caller.device();
    if (!there || !there_->takes_device_values()) return {};
    there_->renew(caller, values);
    const double norm = norm2<S>(there_->gpu(), there_->matrix().val());
    awaited_ = host;
    return norm;
}

template <Scalar S>
void IterativeSolver<S>::bring_values()
{
    if (awaited_.empty()) return;
    download<S>(there_->gpu(), there_->matrix().val(), awaited_);
    awaited_ = {};
}

template <Scalar S>
void IterativeSolver<S>::drop_place()
{
    bring_values();
    adjoint_.reset();
    there_.reset();
    if (here_ && here_->is_mixed()) here_.reset();
}

template <Scalar S>
void IterativeSolver<S>::release()
{
    witness_.forget();
    factored_ = false;
    if (here_) here_->drop_factors();
    drop_place();
    maker_.drop();
}

#define ILUX_INSTANTIATE(S) template class IterativeSolver<S>;
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux

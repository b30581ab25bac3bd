// What DirectSolver does with many systems at once.

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "ilux/base/error.hpp"
#include "ilux/base/instances.hpp"
#include "ilux/base/units.hpp"
#include "ilux/base/wall_clock.hpp"
#include "ilux/engine/machine/host.hpp"
#include "ilux/engine/machine/memory_guard.hpp"
#include "ilux/engine/direct_solver.hpp"

namespace ilux {
namespace {

std::size_t what_is_left(std::size_t limit, std::size_t used) { return limit > used ? limit - used : 0; }

}  // namespace

/// What a batch may take: of the GPU where its factors are, else of the host.
template <Scalar S>
std::size_t DirectSolver<S>::batch_bytes() const
{
    const std::size_t given = given_.memory_limit.value;
    if (!lu_->on_gpu()) {
        if (given > 0) return what_is_left(given, lu_->bytes());
        const std::size_t free = memory_available();
        return free > 0 ? free : std::numeric_limits<std::size_t>::max();
    }
    std::size_t bytes = gpu_memory(machine_.gpu->device()).free;
    bytes -= bytes / 16;  // for what launches need
    if (machine_.memory_limit.value > 0)
        bytes = std::min(bytes, what_is_left(machine_.memory_limit.value, lu_->device_bytes()));
    return given > 0 ? std::min(bytes, given) : bytes;
}

/// Makes batch_. @return why it cannot be, or ""
template <Scalar S>
std::string DirectSolver<S>::why_no_batch(Index members)
{
    if (lu_->refactor_method() == "supernodes") return "supernodes are factored one system at a time, by all threads";
    if (lu_->on_gpu() && is_complex<S>) return "a GPU works on batches of real values alone";
    if (lu_->on_gpu() && lu_->refactor_method() != "dataflow")
        return fmt::format("method {} refactors one system at a time", lu_->refactor_method());
    std::string why;
    try {
        Gpu* const gpu = lu_->on_gpu() ? machine_.gpu.get() : nullptr;
        if (const auto lacking = lack_of_memory(
                [&] { batch_.emplace(machine_.cpu, gpu, options_, symbolic_, lu_->pivots(), members, batch_bytes()); }))
            why = *lacking;
    } catch (const InvalidInput& error) {  // a GPU without clusters, or more entries than it can count
        why = error.what();
    }
    return why;
}

template <Scalar S>
void DirectSolver<S>::refuse_batch()
{
    release_batch();
    no_batch_for_ = lu_->pivots().pattern;
}

template <Scalar S>
bool DirectSolver<S>::prepare_batch(Index members, std::vector<std::string>& decisions)
{
    const bool serves =
        batch_ && batch_->on_gpu() == lu_->on_gpu() && (batch_->room() >= members || batch_->wanted() >= members);
    if (!serves) {
        if (no_batch_for_ == lu_->pivots().pattern) return false;
        release_batch();
        const WallClock   clock;
        const std::string why = why_no_batch(members);
        if (!why.empty()) {
            refuse_batch();
            decisions.push_back("batch: one system after another: " + why);
            return false;
        }
        if (batch_->on_gpu() && batch_->room() < members)
            decisions.push_back(
                fmt::format("batch: {} systems at a time, as memory has no room for {}", batch_->room(), members));
        if (batch_->on_gpu())
            decisions.push_back(fmt::format("batch: made ready on the GPU in {}", time_text(clock.seconds())));
    }
    return true;
}

template <Scalar S>
std::vector<BatchAttempt> DirectSolver<S>::solve_batch(const CsrView<S>& A, const BatchSystems<S>& systems, double rtol,
                                                       const Plan& plan)
{
    clock_ = WallClock();
    const auto                count = static_cast<std::size_t>(systems.count);
    std::vector<BatchTry>     tries(count);
    std::vector<BatchAttempt> all(count);
    batch_->solve(A, systems, rtol, tries);
    const double seconds = clock_.seconds() / double(count);
    for (std::size_t m = 0; m < count; ++m) {
        const BatchTry& one = tries[m];
        Attempt&        tried = all[m].tried;
        all[m].apart = one.apart;
        all[m].why = one.why;
        tried.forget_solution();
        tried.seconds_factor = batch_->seconds_factor() / double(count);
        tried.report.seconds.solve = batch_->seconds_solve() / double(count);
        tried.seconds = seconds;
        if (one.apart != Apart::none) continue;
        tried.plan = plan;
        tried.device = machine_.device();
        tried.action = SolverAction::batch;
        tried.lu = facts_;
        tried.lu->growth = one.monitor.rgrowth;
        tried.lu->rcond = one.monitor.rcond();
        tried.lu->refine_steps = tried.report.steps = one.refine.steps + one.corrections;
        tried.fill = facts_->fill;
        tried.factor_bytes = lu_->bytes();
        tried.report.outcome = Outcome::converged;
        tried.accuracy = one.accuracy;
        tried.report.relative_residual = one.accuracy.relative_residual;
        tried.report.backward_error = one.accuracy.backward_error;
        hold_to_etol(options_, static_cast<Index>(systems.n), tried);
        if (tried.converged()) continue;
        all[m].apart = Apart::inaccurate;
        all[m].why = tried.explanation;
    }
    return all;
}

#define ILUX_INSTANTIATE(S)                                                                                            \
    template std::size_t               DirectSolver<S>::batch_bytes() const;                                           \
    template std::string               DirectSolver<S>::why_no_batch(Index);                                           \
    template void                      DirectSolver<S>::refuse_batch();                                                \
    template bool                      DirectSolver<S>::prepare_batch(Index, std::vector<std::string>&);               \
    template std::vector<BatchAttempt> DirectSolver<S>::solve_batch(const CsrView<S>&, const BatchSystems<S>&, double, \
                                                                    const Plan&);
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux

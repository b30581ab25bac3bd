#include "ilux/engine/lu_batches.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <limits>

#include "ilux/base/error.hpp"
#include "ilux/base/instances.hpp"
#include "ilux/base/units.hpp"
#include "ilux/base/wall_clock.hpp"
#include "ilux/engine/machine/host.hpp"
#include "ilux/engine/machine/memory_guard.hpp"

namespace ilux {
namespace {

std::size_t what_is_left(std::size_t limit, std::size_t used) { return limit > used ? limit - used : 0; }

}  // namespace

/// What a batch may take: of the GPU where its factors are, else of the host.
template <Scalar S>
std::size_t LuBatches<S>::most_bytes(const Lu<S>& lu) const
{
    const std::size_t given = options_.lu.memory_limit.value;
    if (!lu.on_gpu()) {
        if (given > 0) return what_is_left(given, lu.status().bytes);
        const std::size_t free = memory_available();
        return free > 0 ? free : std::numeric_limits<std::size_t>::max();
    }
    std::size_t bytes = gpu_memory(machine_.gpu->device()).free;
    bytes -= bytes / 16;  // for what launches need
    if (machine_.memory_limit.value > 0)
        bytes = std::min(bytes, what_is_left(machine_.memory_limit.value, lu.status().device_bytes));
    return given > 0 ? std::min(bytes, given) : bytes;
}

/// Makes batch_. @return why it cannot be, or ""
template <Scalar S>
std::string LuBatches<S>::make(const Lu<S>& lu, const std::shared_ptr<const LuSymbolic>& symbolic, Index members)
{
    const std::string_view method = lu.status().method;
    if (method == "supernodes") return "supernodes are factored one system at a time, by all threads";
    if (lu.on_gpu() && is_complex<S>) return "a GPU works on batches of real values alone";
    if (lu.on_gpu() && method != "dataflow") return fmt::format("method {} refactors one system at a time", method);
    std::string why;
    try {
        Cpu        cpu = machine_.cpu;
        Gpu* const gpu = lu.on_gpu() ? machine_.gpu.get() : nullptr;
        if (const auto lacking = lack_of_memory(
                [&] { batch_.emplace(cpu, gpu, options_, symbolic, lu.pivots(), members, most_bytes(lu)); }))
            why = *lacking;
    } catch (const InvalidInput& error) {  // a GPU without clusters, or more entries than it can count
        why = error.what();
    }
    return why;
}

template <Scalar S>
void LuBatches<S>::refuse(const Lu<S>& lu)
{
    release();
    none_for_ = lu.pivots().pattern;
}

template <Scalar S>
bool LuBatches<S>::prepare(const Lu<S>& lu, const std::shared_ptr<const LuSymbolic>& symbolic, Index members,
                           std::vector<std::string>& decisions)
{
    const bool serves =
        batch_ && batch_->on_gpu() == lu.on_gpu() && (batch_->room() >= members || batch_->wanted() >= members);
    if (serves) return true;
    if (none_for_ == lu.pivots().pattern) return false;
    release();
    if (lu.on_gpu() && lu.status().method == "none") {  // until the next refactorization
        decisions.emplace_back("batch: one system after another: the last pivots are not on the GPU yet");
        return false;
    }
    const WallClock   clock;
    const std::string why = make(lu, symbolic, members);
    if (!why.empty()) {
        refuse(lu);
        decisions.push_back("batch: one system after another: " + why);
        return false;
    }
    if (batch_->on_gpu() && batch_->room() < members)
        decisions.push_back(
            fmt::format("batch: {} systems at a time, as memory has no room for {}", batch_->room(), members));
    if (batch_->on_gpu())
        decisions.push_back(fmt::format("batch: made ready on the GPU in {}", time_text(clock.seconds())));
    return true;
}

template <Scalar S>
std::vector<BatchAttempt> LuBatches<S>::solve(const CsrView<S>& A, const BatchSystems<S>& systems, double rtol,
                                              const Attempt& facts)
{
    const WallClock            clock;
    const auto                 count = static_cast<std::size_t>(systems.count);
    std::vector<MemberOutcome> tries(count);
    std::vector<BatchAttempt>  all(count);
    batch_->solve(A, systems, rtol, tries);
    const double seconds = clock.seconds() / double(count);
    for (std::size_t m = 0; m < count; ++m) {
        const MemberOutcome& one = tries[m];
        Attempt&             tried = all[m].tried;
        all[m].alone = one.alone;
        all[m].why = one.why;
        tried.forget_solution();
        tried.seconds_factor = batch_->seconds_factor() / double(count);
        tried.report.seconds.solve = batch_->seconds_solve() / double(count);
        tried.seconds = seconds;
        if (one.alone != Alone::none) continue;
        tried.plan = facts.plan;
        tried.device = facts.device;
        tried.action = SolverAction::batch;
        tried.lu = facts.lu;
        tried.lu->growth = one.monitor.rgrowth;
        tried.lu->rcond = one.monitor.rcond();
        tried.lu->refine_steps = tried.report.steps = one.refine.steps + one.corrections;
        tried.fill = facts.fill;
        tried.factor_bytes = facts.factor_bytes;
        tried.report.outcome = Outcome::converged;
        tried.accuracy = one.accuracy;
        tried.report.relative_residual = one.accuracy.relative_residual;
        tried.report.backward_error = one.accuracy.backward_error;
        hold_to_etol(options_, static_cast<Index>(systems.n), tried);
        if (tried.converged()) continue;
        all[m].alone = Alone::inaccurate;
        all[m].why = tried.explanation;
    }
    return all;
}

#define ILUX_INSTANTIATE(S) template class LuBatches<S>;
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux

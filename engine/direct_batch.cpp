#include "ilux/engine/direct_batch.hpp"

#include <fmt/core.h>
#include <omp.h>

#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "ilux/base/instances.hpp"
#include "ilux/base/region_failure.hpp"
#include "ilux/base/wall_clock.hpp"

namespace ilux {
namespace {

/// Threads share the members.
template <class Work>
void for_each(Cpu& cpu, std::span<const std::size_t> which, Work&& work)
{
    RegionFailure failure;
#pragma omp parallel for schedule(dynamic, 1) num_threads(cpu.team(which.size() > 1))
    for (std::size_t k = 0; k < which.size(); ++k) failure.run([&] { work(which[k]); });
    failure.rethrow();
}

}  // namespace

template <Scalar S>
BatchGroup<S>::BatchGroup(Gpu* gpu, const SolverOptions& options, std::shared_ptr<const LuSymbolic> symbolic,
                          const LuPivots& by, Index members, std::size_t most_bytes)
    : options_(options),
      symbolic_(std::move(symbolic)),
      by_(by),
      batch_(gpu, symbolic_, by.pattern, members, most_bytes)
{
    const auto together = static_cast<std::size_t>(room()), all = together * static_cast<std::size_t>(symbolic_->n);
    member_.resize(together);
    residual_.resize(together);
    for (auto* vectors : {&r_, &e_, &best_}) vectors->resize(all);
}

template <Scalar S>
std::size_t BatchGroup<S>::bytes() const
{
    constexpr std::size_t vectors = 5;  // two of them of the residual
    return batch_.bytes() + vectors * sizeof(S) * r_.size();
}

/// Whether the former pivots serve this member, and its x is as good as refinement makes it.
template <Scalar S>
void BatchGroup<S>::judge_pivots_of(std::size_t m, MemberOutcome& tried) const
{
    const BatchMember& member = member_[m];
    tried.monitor = member.monitor;
    tried.refine = member.refine;
    const auto alone = [&](Alone why, std::string text) {
        tried.alone = why;
        tried.why = std::move(text);
    };
    const LuReport pivots = judge_pivots(by_, member.monitor);
    if (pivots.outcome != Outcome::converged) return alone(Alone::failed, pivots.reason);
    if (pivots.action == LuAction::repivot) return alone(Alone::stale, pivots.reason);
    LuSolveReport solved{.refine = member.refine};
    conclude(solved, lu_tolerance);
    if (solved.outcome != Outcome::converged) alone(Alone::inaccurate, solved.reason);
}

/// Members whose factors do not find a known solution are solved alone, where DirectSolver looks closer.
template <Scalar S>
void BatchGroup<S>::leave_singular_alone(Cpu& cpu, const CsrView<S>& A, const BatchSystems<S>& systems,
                                         std::span<MemberOutcome> tries)
{
    const std::size_t        n = systems.n, all = tries.size() * n;
    std::vector<std::size_t> which;
    for (std::size_t m = 0; m < tries.size(); ++m)
        if (tries[m].alone == Alone::none && tries[m].accuracy.finite) which.push_back(m);
    if (which.empty()) return;
    std::ranges::fill(r_, S(0));
    const auto of = [n](std::vector<S>& vectors, std::size_t m) { return std::span<S>(vectors).subspan(m * n, n); };
    for_each(cpu, which, [&](std::size_t m) {
        Cpu        one(1);
        const auto x = systems.x_of(m);
        known_answer<S>(x, 0, least_unknown * largest_of<S>(x), of(best_, m));
        multiply_exactly<S>(one, A.with_values(systems.values_of(m)), of(best_, m), of(r_, m));
    });
    batch_.substitute(std::span<const S>(r_).first(all), std::span<S>(e_).first(all));
    for_each(cpu, which, [&](std::size_t m) {
        const auto z = of(best_, m), e = of(e_, m);
        for (std::size_t i = 0; i < n; ++i) e[i] -= z[i];
        if (missed_share<S>(z, e) <= found_share) return;
        tries[m].alone = Alone::near_singular;
        tries[m].why = "its factors do not find a known solution to a hundred-thousandth";
    });
}

/// Accuracy of x, with an estimate of its error by one more substitution. Leaves residuals and errors of these members.
template <Scalar S>
void BatchGroup<S>::measure_those(Cpu& cpu, const CsrView<S>& A, std::span<const std::size_t> which,
                                  const BatchSystems<S>& systems, std::span<MemberOutcome> tries)
{
    const std::size_t n = systems.n, all = tries.size() * n;
    for_each(cpu, which, [&](std::size_t m) {
        Cpu        one(1);
        const auto member = A.with_values(systems.values_of(m));
        tries[m].accuracy = measure<S>(one, member, systems.x_of(m), systems.b_of(m), residual_[m]);
        if (tries[m].accuracy.finite) note_counting_rows<S>(member, systems.x_of(m), residual_[m], tries[m].accuracy);
    });
    std::ranges::fill(r_, S(0));
    for (const std::size_t m : which)
        if (tries[m].accuracy.finite)
            std::ranges::copy(residual_[m].r, r_.begin() + static_cast<std::ptrdiff_t>(m * n));
    batch_.substitute(std::span<const S>(r_).first(all), std::span<S>(e_).first(all));
    for_each(cpu, which, [&](std::size_t m) {
        if (tries[m].accuracy.finite)
            note_error<S>(systems.x_of(m), std::span<const S>(e_).subspan(m * n, n), residual_[m], tries[m].accuracy);
    });
}

/// x ← x + A⁻¹(b − A x) with residuals in twice the precision, as long as that halves what is missing [demmel_06].
template <Scalar S>
void BatchGroup<S>::improve(Cpu& cpu, const CsrView<S>& A, const BatchSystems<S>& systems,
                            std::span<MemberOutcome> tries)
{
    const std::size_t        n = systems.n;
    const Standard           limits = standard_of_lu(options_);
    std::vector<std::size_t> going;
    for (std::size_t m = 0; m < tries.size(); ++m)
        if (tries[m].alone == Alone::none) going.push_back(m);
    if (going.empty()) return;
    measure_those(cpu, A, going, systems, tries);
    for (Index step = 0; step < most_lu_corrections; ++step) {
        std::erase_if(going, [&](std::size_t m) {
            return !tries[m].accuracy.finite || excess(tries[m].accuracy, limits) <= 1;
        });
        if (going.empty()) return;
        std::vector<Accuracy> before;
        for (const std::size_t m : going) {
            before.push_back(tries[m].accuracy);
            const std::span<S> x = systems.x_of(m);
            std::ranges::copy(x, best_.begin() + static_cast<std::ptrdiff_t>(m * n));
            for (std::size_t i = 0; i < n; ++i) x[i] += times_power(e_[m * n + i], residual_[m].exponent);
            ++tries[m].corrections;
        }
        measure_those(cpu, A, going, systems, tries);
        std::vector<std::size_t> better;
        for (std::size_t k = 0; k < going.size(); ++k) {
            const std::size_t m = going[k];
            if (halves_excess(tries[m].accuracy, before[k], limits)) {
                better.push_back(m);
                continue;
            }
            tries[m].accuracy = before[k];
            std::ranges::copy(std::span<const S>(best_).subspan(m * n, n), systems.x_of(m).begin());
        }
        going = std::move(better);
    }
}

template <Scalar S>
void BatchGroup<S>::solve(Cpu& cpu, const CsrView<S>& A, const BatchSystems<S>& systems, double rtol,
                          std::span<MemberOutcome> tries)
{
    const WallClock              clock;
    const std::span<BatchMember> members = std::span(member_).first(tries.size());
    batch_.refactor(systems.values, members);
    seconds_factor_ = clock.seconds();
    batch_.solve(systems.b, systems.x, members);
    seconds_solve_ = clock.seconds() - seconds_factor_;
    for (std::size_t m = 0; m < tries.size(); ++m) judge_pivots_of(m, tries[m]);
    improve(cpu, A, systems, tries);
    leave_singular_alone(cpu, A, systems, tries);
    for (MemberOutcome& tried : tries) {
        if (tried.alone != Alone::none || is_plain_success(tried.accuracy, rtol)) continue;
        tried.alone = Alone::inaccurate;
        tried.why = !tried.accuracy.finite ? std::string("x or its residual is not finite")
                                           : fmt::format("residual {:.1e}, componentwise backward error {:.1e}",
                                                         tried.accuracy.relative_residual, tried.accuracy.rowwise);
    }
}

template <Scalar S>
DirectBatch<S>::DirectBatch(Cpu& cpu, Gpu* gpu, const SolverOptions& options,
                            const std::shared_ptr<const LuSymbolic>& symbolic, const LuPivots& by, Index members,
                            std::size_t most_bytes)
    : cpu_(cpu), wanted_(members)
{
    group_.emplace_back(gpu, options, symbolic, by, members, most_bytes);
    if (gpu != nullptr) return;
    const std::size_t fit = most_bytes / std::max(group_.front().bytes(), std::size_t{1});
    const auto groups = std::min({static_cast<std::size_t>(cpu_.threads()), static_cast<std::size_t>(members), fit});
    std::vector<std::optional<BatchGroup<S>>> others(std::max(groups, std::size_t{1}) - 1);  // whose plans take a while
    RegionFailure                             failure;
#pragma omp parallel for schedule(dynamic, 1) num_threads(cpu_.team(!others.empty()))
    for (std::size_t k = 0; k < others.size(); ++k)
        failure.run([&] { others[k].emplace(nullptr, options, symbolic, by, members, most_bytes); });
    failure.rethrow();
    for (auto& one : others) group_.push_back(std::move(*one));
}

/// Factoring and solving share the time that passed as they share the groups' work.
template <Scalar S>
void DirectBatch<S>::solve(const CsrView<S>& A, const BatchSystems<S>& systems, double rtol,
                           std::span<MemberOutcome> tries)
{
    if (on_gpu()) {
        group_.front().solve(cpu_, A, systems, rtol, tries);
        seconds_factor_ = group_.front().seconds_factor();
        seconds_solve_ = group_.front().seconds_solve();
        return;
    }
    const WallClock clock;
    RegionFailure   failure;
    double          factoring = 0, solving = 0, working = 0;
    const bool      several = group_.size() > 1 && tries.size() > 1;
    const int       team = std::min(cpu_.team(several), static_cast<int>(group_.size()));
#pragma omp parallel for schedule(dynamic, 1) num_threads(team) reduction(+ : factoring, solving, working)
    for (std::size_t m = 0; m < tries.size(); ++m)
        failure.run([&] {
            const WallClock own;
            Cpu             one(1);
            BatchGroup<S>&  group = group_[static_cast<std::size_t>(omp_get_thread_num())];
            group.solve(one, A, systems.part(static_cast<Index>(m), 1), rtol, tries.subspan(m, 1));
            factoring += group.seconds_factor();
            solving += group.seconds_solve();
            working += own.seconds();
        });
    failure.rethrow();
    const double share = working > 0 ? clock.seconds() / working : 0;
    seconds_factor_ = share * factoring;
    seconds_solve_ = share * solving;
}

#define ILUX_INSTANTIATE(S)       \
    template class BatchGroup<S>; \
    template class DirectBatch<S>;
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux

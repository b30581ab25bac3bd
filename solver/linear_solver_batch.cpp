// What LinearSolver does with many systems at once.

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "ilux/base/error.hpp"
#include "ilux/base/instances.hpp"
#include "ilux/base/wall_clock.hpp"
#include "ilux/direct/analysis/lu_input.hpp"
#include "ilux/solver/linear_solver_impl.hpp"
#include "ilux/engine/machine/memory_guard.hpp"

namespace ilux {
namespace {

/// @throws InvalidInput for lengths that disagree, or naming the member whose numbers are not finite
template <Scalar S>
BatchSystems<S> checked(const CsrView<S>& A, Index members, std::span<const S> values, std::span<const S> B,
                        std::span<S> X)
{
    require(members >= 0, [&] { return fmt::format("solve_batch: {} members", members); });
    const auto            n = static_cast<std::size_t>(A.rows()), nnz = static_cast<std::size_t>(A.nnz());
    const auto            k = static_cast<std::size_t>(members);
    const BatchSystems<S> all{values, B, X, n, nnz, members};
    require(values.size() == k * nnz && B.size() == k * n && X.size() == k * n, [&] {
        return fmt::format(
            "solve_batch: {} members of {} entries and {} rows, but {} values, and B has {} and X {} numbers", members,
            nnz, n, values.size(), B.size(), X.size());
    });
    Cpu           serial(1);
    MatrixView<S> one = view(A);
    for (std::size_t m = 0; m < k; ++m) {
        one.val = all.values_of(m);
        try {
            require_finite_values<S>(one);
        } catch (const InvalidInput& error) {
            throw InvalidInput(fmt::format("solve_batch: member {} (counted from 0): {}", m, error.what()));
        }
        require(is_finite<S>(serial, all.b_of(m)),
                [&] { return fmt::format("solve_batch: member {} (counted from 0): b is not finite", m); });
    }
    return all;
}

/// A member's report without its x, which the caller has.
void keep(SolverReport report, std::size_t m, BatchReport& all)
{
    for (Attempt& tried : report.attempts) tried.x = {};
    all.members[m] = std::move(report);
}

}  // namespace

/// A member by itself, as the next system of the series.
template <Scalar S>
void LinearSolver<S>::Impl::solve_alone(const BatchSystems<S>& all, std::size_t m, BatchReport& report)
{
    SolverReport one = refactor_and_solve(all.values_of(m), all.b_of(m), all.x_of(m));
    for (const Attempt& tried : one.attempts) {
        report.seconds_factor += tried.seconds_factor;
        report.seconds_solve += tried.report.seconds.solve;
    }
    keep(std::move(one), m, report);
}

/// Members from `first` on that the pivots at hand solve together, and right after them those that these do not serve.
/// @return how many that were; 0: members are to be solved alone
template <Scalar S>
Index LinearSolver<S>::Impl::solve_together(const BatchSystems<S>& all, Index first, BatchReport& report)
{
    const Index left = all.count - first;
    if (left < 2 || all.n == 0 || stop.stopped()) return 0;
    if (!direct() || !loop.factored() || !strategies->direct().factored()) return 0;
    DirectSolver<S>&          lu = strategies->direct();
    BatchSystems<S>           piece;
    std::vector<BatchAttempt> tries;
    const auto                lacking = lack_of_memory([&] {
        if (!lu.batches().prepare(lu.lu(), lu.symbolic(), all.count, report.decisions)) return;
        piece = all.part(first, std::min(left, lu.batches().room()));
        tries = lu.batches().solve(A_, piece, options_.krylov.rtol, loop.current());
    });
    if (lacking) {
        lu.batches().refuse(lu.lu());
        report.decisions.push_back("batch: one system after another: " + *lacking);
        return 0;
    }
    if (!tries.empty()) note_together(piece, first, tries, report);
    return static_cast<Index>(tries.size());
}

/// What a piece has come to. Members that are apart are solved by themselves.
template <Scalar S>
void LinearSolver<S>::Impl::note_together(const BatchSystems<S>& piece, Index first, std::vector<BatchAttempt>& tries,
                                          BatchReport& report)
{
    Index apart = 0, stale = 0;
    for (std::size_t m = 0; m < tries.size(); ++m) {
        BatchAttempt& one = tries[m];
        const Index   member = first + static_cast<Index>(m);
        report.seconds_factor += one.tried.seconds_factor;
        report.seconds_solve += one.tried.report.seconds.solve;
        if (one.apart != Apart::none) {
            ++apart;
            stale += one.apart == Apart::stale;
            report.counts.note(one.apart, member, one.why);
            continue;
        }
        if (loop.listener()) loop.listener()(one.tried);
        series_.direct.add(one.tried.seconds);
        ++series_.begun;
        SolverReport told;
        told.seconds = one.tried.seconds;
        told.attempts.push_back(std::move(one.tried));
        keep(std::move(told), static_cast<std::size_t>(member), report);
    }
    report.counts.at_once += piece.count - apart;
    report.counts.together = std::max(report.counts.together, piece.count);
    // Where the values have moved on, so do the pivots: those that the first of the stale members gets.
    if (2 * stale > piece.count) strategies->direct().batches().release();
}

template <Scalar S>
BatchReport LinearSolver<S>::Impl::solve_batch(const BatchSystems<S>& all)
{
    const WallClock clock;
    BatchReport     report;
    report.members.resize(static_cast<std::size_t>(all.count));
    report.counts.members = all.count;
    for (Index m = 0; m < all.count;) {
        const Index together = solve_together(all, m, report);
        const Index end = m + std::max(together, Index{1});
        for (; m < end; ++m)
            if (report.members[static_cast<std::size_t>(m)].attempts.empty())
                solve_alone(all, static_cast<std::size_t>(m), report);
    }
    report.seconds = clock.seconds();
    return report;
}

template <Scalar S>
BatchReport LinearSolver<S>::solve_batch(Index members, std::span<const S> values, std::span<const S> B, std::span<S> X)
{
    impl_->require_allowed(SolverCall::solve_batch);
    impl_->bring_values();
    return impl_->solve_batch(checked<S>(impl_->matrix(), members, values, B, X));
}

#define ILUX_INSTANTIATE(S) \
    template BatchReport LinearSolver<S>::solve_batch(Index, std::span<const S>, std::span<const S>, std::span<S>);
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux

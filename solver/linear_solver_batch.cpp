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

/// One call of solve_batch().
/// @tparam Impl  of LinearSolver<S>
template <class Impl, Scalar S>
class BatchCall {
public:
    BatchCall(Impl& solver, const BatchSystems<S>& all) : solver_(solver), all_(all) {}

    BatchReport solve()
    {
        const WallClock clock;
        report_.members.resize(static_cast<std::size_t>(all_.count));
        report_.counts.members = all_.count;
        for (Index m = 0; m < all_.count;) {
            const Index together = solve_together(m);
            const Index end = m + std::max(together, Index{1});
            for (; m < end; ++m)
                if (report_.members[static_cast<std::size_t>(m)].attempts.empty())
                    solve_alone(static_cast<std::size_t>(m));
        }
        report_.seconds = clock.seconds();
        return std::move(report_);
    }

private:
    LuBatches<S>& batches() { return solver_.strategies->direct().batches(); }

    /// A member by itself, as the next system of the series.
    void solve_alone(std::size_t m)
    {
        SolverReport one = solver_.refactor_and_solve(all_.values_of(m), all_.b_of(m), all_.x_of(m));
        for (const Attempt& tried : one.attempts) {
            report_.seconds_factor += tried.seconds_factor;
            report_.seconds_solve += tried.report.seconds.solve;
        }
        keep(std::move(one), m, report_);
    }

    /// Members from `first` on that the pivots at hand solve together, and right after them those that these do not
    /// serve. @return how many that were; 0: members are to be solved alone
    Index solve_together(Index first)
    {
        const Index left = all_.count - first;
        if (left < 2 || all_.n == 0 || solver_.stop.stopped()) return 0;
        if (!solver_.strategies->takes_direct() || !solver_.loop.factored()) return 0;
        DirectSolver<S>& lu = solver_.strategies->direct();
        if (!lu.factored() || !solver_.loop.current().lu) return 0;  // or its factors are of an earlier system
        BatchSystems<S>           piece;
        std::vector<BatchAttempt> tries;
        const auto                lacking = lack_of_memory([&] {
            if (!batches().prepare(lu.lu(), lu.symbolic(), all_.count, report_.decisions)) return;
            piece = all_.part(first, std::min(left, batches().room()));
            tries = batches().solve(solver_.system.view(), piece, solver_.options.krylov.rtol, solver_.loop.current());
        });
        if (lacking) {
            batches().refuse(lu.lu());
            report_.decisions.push_back("batch: one system after another: " + *lacking);
            return 0;
        }
        if (!tries.empty()) note_together(piece, first, tries);
        return static_cast<Index>(tries.size());
    }

    /// What a piece has come to. Members that are alone are solved by themselves.
    void note_together(const BatchSystems<S>& piece, Index first, std::vector<BatchAttempt>& tries)
    {
        Index alone = 0, stale = 0;
        for (std::size_t m = 0; m < tries.size(); ++m) {
            BatchAttempt& one = tries[m];
            const Index   member = first + static_cast<Index>(m);
            report_.seconds_factor += one.tried.seconds_factor;
            report_.seconds_solve += one.tried.report.seconds.solve;
            if (one.alone != Alone::none) {
                ++alone;
                stale += one.alone == Alone::stale;
                report_.counts.note(one.alone, member, one.why);
                continue;
            }
            if (solver_.loop.listener()) solver_.loop.listener()(one.tried);
            solver_.series.direct.add(one.tried.seconds);
            ++solver_.series.begun;
            SolverReport told;
            told.seconds = one.tried.seconds;
            told.attempts.push_back(std::move(one.tried));
            keep(std::move(told), static_cast<std::size_t>(member), report_);
        }
        report_.counts.at_once += piece.count - alone;
        report_.counts.together = std::max(report_.counts.together, piece.count);
        // Where the values have moved on, so do the pivots: those that the first of the stale members gets.
        if (2 * stale > piece.count) batches().release();
    }

    Impl&                  solver_;
    const BatchSystems<S>& all_;
    BatchReport            report_;
};

}  // namespace

template <Scalar S>
BatchReport LinearSolver<S>::solve_batch(Index members, std::span<const S> values, std::span<const S> B, std::span<S> X)
{
    require_allowed(impl_->loop.state(), SolverCall::solve_batch);
    impl_->strategies->bring_values();
    const BatchSystems<S> all = checked<S>(impl_->system.view(), members, values, B, X);
    return BatchCall<Impl, S>(*impl_, all).solve();
}

#define ILUX_INSTANTIATE(S) \
    template BatchReport LinearSolver<S>::solve_batch(Index, std::span<const S>, std::span<const S>, std::span<S>);
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux

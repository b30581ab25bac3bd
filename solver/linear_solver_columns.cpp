// LinearSolver for several right-hand sides, one after another.

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "ilux/base/error.hpp"
#include "ilux/base/instances.hpp"
#include "ilux/solver/linear_solver_impl.hpp"

namespace ilux {
namespace {

/// The report of a column that comes after `last`, which ended the call.
template <Scalar S>
SolverReport not_begun(const SolverReport& last, std::size_t column)
{
    SolverReport report;
    Attempt&     none = report.attempts.emplace_back();
    none.plan = last.result().plan;
    none.device = last.result().device;
    none.x = std::vector<S>();
    none.fail(last.outcome(),
              fmt::format("not begun, as column {} (counted from 1) ended with {}", column + 1, name(last.outcome())));
    report.begun = false;
    return report;
}

void require_columns(std::size_t count, std::size_t n, std::size_t ld, std::size_t size, const char* name)
{
    require(ld >= n, [&] { return fmt::format("solve: columns of {} begin {} apart, A has {} rows", name, ld, n); });
    const std::size_t needed = count == 0 || n == 0 ? 0 : (count - 1) * ld + n;
    require(size >= needed,
            [&] { return fmt::format("solve: {} has {} entries; {} columns take {}", name, size, count, needed); });
}

/// In one piece where the columns follow on one another: a GPU is waited for once.
template <Scalar S>
void require_finite_columns(std::size_t count, std::size_t n, const Array<const S>& B, std::size_t ldb)
{
    const bool        together = ldb == n;
    const std::size_t pieces = together ? std::min<std::size_t>(count, 1) : count;
    for (std::size_t k = 0; k < pieces; ++k)
        require(is_finite(B.subspan(k * ldb, together ? count * n : n)), [] { return "solve: B is not finite"; });
}

}  // namespace

template <Scalar S>
std::vector<SolverReport> LinearSolver<S>::solve_columns(std::size_t count, Array<const S> B, std::size_t ldb,
                                                         Array<S> X, std::size_t ldx, Transpose transpose)
{
    require_allowed(impl_->loop.state(), SolverCall::solve);
    const auto n = static_cast<std::size_t>(impl_->system.view().rows());
    require_columns(count, n, ldb, B.size(), "B");
    require_columns(count, n, ldx, X.size(), "X");
    require_one_memory(B, X, "solve: B", "X");
    if (n == 0) ldb = ldx = 0;
    require_finite_columns<S>(count, n, B, ldb);
    const double               limit = impl_->options.time_limit;
    std::vector<SolverReport>  reports;
    std::optional<std::size_t> last;  // that was begun, where others are not
    double                     told = 0;
    for (std::size_t k = 0; k < count; ++k) {
        if (last) {
            reports.push_back(not_begun<S>(reports[*last], *last));
            continue;
        }
        SolverReport& report = reports.emplace_back(
            impl_->solve(B.subspan(k * ldb, n), X.subspan(k * ldx, n), transpose, Guess::by_options, k > 0));
        for (Attempt& tried : report.attempts) tried.x = std::vector<S>();
        const double spent = report.seconds;  // of this call
        report.seconds -= std::exchange(told, spent);
        const bool late = limit > 0 && spent >= limit && !report.converged();
        if (late || report.outcome() == Outcome::cancelled) last = k;
    }
    return reports;
}

template <Scalar S>
std::vector<SolverReport> LinearSolver<S>::solve_columns(Array<const S> B, Array<S> X, Transpose transpose)
{
    require_allowed(impl_->loop.state(), SolverCall::solve);
    const auto n = static_cast<std::size_t>(impl_->system.view().rows());
    require(B.size() == X.size() && (n == 0 ? B.size() == 0 : B.size() % n == 0), [&] {
        return fmt::format("solve: B has {} and X {} entries, which are no columns of {}", B.size(), X.size(), n);
    });
    return solve_columns(n == 0 ? 0 : B.size() / n, B, n, X, n, transpose);
}

#define ILUX_INSTANTIATE(S)                                                                                     \
    template std::vector<SolverReport> LinearSolver<S>::solve_columns(Array<const S>, Array<S>, Transpose);     \
    template std::vector<SolverReport> LinearSolver<S>::solve_columns(std::size_t, Array<const S>, std::size_t, \
                                                                      Array<S>, std::size_t, Transpose);
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux

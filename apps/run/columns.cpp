#include "ilux/apps/run/columns.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "ilux/base/cpu.hpp"
#include "ilux/base/instances.hpp"
#include "ilux/engine/report/status_code.hpp"

namespace ilux::app {
namespace {

/// NaN counts as the largest residual.
double residual_of(const SolverReport& report)
{
    const double residual = report.relative_residual();
    return std::isnan(residual) ? std::numeric_limits<double>::infinity() : residual;
}

bool is_worse(const ColumnReport& a, const ColumnReport& b)
{
    if (a.report.begun != b.report.begun) return a.report.begun;  // what was not begun says nothing of its own
    const int code_a = status_code(a.report.outcome()), code_b = status_code(b.report.outcome());
    return code_a != code_b ? code_a > code_b : residual_of(a.report) > residual_of(b.report);
}

/// Those of the first column as they are, what is new in others with their number.
std::vector<std::string> decisions_of(const std::vector<ColumnReport>& columns)
{
    constexpr std::size_t    most = 50;
    std::vector<std::string> all;
    std::set<std::string>    told;
    std::size_t              left_out = 0;
    for (const ColumnReport& one : columns)
        for (const std::string& decision : one.report.decisions) {
            if (!told.insert(decision).second) continue;
            if (all.size() == most) ++left_out;
            else
                all.push_back(one.column == 0
                                  ? decision
                                  : fmt::format("column {} (counted from 1): {}", one.column + 1, decision));
        }
    if (left_out > 0) all.push_back(fmt::format("{} more of other columns are left out", left_out));
    return all;
}

void add_seconds(const Attempt& of, Attempt& sum)
{
    sum.seconds += of.seconds;
    sum.seconds_analyse += of.seconds_analyse;
    sum.seconds_factor += of.seconds_factor;
    const SolveSeconds& more = of.report.seconds;
    SolveSeconds&       all = sum.report.seconds;
    all.solve += more.solve;
    all.spmv += more.spmv;
    all.precond += more.precond;
    all.ortho += more.ortho;
    if (of.gpu && sum.gpu) sum.gpu->seconds_transfer += of.gpu->seconds_transfer;
}

}  // namespace

void take_columns(std::vector<SolverReport> reports, Run& run)
{
    run.columns.clear();
    for (SolverReport& report : reports)
        run.columns.push_back({static_cast<Index>(run.columns.size()), std::move(report)});
    std::vector<std::string> decisions = decisions_of(run.columns);
    std::ranges::stable_sort(run.columns, is_worse);
    static_cast<SolverReport&>(run) = run.columns.front().report;
    run.decisions = std::move(decisions);
    for (std::size_t k = 1; k < run.columns.size(); ++k) {
        add_seconds(run.columns[k].report.result(), run.attempts[run.best]);
        run.seconds += run.columns[k].report.seconds;
    }
}

template <Scalar S>
bool mark_missing_columns(Run& run, Index n, std::span<S> X)
{
    const auto         size = static_cast<std::size_t>(n);
    Cpu                serial(1);
    std::vector<Index> missing;
    for (const ColumnReport& one : run.columns) {
        const auto x = X.subspan(size * static_cast<std::size_t>(one.column), size);
        if (!one.report.result().solved() || !is_finite<S>(serial, x)) missing.push_back(one.column);
    }
    if (missing.size() == run.columns.size()) return false;
    for (const Index column : missing)
        std::ranges::fill(X.subspan(size * static_cast<std::size_t>(column), size),
                          S(std::numeric_limits<double>::quiet_NaN()));
    if (!missing.empty())
        run.decisions.push_back(
            fmt::format("--out: {} of {} columns have no x, the first is column {} (counted from 1); "
                        "NaN stands in their places",
                        missing.size(), run.columns.size(), *std::ranges::min_element(missing) + 1));
    return true;
}

#define ILUX_INSTANTIATE(S) template bool mark_missing_columns<S>(Run&, Index, std::span<S>);
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux::app

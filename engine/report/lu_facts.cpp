#include "ilux/engine/report/lu_facts.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "ilux/base/instances.hpp"
#include "ilux/base/error.hpp"
#include "ilux/base/matrix/spmv.hpp"
#include "ilux/base/units.hpp"
#include "ilux/direct/factor/levels.hpp"
#include "ilux/direct/solve/norm1_estimate.hpp"
#include "ilux/direct/solve/row_residual.hpp"
#include "ilux/engine/machine/host.hpp"

namespace ilux {
namespace {

constexpr double eps = std::numeric_limits<double>::epsilon();
constexpr double rounding_level = 4 * eps;

template <Scalar S>
RowResidual<S> row_of(const CsrView<S>& A, Index i, std::span<const NotDeduced<S>> x, std::span<const NotDeduced<S>> b)
{
    const auto first = static_cast<std::size_t>(A.row_ptr()[i]), count = A.row_ptr()[i + 1] - first;
    return row_residual<S>(A.col().subspan(first, count), A.val().subspan(first, count), x, b[i]);
}

/// max_i |b − A x|_i / (Σ_j |a_ij| ‖x‖∞ + |b_i|): normwise within each row, so that the scaling of rows does not
/// matter.
template <Scalar S>
double rowwise_error(const CsrView<S>& A, std::span<const NotDeduced<S>> x, std::span<const NotDeduced<S>> b)
{
    double largest = 0, error = 0;
    for (const S value : x) largest = std::max(largest, std::abs(value));
    for (Index i = 0; i < A.rows(); ++i) {
        double size = std::abs(b[i]);
        for (Offset p = A.row_ptr()[i]; p < A.row_ptr()[i + 1]; ++p) size += std::abs(A.val()[p]) * largest;
        if (const double r = std::abs(row_of<S>(A, i, x, b).r); r > 0) error = std::max(error, r / size);
    }
    return error;
}

LuVerdict singular(double bound)
{
    return {.outcome = Outcome::singular,
            .detail = fmt::format("A is singular in working precision: x is uncertain by {:.1e} times its size", bound),
            .remark = ""};
}

/// Rows that do not count may be rounding errors throughout; then the estimated error tells.
bool rows_hold(const Accuracy& accuracy)
{
    return accuracy.rowwise <= lu_tolerance ||
           (accuracy.rowwise_counting <= lu_tolerance && accuracy.worst_error <= uncertain_from);
}

/// Refinement has met its goal as far as numbers of that size go.
LuVerdict underflow(double rowwise)
{
    return {.outcome = Outcome::stagnated,
            .detail = fmt::format("unknowns that are not 0 underflow: numbers below 2.2e-308 have few digits or none "
                                  "(componentwise backward error {:.1e}); multiply b by a large number",
                                  rowwise),
            .remark = ""};
}

/// ‖|A⁻¹| (|r| + ε (|A||x| + |b|))‖∞ / ‖x‖∞
template <Scalar S>
double error_bound(Cpu& be, const LuFactors<S>& factors, const CsrView<NotDeduced<S>>& A,
                   std::span<const NotDeduced<S>> x, std::span<const NotDeduced<S>> b, Transpose factored)
{
    const auto          n = static_cast<std::size_t>(A.rows());
    std::vector<double> weight(n);
    std::vector<S>      v(n), signs(n);
    LuWorkspace<S>      ws(A.rows());
    double              largest = 0;
    for (Index i = 0; i < A.rows(); ++i) {
        const RowResidual<S> row = row_of<S>(A, i, x, b);
        weight[i] = std::abs(row.r) + eps * row.size;
        largest = std::max(largest, std::abs(x[i]));
    }
    const bool      transposed = factored != Transpose::no;
    const Transpose itself = transposed ? Transpose::adjoint : Transpose::no;
    const Transpose adjoint = transposed ? Transpose::no : Transpose::adjoint;
    const auto      apply = [&](std::span<S> v) {  // v ← D A⁻ᴴ v
        lu_solve<S>(be, factors, v, v, ws, adjoint);
        for (std::size_t i = 0; i < n; ++i) v[i] *= weight[i];
    };
    const auto apply_adjoint = [&](std::span<const S> signs, std::span<S> v) {  // v ← A⁻¹ D signs
        for (std::size_t i = 0; i < n; ++i) v[i] = weight[i] * signs[i];
        lu_solve<S>(be, factors, v, v, ws, itself);
    };
    if (n == 0) return 0;
    const double error = detail::estimate_norm1<S>(v, signs, 1, apply, apply_adjoint);
    return largest > 0 ? error / largest : error > 0 ? INFINITY : 0;
}

}  // namespace

LuFacts facts_before(const LuSymbolic& symbolic) { return {.symbolic = symbolic.report}; }

template <Scalar S>
void note_factors(const Lu<S>& lu, Offset nnz_A, LuFacts& facts)
{
    const LuPivots   pivots = lu.pivots();  // brings no numbers from a GPU
    const LuPattern& pattern = *pivots.pattern;
    const FrontPlan* fronts = pivots.fronts.get();
    facts.nnz = fronts != nullptr ? fronts->numbers() : pattern.nnz();
    facts.nnz_F = pattern.nnz_F();
    facts.fill = nnz_A > 0 ? double(facts.nnz + facts.nnz_F) / double(nnz_A) : 0;
    facts.flops = fronts != nullptr ? 2 * fronts->multiply_adds : pattern.flops();
    facts.levels = fronts != nullptr ? fronts->tree.depth() : lu_levels(pattern, DependencyRule::left).depth();
}

LuOptions within_memory(const LuOptions& options)
{
    LuOptions limited = options;
    if (limited.memory_limit.value == 0) limited.memory_limit.value = memory_available();
    return limited;
}

double predicted_bytes(const LuSymbolic& symbolic, std::size_t value)
{
    const double entry = double(value + sizeof(Index));
    const double input = double(value + sizeof(Index) + sizeof(Offset) + sizeof(double));
    return entry * symbolic.report.nnz + input * double(symbolic.input_nnz) + 64.0 * symbolic.n;
}

void require_memory(const LuSymbolic& symbolic, const LuOptions& given, std::size_t value)
{
    const double need = predicted_bytes(symbolic, value);
    const auto   limit = within_memory(given).memory_limit.value;
    if (limit == 0 || need <= double(limit)) return;
    throw OutOfMemory(fmt::format("L and U would take about {} ({:.3g} entries), but {} {}", bytes_text(need),
                                  symbolic.report.nnz,
                                  given.memory_limit.value > 0 ? "memory_limit is" : "the machine has free",
                                  bytes_text(double(limit))));
}

template <Scalar S>
double forward_error_bound(Cpu& be, const LuFactors<S>& factors, const CsrView<NotDeduced<S>>& A,
                           std::span<const NotDeduced<S>> x, std::span<const NotDeduced<S>> b, Transpose factored)
{
    return error_bound(be, factors, A, x, b, factored);
}

bool is_plain_success(const Accuracy& accuracy, double rtol)
{
    return accuracy.finite && rows_hold(accuracy) && accuracy.relative_residual <= rtol;
}

template <Scalar S>
LuVerdict lu_verdict(Cpu& be, const Lu<S>& lu, const CsrView<NotDeduced<S>>& A, std::span<const NotDeduced<S>> x,
                     std::span<const NotDeduced<S>> b, const LuSolveReport& solved, const Accuracy& accuracy,
                     double rtol, Transpose factored)
{
    if (solved.outcome != Outcome::converged && solved.outcome != Outcome::stagnated)
        return {.outcome = solved.outcome, .detail = solved.reason, .remark = ""};
    if (!accuracy.finite)
        return {.outcome = Outcome::not_finite, .detail = "x or its residual is not finite", .remark = ""};
    if (!rows_hold(accuracy)) {
        if (rowwise_error<S>(A, x, b) <= rounding_level)
            if (const double bound = forward_error_bound(be, lu.factors(), A, x, b, factored); !(bound < 1))
                return singular(bound);
        if (solved.outcome == Outcome::converged) return underflow(accuracy.rowwise);
        return {.outcome = Outcome::stagnated,
                .detail = fmt::format("componentwise backward error {:.1e} > {:.0e} after {} steps of refinement{}",
                                      accuracy.rowwise, lu_tolerance, solved.refine.steps,
                                      solved.repivoted ? ", with new pivots too" : ""),
                .remark = ""};
    }
    if (accuracy.relative_residual <= rtol) {
        if (accuracy.rowwise <= lu_tolerance) return {};
        return {.outcome = Outcome::converged,
                .detail = "",
                .remark =
                    fmt::format("rows whose terms are below 1e-12 of the largest unknown are solved to {:.1e} only",
                                accuracy.rowwise)};
    }
    const double bound = forward_error_bound(be, lu.factors(), A, x, b, factored);
    if (!(bound < 1)) return singular(bound);
    return {.outcome = Outcome::converged,
            .detail = "",
            .remark =
                fmt::format("converged by the componentwise backward error: residual {:.1e} is the rounding of x, "
                            "which is known to {:.0e}",
                            accuracy.relative_residual, bound)};
}

#define ILUX_INSTANTIATE(S)                                                                                      \
    template void      note_factors(const Lu<S>&, Offset, LuFacts&);                                             \
    template double    forward_error_bound(Cpu&, const LuFactors<S>&, const CsrView<S>&, std::span<const S>,     \
                                           std::span<const S>, Transpose);                                       \
    template LuVerdict lu_verdict(Cpu&, const Lu<S>&, const CsrView<S>&, std::span<const S>, std::span<const S>, \
                                  const LuSolveReport&, const Accuracy&, double, Transpose);
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux

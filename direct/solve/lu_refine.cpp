#include "ilux/direct/solve/lu_solve.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "ilux/base/error.hpp"
#include "ilux/direct/analysis/lu_input.hpp"
#include "ilux/direct/solve/compensated_sum.hpp"
#include "ilux/base/instances.hpp"
#include "ilux/direct/solve/norm1_estimate.hpp"
#include "ilux/direct/solve/refine_loop.hpp"
#include "ilux/direct/solve/row_residual.hpp"

namespace ilux {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
// A row that refinement should have solved better; and one that may be all rounding. Whether it was, the next residual
// tells.
constexpr double well_solved = 1000 * std::numeric_limits<double>::epsilon(), small_row = 0x1p-26;
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// Keeps NaN, unlike std::max.
void raise(double& largest, double value)
{
    if (!(value <= largest)) largest = std::isnan(largest) ? largest : value;
}

/// op(A), and how the stored vectors of A lie in it.
template <class S>
struct System {
    const MatrixView<S>& A;
    bool                 rows;        ///< they are its rows, not its columns
    bool                 conjugated;  ///< it is Aᴴ

    System(const MatrixView<S>& matrix, Transpose transpose)
        : A(matrix),
          rows((matrix.layout == MatrixLayout::rows) == (transpose == Transpose::no)),
          conjugated(is_complex<S> && transpose == Transpose::adjoint)
    {}
    S value(Offset p) const
    {
        if constexpr (is_complex<S>) return conjugated ? conj(A.val[p]) : A.val[p];
        else return A.val[p];
    }
};

/// Calls visit(i, a, x_j) for each entry a of row i and column j of the system.
template <class S, class Visit>
void for_each_entry(const System<S>& system, std::span<const S> x, Visit&& visit)
{
    const MatrixView<S>& A = system.A;
    for (Index k = 0; k < A.n; ++k)
        for (Offset p = A.ptr[k]; p < A.ptr[k + 1]; ++p)
            visit(system.rows ? k : A.idx[p], system.value(p), x[system.rows ? A.idx[p] : k]);
}

/// r ← b − op(A) x where the stored vectors of A are the rows of the system. @return max_i of the rows' errors
template <Values values, class S>
double residual_by_rows(const MatrixView<S>& A, std::span<const S> b, std::span<const S> x, std::span<S> r)
{
    double largest = 0;
    for (Index i = 0; i < A.n; ++i) {
        const auto           first = static_cast<std::size_t>(A.ptr[i]), count = A.ptr[i + 1] - first;
        const RowResidual<S> row =
            row_residual<S, values>(A.idx.subspan(first, count), A.val.subspan(first, count), x, b[i]);
        r[i] = row.r;
        raise(largest, row.error);
    }
    return largest;
}

/// r ← r + term, with what that loses
template <class S>
void add(S term, S& r, S& lost)
{
    CompensatedSum<S> sum{r, lost};
    sum.add(term);
    r = sum.sum;
    lost = sum.lost;
}

/// The first numbers of scratch memory as real ones.
template <class S>
std::span<double> real_scratch(std::span<S> memory, Index n)
{
    return {reinterpret_cast<double*>(memory.data()),
            static_cast<std::size_t>(n)};  // complex numbers are arrays of two
}

/// |a x|; of a product that vanishes the smallest number, so that a size of 0 means that there is none.
template <class S>
double product_size(S a, S x)
{
    const double size = std::abs(a * x);
    return size == 0 && a != S(0) && x != S(0) ? std::numeric_limits<double>::denorm_min() : size;
}

/// Does what residual_by_columns does for those rows that row_residual would scale; slow, since they are rare.
/// @param exponent  n; NaN for the other rows, else anything  @param lost  n, scratch
template <class S>
double scaled_residual_by_columns(const System<S>& system, std::span<const S> b, std::span<const S> x, std::span<S> r,
                                  std::span<double> exponent, std::span<S> lost)
{
    const Index n = system.A.n;
    const auto  for_each_row = [&](auto&& visit) {
        for (Index i = 0; i < n; ++i)
            if (!std::isnan(exponent[i])) visit(i);
    };
    const auto for_each_term = [&](auto&& visit) {  // of A x − b
        for_each_row([&](Index i) { visit(i, -b[i], S(1)); });
        for_each_entry(system, x, [&](Index i, S a, S x_j) {
            if (!std::isnan(exponent[i])) visit(i, a, x_j);
        });
    };
    const auto scaled = [&](Index i, S a, S x_j) {
        return detail::scaled_product(a, x_j, static_cast<int>(exponent[i]));
    };
    for_each_row([&](Index i) { exponent[i] = detail::no_exponent, r[i] = lost[i] = 0; });
    for_each_term(
        [&](Index i, S a, S x_j) { exponent[i] = std::max<double>(exponent[i], detail::product_exponent(a, x_j)); });
    for_each_term([&](Index i, S a, S x_j) { add(-scaled(i, a, x_j), r[i], lost[i]); });
    for_each_row([&](Index i) { r[i] = CompensatedSum<S>{r[i], lost[i]}.value(); });
    const auto slack = real_scratch(lost, n);
    for_each_row([&](Index i) { slack[i] = infinity; });
    for_each_entry(system, x, [&](Index i, S a, S x_j) {
        if (a == S(0) || std::isnan(exponent[i])) return;
        slack[i] = std::min(slack[i], std::abs(scaled(i, a, S(detail::step_of(x_j)))) / 2);
    });
    for_each_row([&](Index i) {  // the error of such a row is 0
        if (std::isfinite(slack[i]) && std::abs(r[i]) <= slack[i])
            r[i] = times_power(r[i], static_cast<int>(exponent[i])), exponent[i] = nan;
        slack[i] = 0;
    });
    const auto size = slack;
    for_each_term([&](Index i, S a, S x_j) { size[i] += std::abs(scaled(i, a, x_j)); });
    double largest = 0;
    for_each_row([&](Index i) {
        const RowResidual<S> row = detail::unscaled(r[i], size[i], 0, static_cast<int>(exponent[i]));
        r[i] = row.r;
        raise(largest, row.error);
    });
    return largest;
}

/// Does what residual_by_rows does, where the stored vectors are columns. @param size, lost  n, scratch
template <class S>
double residual_by_columns(const System<S>& system, std::span<const S> b, std::span<const S> x, std::span<S> r,
                           std::span<double> size, std::span<S> lost)
{
    const Index n = system.A.n;
    for (Index i = 0; i < n; ++i) r[i] = b[i], size[i] = std::abs(b[i]), lost[i] = 0;
    for_each_entry(system, x, [&](Index i, S a, S x_j) {
        add(-(a * x_j), r[i], lost[i]);
        size[i] += product_size(a, x_j);
    });
    double largest = 0;
    bool   all_done = true;
    auto&  scaling = size;
    for (Index i = 0; i < n; ++i) {
        r[i] = CompensatedSum<S>{r[i], lost[i]}.value();
        const double error = detail::unscaled_error(r[i], size[i]);
        const bool   done = !std::isnan(error);
        if (done) raise(largest, error);
        all_done &= done;
        scaling[i] = done ? nan : 0;
    }
    if (!all_done) raise(largest, scaled_residual_by_columns(system, b, x, r, scaling, lost));
    return largest;
}

/// r ← b − op(A) x. @return the componentwise backward error of x; NaN where x or r is not finite
template <class S>
double residual(const System<S>& system, std::span<const S> b, std::span<const S> x, LuWorkspace<S>& ws)
{
    const std::span<S> r(ws.r), lost(ws.lost);
    double             error = 0;
    if (!system.rows) error = residual_by_columns(system, b, x, r, real_scratch<S>(ws.y, system.A.n), lost);
    else if (!system.conjugated) error = residual_by_rows<Values::as_stored>(system.A, b, x, r);
    else if constexpr (is_complex<S>) error = residual_by_rows<Values::conjugated>(system.A, b, x, r);
    return all_finite<S>(x) ? error : nan;  // an x_j that no entry of A multiplies leaves no trace in r
}

/// d ← x with 0 for every x_j of rows that see rounding errors only: b_i = 0, x_j small beside ‖x‖_∞, and the row is
/// wrong nevertheless. Their exact x_j are 0 as a rule, and no refinement gets there. Slow, since such rows are rare.
/// @param size, reach  n, scratch  @return whether d is another than x
template <class S>
bool take_rounding_errors_for_zeros(const System<S>& system, std::span<const S> b, std::span<const S> x, std::span<S> d,
                                    std::span<const S> r, std::span<double> size, std::span<double> reach)
{
    const auto& [A, rows, conjugated] = system;
    double x_max = 0;
    for (const S x_j : x) x_max = std::max(x_max, std::abs(x_j));
    std::ranges::copy(x, d.begin());
    for (Index i = 0; i < A.n; ++i) size[i] = reach[i] = 0;
    for_each_entry(system, x, [&](Index i, S a, S x_j) {
        size[i] += std::abs(a * x_j);
        reach[i] += std::abs(a) * x_max;
    });
    bool changed = false;
    for (Index k = 0; k < A.n; ++k)
        for (Offset p = A.ptr[k]; p < A.ptr[k + 1]; ++p) {
            const Index i = rows ? k : A.idx[p], j = rows ? A.idx[p] : k;
            if (b[i] != S(0) || size[i] > small_row * reach[i] || std::abs(r[i]) <= well_solved * size[i]) continue;
            changed |= d[j] != S(0);
            d[j] = 0;
        }
    return changed;
}

template <class S>
void require_matrix(const LuFactors<S>& factors, const MatrixView<S>& A)
{
    const std::size_t n = factors.pattern->n;
    require(A.n == n && A.ptr.size() == n + 1 && A.idx.size() == A.ptr[n] && A.val.size() == A.idx.size(), [&] {
        return fmt::format(
            "a matrix of n = {} with {} pointers, {} indices and {} values does not suit factors of n = {}", A.n,
            A.ptr.size(), A.idx.size(), A.val.size(), n);
    });
}

/// max_j Σ_i |a_ij|
template <class S>
double norm1(const MatrixView<S>& A, std::span<double> sum)
{
    double largest = 0;
    if (A.layout == MatrixLayout::rows) {
        std::ranges::fill(sum, 0);
        for (Offset p = 0; p < A.val.size(); ++p) sum[A.idx[p]] += std::abs(A.val[p]);
        for (const double s : sum) raise(largest, s);
    } else
        for (Index j = 0; j < A.n; ++j) {
            double s = 0;
            for (Offset p = A.ptr[j]; p < A.ptr[j + 1]; ++p) s += std::abs(A.val[p]);
            raise(largest, s);
        }
    return largest;
}

}  // namespace

template <class S>
RefineReport lu_refine(Cpu& be, const LuFactors<S>& factors, const MatrixView<NotDeduced<S>>& A,
                       std::span<const NotDeduced<S>> b, std::span<NotDeduced<S>> x, LuWorkspace<NotDeduced<S>>& ws,
                       Transpose transpose)
{
    const std::size_t n = factors.pattern->n;
    require_matrix<S>(factors, A);
    require(b.size() == n && x.size() == n && ws.r.size() >= n, [&] {
        return fmt::format("a right-hand side of {}, a solution of {} and a workspace for {} numbers; expected n = {}",
                           b.size(), x.size(), ws.r.size(), n);
    });
    const System<S>    system(A, transpose);
    const std::span<S> r(ws.r.data(), n), d(ws.d.data(), n);
    const auto         correct = [&] {
        lu_solve(be, factors, r, d, ws, transpose);
        for (std::size_t i = 0; i < n; ++i) d[i] += x[i];
        return residual<S>(system, b, d, ws);
    };
    RefineReport report = detail::refine(
        factors.symbolic ? factors.symbolic->options : LuOptions{}, [&] { return residual<S>(system, b, x, ws); },
        correct, [&] { std::ranges::copy(d, x.begin()); });
    if (!report.finite || report.backward_error <= well_solved) return report;
    residual<S>(system, b, x, ws);  // r may be that of a d that was not taken
    if (!take_rounding_errors_for_zeros<S>(system, b, x, d, r, real_scratch<S>(ws.y, A.n),
                                           real_scratch<S>(ws.lost, A.n)))
        return report;
    const double error = residual<S>(system, b, d, ws);
    if (!(error < report.backward_error)) return report;
    std::ranges::copy(d, x.begin());
    report.backward_error = error;
    return report;
}

template <class S>
RefineReport lu_solve_refined(Cpu& be, const LuFactors<S>& factors, const MatrixView<NotDeduced<S>>& A,
                              std::span<const NotDeduced<S>> b, std::span<NotDeduced<S>> x,
                              LuWorkspace<NotDeduced<S>>& ws, Transpose transpose)
{
    const std::size_t n = factors.pattern->n;
    RefineReport      worst;
    lu_solve<S>(be, factors, b, x, ws, transpose);
    for (std::size_t at = 0; at < b.size(); at += n) {
        const RefineReport one = lu_refine<S>(be, factors, A, b.subspan(at, n), x.subspan(at, n), ws, transpose);
        if (at == 0 || worse(one, worst)) worst = one;
    }
    return worst;
}

template <class S>
double condition_estimate(const MatrixView<NotDeduced<S>>& A, const SolveInPlace<NotDeduced<S>>& solve,
                          std::span<NotDeduced<S>> x, std::span<NotDeduced<S>> xi)
{
    if (A.n == 0) return 1;
    const double norm = norm1(A, real_scratch<S>(xi, A.n));
    if (!std::isfinite(norm)) return infinity;
    int exponent = 0;
    std::frexp(norm, &exponent);
    const double s = std::ldexp(1.0, std::clamp(exponent, -512, 512));  // ‖A⁻¹‖₁ alone may overflow
    const auto   solve_adjoint = [&](std::span<const S> signs, std::span<S> v) {
        std::ranges::copy(signs, v.begin());
        solve(v, Transpose::adjoint);
    };
    const auto   apply = [&](std::span<S> v) { solve(v, Transpose::no); };
    const double condition = norm / s * detail::estimate_norm1<S>(x, xi, s, apply, solve_adjoint);
    return std::isfinite(condition) ? condition : infinity;
}

template <class S>
double condition_estimate(Cpu& be, const LuFactors<S>& factors, const MatrixView<NotDeduced<S>>& A,
                          LuWorkspace<NotDeduced<S>>& ws)
{
    require_matrix<S>(factors, A);
    const std::size_t n = factors.pattern->n;
    require(ws.r.size() >= n,
            [&] { return fmt::format("a workspace for n = {}, but factors of n = {}", ws.r.size(), n); });
    const auto solve = [&](std::span<S> v, Transpose transpose) { lu_solve<S>(be, factors, v, v, ws, transpose); };
    return condition_estimate<S>(A, std::cref(solve), std::span(ws.d).first(n), std::span(ws.r).first(n));
}

#define ILUX_INSTANTIATE(S)                                                                                            \
    template RefineReport lu_refine(Cpu&, const LuFactors<S>&, const MatrixView<S>&, std::span<const S>, std::span<S>, \
                                    LuWorkspace<S>&, Transpose);                                                       \
    template RefineReport lu_solve_refined(Cpu&, const LuFactors<S>&, const MatrixView<S>&, std::span<const S>,        \
                                           std::span<S>, LuWorkspace<S>&, Transpose);                                  \
    template double condition_estimate<S>(const MatrixView<S>&, const SolveInPlace<S>&, std::span<S>, std::span<S>);   \
    template double condition_estimate(Cpu&, const LuFactors<S>&, const MatrixView<S>&, LuWorkspace<S>&);
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux

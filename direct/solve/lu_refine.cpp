#include "ilux/direct/solve/lu_solve.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "ilux/base/error.hpp"
#include "ilux/direct/analysis/lu_input.hpp"
#include "ilux/direct/solve/compensated_sum.hpp"
#include "ilux/direct/solve/norm1_estimate.hpp"
#include "ilux/direct/solve/refine_loop.hpp"
#include "ilux/direct/solve/row_residual.hpp"

namespace ilux {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
// A row that refinement should have solved better; and one that may be all rounding. Whether it was, the next residual tells.
constexpr double well_solved = 1000 * std::numeric_limits<double>::epsilon(), small_row = 0x1p-26;
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// Keeps NaN, unlike std::max.
void raise(double& largest, double value)
{
    if (!(value <= largest)) largest = std::isnan(largest) ? largest : value;
}

/// Calls visit(i, a, x_j) for each entry a of row i and column j of the system.
template <class Visit>
void for_each_entry(const MatrixView<>& A, bool by_rows, std::span<const double> x, Visit&& visit)
{
    for (Index k = 0; k < A.n; ++k)
        for (Offset p = A.ptr[k]; p < A.ptr[k + 1]; ++p)
            visit(by_rows ? k : A.idx[p], A.val[p], x[by_rows ? A.idx[p] : k]);
}

/// r ← b − A x where the stored vectors of A are the rows of the system. @return max_i of the rows' errors
double residual_by_rows(const MatrixView<>& A, std::span<const double> b, std::span<const double> x,
                        std::span<double> r)
{
    double largest = 0;
    for (Index i = 0; i < A.n; ++i) {
        const auto        first = static_cast<std::size_t>(A.ptr[i]), count = A.ptr[i + 1] - first;
        const RowResidual row = row_residual(A.idx.subspan(first, count), A.val.subspan(first, count), x, b[i]);
        r[i] = row.r;
        raise(largest, row.error);
    }
    return largest;
}

/// r ← r + term, with what that loses
void add(double term, double& r, double& lost)
{
    CompensatedSum sum{r, lost};
    sum.add(term);
    r = sum.sum;
    lost = sum.lost;
}

/// |a x|; of a product that vanishes the smallest number, so that a size of 0 means that there is none.
double product_size(double a, double x)
{
    const double size = std::abs(a * x);
    return size == 0 && a != 0 && x != 0 ? std::numeric_limits<double>::denorm_min() : size;
}

/// As residual_by_columns of those rows that row_residual would scale; slow, since they are rare.
/// @param exponent  n; NaN for the other rows, else anything  @param lost  n, scratch
double scaled_residual_by_columns(const MatrixView<>& A, std::span<const double> b, std::span<const double> x,
                                  std::span<double> r, std::span<double> exponent, std::span<double> lost)
{
    const auto for_each_row = [&](auto&& visit) {
        for (Index i = 0; i < A.n; ++i)
            if (!std::isnan(exponent[i])) visit(i);
    };
    const auto for_each_term = [&](auto&& visit) {  // of A x − b
        for_each_row([&](Index i) { visit(i, -b[i], 1.0); });
        for_each_entry(A, false, x, [&](Index i, double a, double x_j) {
            if (!std::isnan(exponent[i])) visit(i, a, x_j);
        });
    };
    const auto scaled = [&](Index i, double a, double x_j) {
        return detail::scaled_product(a, x_j, static_cast<int>(exponent[i]));
    };
    for_each_row([&](Index i) { exponent[i] = detail::no_exponent, r[i] = lost[i] = 0; });
    for_each_term([&](Index i, double a, double x_j) {
        exponent[i] = std::max<double>(exponent[i], detail::product_exponent(a, x_j));
    });
    for_each_term([&](Index i, double a, double x_j) { add(-scaled(i, a, x_j), r[i], lost[i]); });
    for_each_row([&](Index i) { r[i] = CompensatedSum{r[i], lost[i]}.value(), lost[i] = 0; });
    auto& slack = lost;
    for_each_row([&](Index i) { slack[i] = infinity; });
    for_each_entry(A, false, x, [&](Index i, double a, double x_j) {
        if (a == 0 || std::isnan(exponent[i])) return;
        slack[i] = std::min(slack[i], std::abs(scaled(i, a, detail::step_of(x_j))) / 2);
    });
    for_each_row([&](Index i) {  // the error of such a row is 0
        if (std::isfinite(slack[i]) && std::abs(r[i]) <= slack[i])
            r[i] = std::ldexp(r[i], static_cast<int>(exponent[i])), exponent[i] = nan;
        lost[i] = 0;
    });
    auto& size = lost;
    for_each_term([&](Index i, double a, double x_j) { size[i] += std::abs(scaled(i, a, x_j)); });
    double largest = 0;
    for_each_row([&](Index i) {
        const RowResidual row = detail::unscaled(r[i], size[i], 0, static_cast<int>(exponent[i]));
        r[i] = row.r;
        raise(largest, row.error);
    });
    return largest;
}

/// As residual_by_rows where the stored vectors are columns. @param size, lost  n, scratch
double residual_by_columns(const MatrixView<>& A, std::span<const double> b, std::span<const double> x,
                           std::span<double> r, std::span<double> size, std::span<double> lost)
{
    for (Index i = 0; i < A.n; ++i) r[i] = b[i], size[i] = std::abs(b[i]), lost[i] = 0;
    for_each_entry(A, false, x, [&](Index i, double a, double x_j) {
        add(-(a * x_j), r[i], lost[i]);
        size[i] += product_size(a, x_j);
    });
    double largest = 0;
    bool   all_done = true;
    auto&  scaling = size;
    for (Index i = 0; i < A.n; ++i) {
        r[i] = CompensatedSum{r[i], lost[i]}.value();
        const double error = detail::unscaled_error(r[i], size[i]);
        const bool   done = !std::isnan(error);
        if (done) raise(largest, error);
        all_done &= done;
        scaling[i] = done ? nan : 0;
    }
    if (!all_done) raise(largest, scaled_residual_by_columns(A, b, x, r, scaling, lost));
    return largest;
}

bool by_rows(const MatrixView<>& A, Transpose transpose)
{
    return (A.layout == MatrixLayout::rows) == (transpose == Transpose::no);
}

/// r ← b − op(A) x. @return the componentwise backward error of x; NaN where x or r is not finite
double residual(const MatrixView<>& A, Transpose transpose, std::span<const double> b, std::span<const double> x,
                LuWorkspace& ws)
{
    const bool   rows = by_rows(A, transpose);
    const double error = rows ? residual_by_rows(A, b, x, ws.r) : residual_by_columns(A, b, x, ws.r, ws.y, ws.lost);
    return all_finite(x) ? error : nan;  // an x_j that no entry of A multiplies leaves no trace in r
}

/// d ← x with 0 for every x_j of rows that see rounding errors only: b_i = 0, x_j small beside ‖x‖_∞, and the row is wrong
/// nevertheless. Their exact x_j are 0 as a rule, and no refinement gets there. Slow, since such rows are rare.
/// @param size, reach  n, scratch  @return whether d is another than x
bool take_rounding_errors_for_zeros(const MatrixView<>& A, bool rows, std::span<const double> b,
                                    std::span<const double> x, std::span<double> d, std::span<const double> r,
                                    std::span<double> size, std::span<double> reach)
{
    double x_max = 0;
    for (const double x_j : x) x_max = std::max(x_max, std::abs(x_j));
    std::ranges::copy(x, d.begin());
    for (Index i = 0; i < A.n; ++i) size[i] = reach[i] = 0;
    for_each_entry(A, rows, x, [&](Index i, double a, double x_j) {
        size[i] += std::abs(a * x_j);
        reach[i] += std::abs(a) * x_max;
    });
    bool changed = false;
    for (Index k = 0; k < A.n; ++k)
        for (Offset p = A.ptr[k]; p < A.ptr[k + 1]; ++p) {
            const Index i = rows ? k : A.idx[p], j = rows ? A.idx[p] : k;
            if (b[i] != 0 || size[i] > small_row * reach[i] || std::abs(r[i]) <= well_solved * size[i]) continue;
            changed |= d[j] != 0;
            d[j] = 0;
        }
    return changed;
}

void require_matrix(const LuFactors<>& factors, const MatrixView<>& A)
{
    const std::size_t n = factors.pattern->n;
    require(A.n == n && A.ptr.size() == n + 1 && A.idx.size() == A.ptr[n] && A.val.size() == A.idx.size(), [&] {
        return fmt::format(
            "a matrix of n = {} with {} pointers, {} indices and {} values does not suit factors of n = {}", A.n,
            A.ptr.size(), A.idx.size(), A.val.size(), n);
    });
}

/// max_j Σ_i |a_ij|
double norm1(const MatrixView<>& A, std::span<double> sum)
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

RefineReport lu_refine(Cpu& be, const LuFactors<>& factors, const MatrixView<>& A, std::span<const double> b,
                       std::span<double> x, LuWorkspace& ws, Transpose transpose)
{
    const std::size_t n = factors.pattern->n;
    require_matrix(factors, A);
    require(b.size() == n && x.size() == n && ws.r.size() >= n, [&] {
        return fmt::format("a right-hand side of {}, a solution of {} and a workspace for {} numbers; expected n = {}",
                           b.size(), x.size(), ws.r.size(), n);
    });
    const std::span<double> r(ws.r.data(), n), d(ws.d.data(), n);
    const auto              correct = [&] {
        lu_solve(be, factors, r, d, ws, transpose);
        for (std::size_t i = 0; i < n; ++i) d[i] += x[i];
        return residual(A, transpose, b, d, ws);
    };
    RefineReport report = detail::refine(
        factors.symbolic ? factors.symbolic->options : LuOptions{}, [&] { return residual(A, transpose, b, x, ws); },
        correct, [&] { std::ranges::copy(d, x.begin()); });
    if (!report.finite || report.backward_error <= well_solved) return report;
    residual(A, transpose, b, x, ws);  // r may be that of a d that was not taken
    if (!take_rounding_errors_for_zeros(A, by_rows(A, transpose), b, x, d, r, ws.y, ws.lost)) return report;
    const double error = residual(A, transpose, b, d, ws);
    if (!(error < report.backward_error)) return report;
    std::ranges::copy(d, x.begin());
    report.backward_error = error;
    return report;
}

double condition_estimate(Cpu& be, const LuFactors<>& factors, const MatrixView<>& A, LuWorkspace& ws)
{
    require_matrix(factors, A);
    const Index n = factors.pattern->n;
    require(ws.r.size() >= n,
            [&] { return fmt::format("a workspace for n = {}, but factors of n = {}", ws.r.size(), n); });
    if (n == 0) return 1;
    const double norm = norm1(A, std::span(ws.r.data(), n));
    if (!std::isfinite(norm)) return infinity;
    int exponent = 0;
    std::frexp(norm, &exponent);
    const double s = std::ldexp(1.0, std::clamp(exponent, -512, 512));  // ‖A⁻¹‖₁ alone may overflow
    const auto   solve = [&](std::span<double> x) { lu_solve(be, factors, x, x, ws); };
    const auto   solve_transposed = [&](std::span<const double> xi, std::span<double> x) {
        lu_solve(be, factors, xi, x, ws, Transpose::yes);
    };
    const std::span<double> x(ws.d.data(), n), xi(ws.r.data(), n);
    const double            condition = norm / s * detail::estimate_norm1(x, xi, s, solve, solve_transposed);
    return std::isfinite(condition) ? condition : infinity;
}

}  // namespace ilux

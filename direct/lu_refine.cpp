#include "ilux/direct/lu_solve.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "ilux/base/error.hpp"
#include "ilux/direct/compensated_sum.hpp"
#include "ilux/direct/lu_input.hpp"
#include "ilux/direct/refine_loop.hpp"

namespace ilux {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr int    most_pairs = 5;  // of solves in an estimate of ‖A⁻¹‖₁

// Sums of smaller terms lose digits to underflow, larger ones may overflow.
constexpr double least_size = 0x1p-960, scale_up = 0x1p128, scale_down = 0x1p-40;
// A row that refinement should have solved better; and one that may be all rounding. Whether it was, the next residual tells.
constexpr double well_solved = 1000 * std::numeric_limits<double>::epsilon(), small_row = 0x1p-26;
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// The backward error of one row, |r_i| / (|A||x| + |b|)_i; NaN where that needs scaling, or does not exist.
double ratio(double r, double size)
{
    if (!std::isfinite(r) || !std::isfinite(size) || (size < least_size && size != 0)) return nan;
    return r == 0 ? 0 : std::abs(r) / size;
}

/// Keeps NaN, unlike std::max.
void raise(double& largest, double value)
{
    if (!(value <= largest)) largest = std::isnan(largest) ? largest : value;
}

/// r ← b − A x where the stored vectors of A are the rows of the system. Compensated: the supply net of a circuit has 10⁵
/// entries, and as many rounding errors would be taken for x's.
double residual_by_rows(const MatrixView& A, std::span<const double> b, std::span<const double> x, std::span<double> r)
{
    double largest = 0;
    for (Index i = 0; i < A.n; ++i) {
        CompensatedSum sum{b[i]};
        double         size = std::abs(b[i]);
        for (Offset p = A.ptr[i]; p < A.ptr[i + 1]; ++p) {
            const double a_x = A.val[p] * x[A.idx[p]];
            sum.add(-a_x);
            size += std::abs(a_x);
        }
        r[i] = sum.value();
        raise(largest, ratio(r[i], size));
    }
    return largest;
}

/// The same where they are its columns. @param size, lost  n, scratch for |A||x| + |b| and what sums lost
double residual_by_columns(const MatrixView& A, std::span<const double> b, std::span<const double> x,
                           std::span<double> r, std::span<double> size, std::span<double> lost)
{
    for (Index i = 0; i < A.n; ++i) r[i] = b[i], size[i] = std::abs(b[i]), lost[i] = 0;
    for (Index j = 0; j < A.n; ++j)
        for (Offset p = A.ptr[j]; p < A.ptr[j + 1]; ++p) {
            const double   a_x = A.val[p] * x[j];
            const Index    i = A.idx[p];
            CompensatedSum sum{r[i], lost[i]};
            sum.add(-a_x);
            r[i] = sum.sum;
            lost[i] = sum.lost;
            size[i] += std::abs(a_x);
        }
    double largest = 0;
    for (Index i = 0; i < A.n; ++i) {
        r[i] = CompensatedSum{r[i], lost[i]}.value();
        raise(largest, ratio(r[i], size[i]));
    }
    return largest;
}

/// Calls visit(i, a, x_j) for each entry a of row i and column j of the system.
template <class Visit>
void for_each_entry(const MatrixView& A, bool by_rows, std::span<const double> x, Visit&& visit)
{
    for (Index k = 0; k < A.n; ++k)
        for (Offset p = A.ptr[k]; p < A.ptr[k + 1]; ++p)
            visit(by_rows ? k : A.idx[p], A.val[p], x[by_rows ? A.idx[p] : k]);
}

/// The same for systems with rows that need scaling, each by its own power of two; slow, since those are rare.
/// @param size  n, scratch: in the second pass positive for rows scaled up, negative for those scaled down, NaN for others
/// @return NaN where b − A x is not finite
double scaled_residual(const MatrixView& A, bool by_rows, std::span<const double> b, std::span<const double> x,
                       std::span<double> r, std::span<double> size)
{
    if (!all_finite(A.val) || !all_finite(b)) return nan;
    const auto add = [&](Index i, double b_i) { r[i] += b_i, size[i] += std::copysign(b_i, size[i]); };
    const auto scale_of = [&](Index i) { return std::signbit(size[i]) ? scale_down : scale_up; };
    for (Index i = 0; i < A.n; ++i) r[i] = size[i] = 0, add(i, b[i]);
    for_each_entry(A, by_rows, x, [&](Index i, double a, double x_j) { add(i, -(a * x_j)); });

    double largest = 0;
    for (Index i = 0; i < A.n; ++i) {
        const double error = ratio(r[i], size[i]);
        raise(largest, std::isnan(error) ? 0 : error);
        r[i] = std::isnan(error) ? 0 : r[i];
        size[i] = !std::isnan(error) ? nan : size[i] < least_size ? 0.0 : -0.0;
        if (std::isnan(error)) add(i, scale_of(i) * b[i]);
    }
    for_each_entry(A, by_rows, x, [&](Index i, double a, double x_j) {
        if (std::isnan(size[i])) return;
        const double s = scale_of(i);  // to the smaller factor, lest that overflow
        add(i, -(std::abs(a) < 1 ? (s * a) * x_j : a * (s * x_j)));
    });
    for (Index i = 0; i < A.n; ++i) {
        if (std::isnan(size[i])) continue;
        const double error = r[i] == 0 ? 0 : std::abs(r[i] / size[i]);
        r[i] /= scale_of(i);
        raise(largest, std::isfinite(r[i]) && std::isfinite(size[i]) ? error : nan);
    }
    return largest;
}

bool by_rows(const MatrixView& A, Transpose transpose)
{
    return (A.layout == MatrixView::Layout::rows) == (transpose == Transpose::no);
}

/// r ← b − op(A) x. @return the componentwise backward error of x; NaN where x or r is not finite
double residual(const MatrixView& A, Transpose transpose, std::span<const double> b, std::span<const double> x,
                LuWorkspace& ws)
{
    const bool   rows = by_rows(A, transpose);
    const double error = rows ? residual_by_rows(A, b, x, ws.r) : residual_by_columns(A, b, x, ws.r, ws.y, ws.lost);
    // An x_j that no entry of A multiplies leaves no trace in r.
    if (!all_finite(x)) return nan;
    return std::isnan(error) ? scaled_residual(A, rows, b, x, ws.r, ws.y) : error;
}

/// d ← x with 0 for every x_j of rows that see rounding errors only: b_i = 0, x_j small beside ‖x‖_∞, and the row is wrong
/// nevertheless. Their exact x_j are 0 as a rule, and no refinement gets there. Slow, since such rows are rare.
/// @param size, reach  n, scratch  @return whether d is another than x
bool take_rounding_errors_for_zeros(const MatrixView& A, bool rows, std::span<const double> b,
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

void require_matrix(const LuFactors& factors, const MatrixView& A)
{
    const std::size_t n = factors.pattern->n;
    require(A.n == n && A.ptr.size() == n + 1 && A.idx.size() == A.ptr[n] && A.val.size() == A.idx.size(), [&] {
        return fmt::format(
            "a matrix of n = {} with {} pointers, {} indices and {} values does not suit factors of n = {}", A.n,
            A.ptr.size(), A.idx.size(), A.val.size(), n);
    });
}

/// max_j Σ_i |a_ij|
double norm1(const MatrixView& A, std::span<double> sum)
{
    double largest = 0;
    if (A.layout == MatrixView::Layout::rows) {
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

double norm1(std::span<const double> x)
{
    double sum = 0;
    for (const double x_i : x) sum += std::abs(x_i);
    return sum;
}

/// ξ ← s sign(x). @return whether ξ changed
bool take_signs(std::span<const double> x, double s, std::span<double> xi)
{
    bool changed = false;
    for (std::size_t i = 0; i < x.size(); ++i) {
        const double sign = x[i] < 0 ? -s : s;
        changed |= sign != xi[i];
        xi[i] = sign;
    }
    return changed;
}

Index largest_entry(std::span<const double> x)
{
    const auto at = std::ranges::max_element(x, {}, [](double x_i) { return std::abs(x_i); });
    return static_cast<Index>(at - x.begin());
}

/// s ‖A⁻¹‖₁ from below: gradient ascent of ‖A⁻¹ x‖₁ over the unit ball, from corner to corner; then one vector on which
/// the ascent cannot be fooled. Algorithm 4.1 of [higham_88].
double inverse_norm1(Cpu& be, const LuFactors& factors, double s, LuWorkspace& ws)
{
    const Index             n = factors.pattern->n;
    const std::span<double> x(ws.d.data(), n), xi(ws.r.data(), n);
    std::ranges::fill(x, s / n);
    std::ranges::fill(xi, 0);
    double estimate = 0;
    Index  corner = -1;
    for (int pair = 0; pair < most_pairs; ++pair) {
        lu_solve(be, factors, x, x, ws);  // x ← A⁻¹ x
        const double reached = norm1(x);
        if (!std::isfinite(reached)) return infinity;
        const bool higher = reached > estimate;
        estimate = std::max(estimate, reached);
        if (!take_signs(x, s, xi) || !higher) break;
        lu_solve(be, factors, xi, x, ws, Transpose::yes);  // the gradient A⁻ᵀ ξ
        const Index next = largest_entry(x);
        if (corner >= 0 && std::abs(x[next]) <= std::abs(x[corner])) break;
        corner = next;
        std::ranges::fill(x, 0);
        x[corner] = s;
    }
    for (Index i = 0; i < n; ++i) x[i] = (i % 2 == 0 ? s : -s) * (1 + (n > 1 ? static_cast<double>(i) / (n - 1) : 0));
    lu_solve(be, factors, x, x, ws);
    const double reached = 2 * norm1(x) / (3.0 * n);
    return std::isfinite(reached) ? std::max(estimate, reached) : infinity;
}

}  // namespace

RefineReport lu_refine(Cpu& be, const LuFactors& factors, const MatrixView& A, std::span<const double> b,
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

double condition_estimate(Cpu& be, const LuFactors& factors, const MatrixView& A, LuWorkspace& ws)
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
    const double condition = norm / s * inverse_norm1(be, factors, s, ws);
    return std::isfinite(condition) ? condition : infinity;
}

}  // namespace ilux

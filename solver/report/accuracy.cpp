#include "ilux/solver/report/accuracy.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "ilux/base/row_sum.hpp"

namespace ilux {
namespace {

/// Products of two doubles and sums of their squares are numbers of this type, whatever their size.
using Wide = long double;
static_assert(std::numeric_limits<Wide>::max_exponent > 4 * std::numeric_limits<double>::max_exponent);

Wide wide_norm2(std::span<const double> v)
{
    Cpu          serial(1);
    const double norm = norm2(serial, v);
    if (std::isfinite(norm) && norm > 0x1p-900) return norm;
    Wide sum = 0;
    for (const double value : v) sum += Wide(value) * value;
    return std::sqrt(sum);
}

/// The binary exponent of the largest value, where it is so far from 1 that sums of its like may leave the range of numbers.
int exponent_of(std::span<const double> v)
{
    constexpr int far = 200;
    double        largest = 0;
    for (const double value : v) largest = std::max(largest, std::abs(value));
    const int exponent = largest > 0 && std::isfinite(largest) ? std::ilogb(largest) : 0;
    return std::abs(exponent) > far ? exponent : 0;
}

}  // namespace

Accuracy measure(Cpu& be, const CsrView<double>& A, std::span<const double> x, std::span<const double> b,
                 Residual& residual)
{
    constexpr Offset parallel_nnz = 32768;
    const auto       n = static_cast<std::size_t>(A.rows());
    residual.r.resize(n);
    residual.size.resize(n);
    const int exponent = residual.exponent = exponent_of(b);
    double    rowwise = 0;
    bool      finite = true, lost = false;

    const auto sum_of = [&](Index i) {
        const auto first = static_cast<std::size_t>(A.row_ptr()[i]), count = A.row_ptr()[i + 1] - first;
        return row_sum(A.col().subspan(first, count), A.val().subspan(first, count), x, b[i]);
    };
#pragma omp parallel for schedule(static) num_threads(be.team(A.nnz() >= parallel_nnz)) reduction(max : rowwise) reduction(&& : finite) reduction(|| : lost)
    for (Index i = 0; i < A.rows(); ++i) {
        const RowSum row = sum_of(i);
        const bool   same = row.exponent == exponent;
        residual.r[i] = same ? row.r : std::ldexp(row.r, row.exponent - exponent);
        residual.size[i] = same ? row.size : std::ldexp(row.size, row.exponent - exponent);
        lost = lost || (row.r != 0 && residual.r[i] == 0);
        rowwise = std::max(rowwise, row.error());
        finite = finite && std::isfinite(row.r) && std::isfinite(x[i]);
    }
    residual.lost.clear();
    for (Index i = 0; lost && i < A.rows(); ++i) {
        const RowSum row = sum_of(i);
        residual.lost.push_back(
            {std::ldexp(Wide(row.r), row.exponent - exponent), std::ldexp(Wide(row.size), row.exponent - exponent)});
    }
    const Wide norm_r = wide_norm2(residual.r), norm_b = std::ldexp(wide_norm2(b), -exponent);
    finite = finite && std::isfinite(static_cast<double>(std::ldexp(norm_r, exponent)));
    if (!finite) return {.relative_residual = INFINITY, .backward_error = INFINITY, .rowwise = INFINITY};
    const Wide size = std::ldexp(wide_norm2(A.val()) * wide_norm2(x), -exponent) + norm_b;
    return {.relative_residual = static_cast<double>(norm_b > 0 ? norm_r / norm_b : std::ldexp(norm_r, exponent)),
            .backward_error = norm_r > 0 ? static_cast<double>(norm_r / size) : 0,
            .rowwise = rowwise,
            .finite = true};
}

Accuracy measure(const CsrView<double>& A, std::span<const double> x, std::span<const double> b)
{
    Cpu      serial(1);
    Residual residual;
    return measure(serial, A, x, b, residual);
}

RowSizes::RowSizes(const CsrView<double>& A, std::span<const double> x, const Residual& residual, double share)
    : A_(A), x_(x), residual_(residual)
{
    double largest = 0;
    for (const double value : x) largest = std::max(largest, std::abs(value));
    share_of_x_ = std::ldexp(Wide(share) * largest, -residual.exponent);
}

long double RowSizes::operator()(Index i) const
{
    const auto sum = [&](auto zero, auto&& term) {
        for (Offset p = A_.row_ptr()[i]; p < A_.row_ptr()[i + 1]; ++p) zero += term(p);
        return zero;
    };
    const auto entry = [&](Offset p) { return std::abs(A_.val()[p]); };
    const auto product = [&](Offset p) { return entry(p) * std::abs(Wide(x_[A_.col()[p]])); };
    Wide       row = sum(0.0, entry), size = residual_.lost.empty() ? residual_.size[i] : residual_.lost[i].size;
    if (!std::isfinite(row)) row = sum(Wide(0), entry);
    if (!std::isfinite(size))
        size = std::ldexp(sum(Wide(0), product), -residual_.exponent);  // |b_i| is nothing beside it
    return std::max(size, row * share_of_x_);
}

void note_counting_rows(const CsrView<double>& A, std::span<const double> x, const Residual& residual,
                        Accuracy& accuracy)
{
    const RowSizes size_of(A, x, residual, least_unknown);
    accuracy.rowwise_counting = 0;
    for (Index i = 0; i < A.rows(); ++i)
        if (const Wide r = std::abs(residual.lost.empty() ? residual.r[i] : residual.lost[i].r); r > 0)
            accuracy.rowwise_counting = std::max(accuracy.rowwise_counting, static_cast<double>(r / size_of(i)));
    if (!residual.lost.empty()) accuracy.estimate_settled = false;
}

void note_error(std::span<const double> x, std::span<const double> e, const Residual& residual, Accuracy& accuracy)
{
    const auto in_units = [&](double x_i) {
        return residual.exponent == 0 ? x_i : std::ldexp(x_i, -residual.exponent);
    };
    double largest = 0, largest_error = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
        largest = std::max(largest, std::abs(in_units(x[i]) + e[i]));
        largest_error = std::isfinite(e[i]) ? std::max(largest_error, std::abs(e[i])) : INFINITY;
    }
    accuracy.uncertain = 0;
    accuracy.worst = -1;
    accuracy.worst_error = 0;
    accuracy.error = largest_error == 0 ? 0 : largest_error / largest;
    if (std::isnan(accuracy.error) || std::isinf(largest_error)) accuracy.error = INFINITY;
    for (std::size_t i = 0; i < x.size(); ++i) {
        const double size = std::abs(in_units(x[i]) + e[i]);
        const bool   known = std::isfinite(size);
        if (e[i] == 0 || (known && !(size > least_unknown * largest))) continue;
        const double share = known ? std::abs(e[i]) / size : INFINITY;
        accuracy.uncertain += share > uncertain_from;
        if (share <= accuracy.worst_error) continue;
        accuracy.worst_error = share;
        accuracy.worst = static_cast<Index>(i);
    }
}

std::string uncertainty_text(const Accuracy& accuracy, Index n)
{
    if (accuracy.uncertain == 0) return "";
    return fmt::format(
        "{} of {} unknowns {} uncertain by more than 1 %, the worst, unknown {} (counted from 1), by {:.1g} times its size",
        accuracy.uncertain, n, accuracy.uncertain == 1 ? "is" : "are", accuracy.worst + 1, accuracy.worst_error);
}

}  // namespace ilux

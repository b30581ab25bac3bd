#include "ilux/engine/report/accuracy.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "ilux/base/instances.hpp"
#include "ilux/base/matrix/row_sum.hpp"

namespace ilux {
namespace {

/// Products of two doubles and sums of their squares are numbers of this type, whatever their size.
using Wide = long double;
static_assert(std::numeric_limits<Wide>::max_exponent > 4 * std::numeric_limits<double>::max_exponent);

template <Scalar S>
Wide wide_norm2(std::span<const S> v)
{
    Cpu          serial(1);
    const double norm = norm2<S>(serial, v);
    if (std::isfinite(norm) && norm > 0x1p-900) return norm;
    Wide sum = 0;
    for (const S value : v) {
        const Wide size = std::abs(value);
        sum += size * size;
    }
    return std::sqrt(sum);
}

/// The binary exponent of the largest value, where it is so far from 1 that sums of its like may leave the range of
/// numbers.
template <Scalar S>
int exponent_of(std::span<const S> v)
{
    constexpr int far = 200;
    double        largest = 0;
    for (const S value : v) largest = std::max(largest, std::abs(value));
    const int exponent = largest > 0 && std::isfinite(largest) ? std::ilogb(largest) : 0;
    return std::abs(exponent) > far ? exponent : 0;
}

}  // namespace

template <Scalar S>
Accuracy measure(Cpu& be, const CsrView<S>& A, std::span<const NotDeduced<S>> x, std::span<const NotDeduced<S>> b,
                 Residual<S>& residual)
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
        return row_sum<S>(A.col().subspan(first, count), A.val().subspan(first, count), x, b[i]);
    };
#pragma omp parallel for schedule(static) num_threads(be.team(A.nnz() >= parallel_nnz)) reduction(max : rowwise)
    // reduction(&& : finite) reduction(|| : lost)
    for (Index i = 0; i < A.rows(); ++i) {
        const RowSum<S> row = sum_of(i);
        const bool      same = row.exponent == exponent;
        residual.r[i] = same ? row.r : times_power(row.r, row.exponent - exponent);
        residual.size[i] = same ? row.size : std::ldexp(row.size, row.exponent - exponent);
        lost = lost || (row.r != S(0) && residual.r[i] == S(0));
        rowwise = std::max(rowwise, row.error());
        finite = finite && is_finite(row.r) && is_finite(x[i]);
    }
    residual.lost.clear();
    for (Index i = 0; lost && i < A.rows(); ++i) {
        const RowSum<S> row = sum_of(i);
        residual.lost.push_back({std::ldexp(Wide(std::abs(row.r)), row.exponent - exponent),
                                 std::ldexp(Wide(row.size), row.exponent - exponent)});
    }
    const Wide norm_r = wide_norm2<S>(residual.r), norm_b = std::ldexp(wide_norm2<S>(b), -exponent);
    finite = finite && std::isfinite(static_cast<double>(std::ldexp(norm_r, exponent)));
    if (!finite) return {.relative_residual = INFINITY, .backward_error = INFINITY, .rowwise = INFINITY};
    const Wide size = std::ldexp(wide_norm2<S>(A.val()) * wide_norm2<S>(x), -exponent) + norm_b;
    return {.relative_residual = static_cast<double>(norm_b > 0 ? norm_r / norm_b : std::ldexp(norm_r, exponent)),
            .backward_error = norm_r > 0 ? static_cast<double>(norm_r / size) : 0,
            .rowwise = rowwise,
            .finite = true};
}

template <Scalar S>
Accuracy measure(const CsrView<S>& A, std::span<const NotDeduced<S>> x, std::span<const NotDeduced<S>> b)
{
    Cpu         serial(1);
    Residual<S> residual;
    return measure<S>(serial, A, x, b, residual);
}

template <Scalar S>
RowSizes<S>::RowSizes(const CsrView<S>& A, std::span<const S> x, const Residual<S>& residual, double share)
    : A_(A), x_(x), residual_(residual)
{
    double largest = 0;
    for (const S value : x) largest = std::max(largest, std::abs(value));
    share_of_x_ = std::ldexp(Wide(share) * largest, -residual.exponent);
}

template <Scalar S>
long double RowSizes<S>::operator()(Index i) const
{
    const auto sum = [&](auto zero, auto&& term) {
        for (Offset p = A_.row_ptr()[i]; p < A_.row_ptr()[i + 1]; ++p) zero += term(p);
        return zero;
    };
    const auto entry = [&](Offset p) { return std::abs(A_.val()[p]); };
    const auto product = [&](Offset p) { return entry(p) * Wide(std::abs(x_[A_.col()[p]])); };
    Wide       row = sum(0.0, entry), size = residual_.lost.empty() ? residual_.size[i] : residual_.lost[i].size;
    if (!std::isfinite(row)) row = sum(Wide(0), entry);
    if (!std::isfinite(size))
        size = std::ldexp(sum(Wide(0), product), -residual_.exponent);  // |b_i| is nothing beside it
    return std::max(size, row * share_of_x_);
}

template <Scalar S>
void note_counting_rows(const CsrView<S>& A, std::span<const NotDeduced<S>> x, const Residual<S>& residual,
                        Accuracy& accuracy)
{
    const RowSizes<S> size_of(A, x, residual, least_unknown);
    accuracy.rowwise_counting = 0;
    for (Index i = 0; i < A.rows(); ++i) {
        const Wide r = residual.lost.empty() ? Wide(std::abs(residual.r[i])) : residual.lost[i].r;
        if (!(r > 0)) continue;
        const auto share = static_cast<double>(r / size_of(i));
        accuracy.rowwise_counting = std::max(accuracy.rowwise_counting, share);
        if (residual.r[i] == S(0) && share > std::numeric_limits<double>::epsilon()) accuracy.estimate_settled = false;
    }
}

template <Scalar S>
void note_own_scales(const CsrView<S>& A, const Residual<S>& residual, std::vector<double>& scale)
{
    scale.assign(residual.size.size(), INFINITY);
    for (Index i = 0; i < A.rows(); ++i)
        for (Offset p = A.row_ptr()[i]; p < A.row_ptr()[i + 1]; ++p)
            if (const double a = std::abs(A.val()[p]); a > 0)
                scale[A.col()[p]] = std::min(scale[A.col()[p]], residual.size[i] / a);
}

template <Scalar S>
void note_error(std::span<const NotDeduced<S>> x, std::span<const NotDeduced<S>> e, const Residual<S>& residual,
                Accuracy& accuracy, std::span<const double> scale)
{
    const auto in_units = [&](S x_i) { return residual.exponent == 0 ? x_i : times_power(x_i, -residual.exponent); };
    // The larger of x and what it should be: neither a lost unknown nor one of noise may seem to be nothing.
    const auto size_of = [&](std::size_t i) {
        const S      here = in_units(x[i]);
        const double size = std::abs(here), better = std::abs(here + e[i]);
        return std::isnan(better) ? better : std::max(size, better);
    };
    double largest = 0, largest_error = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
        largest = std::max(largest, size_of(i));
        largest_error = is_finite(e[i]) ? std::max(largest_error, std::abs(e[i])) : INFINITY;
    }
    accuracy.uncertain = 0;
    accuracy.worst = -1;
    accuracy.worst_error = 0;
    accuracy.error = largest_error == 0 ? 0 : largest_error / largest;
    if (std::isnan(accuracy.error) || std::isinf(largest_error)) accuracy.error = INFINITY;
    for (std::size_t i = 0; i < x.size(); ++i) {
        const double size = size_of(i);
        const bool   known = std::isfinite(size);
        if (e[i] == S(0) || (known && !(size > least_unknown * largest))) continue;
        const double own = scale.empty() || !std::isfinite(scale[i]) ? size : std::max(size, own_share * scale[i]);
        const double share = known ? std::abs(e[i]) / own : INFINITY;
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
        "{} of {} unknowns {} uncertain by more than 0.5 %, the worst, unknown {} (counted from 1), by {:.1g} times its size",
        accuracy.uncertain, n, accuracy.uncertain == 1 ? "is" : "are", accuracy.worst + 1, accuracy.worst_error);
}

#define ILUX_INSTANTIATE(S)                                                                                   \
    template Accuracy measure(Cpu&, const CsrView<S>&, std::span<const S>, std::span<const S>, Residual<S>&); \
    template Accuracy measure(const CsrView<S>&, std::span<const S>, std::span<const S>);                     \
    template class RowSizes<S>;                                                                               \
    template void note_counting_rows(const CsrView<S>&, std::span<const S>, const Residual<S>&, Accuracy&);   \
    template void note_own_scales(const CsrView<S>&, const Residual<S>&, std::vector<double>&);               \
    template void note_error(std::span<const S>, std::span<const S>, const Residual<S>&, Accuracy&,           \
                             std::span<const double>);
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux

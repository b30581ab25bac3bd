#include "ilux/solver/witness/rounding_witness.hpp"

#include <algorithm>
#include <cmath>

#include "ilux/base/instances.hpp"
#include "ilux/base/random_number.hpp"
#include "ilux/base/row_sum.hpp"

namespace ilux {
namespace {

/// f ← A e, each row in twice the precision.
template <Scalar S>
void multiply_exactly(const CsrView<S>& A, std::span<const S> e, std::span<S> f)
{
    for (Index i = 0; i < A.rows(); ++i) {
        const auto      first = static_cast<std::size_t>(A.row_ptr()[i]), count = A.row_ptr()[i + 1] - first;
        const RowSum<S> row = row_sum<S>(A.col().subspan(first, count), A.val().subspan(first, count), e, S(0));
        f[i] = -times_power(row.r, row.exponent);
    }
}

/// The probe of x = 0 and b = 0: as large as rounding of rows whose unknowns are 1.
template <Scalar S>
void probe_entries(const CsrView<S>& A, std::span<S> p)
{
    for (Index i = 0; i < A.rows(); ++i) {
        double size = 0;
        for (Offset k = A.row_ptr()[i]; k < A.row_ptr()[i + 1]; ++k) size += std::abs(A.val()[k]);
        p[i] = probe_of(i) * rounding_share * size;
    }
}

/// Whether y is e but for a third, the largest numbers beside x being what counts.
template <Scalar S>
bool found_again(std::span<const S> x, std::span<const S> e, std::span<const S> y)
{
    double largest = 0, all = 0, missed = 0;
    for (const S one : x) largest = std::max(largest, std::abs(one));
    for (std::size_t i = 0; i < x.size(); ++i) {
        const double size = largest == 0 ? 1 : std::max(std::abs(x[i]), least_unknown * largest);
        all = std::max(all, std::abs(e[i]) / size);
        const double off = std::abs(e[i] - y[i]) / size;
        missed = std::isnan(off) ? INFINITY : std::max(missed, off);
    }
    return missed <= all / 3;
}

}  // namespace

template <Scalar S>
void rounding_probe(const Residual<S>& residual, std::span<NotDeduced<S>> p)
{
    for (std::size_t i = 0; i < p.size(); ++i) {
        const double size = residual.lost.empty() ? residual.size[i] : static_cast<double>(residual.lost[i].size);
        p[i] = probe_of(static_cast<Index>(i)) * rounding_share * size;
    }
}

template <Scalar S>
bool is_well_determined(std::span<const NotDeduced<S>> x, std::span<const NotDeduced<S>> e, const Residual<S>& residual)
{
    constexpr double most = 1e-3;
    double           largest = 0;
    for (const S one : x) largest = std::max(largest, std::abs(one));
    if (largest == 0) return false;  // nothing is small beside it
    const double least = least_unknown * largest;
    for (std::size_t i = 0; i < x.size(); ++i) {
        const double size = std::max(std::abs(x[i]), least);
        const double error = std::abs(residual.exponent == 0 ? e[i] : times_power(e[i], residual.exponent));
        if (!(error <= most * size)) return false;
    }
    return true;
}

template <Scalar S>
std::string rounding_warning(const CsrView<S>& A, std::span<const NotDeduced<S>> x, const Residual<S>& residual,
                             const Substitution<S>& substitute, std::vector<NotDeduced<S>>& room)
{
    const auto n = static_cast<std::size_t>(A.rows());
    room.resize(3 * n);
    const std::span<S> p = std::span(room).first(n), e = std::span(room).subspan(n, n), y = std::span(room).last(n);
    rounding_probe<S>(residual, p);
    if (std::ranges::all_of(p, [](S one) { return one == S(0); })) probe_entries<S>(A, p);
    substitute(p, e);
    if (is_well_determined<S>(x, e, residual)) return "";
    if (!std::ranges::all_of(e, [](S one) { return is_finite(one); }))
        return "A is singular, or nearly so: rounding of A and b changes x beyond the range of numbers";
    multiply_exactly<S>(A, e, p);
    substitute(p, y);
    if (found_again<S>(x, e, y)) return "";
    for (std::size_t i = 0; i < n; ++i) e[i] -= y[i];  // nearer to the null space
    return undetermined_text(undetermined_along<S>(A, e, x, residual), A.rows());
}

#define ILUX_INSTANTIATE(S)                                                                              \
    template void        rounding_probe(const Residual<S>&, std::span<S>);                               \
    template bool        is_well_determined(std::span<const S>, std::span<const S>, const Residual<S>&); \
    template std::string rounding_warning(const CsrView<S>&, std::span<const S>, const Residual<S>&,     \
                                          const Substitution<S>&, std::vector<S>&);
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux

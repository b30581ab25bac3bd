#include "ilux/engine/witness/known_answer.hpp"

#include <algorithm>
#include <cmath>

#include "ilux/base/instances.hpp"
#include "ilux/base/random_number.hpp"
#include "ilux/base/matrix/row_sum.hpp"

namespace ilux {
namespace {

/// What a step has left of t, beside z.
struct Left {
    double share = INFINITY;  // missed_share
    bool   stays = false;     // of some unknown more than a third is left
};

/// t ← t − y, and what that leaves.
template <Scalar S>
Left subtract(std::span<const S> z, std::span<const S> y, std::span<S> t)
{
    constexpr double small = 1e-9;  // less than that is rounding of larger ones
    Left             left;
    for (std::size_t i = 0; i < z.size(); ++i) {
        const double before = std::abs(t[i]);
        t[i] -= y[i];
        left.stays = left.stays || !(std::abs(t[i]) <= std::max(before / 3, small * std::abs(z[i])));
    }
    left.share = missed_share<S>(z, t);
    return left;
}

/// t ← z − (LU)⁻¹ A z, and on while that is not little. @param room  for two vectors
template <Scalar S>
Left reduce(Cpu& be, const CsrView<S>& A, std::span<const S> z, const Substitution<S>& substitute, std::span<S> t,
            std::span<S> room)
{
    constexpr int    most = 4;
    constexpr double nothing = 1e-14;
    const auto       p = room.first(t.size()), y = room.last(t.size());
    const auto       step = [&] {
        multiply_exactly<S>(be, A, t, p);
        substitute(p, y);
        return subtract<S>(z, y, t);
    };
    std::ranges::copy(z, t.begin());
    Left left{.share = step().share};
    if (left.share <= found_share) return left;
    for (int k = 0; k < most && left.share > nothing && std::isfinite(left.share); ++k) {
        const Left now = step();
        left.stays = left.stays || now.stays || !(now.share <= left.share / 3);
        left.share = now.share;
    }
    left.stays = !std::isfinite(left.share) || (left.stays && left.share > nothing);
    return left;
}

/// missed_share of the unknowns that count, by the size of x; of all where x = 0. The others' t becomes 0.
template <Scalar S>
double counted_share(std::span<const S> x, std::span<const S> z, std::span<S> t)
{
    const double largest = largest_of<S>(x);
    for (std::size_t i = 0; i < z.size(); ++i)
        if (largest > 0 && std::abs(x[i]) <= least_unknown * largest) t[i] = 0;
    return missed_share<S>(z, t);
}

}  // namespace

template <Scalar S>
double largest_of(std::span<const NotDeduced<S>> x)
{
    double largest = 0;
    for (const S one : x) largest = std::max(largest, std::abs(one));
    return largest;
}

template <Scalar S>
void known_answer(std::span<const NotDeduced<S>> x, double least, double usual, std::span<NotDeduced<S>> z)
{
    for (std::size_t i = 0; i < z.size(); ++i) {
        const double size = std::abs(x[i]) > least ? std::abs(x[i]) : usual > 0 ? usual : 1;
        z[i] = random_factor(static_cast<Index>(i)) * size;
    }
}

template <Scalar S>
void multiply_exactly(Cpu& be, const CsrView<S>& A, std::span<const NotDeduced<S>> e, std::span<NotDeduced<S>> f)
{
    constexpr Offset parallel_nnz = 32768;
#pragma omp parallel for schedule(static) num_threads(be.team(A.nnz() >= parallel_nnz))
    for (Index i = 0; i < A.rows(); ++i) {
        const auto      first = static_cast<std::size_t>(A.row_ptr()[i]), count = A.row_ptr()[i + 1] - first;
        const RowSum<S> row = row_sum<S>(A.col().subspan(first, count), A.val().subspan(first, count), e, S(0));
        f[i] = -times_power(row.r, row.exponent);
    }
}

template <Scalar S>
double missed_share(std::span<const NotDeduced<S>> z, std::span<const NotDeduced<S>> t)
{
    double share = 0;
    for (std::size_t i = 0; i < z.size(); ++i) {
        if (t[i] == S(0)) continue;
        const double here = std::abs(t[i]) / std::abs(z[i]);
        share = std::isnan(here) ? INFINITY : std::max(share, here);
    }
    return share;
}

template <Scalar S>
std::string known_answer_warning(Cpu& be, const CsrView<S>& A, std::span<const NotDeduced<S>> x,
                                 const Residual<S>& residual, const Substitution<S>& substitute,
                                 std::vector<NotDeduced<S>>& room)
{
    const auto n = static_cast<std::size_t>(A.rows());
    room.resize(4 * n);
    const std::span<S> z = std::span(room).first(n), t = std::span(room).subspan(n, n);
    known_answer<S>(x, 0, least_unknown * largest_of<S>(x), z);  // any larger would drown the rest in far columns
    const Left left = reduce<S>(be, A, z, substitute, t, std::span(room).last(2 * n));
    if (!left.stays) return "";
    const Undetermined found = undetermined_along<S>(A, t, x, residual);
    if (found.any() || !(counted_share<S>(x, z, t) > uncertain_from)) return undetermined_text(found, A.rows());
    return "A is singular, or nearly so: factors of it do not find a known solution again";
}

#define ILUX_INSTANTIATE(S)                                                                                    \
    template double      largest_of<S>(std::span<const S>);                                                    \
    template void        known_answer<S>(std::span<const S>, double, double, std::span<S>);                    \
    template void        multiply_exactly(Cpu&, const CsrView<S>&, std::span<const S>, std::span<S>);          \
    template double      missed_share<S>(std::span<const S>, std::span<const S>);                              \
    template std::string known_answer_warning(Cpu&, const CsrView<S>&, std::span<const S>, const Residual<S>&, \
                                              const Substitution<S>&, std::vector<S>&);
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux

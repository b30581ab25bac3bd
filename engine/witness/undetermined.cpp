#include "ilux/engine/witness/undetermined.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "ilux/base/instances.hpp"
#include "ilux/base/matrix/row_sum.hpp"

namespace ilux {
namespace {

constexpr std::size_t most_named = 10;

/// The largest c, in the units of the residual, with |c A t|_i ≤ (|A||x| + |b|)_i; Inf where all of A t is rounding.
template <Scalar S>
double largest_multiple(const CsrView<S>& A, std::span<const S> t, const Residual<S>& residual)
{
    double multiple = INFINITY;
    for (Index i = 0; i < A.rows(); ++i) {
        const auto      first = static_cast<std::size_t>(A.row_ptr()[i]), count = A.row_ptr()[i + 1] - first;
        const RowSum<S> row = row_sum<S>(A.col().subspan(first, count), A.val().subspan(first, count), t, S(0));
        const double    told = std::abs(row.r) - rounding_share * row.size;  // in units of the row
        if (!(told > 0)) continue;
        const long double size = residual.lost.empty() ? residual.size[i] : residual.lost[i].size;
        multiple = std::min(multiple, static_cast<double>(std::ldexp(size, -row.exponent) / told));
    }
    return multiple;
}

std::string list_of(std::span<const Index> unknowns, Index count)
{
    std::vector<Index> from_1(unknowns.begin(), unknowns.end());
    for (Index& one : from_1) ++one;
    return fmt::format("{}{} (counted from 1)", fmt::join(from_1, ", "),
                       count > static_cast<Index>(unknowns.size()) ? ", ..." : "");
}

const char* words_of(UnknownKind kind)
{
    switch (kind) {
        case UnknownKind::all:
            return "";
        case UnknownKind::zero_diagonal:
            return " of those with a zero diagonal";
        case UnknownKind::nonzero_diagonal:
            return " of those with a diagonal that is not zero";
        case UnknownKind::of_two:
            return " of every second unknown";
        case UnknownKind::of_three:
            return " of every third unknown";
    }
    return "";
}

}  // namespace

template <Scalar S>
Undetermined undetermined_along(const CsrView<S>& A, std::span<const NotDeduced<S>> t, std::span<const NotDeduced<S>> x,
                                const Residual<S>& residual)
{
    const double multiple = largest_multiple<S>(A, t, residual);
    double       largest_t = 0, largest_x = 0;
    for (const S one : t) largest_t = std::max(largest_t, std::abs(one));
    for (const S one : x) largest_x = std::max(largest_x, std::abs(one));
    Undetermined found;
    if (!(largest_t > 0) || !std::isfinite(largest_t)) return found;
    const bool   any = std::isinf(multiple);
    const double scale = any ? 0 : std::ldexp(rounding_share * multiple, residual.exponent);
    for (std::size_t i = 0; i < t.size(); ++i) {
        const double moved = std::abs(t[i]);
        if (!(moved > 1e-10 * largest_t)) continue;
        const double size = std::max(std::abs(x[i]), least_unknown * largest_x);
        const double share = any || size == 0 ? INFINITY : scale * moved / size;
        if (size == 0 && !any && scale == 0) continue;
        found.share = std::max(found.share, share);
        if (!(share > uncertain_from)) continue;
        if (found.unknowns.size() < most_named) found.unknowns.push_back(static_cast<Index>(i));
        ++found.count;
    }
    return found;
}

std::string undetermined_text(const Undetermined& found, Index n)
{
    if (!found.any()) return "";
    const bool        certain = !(found.share < 1);
    const std::string which = list_of(found.unknowns, found.count);
    const char*       are = found.count == 1 ? "unknowns is" : "unknowns are";
    if (certain)
        return fmt::format("A is singular, or nearly so, and x is one of many: {} of {} {} not determined: {}",
                           found.count, n, are, which);
    return fmt::format(
        "A is nearly singular: rounding of A and b changes {} of {} unknowns by more than 0.5 %, by up to {:.0g} times their size: {}",
        found.count, n, found.share, which);
}

std::string undetermined_text(std::span<const LooseSet* const> sets, double share, Index n)
{
    if (sets.empty()) return "";
    Index members = 0;
    for (const LooseSet* const one : sets) members += static_cast<Index>(one->members.size());
    const bool        certain = !(share < 1);
    const std::string to_what =
        certain ? "up to a constant" : fmt::format("up to a constant of {:.0g} times its size", share);
    const std::string head = certain ? "A is singular, or nearly so: " : "A is nearly singular: ";
    const bool        everywhere = members == n && sets.front()->kind == UnknownKind::all;
    if (sets.size() == 1 && everywhere) return fmt::format("{}x is determined {}", head, to_what);
    if (everywhere)
        return fmt::format("{}x is determined {} in each of {} parts that no entry connects", head, to_what,
                           sets.size());
    std::vector<Index> firsts;
    for (const LooseSet* const one : sets)
        if (firsts.size() < most_named) firsts.push_back(one->members.front());
    const Index count = static_cast<Index>(sets.size());
    if (count == 1)
        return fmt::format("{}x is determined {} in {} of {} unknowns{}, the first of them {}", head, to_what, members,
                           n, words_of(sets.front()->kind), list_of(firsts, 1));
    return fmt::format("{}x is determined {} in each of {} sets, {} of {} unknowns in all, which begin at {}", head,
                       to_what, count, members, n, list_of(firsts, count));
}

#define ILUX_INSTANTIATE(S)                                                                             \
    template Undetermined undetermined_along(const CsrView<S>&, std::span<const S>, std::span<const S>, \
                                             const Residual<S>&);
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux

#include "ilux/krylov/null_space.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "ilux/base/cpu.hpp"
#include "ilux/base/error.hpp"
#include "ilux/base/instances.hpp"

namespace ilux {
namespace {

constexpr double vanishes = 1e-10;  // of the terms of a row: files hold vectors to 15 digits, and rows have many terms
constexpr double noise = 1e-4;      // of the largest entry; what is smaller need not be right beside itself
constexpr double dependent = 1e-8;  // what is left of a vector beside those before it

/// The row of A v, or of Aᴴ v, that is farthest from 0, as a share of its terms.
struct Farthest {
    Index  row = 0;
    double share = 0;

    bool none() const { return share <= vanishes; }
};

template <Scalar S>
double largest_of(std::span<const S> v)
{
    double largest = 0;
    for (const S one : v) largest = std::max<double>(largest, std::abs(one));
    return largest;
}

/// @param rows  to be looked at
template <Scalar S, class Rows>
Farthest farthest_row(const CsrView<S>& A, std::span<const S> v, const Rows& rows)
{
    const double least = noise * largest_of<S>(v);
    Farthest     farthest;
    for (const Index i : rows) {
        S      sum = 0;
        double size = 0;
        for (Offset p = A.row_ptr()[i]; p < A.row_ptr()[i + 1]; ++p) {
            const S at = v[A.col()[p]];
            sum += A.val()[p] * at;
            size += std::abs(A.val()[p]) * std::max<double>(std::abs(at), at == S(0) ? 0 : least);
        }
        const double share = size > 0 ? std::abs(sum) / size : 0;
        if (!(share <= farthest.share)) farthest = {i, share};
    }
    return farthest;
}

/// The row of Aᴴ v that is farthest from 0.
template <Scalar S>
Farthest farthest_column(const CsrView<S>& A, std::span<const S> v)
{
    const double        least = noise * largest_of<S>(v);
    std::vector<S>      sum(v.size());
    std::vector<double> size(v.size());
    for (Index i = 0; i < A.rows(); ++i)
        for (Offset p = A.row_ptr()[i]; p < A.row_ptr()[i + 1]; ++p) {
            sum[A.col()[p]] += conj(A.val()[p]) * v[i];
            size[A.col()[p]] += std::abs(A.val()[p]) * std::max<double>(std::abs(v[i]), v[i] == S(0) ? 0 : least);
        }
    Farthest farthest;
    for (std::size_t j = 0; j < sum.size(); ++j) {
        const double share = size[j] > 0 ? std::abs(sum[j]) / size[j] : 0;
        if (!(share <= farthest.share)) farthest = {static_cast<Index>(j), share};
    }
    return farthest;
}

std::string left_over(const Farthest& farthest)
{
    return fmt::format("row {} (counted from 1) leaves {:.1e} of its terms", farthest.row + 1, farthest.share);
}

/// The unknowns of each part of A: what entries other than 0 connect, whichever way.
template <Scalar S>
std::vector<std::vector<Index>> parts_of(const CsrView<S>& A)
{
    std::vector<Index> leader(static_cast<std::size_t>(A.rows()));
    std::iota(leader.begin(), leader.end(), 0);
    const auto find = [&](Index i) {
        while (leader[i] != i) i = leader[i] = leader[leader[i]];
        return i;
    };
    for (Index i = 0; i < A.rows(); ++i)
        for (Offset p = A.row_ptr()[i]; p < A.row_ptr()[i + 1]; ++p) {
            if (A.val()[p] == S(0)) continue;
            const Index one = find(i), two = find(A.col()[p]);
            leader[std::max(one, two)] = std::min(one, two);
        }
    std::vector<std::vector<Index>> parts;
    std::vector<Index>              part(leader.size());
    for (Index i = 0; i < A.rows(); ++i) {
        const Index first = find(i);
        if (first == i) {
            part[i] = static_cast<Index>(parts.size());
            parts.emplace_back();
        }
        parts[part[first]].push_back(i);
    }
    return parts;
}

}  // namespace

template <Scalar S>
void NullSpace<S>::append(std::span<const S> v, double norm)
{
    for (const S one : v) columns_.push_back(one / norm);
    ++count_;
}

template <Scalar S>
NullSpace<S> NullSpace<S>::of_vectors(const CsrView<S>& A, std::span<const S> columns, Index count)
{
    const auto n = static_cast<std::size_t>(A.rows());
    require(count > 0 && columns.size() == n * static_cast<std::size_t>(count),
            [&] { return fmt::format("null_space: {} numbers are no {} vectors of {}", columns.size(), count, n); });
    std::vector<Index> rows(n);
    std::iota(rows.begin(), rows.end(), 0);
    Cpu          serial(1);
    NullSpace<S> space(A.rows());
    for (Index k = 0; k < count; ++k) {
        std::vector<S> v(columns.begin() + k * n, columns.begin() + (k + 1) * n);
        require(is_finite<S>(serial, v), [&] { return fmt::format("null_space: vector {} is not finite", k + 1); });
        const Farthest farthest = farthest_row<S>(A, v, rows);
        require(farthest.none(), [&] {
            return fmt::format("null_space: A does not take vector {} to 0: {}", k + 1, left_over(farthest));
        });
        space.left_ = space.left_ && farthest_column<S>(A, v).none();
        const double before = norm2<S>(serial, v);
        require(before > 0, [&] { return fmt::format("null_space: vector {} is 0", k + 1); });
        for (S& one : v) one /= before;
        space.project(serial, v);
        const double left = norm2<S>(serial, v);
        require(left > dependent,
                [&] { return fmt::format("null_space: vector {} depends on those before it", k + 1); });
        space.project(serial, v);  // what cancelled is lost: again
        space.append(v, norm2<S>(serial, v));
    }
    return space;
}

template <Scalar S>
NullSpace<S> NullSpace<S>::of_constants(const CsrView<S>& A)
{
    const auto           n = static_cast<std::size_t>(A.rows());
    const std::vector<S> ones(n, 1);  // a row sees its own part alone, and so does a column
    std::vector<S>       all(n);      // ones of the parts that A takes to 0
    NullSpace<S>         space(A.rows());
    Farthest             nearest{.share = INFINITY};
    for (const std::vector<Index>& part : parts_of(A)) {
        const Farthest farthest = farthest_row<S>(A, ones, part);
        if (!(farthest.share >= nearest.share)) nearest = farthest;
        if (!farthest.none()) continue;
        std::vector<S> v(n);
        for (const Index i : part) v[i] = all[i] = 1;
        space.append(v, std::sqrt(static_cast<double>(part.size())));
    }
    space.left_ = farthest_column<S>(A, all).none();
    require(space.count() > 0,
            [&] { return fmt::format("null_space: A does not take the constant to 0: {}", left_over(nearest)); });
    return space;
}

template <Scalar S>
void NullSpace<S>::project(Cpu& be, std::span<S> v) const
{
    if (count_ == 0) return;
    std::vector<S> of_N(static_cast<std::size_t>(count_));
    multi_dot<S>(be, columns_, v, of_N);
    for (S& c : of_N) c = -c;
    multi_axpy<S>(be, of_N, columns_, v);
}

#define ILUX_INSTANTIATE(S) template class NullSpace<S>;
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux

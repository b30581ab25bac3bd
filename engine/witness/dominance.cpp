#include "ilux/engine/witness/dominance.hpp"

#include <algorithm>
#include <cmath>

#include "ilux/base/instances.hpp"

namespace ilux {
namespace {

constexpr DominanceLimits limits;

}  // namespace

template <Scalar S>
Dominance<S>::Dominance(Cpu& be, const CsrView<S>& A, std::span<Index> leads_to)
    : A_(A), grounded_(static_cast<std::size_t>(A.rows())), leads_to_(leads_to)
{
    constexpr Index        block = 4096;  // sums in one order, whatever the threads
    const Index            blocks = A.rows() / block + 1;
    std::vector<RowTotals> part(static_cast<std::size_t>(blocks));
    bool                   dominant = true;
#pragma omp parallel for schedule(static) num_threads(be.team(A.nnz() >= 32768)) reduction(&& : dominant)
    for (Index k = 0; k < blocks; ++k)
        for (Index i = k * block; i < std::min(A.rows(), (k + 1) * block); ++i)
            dominant = look_at_row(i, k * block, part[k]) && dominant;
    dominant_ = dominant;
    for (const RowTotals& one : part) {
        sums_.sum += one.sum;
        sums_.size += one.size;
    }
}

template <Scalar S>
bool Dominance<S>::proves_regular()
{
    constexpr int most_sweeps = 4;  // either way twice, for entries that lead one way only
    if (!dominant_) return false;
    for (int sweep = 0; sweep < most_sweeps && std::ranges::count(grounded_, 0) > 0; ++sweep)
        for (Index k = 0; k < A_.rows(); ++k) {
            const Index i = sweep % 2 == 0 ? A_.rows() - 1 - k : k;
            if (!grounded_[i] && follow(i)) spread_from(i);
        }
    return std::ranges::count(grounded_, 0) == 0;
}

/// Follows entries to rows from `first` to i: those of this thread, most of them in the cache.
/// @return whether the row is dominant
template <Scalar S>
bool Dominance<S>::look_at_row(Index i, Index first, RowTotals& sums)
{
    double diagonal = 0, beside = 0;
    S      sum = 0;
    for (Offset p = A_.row_ptr()[i]; p < A_.row_ptr()[i + 1]; ++p) {
        sum += A_.val()[p];
        (A_.col()[p] == i ? diagonal : beside) += std::abs(A_.val()[p]);
    }
    sums.sum += std::abs(sum);
    sums.size += diagonal + beside;
    if (!leads_to_.empty()) leads_to_[i] = -1;
    if (diagonal > 0 && diagonal - beside > limits.grounds * diagonal) ground(i, i);
    else follow(i, limits.tied * beside, first, i);
    return diagonal > 0 && diagonal >= beside * (1 - limits.cancels);
}

/// Rows that this one has entries with are asked, as they mostly have one with it; then those of whoever says yes.
template <Scalar S>
void Dominance<S>::spread_from(Index i)
{
    stack_.assign(1, i);
    while (!stack_.empty()) {
        const Index k = stack_.back();
        stack_.pop_back();
        for (Offset p = A_.row_ptr()[k]; p < A_.row_ptr()[k + 1]; ++p)
            if (const Index j = A_.col()[p]; !grounded_[j] && follow(j)) stack_.push_back(j);
    }
}

/// @return whether the row leads to a grounded one
template <Scalar S>
bool Dominance<S>::follow(Index i)
{
    double beside = 0;
    for (Offset p = A_.row_ptr()[i]; p < A_.row_ptr()[i + 1]; ++p)
        if (A_.col()[p] != i) beside += std::abs(A_.val()[p]);
    return follow(i, limits.tied * beside, 0, A_.rows());
}

/// Follows grounded rows of a range, by entries of at least the size `tie`.
template <Scalar S>
bool Dominance<S>::follow(Index i, double tie, Index first, Index end)
{
    for (Offset p = A_.row_ptr()[i]; p < A_.row_ptr()[i + 1]; ++p) {
        const Index j = A_.col()[p];
        if (j < first || j >= end || !grounded_[j] || std::abs(A_.val()[p]) < tie || A_.val()[p] == S(0)) continue;
        ground(i, j);
        return true;
    }
    return false;
}

template <Scalar S>
void Dominance<S>::ground(Index i, Index by)
{
    grounded_[i] = 1;
    if (!leads_to_.empty()) leads_to_[i] = by;
}

#define ILUX_INSTANTIATE(S) template class Dominance<S>;
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux

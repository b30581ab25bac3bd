#pragma once
// Systems with their fronts, a factorization of fronts by plain loops, and what to measure a solution by.

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ilux/direct/supernodal/front_scales.hpp"
#include "ilux/tests/direct/both_scalars.hpp"
#include "ilux/tests/direct/supernodal/front_systems.hpp"

namespace ilux::test {

template <class S>
struct FrontCase {
    std::string                       name;
    CsrMatrix<S>                      A;
    std::shared_ptr<const LuSymbolic> symbolic;
    std::shared_ptr<const FrontPlan>  plan;
    std::shared_ptr<const LuPattern>  pattern;

    std::span<const S> values() const { return A.val(); }
};

/// @param values  others than those that the analysis saw, or none
template <class S>
FrontCase<S> front_case(std::string name, CsrMatrix<S> A, const LuOptions& options = {},
                        const FrontMerging& merging = {})
{
    FrontCase<S> one{std::move(name), std::move(A), {}, {}, {}};
    one.symbolic = analyse<S>(view<S>(one.A), options);
    Cpu be(1);
    one.plan = make_front_plan(be, *one.symbolic, merging);
    one.pattern = front_pattern<S>(be, *one.symbolic, *one.plan, options, one.values());
    return one;
}

template <class S>
CsrMatrix<S> scalars(const CsrMatrix<double>& A)
{
    if constexpr (is_complex<S>) return turned(A, 5);
    else return A;
}

/// What a front is worth to its parent, and all that is kept, by plain loops.
template <class S>
struct PlainFronts {
    std::vector<S>      val, f_val;
    std::vector<Index>  swap;
    std::vector<double> bmax, umax;
    double              multiplier = 0, min_pivot = std::numeric_limits<double>::infinity(), max_pivot = 0;
    Index               replaced = 0;

    PlainFronts(const FrontPlan& plan, const LuPattern& pattern, std::span<const S> values)
        : val(plan.numbers()), swap(plan.n), bmax(plan.n, 0), umax(plan.n, 0), left_(plan.fronts())
    {
        for (std::size_t p = 0; p < plan.f_source.size(); ++p)
            f_val.push_back(values[plan.f_source[p]] * pattern.in_scale[plan.in_source.size() + p]);
        std::vector<S> sum(plan.numbers());
        for (std::size_t q = 0; q < plan.in_source.size(); ++q) {
            sum[plan.in_target[q]] += values[plan.in_source[q]] * pattern.in_scale[q];
        }
        for (std::size_t q = 0; q < plan.in_source.size(); ++q)
            bmax[plan.in_col[q]] = std::max(bmax[plan.in_col[q]], std::abs(sum[plan.in_target[q]]));
        for (Index f = 0; f < plan.fronts(); ++f) front(plan, sum, f);
    }

private:
    void front(const FrontPlan& plan, const std::vector<S>& sum, Index f)
    {
        const FrontTree& tree = plan.tree;
        const Index      k = tree.pivots(f), m = tree.size(f), first = tree.pivot_ptr[f];
        std::vector<S>   a(std::size_t(m) * m);
        const auto       at = [&](Index i, Index j) -> S& { return a[std::size_t(j) * m + i]; };
        const auto       kept = [&](Index i, Index j) {
            return plan.val_ptr[f] + (j < k ? Offset{j} * m + i : Offset{m} * k + Offset{j - k} * k + i);
        };
        for (Index j = 0; j < m; ++j)
            for (Index i = 0; i < m; ++i)
                if (j < k || i < k) at(i, j) = sum[kept(i, j)];
        for (Index c = 0; c < f; ++c) {
            if (tree.parent[c] != f) continue;
            const Offset row = tree.row_ptr[c];
            const Index  uc = tree.updates(c);
            for (Index j = 0; j < uc; ++j)
                for (Index i = 0; i < uc; ++i)
                    at(plan.place[row + i], plan.place[row + j]) += left_[c][std::size_t(j) * uc + i];
            left_[c] = {};
        }
        eliminate(a, k, m, first);
        for (Index j = 0; j < m; ++j)
            for (Index i = 0; i < m; ++i) {
                if (j >= k && i >= k) continue;
                val[kept(i, j)] = at(i, j);
                const Index column = j < k ? first + j : tree.row[tree.row_ptr[f] + j - k];
                if (i < k && i <= j) umax[column] = std::max(umax[column], std::abs(at(i, j)));
                else if (j < k) multiplier = std::max(multiplier, std::abs(at(i, j)));
            }
        for (Index j = k; j < m; ++j)
            for (Index i = k; i < m; ++i) left_[f].push_back(at(i, j));
    }

    void eliminate(std::vector<S>& a, Index k, Index m, Index first)
    {
        const auto at = [&](Index i, Index j) -> S& { return a[std::size_t(j) * m + i]; };
        for (Index i = 0; i < k; ++i) {
            Index best = i;
            for (Index r = i + 1; r < k; ++r)
                if (std::abs(at(r, i)) > std::abs(at(best, i))) best = r;
            swap[first + i] = best;
            for (Index j = 0; j < m; ++j) std::swap(at(i, j), at(best, j));
            const double least = least_pivot * bmax[first + i], size = std::abs(at(i, i));
            if (size <= least) {
                at(i, i) = size == 0 ? S(least) : at(i, i) * (least / size);
                ++replaced;
            }
            min_pivot = std::min(min_pivot, std::abs(at(i, i)));
            max_pivot = std::max(max_pivot, std::abs(at(i, i)));
            for (Index r = i + 1; r < m; ++r) at(r, i) /= at(i, i);
            for (Index j = i + 1; j < m; ++j)
                for (Index r = i + 1; r < m; ++r) at(r, j) -= at(r, i) * at(i, j);
        }
    }

    std::vector<std::vector<S>> left_;
};

/// ‖b − A x‖∞ / (‖A‖∞ ‖x‖∞ + ‖b‖∞), or with Aᵀ.
template <class S>
double normwise_error(const CsrMatrix<S>& A, std::span<const S> x, std::span<const S> b, bool transposed = false)
{
    std::vector<S>      r(b.begin(), b.end());
    std::vector<double> row(b.size(), 0);
    for (Index i = 0; i < A.rows(); ++i)
        for (Offset p = A.row_ptr()[i]; p < A.row_ptr()[i + 1]; ++p) {
            const Index to = transposed ? A.col()[p] : i, from = transposed ? i : A.col()[p];
            r[to] -= A.val()[p] * x[from];
            row[to] += std::abs(A.val()[p]);
        }
    const auto largest = [](const auto& v) {
        double most = 0;
        for (const auto& z : v) most = std::isnan(std::abs(z)) ? std::abs(z) : std::max(most, std::abs(z));
        return most;
    };
    if (b.empty()) return 0;
    return largest(r) / (largest(row) * largest(x) + largest(b));
}

}  // namespace ilux::test

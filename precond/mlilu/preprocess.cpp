#include "ilux/precond/mlilu/preprocess.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "ilux/base/instances.hpp"
#include "ilux/base/power_of_two.hpp"
#include "ilux/base/tasks.hpp"
#include "ilux/precond/mlilu/mlilu_choice.hpp"
#include "ilux/reorder/matching.hpp"

namespace ilux {
namespace {

struct Maxima {
    std::vector<double> row, col;
};

/// max_j |r_i a_ij c_j| of each row and each column.
template <class T>
Maxima scaled_maxima(const CsrView<T>& A, const std::vector<double>& r, const std::vector<double>& c)
{
    Maxima m{std::vector<double>(A.rows(), 0.), std::vector<double>(A.cols(), 0.)};
    for (Index i = 0; i < A.rows(); ++i)
        for (Offset p = A.row_ptr()[i]; p < A.row_ptr()[i + 1]; ++p) {
            const Index  j = A.col()[p];
            const double a = scaled_entry(r[i], std::abs(A.val()[p]), c[j]);
            m.row[i] = std::max(m.row[i], a);
            m.col[j] = std::max(m.col[j], a);
        }
    return m;
}

/// Rows and columns by the square roots of their largest entries, a few times: equal on both sides for a Hermitian A.
/// [ruiz_01]
template <class T>
void equilibrate(const CsrView<T>& A, std::vector<double>& r, std::vector<double>& c)
{
    for (int sweep = 0; sweep < equilibration_sweeps; ++sweep) {
        const auto m = scaled_maxima(A, r, c);
        bool       changed = false;
        const auto improve = [&](double& factor, double largest) {
            const double before = factor;
            const double next = factor / std::sqrt(largest);
            if (largest > 0 && next <= largest_scale && next >= 1 / largest_scale) factor = nearest_power_of_two(next);
            changed = changed || factor != before;
        };
        for (Index i = 0; i < A.rows(); ++i) {
            improve(r[i], m.row[i]);
            improve(c[i], m.col[i]);
        }
        if (!changed) return;
    }
}

/// A row without a diagonal, and its column, are scaled by what its neighbours put there when they are eliminated:
/// Σ_k |a_ik|² / |a_kk| becomes about balanced_diagonal.
template <class T>
void balance_saddle_point(const CsrView<T>& A, std::vector<double>& r, std::vector<double>& c)
{
    std::vector<double> diagonal(A.rows());
    for (Index i = 0; i < A.rows(); ++i) diagonal[i] = scaled_entry(r[i], std::abs(A.at(i, i)), c[i]);
    for (Index i = 0; i < A.rows(); ++i) {
        if (diagonal[i] != 0) continue;
        double sum = 0;
        for (Offset p = A.row_ptr()[i]; p < A.row_ptr()[i + 1]; ++p) {
            const Index  k = A.col()[p];
            const double a = scaled_entry(r[i], std::abs(A.val()[p]), c[k]);
            if (diagonal[k] != 0) sum += a * (a / diagonal[k]);
        }
        if (const double next = r[i] * std::sqrt(balanced_diagonal / sum);
            next <= largest_scale && next >= 1 / largest_scale)
            r[i] = c[i] = nearest_power_of_two(next);
    }
}

struct DiagonalFacts {
    Index small = 0;  // rows where it is below small_diagonal of the row or the column
    Index zero = 0;
    bool  positive = true;
};

template <class T>
DiagonalFacts inspect_diagonal(const CsrView<T>& A, const std::vector<double>& r, const std::vector<double>& c)
{
    const auto    m = scaled_maxima(A, r, c);
    DiagonalFacts d;
    for (Index i = 0; i < A.rows(); ++i) {
        const T      a = A.at(i, i);
        const double scaled = scaled_entry(r[i], std::abs(a), c[i]);
        if (scaled < small_diagonal * std::max(m.row[i], m.col[i]) || scaled == 0) ++d.small;
        if (real_part(a) <= 0) d.positive = false;
        if (a == T(0)) ++d.zero;
    }
    return d;
}

/// Columns permuted so that matched entries are on the diagonal; scalings from its duals.
template <class T>
void apply_matching(const Cpu& be, const CsrView<T>& A, bool scaling, const StopToken& stop, Preprocessed<T>& pre)
{
    auto matching = matching_of_level(be, A, stop);
    if (scaling) {
        pre.row_scale = std::move(matching.row_scale);
        pre.col_scale = std::move(matching.col_scale);
    }
    pre.q = std::move(matching.col_of_row);
    pre.structural_rank = matching.rank;
    pre.matched = true;
    pre.mirror = Mirror::none;
    pre.positive = false;
    if (!matching.optimal) pre.decision += matching_is_not_the_best;
}

template <class T>
void scale_and_permute(CsrMatrix<T> A, Preprocessed<T>& pre)
{
    scale_rows_cols(A, pre.row_scale, pre.col_scale);
    pre.A = pre.matched ? permute<T>(A, {}, pre.q) : std::move(A);
}

}  // namespace

bool moves_rows(std::span<const Index> perm) { return !std::ranges::is_sorted(perm); }

template <Scalar T>
Matching matching_of_level(const Cpu& be, const CsrView<T>& A, const StopToken& stop)
{
    constexpr Offset worth_threads = 100'000;
    Matching         matching;
    with_tasks(be, A.nnz() >= worth_threads, [&] { matching = maximum_product_matching(A, {}, stop); });
    for (auto* scale : {&matching.row_scale, &matching.col_scale})
        std::ranges::transform(*scale, scale->begin(), nearest_power_of_two);
    return matching;
}

template <Scalar T>
Preprocessed<T> equilibrate_and_match(const Cpu& be, CsrMatrix<T> A, const MlIluOptions& options, const StopToken& stop)
{
    const auto      n = static_cast<std::size_t>(A.rows());
    Preprocessed<T> pre;
    pre.row_scale.assign(n, 1.);
    pre.col_scale.assign(n, 1.);
    pre.p.resize(n);
    std::iota(pre.p.begin(), pre.p.end(), Index{0});
    pre.q = pre.p;

    pre.mirror = mirror_of<T>(A);
    if (options.scaling) equilibrate(A, pre.row_scale, pre.col_scale);
    const auto diagonal = inspect_diagonal(A, pre.row_scale, pre.col_scale);
    pre.positive = pre.mirror == Mirror::hermitian && diagonal.positive;
    if (diagonal.zero == 0) pre.structural_rank = A.rows();  // the diagonal itself matches every row
    pre.saddle_point = diagonal.zero > 0 && may_wait(options, pre.mirror);
    if (pre.saddle_point) {
        if (options.scaling) balance_saddle_point(A, pre.row_scale, pre.col_scale);
        pre.mirror = Mirror::none;
    }
    auto [match, why] = decide_matching(options, pre.positive, diagonal.small, A.rows(), hermitian_word<T>);
    pre.decision = std::move(why);
    if (match) apply_matching(be, A, options.scaling, stop, pre);

    scale_and_permute(std::move(A), pre);
    return pre;
}

template <Scalar T>
Preprocessed<T> equilibrate_and_match_again(const Cpu& be, CsrMatrix<T> A, const MlIluOptions& options,
                                            const RoundsOfLevel& former)
{
    if (!former.matched()) {
        MlIluOptions unmatched = options;
        if (unmatched.matching != MatchingChoice::wait) unmatched.matching = MatchingChoice::off;
        return equilibrate_and_match(be, std::move(A), unmatched);
    }
    Preprocessed<T> pre;
    pre.row_scale = former.row_scale;
    pre.col_scale = former.col_scale;
    pre.q = former.col_of_row;
    pre.p.resize(pre.q.size());
    std::iota(pre.p.begin(), pre.p.end(), Index{0});
    pre.matched = true;
    scale_and_permute(std::move(A), pre);
    bool nonzero = true;
    for (Index i = 0; i < pre.A.rows(); ++i) nonzero = nonzero && pre.A.at(i, i) != T(0);
    if (nonzero) pre.structural_rank = pre.A.rows();
    return pre;
}

template <Scalar T>
void put_in_order(Preprocessed<T>& pre, Ordering ordering, const StopToken& stop)
{
    const auto order = fill_reducing_order(pre.A, ordering, stop);
    pre.A = permute<T>(pre.A, order, order);
    pre.At = pre.mirror != Mirror::none ? CsrMatrix<T>() : transpose(pre.A);
    const auto p = pre.p, q = pre.q;
    for (std::size_t i = 0; i < order.size(); ++i) {
        pre.p[i] = p[order[i]];
        pre.q[i] = q[order[i]];
    }
}

#define ILUX_INSTANTIATE(T)                                                                                          \
    template Matching        matching_of_level(const Cpu&, const CsrView<T>&, const StopToken&);                     \
    template Preprocessed<T> equilibrate_and_match(const Cpu&, CsrMatrix<T>, const MlIluOptions&, const StopToken&); \
    template Preprocessed<T> equilibrate_and_match_again(const Cpu&, CsrMatrix<T>, const MlIluOptions&,              \
                                                         const RoundsOfLevel&);                                      \
    template void            put_in_order(Preprocessed<T>&, Ordering, const StopToken&);
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux

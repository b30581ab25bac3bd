// A level of pairs of rows as pivots, for the M of |D| that MINRES needs. In a Hermitian A with a small diagonal [a b;
// b̄ c] is a good pivot where a and c are none; without it every such row would be postponed to the dense end.

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "ilux/base/instances.hpp"
#include "ilux/precond/mlilu/mlilu_builder.hpp"
#include "ilux/reorder/matching.hpp"

namespace ilux::detail {
namespace {

constexpr double least_share = 0.05;  // of the rows in pairs, or the level is Crout's

/// [a b; b̄ c] of rows i < j. With e = b / |b| its eigenvectors are (cos, ē sin) and (−sin, ē cos).
template <class T>
class Pair {
public:
    Pair(const CsrView<T>& A, Index first, Index second)
        : i(std::min(first, second)),
          j(std::max(first, second)),
          a_(real_part(A.at(i, i))),
          c_(real_part(A.at(j, j))),
          b_(A.at(i, j)),
          det_(a_ * c_ - abs_squared(b_))
    {
        const double half = (a_ - c_) / 2, root = std::hypot(half, std::abs(b_)),
                     angle = std::atan2(std::abs(b_), half);
        cos_ = std::cos(angle / 2);
        sin_ = std::sin(angle / 2);
        lambda[0] = (a_ + c_) / 2 + root;
        lambda[1] = (a_ + c_) / 2 - root;
        phase_ = b_ == T(0) ? T(1) : b_ / std::abs(b_);
        const double size[] = {std::abs(lambda[0]), std::abs(lambda[1])};
        d[0] = cos_ * cos_ * size[0] + sin_ * sin_ * size[1];
        d[1] = size[0] * size[1] / d[0];
        u = phase_ * (sin_ * cos_ * (size[0] - size[1]) / d[0]);
    }

    /// The largest entry of D⁻¹ F, where those of F are as large as this.
    double growth(double in_i, double in_j) const
    {
        const double b = std::abs(b_);
        return std::max(std::abs(c_) * in_i + b * in_j, b * in_i + std::abs(a_) * in_j) / std::abs(det_);
    }
    /// A column of U_F for M: [1 u; 0 1] D⁻¹ f.
    std::pair<T, T> of_M(T f_i, T f_j) const
    {
        const T below = (a_ * f_j - conj(b_) * f_i) / det_;
        return {(c_ * f_i - b_ * f_j) / det_ + u * below, below};
    }
    /// One for S: Λ⁻¹ Xᴴ f, so that D⁻¹ = X Λ⁻¹ Xᴴ is a product of images.
    std::pair<T, T> of_S(T f_i, T f_j) const
    {
        const T turned = phase_ * f_j;
        return {(cos_ * f_i + sin_ * turned) / lambda[0], (cos_ * turned - sin_ * f_i) / lambda[1]};
    }

    Index  i, j;
    double lambda[2];
    double d[2];  // |D| = [1 0; ū 1] diag(d) [1 u; 0 1]
    T      u;

private:
    double a_, c_;
    T      b_;
    double det_, cos_, sin_;
    T      phase_;
};

/// The largest magnitude in row i but for the columns i and j.
template <class T>
double largest_beside(const CsrView<T>& A, Index i, Index j)
{
    double largest = 0;
    for (Offset p = A.row_ptr()[i]; p < A.row_ptr()[i + 1]; ++p)
        if (A.col()[p] != i && A.col()[p] != j) largest = std::max<double>(largest, std::abs(A.val()[p]));
    return largest;
}

template <class T>
bool has_small_diagonal(const CsrView<T>& A)
{
    Index small = 0;
    for (Index i = 0; i < A.rows(); ++i)
        small += std::abs(A.at(i, i)) < small_diagonal * largest_beside(A, i, i) ? 1 : 0;
    return 2 * small > A.rows();
}

/// Rows that a matching of largest product gives to one another, cycle by cycle [duff_pralet_05], short rows first.
template <class T>
std::vector<std::pair<Index, Index>> matched_rows(const CsrView<T>& A, const StopToken& stop)
{
    const auto                           matching = maximum_product_matching(A, {}, stop);
    std::vector<char>                    seen(matching.col_of_row.size(), 0);
    std::vector<std::pair<Index, Index>> found;
    for (Index start = 0; start < A.rows(); ++start)
        for (Index i = start; !seen[i];) {
            const Index j = matching.col_of_row[i];
            seen[i] = 1;
            if (seen[j]) break;  // the cycle closes, over an odd number of rows or i = j
            seen[j] = 1;
            found.emplace_back(i, j);
            i = matching.col_of_row[j];
        }
    std::ranges::stable_sort(found, {}, [&](const auto& pair) {
        const auto length = [&](Index i) { return A.row_ptr()[i + 1] - A.row_ptr()[i]; };
        return length(pair.first) + length(pair.second);
    });
    return found;
}

/// Pairs that do not see one another, by which no entry grows beyond `bound`.
template <class T>
std::vector<Pair<T>> choose_pairs(const CsrView<T>& A, double bound, const StopToken& stop)
{
    std::vector<Pair<T>> chosen;
    std::vector<char>    beside(A.rows(), 0);
    for (const auto& [first, second] : matched_rows(A, stop)) {
        if (beside[first] || beside[second]) continue;
        const Pair<T> pair(A, first, second);
        if (!(pair.growth(largest_beside(A, pair.i, pair.j), largest_beside(A, pair.j, pair.i)) <= bound)) continue;
        for (const Index i : {first, second})
            for (Offset p = A.row_ptr()[i]; p < A.row_ptr()[i + 1]; ++p) beside[A.col()[p]] = 1;
        chosen.push_back(pair);
    }
    return chosen;
}

/// A matrix row by row.
template <class T>
struct Rows {
    std::vector<Offset> ptr{0};
    std::vector<Index>  col;
    std::vector<T>      val;

    void add(Index j, T value)
    {
        if (value == T(0)) return;
        col.push_back(j);
        val.push_back(value);
    }
    void         end_row() { ptr.push_back(static_cast<Offset>(col.size())); }
    CsrMatrix<T> matrix(Index cols)
    {
        const auto rows = static_cast<Index>(ptr.size()) - 1;
        return CsrMatrix<T>::from_sorted(rows, cols, std::move(ptr), std::move(col), std::move(val));
    }
};

/// Calls visit(column, f_i, f_j) for the columns of rows i and j of F.
template <class T, class Visit>
void for_both_rows(const CsrView<T>& F, Index i, Index j, Visit&& visit)
{
    Offset       p = F.row_ptr()[i], q = F.row_ptr()[j];
    const Offset p_end = F.row_ptr()[i + 1], q_end = F.row_ptr()[j + 1];
    while (p < p_end || q < q_end) {
        const Index of_i = p < p_end ? F.col()[p] : F.cols(), of_j = q < q_end ? F.col()[q] : F.cols();
        const Index at = std::min(of_i, of_j);
        visit(at, of_i == at ? F.val()[p++] : T(0), of_j == at ? F.val()[q++] : T(0));
    }
}

/// The level by these pairs, for M or, by the eigenvectors of the pairs, for S alone.
template <class T>
FactoredLevel<T> eliminated(const CsrView<T>& A, std::span<const Pair<T>> pairs, bool for_M)
{
    const Index        n = A.rows(), nB = 2 * static_cast<Index>(pairs.size());
    std::vector<Index> pair_of(n, -1), place(n);
    for (std::size_t k = 0; k < pairs.size(); ++k) pair_of[pairs[k].i] = pair_of[pairs[k].j] = static_cast<Index>(k);
    FactoredLevel<T> level;
    auto&            made = level.factors;
    for (Index i = 0; i < n; ++i) {
        auto& list = pair_of[i] < 0 ? made.postponed : made.accepted;
        place[i] = static_cast<Index>(list.size());
        list.push_back(i);
    }
    level.blocks = split_blocks<T>(A, made.accepted, made.postponed);
    Rows<T> U_B, U_F;
    for (const Index i : made.accepted) {
        const Pair<T>& pair = pairs[pair_of[i]];
        const int      which = i == pair.i ? 0 : 1;
        made.d.push_back(for_M ? pair.d[which] : pair.lambda[which]);
        if (for_M && which == 0) U_B.add(place[pair.j], pair.u);
        for_both_rows<T>(level.blocks.F, place[pair.i], place[pair.j], [&](Index col, T f_i, T f_j) {
            const auto [of_i, of_j] = for_M ? pair.of_M(f_i, f_j) : pair.of_S(f_i, f_j);
            U_F.add(col, which == 0 ? of_i : of_j);
        });
        U_B.end_row();
        U_F.end_row();
        made.inverse_U = std::max(made.inverse_U, 1 + std::abs(pair.u));
    }
    made.U_B = U_B.matrix(nB);
    made.U_F = U_F.matrix(n - nB);
    made.L_B = image<T>(Mirror::hermitian, made.U_B);
    made.L_G = image<T>(Mirror::hermitian, made.U_F);
    made.inverse_L = made.inverse_U;
    return level;
}

}  // namespace

template <class T>
std::optional<CsrMatrix<T>> MlIluBuilder<T>::add_pairs(Preprocessed<T>& pre)
{
    if (!opt_.absolute || !has_small_diagonal<T>(pre.A)) return {};
    const auto pairs = choose_pairs<T>(pre.A, opt_.inverse_bound, stop_);
    if (2 * static_cast<double>(pairs.size()) < least_share * pre.A.rows()) return {};
    FactoredLevel<T> level = eliminated<T>(pre.A, pairs, true);
    if (!budget_.kept_fits(level.factors)) return {};
    CsrMatrix<T>      S = next_matrix(eliminated<T>(pre.A, pairs, false), true);
    const std::string said = "pairs of rows serve as pivots where the diagonal is small";
    if (std::ranges::count(report_.decisions, said) == 0) report_.decisions.push_back(said);
    store(pre, level, true);
    return S;
}

#define ILUX_INSTANTIATE(T) template std::optional<CsrMatrix<T>> MlIluBuilder<T>::add_pairs(Preprocessed<T>&);
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux::detail

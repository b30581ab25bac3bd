#include "ilux/precond/mlilu/dense_level.hpp"

#define EIGEN_MPL2_ONLY
// The level is small, and its bits should not depend on the number of cores.
#define EIGEN_DONT_PARALLELIZE
// A user's own Eigen, compiled for other instructions, must not be mixed with this one by the linker.
#define Eigen ilux_private_eigen
#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>

#include "ilux/base/instances.hpp"
#include "ilux/base/matrix/single.hpp"
#include "ilux/base/power_of_two.hpp"
#include "ilux/reorder/matching.hpp"

namespace ilux {
namespace {

constexpr double eps = std::numeric_limits<double>::epsilon();

template <class T>
using Matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>;

/// k×k by columns.
template <class T>
Eigen::Map<Matrix<T>> square(std::vector<T>& S, std::size_t k)
{
    return {S.data(), static_cast<Eigen::Index>(k), static_cast<Eigen::Index>(k)};
}

}  // namespace

/// Non-empty rows and columns first; the shorter of the two lists is filled up so that the stored part is square.
template <Scalar T>
void DenseLevel<T>::choose_rows_and_cols(const CsrView<T>& S)
{
    std::vector<char> row_used(n_, 0), col_used(n_, 0);
    for (Index i = 0; i < n_; ++i)
        for (Offset p = S.row_ptr()[i]; p < S.row_ptr()[i + 1]; ++p)
            if (S.val()[p] != T(0)) row_used[i] = col_used[S.col()[p]] = 1;
    for (const char used : {1, 0})
        for (Index i = 0; i < n_; ++i) {
            if (row_used[i] == used) rows_.push_back(i);
            if (col_used[i] == used) cols_.push_back(i);
        }
    k_ = static_cast<std::size_t>(std::max(std::ranges::count(row_used, 1), std::ranges::count(col_used, 1)));
}

template <Scalar T>
DenseLevel<T>::DenseLevel(const CsrView<T>& S, bool definite, Index most_absolute, const StopToken& stop) : n_(S.rows())
{
    choose_rows_and_cols(S);
    choose_scales(S, definite);
    std::vector<Index> position(n_, -1);
    for (std::size_t j = 0; j < k_; ++j) position[cols_[j]] = static_cast<Index>(j);
    std::vector<T> dense(k_ * k_, T(0));
    for (std::size_t i = 0; i < k_; ++i)
        for (Offset p = S.row_ptr()[rows_[i]]; p < S.row_ptr()[rows_[i] + 1]; ++p)
            if (const Index j = position[S.col()[p]]; S.val()[p] != T(0))
                dense[j * k_ + i] = S.val()[p] * row_scale_[i] * col_scale_[j];
    if (dense.empty()) return;
    stop.check();
    if (definite && !make_definite(dense, most_absolute, stop)) {
        *this = DenseLevel();
        return;
    }
    stop.check();
    if (factor_lu(dense)) return;
    stop.check();
    factor_qr(std::move(dense));
}

/// By the duals of a maximum-product matching, which do not depend on how S happened to be scaled; a definite S by its
/// diagonal, from both sides.
template <Scalar T>
void DenseLevel<T>::choose_scales(const CsrView<T>& S, bool definite)
{
    row_scale_.assign(k_, 1.);
    col_scale_.assign(k_, 1.);
    if (definite) {
        for (std::size_t i = 0; i < k_; ++i)
            if (const double d = std::abs(S.at(rows_[i], rows_[i])); d > 0)
                row_scale_[i] = col_scale_[i] = nearest_power_of_two(1 / std::sqrt(d));
        return;
    }
    const auto matching = maximum_product_matching(S);
    for (std::size_t i = 0; i < k_; ++i) {
        row_scale_[i] = nearest_power_of_two(matching.row_scale[rows_[i]]);
        col_scale_[i] = nearest_power_of_two(matching.col_scale[cols_[i]]);
    }
}

/// S ← V |Λ| Vᴴ, eigenvalues of rounding size raised to it; a definite S stays, which its Cholesky factors tell in a
/// fraction of the time.
/// @return whether S is definite now
template <Scalar T>
bool DenseLevel<T>::make_definite(std::vector<T>& S, Index most_absolute, const StopToken& stop) const
{
    {
        const Eigen::LLT<Matrix<T>> cholesky(square(S, k_));
        const auto                  pivot = cholesky.matrixLLT().diagonal().cwiseAbs2();
        const double                least = static_cast<double>(k_) * eps * pivot.maxCoeff();
        if (cholesky.info() == Eigen::Success && pivot.minCoeff() > least) return true;
    }
    if (k_ > static_cast<std::size_t>(most_absolute)) return false;
    stop.check();
    const Eigen::SelfAdjointEigenSolver<Matrix<T>> eigen(square(S, k_));
    Eigen::VectorXd                                lambda = eigen.eigenvalues();
    const double                                   noise = static_cast<double>(k_) * eps * lambda.cwiseAbs().maxCoeff();
    if (eigen.info() != Eigen::Success || lambda.minCoeff() > noise) return true;
    lambda = lambda.cwiseAbs().cwiseMax(noise);
    const auto& V = eigen.eigenvectors();
    square(S, k_) = V * lambda.template cast<T>().asDiagonal() * V.adjoint();
    return true;
}

template <Scalar T>
bool DenseLevel<T>::factor_lu(const std::vector<T>& S)
{
    std::vector<T>                                   LU = S;
    Eigen::Ref<Matrix<T>>                            in_place = square(LU, k_);
    const Eigen::PartialPivLU<Eigen::Ref<Matrix<T>>> lu(in_place);
    if (lu.matrixLU().diagonal().cwiseAbs().minCoeff() == 0) return false;
    rcond_ = lu.rcond();
    if (!(rcond_ > eps)) return false;
    pivot_.resize(k_);
    for (std::size_t i = 0; i < k_; ++i) pivot_[lu.permutationP().indices()[i]] = static_cast<Index>(i);
    factor_ = std::move(LU);
    rank_ = static_cast<Index>(k_);
    return true;
}

template <Scalar T>
void DenseLevel<T>::factor_qr(std::vector<T> S)
{
    const auto                                              n = static_cast<Index>(k_);
    Eigen::Ref<Matrix<T>>                                   in_place = square(S, k_);
    const Eigen::ColPivHouseholderQR<Eigen::Ref<Matrix<T>>> qr(in_place);
    rcond_ = 0;
    rank_ = 0;
    while (rank_ < n && std::abs(S[rank_ * (k_ + 1)]) > eps * n * std::abs(S[0])) ++rank_;
    factor_.assign(k_ * k_, T(0));
    for (std::size_t j = 0; j < k_; ++j)
        for (std::size_t i = 0; i <= j; ++i)
            factor_[j * k_ + i] = i < static_cast<std::size_t>(rank_) ? S[j * k_ + i] : T(i == j ? 1. : 0.);
    q_.resize(k_ * k_);
    square(q_, k_) = qr.householderQ();
    pivot_.resize(k_);
    for (std::size_t j = 0; j < k_; ++j) pivot_[j] = static_cast<Index>(qr.colsPermutation().indices()[j]);
}

template <Scalar T>
std::size_t DenseLevel<T>::bytes() const
{
    return (factor_.size() + q_.size()) * sizeof(T) + (row_scale_.size() + col_scale_.size()) * sizeof(double) +
           (rows_.size() + cols_.size() + pivot_.size()) * sizeof(Index);
}

template <Scalar T>
void DenseLevel<T>::solve(std::span<const T> b, std::span<T> x, std::span<T> work) const
{
    const auto times_conj = [](T r, T q) { return r * conj(q); };
    T *        y = work.data(), *rhs = y + n_;
    for (std::size_t i = 0; i < rows_.size(); ++i) rhs[i] = real_of<T>(i < k_ ? row_scale_[i] : 1.) * b[rows_[i]];
    if (q_.empty()) {  // P S = L U
        for (std::size_t i = 0; i < k_; ++i) y[i] = rhs[pivot_[i]];
        for (std::size_t j = 0; j < k_; ++j)
            for (std::size_t i = j + 1; i < k_; ++i) y[i] -= factor_[j * k_ + i] * y[j];
    } else {  // S P = Q R
        for (std::size_t j = 0; j < k_; ++j)
            y[j] = std::inner_product(rhs, rhs + k_, q_.data() + j * k_, T(0), std::plus{}, times_conj);
    }
    for (std::size_t j = k_; j-- > 0;) {
        y[j] /= factor_[j * k_ + j];
        for (std::size_t i = 0; i < j; ++i) y[i] -= factor_[j * k_ + i] * y[j];
    }
    for (std::size_t j = 0; j < k_; ++j) {
        const std::size_t c = q_.empty() ? j : static_cast<std::size_t>(pivot_[j]);
        x[cols_[c]] = real_of<T>(col_scale_[c]) * y[j];
    }
    for (std::size_t j = k_; j < cols_.size(); ++j) x[cols_[j]] = rhs[j];
}

template <Scalar T>
void DenseLevel<T>::solve_adjoint(std::span<const T> b, std::span<T> x, std::span<T> work) const
{
    T *y = work.data(), *out = y + n_;
    for (std::size_t j = 0; j < k_; ++j) {
        const std::size_t c = q_.empty() ? j : static_cast<std::size_t>(pivot_[j]);
        y[j] = real_of<T>(col_scale_[c]) * b[cols_[c]];
    }
    for (std::size_t j = k_; j < cols_.size(); ++j) out[j] = b[cols_[j]];
    for (std::size_t j = 0; j < k_; ++j) {  // Uᴴ or Rᴴ
        for (std::size_t i = 0; i < j; ++i) y[j] -= conj(factor_[j * k_ + i]) * y[i];
        y[j] /= conj(factor_[j * k_ + j]);
    }
    if (q_.empty()) {
        for (std::size_t j = k_; j-- > 0;)
            for (std::size_t i = j + 1; i < k_; ++i) y[j] -= conj(factor_[j * k_ + i]) * y[i];
        for (std::size_t i = 0; i < k_; ++i) out[pivot_[i]] = y[i];
    } else {
        std::fill(out, out + k_, T(0));
        for (std::size_t j = 0; j < k_; ++j)
            for (std::size_t i = 0; i < k_; ++i) out[i] += q_[j * k_ + i] * y[j];
    }
    for (std::size_t i = 0; i < rows_.size(); ++i) x[rows_[i]] = real_of<T>(i < k_ ? row_scale_[i] : 1.) * out[i];
}

template <Scalar T>
template <class Wide>
DenseLevel<T>::DenseLevel(const DenseLevel<Wide>& wide, const SingleScales& scales)
    : n_(wide.n_),
      rank_(wide.rank_),
      rcond_(wide.rcond_),
      rows_(wide.rows_),
      cols_(wide.cols_),
      k_(wide.k_),
      row_scale_(wide.row_scale_),
      col_scale_(wide.col_scale_),
      factor_(in_single<Wide>(wide.factor_)),
      q_(in_single<Wide>(wide.q_)),
      pivot_(wide.pivot_)
{
    const auto rounded = [](double scale) { return static_cast<double>(in_single<double>(scale)); };
    for (std::size_t i = 0; i < k_; ++i) {
        row_scale_[i] = rounded(row_scale_[i] / scales.of_row(rows_[i]));
        col_scale_[i] = rounded(col_scale_[i] / scales.of_col(cols_[i]));
    }
}

#define ILUX_INSTANTIATE(T) template class DenseLevel<T>;
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

#define ILUX_INSTANTIATE(T)                                                                                              \
    template DenseLevel<single_of<T>>::DenseLevel(const DenseLevel<T>&, const SingleScales&);                            \
    template std::size_t DenseLevel<single_of<T>>::bytes() const;                                                        \
    template void        DenseLevel<single_of<T>>::solve(std::span<const single_of<T>>, std::span<single_of<T>>,         \
                                                         std::span<single_of<T>>) const;                                 \
    template void        DenseLevel<single_of<T>>::solve_adjoint(std::span<const single_of<T>>, std::span<single_of<T>>, \
                                                                 std::span<single_of<T>>) const;
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux

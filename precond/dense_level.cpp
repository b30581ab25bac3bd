#include "ilux/precond/dense_level.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

extern "C" {
void dgetrf_(const int* m, const int* n, double* a, const int* lda, int* ipiv, int* info);
void dgecon_(const char* norm, const int* n, const double* a, const int* lda, const double* anorm, double* rcond,
             double* work, int* iwork, int* info);
void dgeqp3_(const int* m, const int* n, double* a, const int* lda, int* jpvt, double* tau, double* work,
             const int* lwork, int* info);
void dorgqr_(const int* m, const int* n, const int* k, double* a, const int* lda, const double* tau, double* work,
             const int* lwork, int* info);
void dsyev_(const char* jobz, const char* uplo, const int* n, double* a, const int* lda, double* w, double* work,
            const int* lwork, int* info);
}

namespace ilux {
namespace {

constexpr double eps = std::numeric_limits<double>::epsilon();
constexpr double spoiled = 1e-2;  // a negative eigenvalue beyond this share of the largest: S is truly indefinite

double norm1(const std::vector<double>& S, int m, int n)
{
    double largest = 0;
    for (int j = 0; j < n; ++j) {
        double sum = 0;
        for (int i = 0; i < m; ++i) sum += std::abs(S[std::size_t(j) * m + i]);
        largest = std::max(largest, sum);
    }
    return largest;
}

}  // namespace

DenseLevel::DenseLevel(const CsrMatrix<double>& S, bool positive) : n_(S.rows())
{
    std::vector<char> used(n_, 0);
    for (Index i = 0; i < n_; ++i) {
        bool any = false;
        for (Offset p = S.row_ptr()[i]; p < S.row_ptr()[i + 1]; ++p)
            if (S.val()[p] != 0) {
                any = true;
                used[S.col()[p]] = 1;
            }
        if (any) rows_.push_back(i);
    }
    std::vector<Index> position(n_, -1);
    for (Index j = 0; j < n_; ++j)
        if (used[j]) {
            position[j] = static_cast<Index>(cols_.size());
            cols_.push_back(j);
        }
    const std::size_t   m = rows_.size();
    std::vector<double> dense(m * cols_.size(), 0.);
    for (std::size_t i = 0; i < m; ++i)
        for (Offset p = S.row_ptr()[rows_[i]]; p < S.row_ptr()[rows_[i] + 1]; ++p)
            if (S.val()[p] != 0) dense[position[S.col()[p]] * m + i] = S.val()[p];
    if (dense.empty()) return;
    equilibrate(dense);
    if (positive) make_positive(dense);
    if (rows_.size() != cols_.size() || !factor_lu(dense)) factor_qr(std::move(dense));
}

/// Rows and columns by square roots of their largest entries, twice; a symmetric S stays symmetric.
void DenseLevel::equilibrate(std::vector<double>& S)
{
    const std::size_t m = rows_.size(), n = cols_.size();
    row_scale_.assign(m, 1.);
    col_scale_.assign(n, 1.);
    for (int sweep = 0; sweep < 3; ++sweep) {
        std::vector<double> row(m, 0.), col(n, 0.);
        for (std::size_t j = 0; j < n; ++j)
            for (std::size_t i = 0; i < m; ++i) {
                row[i] = std::max(row[i], std::abs(S[j * m + i]));
                col[j] = std::max(col[j], std::abs(S[j * m + i]));
            }
        const auto factor = [](double largest) { return std::exp2(std::round(-0.5 * std::log2(largest))); };
        std::ranges::transform(row, row.begin(), factor);
        std::ranges::transform(col, col.begin(), factor);
        for (std::size_t i = 0; i < m; ++i) row_scale_[i] *= row[i];
        for (std::size_t j = 0; j < n; ++j) {
            col_scale_[j] *= col[j];
            for (std::size_t i = 0; i < m; ++i) S[j * m + i] *= row[i] * col[j];
        }
    }
}

/// S ← V |Λ| Vᵀ where the smallest eigenvalue is negative by no more than what dropping explains.
void DenseLevel::make_positive(std::vector<double>& S)
{
    const int           n = static_cast<int>(rows_.size()), lwork = std::max(1, 34 * n);
    std::vector<double> V = S, lambda(n), work(lwork);
    int                 info = 0;
    dsyev_("V", "L", &n, V.data(), &n, lambda.data(), work.data(), &lwork, &info);
    if (info != 0 || lambda.front() > 0 || lambda.front() < -spoiled * lambda.back()) return;
    std::ranges::fill(S, 0.);
    for (int k = 0; k < n; ++k)
        for (int j = 0; j < n; ++j)
            for (int i = 0; i < n; ++i)
                S[std::size_t(j) * n + i] += V[std::size_t(k) * n + i] * std::abs(lambda[k]) * V[std::size_t(k) * n + j];
}

bool DenseLevel::factor_lu(const std::vector<double>& S)
{
    const int           n = static_cast<int>(rows_.size());
    std::vector<double> LU = S, work(4 * std::size_t(n));
    std::vector<int>    ipiv(n), iwork(n);
    int                 info = 0;
    const double        anorm = norm1(S, n, n);
    dgetrf_(&n, &n, LU.data(), &n, ipiv.data(), &info);
    if (info != 0) return false;
    dgecon_("1", &n, LU.data(), &n, &anorm, &rcond_, work.data(), iwork.data(), &info);
    if (info != 0 || !(rcond_ > eps)) return false;
    pivot_.resize(n);
    std::iota(pivot_.begin(), pivot_.end(), Index{0});
    for (int i = 0; i < n; ++i) std::swap(pivot_[i], pivot_[ipiv[i] - 1]);
    factor_ = std::move(LU);
    rank_ = n;
    return true;
}

void DenseLevel::factor_qr(std::vector<double> S)
{
    const int           m = static_cast<int>(rows_.size()), n = static_cast<int>(cols_.size()), k = std::min(m, n);
    const int           lwork = 64 * (n + 1) + 2 * n + m;
    std::vector<int>    jpvt(n, 0);
    std::vector<double> tau(k), work(lwork);
    int                 info = 0;
    dgeqp3_(&m, &n, S.data(), &m, jpvt.data(), tau.data(), work.data(), &lwork, &info);
    rcond_ = 0;
    rank_ = 0;
    while (rank_ < k && std::abs(S[std::size_t(rank_) * m + rank_]) > eps * std::max(m, n) * std::abs(S[0])) ++rank_;
    factor_.assign(std::size_t(rank_) * rank_, 0.);
    for (int j = 0; j < rank_; ++j)
        for (int i = 0; i <= j; ++i) factor_[std::size_t(j) * rank_ + i] = S[std::size_t(j) * m + i];
    q_.assign(S.begin(), S.begin() + static_cast<std::ptrdiff_t>(m) * rank_);
    if (rank_ > 0) dorgqr_(&m, &rank_, &rank_, q_.data(), &m, tau.data(), work.data(), &lwork, &info);
    pivot_.resize(n);
    for (int j = 0; j < n; ++j) pivot_[j] = jpvt[j] - 1;
}

void DenseLevel::solve(std::span<const double> b, std::span<double> x, std::span<double> work) const
{
    const std::size_t m = rows_.size(), k = static_cast<std::size_t>(rank_);
    double *          y = work.data(), *rhs = work.data() + cols_.size();
    for (std::size_t i = 0; i < m; ++i) rhs[i] = row_scale_[i] * b[rows_[i]];
    if (q_.empty()) {  // P S = L U
        for (std::size_t i = 0; i < k; ++i) y[i] = rhs[pivot_[i]];
        for (std::size_t j = 0; j < k; ++j)
            for (std::size_t i = j + 1; i < k; ++i) y[i] -= factor_[j * k + i] * y[j];
    } else {  // S P = Q R
        for (std::size_t j = 0; j < k; ++j) y[j] = std::inner_product(rhs, rhs + m, q_.data() + j * m, 0.);
    }
    for (std::size_t j = k; j-- > 0;) {
        y[j] /= factor_[j * k + j];
        for (std::size_t i = 0; i < j; ++i) y[i] -= factor_[j * k + i] * y[j];
    }
    std::ranges::fill(x, 0.);
    for (std::size_t j = 0; j < k; ++j) {
        const std::size_t c = q_.empty() ? j : static_cast<std::size_t>(pivot_[j]);
        x[cols_[c]] = col_scale_[c] * y[j];
    }
}

void DenseLevel::solve_transpose(std::span<const double> b, std::span<double> x, std::span<double> work) const
{
    const std::size_t m = rows_.size(), k = static_cast<std::size_t>(rank_);
    double *          y = work.data(), *out = work.data() + cols_.size();
    for (std::size_t j = 0; j < k; ++j) {
        const std::size_t c = q_.empty() ? j : static_cast<std::size_t>(pivot_[j]);
        y[j] = col_scale_[c] * b[cols_[c]];
    }
    for (std::size_t j = 0; j < k; ++j) {  // Uᵀ or Rᵀ
        for (std::size_t i = 0; i < j; ++i) y[j] -= factor_[j * k + i] * y[i];
        y[j] /= factor_[j * k + j];
    }
    if (q_.empty()) {
        for (std::size_t j = k; j-- > 0;)
            for (std::size_t i = j + 1; i < k; ++i) y[j] -= factor_[j * k + i] * y[i];
        for (std::size_t i = 0; i < k; ++i) out[pivot_[i]] = y[i];
    } else {
        std::fill(out, out + m, 0.);
        for (std::size_t j = 0; j < k; ++j)
            for (std::size_t i = 0; i < m; ++i) out[i] += q_[j * m + i] * y[j];
    }
    std::ranges::fill(x, 0.);
    for (std::size_t i = 0; i < m; ++i) x[rows_[i]] = row_scale_[i] * out[i];
}

}  // namespace ilux

#include "ilux/base/spmv.hpp"

#include "ilux/base/error.hpp"

#include <algorithm>
#include <cmath>

namespace ilux {
namespace {

constexpr Offset parallel_nnz = 32768;  // below, forking costs more than it saves

/// First row of part `t` of `parts`, each with about the same nnz.
template <class T>
Index part_begin(const CsrMatrix<T>& A, int t, int parts)
{
    if (t == parts) return A.rows();
    const Offset target = A.nnz() / parts * t;
    return static_cast<Index>(std::ranges::lower_bound(A.row_ptr(), target) - A.row_ptr().begin());
}

template <class T>
void spmv_rows(double a, const CsrMatrix<T>& A, const double* x, double b, double* y, Index begin, Index end)
{
    const Offset* row_ptr = A.row_ptr().data();
    const Index*  col = A.col().data();
    const T*      val = A.val().data();
    for (Index i = begin; i < end; ++i) {
        double sum = 0;
        for (Offset p = row_ptr[i]; p < row_ptr[i + 1]; ++p) sum += val[p] * x[col[p]];
        y[i] = b == 0 ? a * sum : a * sum + b * y[i];
    }
}

}  // namespace

template <class T>
void spmv(Cpu& be, double a, const CsrMatrix<T>& A, std::span<const double> x, double b, std::span<double> y)
{
    ILUX_ASSERT(x.size() == static_cast<std::size_t>(A.cols()) && y.size() == static_cast<std::size_t>(A.rows()));
    if (be.threads() == 1 || A.nnz() < parallel_nnz) return spmv_rows(a, A, x.data(), b, y.data(), 0, A.rows());
    const int parts = be.threads();
#pragma omp parallel for schedule(static, 1) num_threads(be.team())
    for (int t = 0; t < parts; ++t)
        spmv_rows(a, A, x.data(), b, y.data(), std::min(A.rows(), part_begin(A, t, parts)),
                  std::min(A.rows(), part_begin(A, t + 1, parts)));
}

template <class T>
void spmv_transpose(Cpu& be, double a, const CsrMatrix<T>& A, std::span<const double> x, double b, std::span<double> y)
{
    ILUX_ASSERT(x.size() == static_cast<std::size_t>(A.rows()) && y.size() == static_cast<std::size_t>(A.cols()));
    if (b == 0) fill(be, 0, y);
    else if (b != 1) scale(be, b, y);
    for (Index i = 0; i < A.rows(); ++i) {
        const double ax = a * x[i];
        for (Offset p = A.row_ptr()[i]; p < A.row_ptr()[i + 1]; ++p) y[A.col()[p]] += A.val()[p] * ax;
    }
}

MatrixOperator::MatrixOperator(const CsrMatrix<double>& A, bool transposable)
    : A_(A), At_(transposable ? transpose(A) : CsrMatrix<double>()), transposable_(transposable)
{
    require(A.rows() == A.cols(), [&] {
        return "a linear system needs a square matrix; this one is " + std::to_string(A.rows()) + " x " +
               std::to_string(A.cols());
    });
}

void MatrixOperator::apply(Cpu& be, std::span<const double> x, std::span<double> y) const { spmv(be, 1, A_, x, 0, y); }

void MatrixOperator::apply_transpose(Cpu& be, std::span<const double> x, std::span<double> y) const
{
    if (transposable_) spmv(be, 1, At_, x, 0, y);
    else spmv_transpose(be, 1, A_, x, 0, y);
}

template void spmv(Cpu&, double, const CsrMatrix<double>&, std::span<const double>, double, std::span<double>);
template void spmv(Cpu&, double, const CsrMatrix<float>&, std::span<const double>, double, std::span<double>);
template void spmv_transpose(Cpu&, double, const CsrMatrix<double>&, std::span<const double>, double,
                             std::span<double>);
template void spmv_transpose(Cpu&, double, const CsrMatrix<float>&, std::span<const double>, double, std::span<double>);

}  // namespace ilux

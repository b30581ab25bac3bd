#include "ilux/base/matrix/spmv.hpp"

#include <algorithm>
#include <cmath>

#include "ilux/base/error.hpp"
#include "ilux/base/instances.hpp"

namespace ilux {
namespace {

constexpr Offset parallel_nnz = 32768;  // below, forking costs more than it saves

/// First row of part `t` of `parts`, each with about the same nnz.
template <class T>
Index part_begin(const CsrView<T>& A, int t, int parts)
{
    if (t == parts) return A.rows();
    const Offset target = A.nnz() / parts * t;
    return static_cast<Index>(std::ranges::lower_bound(A.row_ptr(), target) - A.row_ptr().begin());
}

template <class T, class S>
void spmv_rows(S a, const CsrView<T>& A, const S* x, S b, S* y, Index begin, Index end)
{
    const Offset* row_ptr = A.row_ptr().data();
    const Index*  col = A.col().data();
    const T*      val = A.val().data();
    for (Index i = begin; i < end; ++i) {
        S sum = 0;
        for (Offset p = row_ptr[i]; p < row_ptr[i + 1]; ++p) sum += S(val[p]) * x[col[p]];
        y[i] = b == S(0) ? a * sum : a * sum + b * y[i];
    }
}

/// y ← a op(A) x + b y: op transposes, and conjugates if asked.
template <bool conjugate, class T, class S>
void scatter(Cpu& be, S a, const CsrView<T>& A, std::span<const S> x, S b, std::span<S> y)
{
    ILUX_ASSERT(x.size() == static_cast<std::size_t>(A.rows()) && y.size() == static_cast<std::size_t>(A.cols()));
    if (b == S(0)) fill<S>(be, 0, y);
    else if (b != S(1)) scale<S>(be, b, y);
    for (Index i = 0; i < A.rows(); ++i) {
        const S ax = a * x[i];
        for (Offset p = A.row_ptr()[i]; p < A.row_ptr()[i + 1]; ++p)
            y[A.col()[p]] += S(conjugate ? conj(A.val()[p]) : A.val()[p]) * ax;
    }
}

}  // namespace

template <class T, class S>
void spmv(Cpu& be, NotDeduced<S> a, const CsrView<T>& A, std::span<const NotDeduced<S>> x, NotDeduced<S> b,
          std::span<NotDeduced<S>> y)
{
    ILUX_ASSERT(x.size() == static_cast<std::size_t>(A.cols()) && y.size() == static_cast<std::size_t>(A.rows()));
    if (be.threads() == 1 || A.nnz() < parallel_nnz) return spmv_rows(a, A, x.data(), b, y.data(), 0, A.rows());
    const int parts = be.threads();
#pragma omp parallel for schedule(static, 1) num_threads(be.team())
    for (int t = 0; t < parts; ++t)
        spmv_rows(a, A, x.data(), b, y.data(), std::min(A.rows(), part_begin(A, t, parts)),
                  std::min(A.rows(), part_begin(A, t + 1, parts)));
}

template <class T, class S>
void spmv_transpose(Cpu& be, NotDeduced<S> a, const CsrView<T>& A, std::span<const NotDeduced<S>> x, NotDeduced<S> b,
                    std::span<NotDeduced<S>> y)
{
    scatter<false, T, S>(be, a, A, x, b, y);
}

template <class T, class S>
void spmv_adjoint(Cpu& be, NotDeduced<S> a, const CsrView<T>& A, std::span<const NotDeduced<S>> x, NotDeduced<S> b,
                  std::span<NotDeduced<S>> y)
{
    scatter<true, T, S>(be, a, A, x, b, y);
}

template <class S>
MatrixOperator<S>::MatrixOperator(const CsrView<S>& A, bool adjoinable)
    : A_(A), Ah_(adjoinable ? adjoint(A) : CsrMatrix<S>()), adjoinable_(adjoinable)
{
    require(A.rows() == A.cols(), [&] {
        return "a linear system needs a square matrix; this one is " + std::to_string(A.rows()) + " x " +
               std::to_string(A.cols());
    });
}

template <class S>
void MatrixOperator<S>::apply(Cpu& be, std::span<const S> x, std::span<S> y) const
{
    spmv<S, S>(be, 1, A_, x, 0, y);
}

template <class S>
void MatrixOperator<S>::apply_adjoint(Cpu& be, std::span<const S> x, std::span<S> y) const
{
    if (adjoinable_) spmv<S, S>(be, 1, Ah_, x, 0, y);
    else spmv_adjoint<S, S>(be, 1, A_, x, 0, y);
}

#define ILUX_PRODUCT(product, T, S) \
    template void product<T, S>(Cpu&, S, const CsrView<T>&, std::span<const S>, S, std::span<S>);
#define ILUX_PRODUCTS(T, S) ILUX_PRODUCT(spmv, T, S) ILUX_PRODUCT(spmv_transpose, T, S) ILUX_PRODUCT(spmv_adjoint, T, S)
#define ILUX_INSTANTIATE(T) ILUX_PRODUCTS(T, working_of<T>)
ILUX_STORED(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE
#define ILUX_INSTANTIATE(T) ILUX_PRODUCTS(T, T)
ILUX_SINGLES(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE
#undef ILUX_PRODUCTS
#undef ILUX_PRODUCT

#define ILUX_INSTANTIATE(S) template class MatrixOperator<S>;
ILUX_WORKING(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux

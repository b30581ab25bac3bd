#include "ilux/precond/ilu0.hpp"

#include "ilux/base/error.hpp"
#include "ilux/base/instances.hpp"

namespace ilux {
namespace {

/// Row i of A becomes row i of L and U in place: for every k < i of its pattern, row i −= l_ik · u_k, on the pattern.
/// `position` is −1 everywhere on entry and on return.
template <class T>
void eliminate_row(const CsrView<T>& A, std::span<NotDeduced<T>> val, std::span<const Offset> diagonal, Index i,
                   std::vector<Offset>& position)
{
    const auto   row_ptr = A.row_ptr();
    const auto   col = A.col();
    const Offset begin = row_ptr[i], end = row_ptr[i + 1];
    for (Offset p = begin; p < end; ++p) position[col[p]] = p;
    for (Offset p = begin; p < end && col[p] < i; ++p) {
        const Index k = col[p];
        val[p] /= val[diagonal[k]];
        for (Offset q = diagonal[k] + 1; q < row_ptr[k + 1]; ++q)
            if (const Offset target = position[col[q]]; target >= 0) val[target] -= val[p] * val[q];
    }
    for (Offset p = begin; p < end; ++p) position[col[p]] = -1;
}

/// The entries of A with keep(row, column), with other values.
template <class T, class Keep>
CsrMatrix<T> part(const CsrView<T>& A, std::span<const NotDeduced<T>> val, Keep&& keep)
{
    std::vector<Offset> row_ptr{0};
    std::vector<Index>  col;
    std::vector<T>      kept;
    for (Index i = 0; i < A.rows(); ++i) {
        for (Offset p = A.row_ptr()[i]; p < A.row_ptr()[i + 1]; ++p)
            if (keep(i, A.col()[p])) {
                col.push_back(A.col()[p]);
                kept.push_back(val[p]);
            }
        row_ptr.push_back(static_cast<Offset>(col.size()));
    }
    return CsrMatrix<T>::from_sorted(A.rows(), A.cols(), std::move(row_ptr), std::move(col), std::move(kept));
}

}  // namespace

template <Scalar T>
Ilu0<T>::Ilu0(const CsrView<T>& A) : n_(A.rows())
{
    require(A.rows() == A.cols(), [&] {
        return "a preconditioner needs a square matrix; this one is " + std::to_string(A.rows()) + " x " +
               std::to_string(A.cols());
    });
    std::vector<T>      val(A.val().begin(), A.val().end());
    std::vector<Offset> diagonal(n_, -1), position(n_, -1);
    for (Index i = 0; i < n_; ++i) {
        for (Offset p = A.row_ptr()[i]; p < A.row_ptr()[i + 1]; ++p)
            if (A.col()[p] == i) diagonal[i] = p;
        eliminate_row(A, val, diagonal, i, position);
        if (diagonal[i] < 0 || val[diagonal[i]] == T(0)) {
            zero_pivot_ = i;
            return;
        }
    }
    L_ = SpTrsvPlan<T, T>(part(A, val, [](Index i, Index j) { return j < i; }), Triangle::lower, Diagonal::unit);
    U_ = SpTrsvPlan<T, T>(part(A, val, [](Index i, Index j) { return j >= i; }), Triangle::upper, Diagonal::stored);
}

template <Scalar T>
void Ilu0<T>::apply(Cpu& be, std::span<const T> r, std::span<T> z)
{
    L_.solve(be, r, z);
    U_.solve(be, z, z);
}

template <Scalar T>
void Ilu0<T>::apply_adjoint(Cpu& be, std::span<const T> r, std::span<T> z)
{
    U_.solve_adjoint(be, r, z);
    L_.solve_adjoint(be, z, z);
}

/// R L R⁻¹ · R U C = R A C on the pattern
template <Scalar T>
template <class Wide>
Ilu0<T>::Ilu0(const Ilu0<Wide>& wide, const SingleScales& scales) : n_(wide.size())
{
    const auto l = [&](Index i, Index j, Wide value) {
        return scaled_entry(scales.of_row(i), value, 1 / scales.of_row(j));
    };
    const auto u = [&](Index i, Index j, Wide value) {
        return scaled_entry(scales.of_row(i), value, scales.of_col(j));
    };
    L_ = SpTrsvPlan<T, T>(in_single<Wide>(wide.L(), l), Triangle::lower, Diagonal::unit);
    U_ = SpTrsvPlan<T, T>(in_single<Wide>(wide.U(), u), Triangle::upper, Diagonal::stored);
}

#define ILUX_INSTANTIATE(T)            \
    template class Ilu0<T>;            \
    template class Ilu0<single_of<T>>; \
    template Ilu0<single_of<T>>::Ilu0(const Ilu0<T>&, const SingleScales&);
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux

#pragma once
// A system with A, or with Aᴴ, where the factors at hand are those of A.

#include "ilux/base/matrix/csr.hpp"
#include "ilux/direct/solve/lu_solve.hpp"

namespace ilux {

/// A x = b, or Aᴴ x = b by the factors of A. Both matrices are at hand, since x is measured row by row.
template <class S = double>
class MatrixOrAdjoint {
public:
    /// A x = b. @param A  must outlive this, here and below
    MatrixOrAdjoint(const CsrView<S>& A) : A_(A), solved_(A), transpose_(Transpose::no) {}
    /// Aᴴ x = b.
    MatrixOrAdjoint(const CsrView<S>& A, const CsrView<S>& adjoint)
        : A_(A), solved_(adjoint), transpose_(Transpose::adjoint)
    {}

    const CsrView<S>& factored() const { return A_; }           ///< A
    const CsrView<S>& solved() const { return solved_; }        ///< A or Aᴴ
    Transpose         transpose() const { return transpose_; }  ///< what is solved with factors of A
    bool              is_adjoint() const { return transpose_ != Transpose::no; }

private:
    const CsrView<S>& A_;
    const CsrView<S>& solved_;
    Transpose         transpose_;
};

}  // namespace ilux

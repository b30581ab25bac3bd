#pragma once
// A system with A, or with Aᴴ, where the factors at hand are those of A.

#include "ilux/base/csr.hpp"
#include "ilux/direct/solve/lu_solve.hpp"

namespace ilux {

/// A x = b, or Aᴴ x = b by the factors of A. Both matrices are at hand, since x is measured row by row.
template <class S = double>
class TurnedMatrix {
public:
    /// A x = b. @param A  must outlive this, here and below
    TurnedMatrix(const CsrView<S>& A) : A_(A), solved_(A), turn_(Transpose::no) {}
    /// Aᴴ x = b.
    TurnedMatrix(const CsrView<S>& A, const CsrView<S>& adjoint) : A_(A), solved_(adjoint), turn_(Transpose::adjoint) {}

    const CsrView<S>& factored() const { return A_; }     ///< A
    const CsrView<S>& solved() const { return solved_; }  ///< A or Aᴴ
    Transpose         turn() const { return turn_; }      ///< what is solved with factors of A
    bool              turned() const { return turn_ != Transpose::no; }

private:
    const CsrView<S>& A_;
    const CsrView<S>& solved_;
    Transpose         turn_;
};

}  // namespace ilux

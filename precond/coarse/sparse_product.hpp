#pragma once
// Products of sparse matrices.

#include "ilux/base/cpu.hpp"
#include "ilux/base/matrix/csr.hpp"

namespace ilux {

/// A B, by threads that share the rows. Bits do not depend on their number. Cost: a multiply-add for each pair of
/// entries a_ik, b_kj.
template <class T>
CsrMatrix<T> product(Cpu& be, const CsrView<T>& A, const CsrView<T>& B);

/// Aᴴ, by threads.
template <class T>
CsrMatrix<T> adjoint_of(Cpu& be, const CsrView<T>& A);

}  // namespace ilux

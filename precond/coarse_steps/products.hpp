#pragma once
// Matrices made of others, a row at a time: the same on a Gpu as on a Cpu. No bit depends on how many threads there are
// or in which order they come.

#include "ilux/precond/coarse_steps/sparse.hpp"

namespace ilux {

/// |a_ij| to 24 bits off the diagonal, without zeros.
template <class T>
CsrMatrix<double> magnitudes(Cpu& be, const CsrView<T>& A);
template <class T>
DeviceCsr<double> magnitudes(Gpu& be, const DeviceCsr<T>& A);

/// The entries off the diagonal, to 24 bits, that are above `share` of the largest one of their row there.
CsrMatrix<double> strong(Cpu& be, const CsrView<double>& F, double share);
DeviceCsr<double> strong(Gpu& be, const DeviceCsr<double>& F, double share);

/// A B. Cost: a multiply-add for each pair of entries a_ik, b_kj; a Gpu forms every row twice.
template <class T>
CsrMatrix<T> product(Cpu& be, const CsrView<NotDeduced<T>>& A, const CsrView<NotDeduced<T>>& B);
template <class T>
DeviceCsr<T> product(Gpu& be, const DeviceCsr<NotDeduced<T>>& A, const DeviceCsr<NotDeduced<T>>& B);

/// P − ω D⁻¹ A P, ω = 0.66; D is the diagonal of A, raised to half of the row's sum of magnitudes where it is smaller.
/// [vanek_mandel_brezina_96]
template <class T>
CsrMatrix<T> smoothed(Cpu& be, const CsrView<NotDeduced<T>>& A, const CsrView<NotDeduced<T>>& P);
template <class T>
DeviceCsr<T> smoothed(Gpu& be, const DeviceCsr<NotDeduced<T>>& A, const DeviceCsr<NotDeduced<T>>& P);

/// Aᴴ. The Cpu's is in base/matrix/csr.hpp.
template <class T>
DeviceCsr<T> adjoint(Gpu& be, const DeviceCsr<T>& A);

}  // namespace ilux

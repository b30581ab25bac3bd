#pragma once
// The next level's matrix.

#include <span>

#include "ilux/base/cpu.hpp"
#include "ilux/base/csr.hpp"

namespace ilux {

/// S ← C − L_G D U_F, row by row (Gustavson). Entries with |s_ij| ≤ drop_tol · max_k |s_ik| are dropped off the diagonal. With `symmetric` an entry is dropped only where both its row and its column allow it, so S stays symmetric.
/// Threads share rows; the result does not depend on their number. C: nC×nC, L_G: nC×nB, D: nB, U_F: nB×nC.
CsrMatrix<double> schur_complement(Cpu& be, const CsrMatrix<double>& C, const CsrMatrix<double>& L_G,
                                   std::span<const double> d, const CsrMatrix<double>& U_F, double drop_tol,
                                   bool symmetric);

}  // namespace ilux

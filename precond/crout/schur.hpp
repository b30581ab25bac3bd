#pragma once
// The next level's matrix.

#include <functional>
#include <span>

#include "ilux/base/cpu.hpp"
#include "ilux/base/matrix/csr.hpp"

namespace ilux {

/// S ← C − L_G D U_F, row by row (Gustavson). Off the diagonal, entries with |s_ij| ≤ drop_tol · max_k |s_ik| are
/// dropped; anywhere, what is within 4ε of the largest term that went into its row: rounding noise, which would hide a
/// singular S. With `mirrored` an entry goes only where both its row and its column allow it: S stays the image of
/// itself that it is. `tell` is called now and then, on the calling thread; when it throws, the work is broken off.
/// Threads share rows; the result does not depend on their number. C: nC×nC, L_G: nC×nB, d: nB, U_F: nB×nC.
template <Scalar T>
CsrMatrix<T> schur_complement(Cpu& be, const CsrView<T>& C, const CsrView<T>& L_G, std::span<const NotDeduced<T>> d,
                              const CsrView<T>& U_F, double drop_tol, bool mirrored,
                              const std::function<void()>& tell = {});

}  // namespace ilux

#pragma once
// Vectors that A takes to little: what a coarse space should hold.

#include "ilux/base/matrix/csr.hpp"
#include "ilux/precond/coarse_steps/basis.hpp"

namespace ilux {

/// Whether some a_ii are 0, and all others are large beside the entries that tie their unknowns to one another: then A
/// is a saddle point, if it is Hermitian or symmetric. O(nnz)
template <class T>
bool looks_like_saddle_point(Cpu& be, const CsrView<T>& A);

/// A constant for each kind of unknowns. Kinds are told apart by the pattern: unknowns with a zero on the diagonal; the
/// components of what the others couple, where these are few; the unknowns of a node. O(nnz)
/// @param saddle_point  looks_like_saddle_point()
template <class T>
NearNull<Cpu, T> constants(Cpu& be, const CsrView<T>& A, const Groups<Cpu>& nodes, bool saddle_point);

/// How near to the null space of A vectors t are.
struct Nearness {
    double far_rows = 0;        ///< share of a vector's rows with |A t| above |A| |t| / 10, at most
    bool   indefinite = false;  ///< tᴴ A t is negative for one of them
};
template <class T>
Nearness nearness(Cpu& be, const CsrView<T>& A, const NearNull<Cpu, T>& vectors);

}  // namespace ilux

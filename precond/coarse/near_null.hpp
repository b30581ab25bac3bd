#pragma once
// Vectors that A takes to little: what a coarse space should hold.

#include "ilux/base/matrix/csr.hpp"
#include "ilux/precond/coarse_steps/first_vectors.hpp"

namespace ilux {

/// Whether a Hermitian or symmetric A may be a saddle point: up to half of the diagonal is 0, the rest positive and
/// large beside what ties these unknowns to one another, and each of the others is tied to some of them. O(nnz)
template <class T>
bool looks_like_saddle_point(Cpu& be, const CsrView<T>& A);

/// A constant for each kind of unknowns. Kinds are told apart by the pattern: unknowns with a zero on the diagonal; the
/// components of what the others couple, where these are few; the unknowns of a node. O(nnz)
/// @param saddle_point  looks_like_saddle_point()
template <Scalar T>
NearNull<Cpu, T> constants(Cpu& be, const CsrView<T>& A, const NodeNumbering& nodes, bool saddle_point);

/// How near to the null space of A vectors t are.
struct Nearness {
    double far_rows = 0;        ///< share of a vector's rows with |A t| above |A| |t| / 10, at most
    bool   indefinite = false;  ///< tᴴ A t is negative for one of them
};
template <class T>
Nearness nearness(Cpu& be, const CsrView<T>& A, const NearNull<Cpu, T>& vectors);
/// nearness() of the constant 1, which is not stored.
template <class T>
Nearness nearness_of_constant(Cpu& be, const CsrView<T>& A);

}  // namespace ilux

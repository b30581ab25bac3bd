#pragma once
// The error that a preconditioner is slow at.

#include "ilux/base/matrix/operator.hpp"

namespace ilux {

/// How slow it is.
struct SlowError {
    double left = 1;       ///< of the error x, by a step x − M⁻¹ A x
    Index  steps = 0;      ///< that it took to find x
    bool   found = false;  ///< x is such an error, and M too slow at it
};

/// For positive definite A and M: x becomes what is left of it by steps of CG for A e = 0. CG reduces first what has
/// much energy, so that the small eigenvalues of M⁻¹ A remain, whatever the others are. It ends early where the whole
/// error goes fast. Products with A and M: up to 32 each.
/// @param x  a random error; then of length 1
template <Backend B, Scalar T>
SlowError left_by_cg(B& be, const LinearOperator<B, T>& A, Preconditioner<B, T>& M, Span<B, T> x);

/// For any A: x becomes what is left of it by 12 steps x ← x − M⁻¹ A x.
template <Backend B, Scalar T>
SlowError left_by_steps(B& be, const LinearOperator<B, T>& A, Preconditioner<B, T>& M, Span<B, T> x);

}  // namespace ilux

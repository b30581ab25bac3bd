#pragma once
// The error that a preconditioner is slow at.

#include "ilux/base/matrix/operator.hpp"

namespace ilux {

/// How slow it is.
struct SlowError {
    double left = 1;            ///< what a step x − M⁻¹ A x leaves of the error x, over ‖x‖₂
    Index  steps = 0;           ///< the steps taken
    double rest = 1;            ///< ‖x‖₂ of what is left, over that before
    bool   found = false;       ///< x is an error that M is too slow at
    bool   indefinite = false;  ///< CG has seen that A or M is
};

/// For positive definite A and M: x becomes what is left of it by steps of CG for A e = 0. CG reduces first what has
/// much energy, so that the small eigenvalues of M⁻¹ A remain, whatever the others are. It ends early where the whole
/// error goes fast, or A or M turns out to be indefinite. Products with A and M: up to 33 each.
/// @param x  a random error; then of length 1
/// @param step  step_beside_coarse() of M: slow errors go so much faster by it
template <Backend B, Scalar T>
SlowError left_by_cg(B& be, const LinearOperator<B, T>& A, Preconditioner<B, T>& M, Span<B, T> x, double step = 1);

/// For any A: x becomes what is left of it by 12 steps x ← x − M⁻¹ A x.
template <Backend B, Scalar T>
SlowError left_by_steps(B& be, const LinearOperator<B, T>& A, Preconditioner<B, T>& M, Span<B, T> x);

}  // namespace ilux

#pragma once
// Substitution with the fronts of a supernodal LU.

#include <cstddef>

#include "ilux/direct/factor/lu_factors.hpp"
#include "ilux/direct/supernodal/blas.hpp"
#include "ilux/direct/supernodal/front_plan.hpp"

namespace ilux {

/// Numbers of scratch memory that front_solve needs for `rhs` right-hand sides.
std::size_t front_solve_scratch(const FrontPlan& plan, Index rhs);

/// y ← B⁻¹ y, B⁻ᵀ y or B⁻ᴴ y for `rhs` vectors, vector after vector, ld = n: for each block from the last (transposed:
/// from the first) forward through its fronts, backward through them, and F takes the result to the other blocks. A
/// front adds what its children leave it, so the order of additions is that of the tree, and the bits are the same on
/// any number of threads.
/// @param scratch  front_solve_scratch numbers
template <class S>
void front_solve(Cpu& be, const LuFactors<S>& factors, blas::Op op, Index rhs, S* y, S* scratch);

}  // namespace ilux

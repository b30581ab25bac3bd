// The host's part of direct/solve for complex numbers; as base.cpp.

#include <complex>

#define ILUX_DIRECT_SOLVE(instantiate) instantiate(std::complex<double>)

#include "ilux/direct/solve/lu_refine.cpp"
#include "ilux/direct/solve/lu_solve.cpp"
#include "ilux/direct/solve/row_residual.cpp"

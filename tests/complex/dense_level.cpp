// The dense level of precond/mlilu/ for complex numbers, which has an Eigen of its own; as base.cpp.

#include <complex>

#define ILUX_MLILU_SCALARS(instantiate) instantiate(std::complex<double>)

#include "ilux/precond/mlilu/dense_level.cpp"

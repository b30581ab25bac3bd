// The sources of ortho/ for complex numbers; as base.cpp.

#include <complex>

#define ILUX_ORTHO_CPU(instantiate) instantiate(std::complex<double>)
#define ILUX_ORTHO_GPU(instantiate)

#include "ilux/ortho/cgs2.cpp"
#include "ilux/ortho/mgso.cpp"

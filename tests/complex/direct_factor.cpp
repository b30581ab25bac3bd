// direct/analysis and direct/factor for complex numbers; as base.cpp.

#include <complex>

#define ILUX_DIRECT_ANALYSIS(instantiate) instantiate(std::complex<double>)
#define ILUX_DIRECT_FACTOR(instantiate) instantiate(std::complex<double>)

#include "ilux/direct/analysis/lu_input.cpp"
#include "ilux/direct/analysis/lu_symbolic.cpp"
#include "ilux/direct/factor/gilbert_peierls.cpp"
#include "ilux/direct/factor/row_scaling.cpp"

// direct/refactor_cpu for complex numbers; as base.cpp.

#include <complex>

#define ILUX_DIRECT_REFACTOR(instantiate) instantiate(std::complex<double>)

#include "ilux/direct/refactor_cpu/refactor.cpp"
#include "ilux/direct/refactor_cpu/update_column.cpp"

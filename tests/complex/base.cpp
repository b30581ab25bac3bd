// The sources of base/ for complex numbers: as they are, with another list of types (docs/design/base.md).

#include <complex>

#define ILUX_BASE_SCALARS(instantiate) instantiate(std::complex<double>)
#define ILUX_BASE_STORED(instantiate) instantiate(std::complex<double>) instantiate(std::complex<float>)

#include "ilux/base/cpu_vectors.cpp"
#include "ilux/base/csr.cpp"
#include "ilux/base/csr_parallel.cpp"
#include "ilux/base/csr_view.cpp"
#include "ilux/base/spmv.cpp"

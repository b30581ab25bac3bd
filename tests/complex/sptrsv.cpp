// The host's part of sptrsv/ for complex numbers; as base.cpp.

#include <complex>

#define ILUX_SPTRSV_STORED(instantiate) instantiate(std::complex<double>) instantiate(std::complex<float>)

#include "ilux/sptrsv/level_set.cpp"
#include "ilux/sptrsv/serial.cpp"
#include "ilux/sptrsv/sptrsv.cpp"

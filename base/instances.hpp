#pragma once
// The value types that the library is compiled for, a type an entry: a source of templates ends in one of these lists.

#include <complex>

#define ILUX_SCALARS(instantiate) instantiate(double) instantiate(std::complex<double>)  ///< of A, b, x
#define ILUX_STORED(instantiate)                                             \
    instantiate(double) instantiate(float) instantiate(std::complex<double>) \
        instantiate(std::complex<float>)  ///< of matrices and factors
#define ILUX_BACKENDS(instantiate)                                                           \
    instantiate(Cpu, double) instantiate(Gpu, double) instantiate(Cpu, std::complex<double>) \
        instantiate(Gpu, std::complex<double>)

#pragma once
// The value types that the library is compiled for, a type an entry: a source of templates ends in one of these lists.

#include <complex>

#define ILUX_SCALARS(instantiate) instantiate(double) instantiate(std::complex<double>)  ///< of A, b, x
#define ILUX_SINGLES(instantiate) \
    instantiate(float) instantiate(std::complex<float>)  ///< of the inner solves of krylov.precision=mixed
#define ILUX_WORKING(instantiate) \
    ILUX_SCALARS(instantiate) ILUX_SINGLES(instantiate)  ///< of the vectors of a Krylov method
#define ILUX_STORED(instantiate)                                             \
    instantiate(double) instantiate(float) instantiate(std::complex<double>) \
        instantiate(std::complex<float>)  ///< of matrices and factors
#define ILUX_BACKENDS(instantiate)                                                           \
    instantiate(Cpu, double) instantiate(Gpu, double) instantiate(Cpu, std::complex<double>) \
        instantiate(Gpu, std::complex<double>)  ///< of the outer iterations
#define ILUX_ALL_BACKENDS(instantiate)                                                    \
    ILUX_BACKENDS(instantiate)                                                            \
    instantiate(Cpu, float) instantiate(Gpu, float) instantiate(Cpu, std::complex<float>) \
        instantiate(Gpu, std::complex<float>)  ///< of the Krylov methods

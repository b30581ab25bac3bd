// The sources of krylov/ for complex numbers, stopping.cpp aside, which looks at norms alone; as base.cpp.

#include <complex>

#define ILUX_KRYLOV_SCALARS(instantiate) instantiate(std::complex<double>)
#define ILUX_KRYLOV_BACKENDS(instantiate) instantiate(Cpu, std::complex<double>)

#include "ilux/krylov/bicg.cpp"
#include "ilux/krylov/bicgstab.cpp"
#include "ilux/krylov/cg.cpp"
#include "ilux/krylov/fgmres.cpp"
#include "ilux/krylov/gmres.cpp"
#include "ilux/krylov/hessenberg_qr.cpp"
#include "ilux/krylov/krylov.cpp"

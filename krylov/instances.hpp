#pragma once
// The scalars that krylov/ is compiled for, alone and by backend; as base/instances.hpp.

#ifndef ILUX_KRYLOV_SCALARS
#define ILUX_KRYLOV_SCALARS(instantiate) instantiate(double)
#define ILUX_KRYLOV_BACKENDS(instantiate) instantiate(Cpu, double) instantiate(Gpu, double)
#endif

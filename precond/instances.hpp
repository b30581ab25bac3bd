#pragma once
// The value types that ILU(0) and Jacobi are compiled for on the host; as base/instances.hpp.

#ifndef ILUX_PRECOND_SCALARS
#define ILUX_PRECOND_SCALARS(instantiate) instantiate(double)
#endif

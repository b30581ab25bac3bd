#pragma once
// The value types that precond/mlilu/ is compiled for; as base/instances.hpp.

#ifndef ILUX_MLILU_SCALARS
#define ILUX_MLILU_SCALARS(instantiate) instantiate(double)
#endif

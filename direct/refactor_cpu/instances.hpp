#pragma once
// The Scalars that direct/refactor_cpu is compiled for; as base/instances.hpp.

#ifndef ILUX_DIRECT_REFACTOR
#define ILUX_DIRECT_REFACTOR(instantiate) instantiate(double)
#endif

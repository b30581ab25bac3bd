#pragma once
// The Scalars that direct/factor is compiled for; as base/instances.hpp.

#ifndef ILUX_DIRECT_FACTOR
#define ILUX_DIRECT_FACTOR(instantiate) instantiate(double)
#endif

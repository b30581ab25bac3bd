#pragma once
// The Scalars that the host's part of direct/solve is compiled for; as base/instances.hpp.

#ifndef ILUX_DIRECT_SOLVE
#define ILUX_DIRECT_SOLVE(instantiate) instantiate(double)
#endif

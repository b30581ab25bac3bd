#pragma once
// The value types that ortho/ is compiled for, by backend; as base/instances.hpp.

#ifndef ILUX_ORTHO_CPU
#define ILUX_ORTHO_CPU(instantiate) instantiate(double)
#define ILUX_ORTHO_GPU(instantiate) instantiate(double)
#endif

#pragma once
// The stored types that the host's part of sptrsv/ is compiled for, vectors being of working_of<T>; as base/instances.hpp.

#ifndef ILUX_SPTRSV_STORED
#define ILUX_SPTRSV_STORED(instantiate) instantiate(double) instantiate(float)
#endif

#pragma once
// Functions that nvcc compiles for both sides, and a compiler of the host for one.

#ifdef __CUDACC__
#define ILUX_HOST_DEVICE __host__ __device__
#else
#define ILUX_HOST_DEVICE
#endif

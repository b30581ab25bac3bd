#pragma once
// For source files of AVX-512 kernels on x86-64, each of which is compiled alone: a warning stays off to the file's
// end.

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"  // both of GCC 12's own _mm512_undefined_pd
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif
#include <immintrin.h>

/// Before a function: it uses AVX-512 F, VL and DQ. Only where processor_has_avx512() may it be called.
#define ILUX_AVX512 __attribute__((target("avx2,fma,popcnt,avx512f,avx512vl,avx512dq")))
#define ILUX_AVX512_INLINE inline ILUX_AVX512 __attribute__((always_inline))

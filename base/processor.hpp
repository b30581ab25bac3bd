#pragma once
// What this processor can do beyond the baseline that the library is compiled for. A function for such instructions
// stands beside its portable twin, marked ILUX_FMA, and is chosen at run time; whole files of them are listed in
// CMakeLists.txt.

namespace ilux {

#if defined(__x86_64__)
/// Before a function: it, and what is inlined into it, uses FMA and AVX2. Nothing on other processors.
#define ILUX_FMA [[gnu::target("avx2,fma")]]

/// Whether functions marked ILUX_FMA may be called and differ from their twins.
inline bool processor_has_fma()
{
    static const bool has = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    return has;
}
/// Whether it has AVX-512 F, VL and DQ.
inline bool processor_has_avx512()
{
    static const bool has = processor_has_fma() && __builtin_cpu_supports("avx512f") &&
                            __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq");
    return has;
}
#else
#define ILUX_FMA
inline bool processor_has_fma() { return false; }
inline bool processor_has_avx512() { return false; }
#endif

}  // namespace ilux

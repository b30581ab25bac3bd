#pragma once
// Numbers of a DataflowProgram on the device: how they are stored, waited for and divided. Only .cu files include this.

#include <cstdint>

#include "ilux/sptrsv/device_row.hpp"

namespace ilux {

/// 1/d by Newton's iteration; rounds correctly away from the ends of the exponent range.
__device__ inline double reciprocal(double d)
{
    double r;
    asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(r) : "d"(d));
    double e = fma(-d, r, 1.0);
    e = fma(e, e, e);
    r = fma(r, e, r);
    e = fma(-d, r, 1.0);
    return fma(r, e, r);
}

/// x / d with r = reciprocal(d): one correction of the quotient rounds correctly too; x = 0 keeps its sign.
__device__ inline double quotient(double x, double d, double r)
{
    const double q = x * r, corrected = fma(fma(-d, q, x), r, q);
    return x == 0 ? q : corrected;
}

/// x / d by the IEEE, faster than the compiler's code where x = 0, which is common and would send the whole warp its
/// slow way.
__device__ inline double divide(double x, double d)
{
    constexpr double small = 0x1p-400, large = 0x1p400;
    const double     fast = quotient(x, d, reciprocal(d));
    const bool       plain = fabs(x) > small && fabs(x) < large;
    if (fabs(d) > small && fabs(d) < large && (x == 0 || plain)) return fast;
    return x / d;
}

/// A number in memory that is its own flag (device_row.hpp), as the bits of T; arithmetic is in double either way.
template <class T>
struct Stored;

template <>
struct Stored<double> {
    using Bits = std::uint64_t;
    static constexpr Bits unset = ilux::unset;

    __device__ static double value(Bits bits) { return as_number(bits); }
    __device__ static Bits   of(double value) { return published(value); }
    __device__ static double rounded(double value) { return value; }
    __device__ static Bits   bits(double value) { return static_cast<Bits>(__double_as_longlong(value)); }
    __device__ static Bits   load(const double* x) { return load_relaxed(x); }
    __device__ static void   wait_more(const double* x, Bits& bits) { poll(x, bits); }
    __device__ static void   publish(double* x, Bits bits) { store_relaxed(x, bits); }
};

template <>
struct Stored<float> {
    using Bits = std::uint32_t;
    static constexpr Bits unset = ~Bits{0};  // a quiet NaN too
    static constexpr Bits other_nan = 0x7FC0'0000u;

    __device__ static double value(Bits bits) { return static_cast<double>(__uint_as_float(bits)); }
    __device__ static Bits   of(double value)
    {
        const Bits bits = __float_as_uint(__double2float_rn(value));
        return bits == unset ? other_nan : bits;
    }
    /// As others will read it.
    __device__ static double rounded(double value) { return static_cast<double>(__double2float_rn(value)); }
    __device__ static Bits   bits(float value) { return __float_as_uint(value); }
    __device__ static Bits   load(const float* x)
    {
        Bits bits;
        asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(bits) : "l"(x));
        return bits;
    }
    __device__ static void wait_more(const float* x, Bits& bits)
    {
        asm volatile(
            "{\n\t.reg .pred waits;\n\tsetp.eq.u32 waits, %0, %2;\n\t@waits ld.relaxed.gpu.global.u32 %0, [%1];\n\t}"
            : "+r"(bits)
            : "l"(x), "r"(unset)
            : "memory");
    }
    __device__ static void publish(float* x, Bits bits)
    {
        asm volatile("st.relaxed.gpu.global.u32 [%0], %1;" ::"l"(x), "r"(bits));
    }
};

}  // namespace ilux

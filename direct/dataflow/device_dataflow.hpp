#pragma once
// Numbers of a DataflowProgram on the device: how they are stored and waited for. Only .cu files include this.

#include <cstdint>

#include "ilux/direct/gpu/device_elimination.hpp"
#include "ilux/sptrsv/gpu/device_row.hpp"

namespace ilux {

/// A number in memory that is its own flag (device_row.hpp), as the bits of T, double or complex; arithmetic is in
/// double anyway.
template <class T>
struct Stored {
    using Bits = BitsOf<T>;

    __device__ static Bits missing() { return bits_of_unset<T>(); }
    __device__ static bool is_missing(Bits bits) { return is_unset(bits); }
    __device__ static T    value(Bits bits) { return as_number(bits); }
    __device__ static Bits of(T value) { return published(value); }
    __device__ static T    rounded(T value) { return value; }
    __device__ static Bits bits(T value) { return as_bits(value); }
    __device__ static Bits load(const T* x) { return load_relaxed(x); }
    __device__ static void wait_more(const T* x, Bits& bits) { poll(x, bits); }
    __device__ static void publish(T* x, Bits bits) { store_relaxed(x, bits); }
};

template <>
struct Stored<float> {
    using Bits = std::uint32_t;
    static constexpr Bits unset = ~Bits{0};  // a quiet NaN too
    static constexpr Bits other_nan = 0x7FC0'0000u;

    __device__ static Bits   missing() { return unset; }
    __device__ static bool   is_missing(Bits bits) { return bits == unset; }
    __device__ static double value(Bits bits) { return static_cast<double>(__uint_as_float(bits)); }
    __device__ static Bits   of(double value)
    {
        const Bits bits = __float_as_uint(__double2float_rn(value));
        return bits == unset ? other_nan : bits;
    }
    /// The number as others will read it.
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

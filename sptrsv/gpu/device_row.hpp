#pragma once
// One row of substitution on the device: how rows wait for one another, and where they read b and write x.
// Only .cu files include this.
//
// x is its own flag. Before a solve it is all `unset`, a NaN payload; a row publishes its value by one relaxed 8-byte
// store at gpu scope and others poll it by relaxed loads. Nothing else travels with the flag, so no fence is needed.
// A complex x is two such flags, stored and loaded side by side: it has arrived when both have.
// Bits are compared, never values: a NaN that arithmetic produced is a value like any other.

#include <cstdint>

#include "ilux/base/gpu/cuda.hpp"
#include "ilux/base/gpu/device_value.hpp"
#include "ilux/sptrsv/gpu/device_frame.hpp"

namespace ilux {

constexpr std::uint64_t unset = ~std::uint64_t{0};  // a quiet NaN; all bytes 0xFF, so that a memset makes it
constexpr int           unset_byte = 0xFF;
constexpr std::uint64_t other_nan = 0x7FF8'0000'0000'0000u;  // what a result with the bits of `unset` is published as
constexpr unsigned      whole_warp = ~0u;

/// Bits of a double, or of both parts of a complex x.
struct PairBits {
    std::uint64_t re, im;
};
template <class S>
using BitsOf = std::conditional_t<is_complex<S>, PairBits, std::uint64_t>;

/// The bits of an x that is still to come, and those of zero.
template <class S>
__device__ BitsOf<S> bits_of_unset()
{
    if constexpr (is_complex<S>) return {unset, unset};
    else return unset;
}
template <class S>
__device__ BitsOf<S> bits_of_zero()
{
    return {};
}

__device__ inline bool is_unset(std::uint64_t bits) { return bits == unset; }
__device__ inline bool is_unset(PairBits bits) { return bits.re == unset || bits.im == unset; }

__device__ inline std::uint64_t load_relaxed(const double* x)
{
    std::uint64_t bits;
    asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(bits) : "l"(x));
    return bits;
}
__device__ inline PairBits load_relaxed(const cuda::Complex<double>* x)
{
    PairBits bits;
    asm volatile("ld.relaxed.gpu.global.v2.u64 {%0, %1}, [%2];" : "=l"(bits.re), "=l"(bits.im) : "l"(x));
    return bits;
}

__device__ inline void store_relaxed(double* x, std::uint64_t bits)
{
    asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(x), "l"(bits));
}
__device__ inline void store_relaxed(cuda::Complex<double>* x, PairBits bits)
{
    asm volatile("st.relaxed.gpu.global.v2.u64 [%0], {%1, %2};" ::"l"(x), "l"(bits.re), "l"(bits.im));
}

/// bits ← *x while they are `unset`: a predicated load, so that several are in flight at once. The clobber keeps loads
/// that were issued before the wait from sinking behind it.
__device__ inline void poll(const double* x, std::uint64_t& bits)
{
    asm volatile(
        "{\n\t.reg .pred waits;\n\tsetp.eq.u64 waits, %0, %2;\n\t@waits ld.relaxed.gpu.global.u64 %0, [%1];\n\t}"
        : "+l"(bits)
        : "l"(x), "l"(unset)
        : "memory");
}
__device__ inline void poll(const cuda::Complex<double>* x, PairBits& bits)
{
    asm volatile(
        "{\n\t.reg .pred waits, other;\n\tsetp.eq.u64 waits, %0, %3;\n\tsetp.eq.u64 other, %1, %3;\n\t"
        "or.pred waits, waits, other;\n\t@waits ld.relaxed.gpu.global.v2.u64 {%0, %1}, [%2];\n\t}"
        : "+l"(bits.re), "+l"(bits.im)
        : "l"(x), "l"(unset)
        : "memory");
}

/// Relaxed loads and stores between threads of one block; x is in shared memory.
__device__ inline std::uint64_t load_shared(const double* x)
{
    std::uint64_t bits;
    const auto    at = static_cast<unsigned>(__cvta_generic_to_shared(x));
    asm volatile("ld.relaxed.cta.shared.u64 %0, [%1];" : "=l"(bits) : "r"(at));
    return bits;
}
__device__ inline PairBits load_shared(const cuda::Complex<double>* x)
{
    PairBits   bits;
    const auto at = static_cast<unsigned>(__cvta_generic_to_shared(x));
    asm volatile("ld.relaxed.cta.shared.v2.u64 {%0, %1}, [%2];" : "=l"(bits.re), "=l"(bits.im) : "r"(at));
    return bits;
}

__device__ inline void store_shared(double* x, std::uint64_t bits)
{
    const auto at = static_cast<unsigned>(__cvta_generic_to_shared(x));
    asm volatile("st.relaxed.cta.shared.u64 [%0], %1;" ::"r"(at), "l"(bits));
}
__device__ inline void store_shared(cuda::Complex<double>* x, PairBits bits)
{
    const auto at = static_cast<unsigned>(__cvta_generic_to_shared(x));
    asm volatile("st.relaxed.cta.shared.v2.u64 [%0], {%1, %2};" ::"r"(at), "l"(bits.re), "l"(bits.im));
}

__device__ inline double as_number(std::uint64_t bits) { return __longlong_as_double(static_cast<long long>(bits)); }
__device__ inline cuda::Complex<double> as_number(PairBits bits) { return {as_number(bits.re), as_number(bits.im)}; }

__device__ inline std::uint64_t as_bits(double value)
{
    return static_cast<std::uint64_t>(__double_as_longlong(value));
}
__device__ inline PairBits as_bits(cuda::Complex<double> value) { return {as_bits(value.re), as_bits(value.im)}; }

/// The bits a result is published as: never `unset`.
__device__ inline std::uint64_t published(double value)
{
    const auto bits = as_bits(value);
    return bits == unset ? other_nan : bits;
}
__device__ inline PairBits published(cuda::Complex<double> value) { return {published(value.re), published(value.im)}; }

/// Σ over the `part` lanes that share a row; all of them get it. part is a power of two, the same in the whole warp,
/// and all lanes of the warp call it: the caller's lanes leave their waits at different times, hence the __syncwarp.
template <class S>
__device__ S sum_over(int part, S value)
{
    __syncwarp();
    for (int step = part / 2; step > 0; step /= 2) value += cuda::shuffled_xor(value, step);
    return value;
}

/// s_i b[g_i]
template <class S>
__device__ S framed_rhs(const FrameView<S>& frame, Index i, const S* b)
{
    const Index g = frame.in_index ? frame.in_index[i] : i;
    if (g < 0) return S{};
    return frame.in_scale ? frame.in_scale[i] * b[g] : b[g];
}

/// 1/d_i
template <class S>
__device__ S inv_pivot(const FrameView<S>& frame, Index i)
{
    return frame.inv_diag ? frame.inv_diag[i] : cuda::from_real<S>(1);
}

/// out[o_i] ← t_i x
template <class S>
__device__ void store_framed(const FrameView<S>& frame, Index i, S x, S* out)
{
    const Index o = frame.out_index ? frame.out_index[i] : i;
    if (o >= 0) out[o] = frame.out_scale ? frame.out_scale[i] * x : x;
}

}  // namespace ilux

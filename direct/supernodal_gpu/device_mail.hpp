#pragma once
// Numbers that blocks of a cluster send into each other's shared memory, where a barrier counts their bytes. A barrier
// of the whole cluster would wait for all that its threads have asked of memory. Only .cu files include this.

#include <cstdint>

#include "ilux/base/gpu/device_value.hpp"

namespace ilux::cuda {

using MailCount = unsigned long long;  ///< an mbarrier in shared memory

__device__ inline std::uint32_t shared_address(const void* at)
{
    return static_cast<std::uint32_t>(__cvta_generic_to_shared(at));
}
/// Once for each; other blocks may send when they have met this one.
__device__ inline void init_mail(MailCount* count)
{
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared_address(count)) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}
/// By one thread, for each phase.
__device__ inline void expect_mail(MailCount* count, std::uint32_t bytes)
{
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(count)), "r"(bytes)
                 : "memory");
}
/// Until all bytes of a phase are here. Terminates: every sender is resident, as blocks of a cluster are.
__device__ inline void wait_for_mail(MailCount* count, std::uint32_t parity)
{
    asm volatile(
        "{\n"
        ".reg .pred there;\n"
        "AGAIN_%=:\n"
        "mbarrier.try_wait.parity.shared::cta.b64 there, [%0], %1;\n"
        "@!there bra AGAIN_%=;\n"
        "}" ::"r"(shared_address(count)),
        "r"(parity)
        : "memory");
}

/// Where block `rank` has what this block has at `at`.
__device__ inline std::uint32_t address_at(const void* at, std::uint32_t rank)
{
    std::uint32_t there;
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(shared_address(at)), "r"(rank));
    return there;
}
__device__ inline void send_bits(std::uint32_t to, unsigned long long bits, std::uint32_t count)
{
    asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b64 [%0], %1, [%2];" ::"r"(to), "l"(bits),
                 "r"(count)
                 : "memory");
}
__device__ inline void send(std::uint32_t to, double x, std::uint32_t count)
{
    send_bits(to, static_cast<unsigned long long>(__double_as_longlong(x)), count);
}
__device__ inline void send(std::uint32_t to, Complex<double> z, std::uint32_t count)
{
    send(to, z.re, count);
    send(to + sizeof(double), z.im, count);
}

}  // namespace ilux::cuda

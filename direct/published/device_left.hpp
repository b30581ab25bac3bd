#pragma once
// What method left's kernels are made of: flags between warps, and a warp's way along a column's entries.
// Micro-benchmarks (device_parameters.cu) time these very pieces. Only .cu files include this.

#include <cstdint>

#include "ilux/base/gpu/cuda.hpp"
#include "ilux/direct/gpu/device_elimination.hpp"
#include "ilux/direct/published/refactor_left_plan.hpp"

namespace ilux::left {

constexpr int patience = 64;  // polls before a warp sleeps between them
constexpr int nap_nanoseconds = 40;

__device__ inline int lane() { return static_cast<int>(threadIdx.x % 32); }

__device__ inline std::uint32_t load_relaxed(const std::uint32_t* flag)
{
    std::uint32_t value;
    asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(flag) : "memory");
    return value;
}
__device__ inline std::uint32_t load_acquire(const std::uint32_t* flag)
{
    std::uint32_t value;
    asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(flag) : "memory");
    return value;
}
__device__ inline void store_release(std::uint32_t* flag, std::uint32_t value)
{
    asm volatile("st.release.gpu.global.u32 [%0], %1;" ::"l"(flag), "r"(value) : "memory");
}

/// Until finished(*flag). All lanes poll. The polls are relaxed, since an acquire empties the first-level cache of the
/// multiprocessor, where work vectors are.
template <class Finished>
__device__ void wait_for(const std::uint32_t* flag, Finished finished)
{
    for (int polls = 0; !finished(load_relaxed(flag)); ++polls)
        if (polls > patience) __nanosleep(nap_nanoseconds);
    load_acquire(flag);
    __syncwarp();
}

/// use(q, r, load(q, r)) for the entries q = begin …  end − 1, of row r, over the lanes. The loads of a group are under
/// way at once; rows differ, so no entry's load reads what another's use writes.
template <class Load, class Use>
__device__ void for_entries(const Index* row, Offset begin, Offset end, Load load, Use use)
{
    constexpr int group = detail::left_group;
    for (Offset first = begin + lane(); first < end; first += 32 * group) {
        Index                    r[group];
        decltype(load(first, 0)) loaded[group];
#pragma unroll
        for (int u = 0; u < group; ++u) r[u] = first + 32 * u < end ? row[first + 32 * u] : -1;
#pragma unroll
        for (int u = 0; u < group; ++u)
            if (r[u] >= 0) loaded[u] = load(first + 32 * u, r[u]);
#pragma unroll
        for (int u = 0; u < group; ++u)
            if (r[u] >= 0) use(first + 32 * u, r[u], loaded[u]);
    }
}

/// What other warps may have written in this launch: it comes from the second-level cache.
__device__ inline double                load_fresh(const double* at) { return __ldcg(at); }
__device__ inline cuda::Complex<double> load_fresh(const cuda::Complex<double>* at)
{
    const double2 both = __ldcg(reinterpret_cast<const double2*>(at));
    return {both.x, both.y};
}

/// x ← x − L x_i for L(:,i) = val[begin … end − 1].
template <class V>
__device__ void multiply_add(const Index* row, const V* val, Offset begin, Offset end, V x_i, V* x)
{
    struct LAndX {
        V l, x;
    };
    for_entries(
        row, begin, end,
        [&](Offset q, Index r) {
            return LAndX{load_fresh(val + q), x[r]};
        },
        [&](Offset, Index r, const LAndX& own) { x[r] = eliminated(own.x, own.l, x_i); });
}

}  // namespace ilux::left

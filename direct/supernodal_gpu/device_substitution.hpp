#pragma once
// Numbers of several right-hand sides, and what a row of a front begins with. Only .cu files include this.

#include "ilux/base/gpu/device_division.hpp"
#include "ilux/direct/supernodal_gpu/front_solve_kernels.hpp"

namespace ilux {

/// A number of L or Uᵀ (forward), of U or Lᵀ (backward); rows and columns within the front.
template <bool transposed, class V>
__device__ const V& lower(const V* a, const DeviceFront& d, Index i, Index j)
{
    if constexpr (!transposed) return a[Offset{j} * d.m + i];
    else return i < d.k ? a[Offset{i} * d.m + j] : a[Offset{d.m} * d.k + Offset{i - d.k} * d.k + j];
}
template <bool transposed, class V>
__device__ const V& upper(const V* a, const DeviceFront& d, Index i, Index j)
{
    return lower<!transposed>(a, d, j, i);
}

template <class V, int rhs>
struct Values {
    V of[rhs];
};

template <class V, int rhs>
__device__ void take(Values<V, rhs>& v, V a, const Values<V, rhs>& x)
{
#pragma unroll
    for (int r = 0; r < rhs; ++r) v.of[r] = cuda::minus_product(v.of[r], a, x.of[r]);
}
template <class V, int rhs>
__device__ void add(Values<V, rhs>& v, const Values<V, rhs>& more)
{
#pragma unroll
    for (int r = 0; r < rhs; ++r) v.of[r] += more.of[r];
}
template <class V, int rhs>
__device__ Values<V, rhs> of_lane(const Values<V, rhs>& v, int lane)
{
    Values<V, rhs> there;
#pragma unroll
    for (int r = 0; r < rhs; ++r) there.of[r] = cuda::shuffled_from(v.of[r], lane);
    return there;
}
template <class V, int rhs>
__device__ Values<V, rhs> load(const V* from, Offset i)
{
    Values<V, rhs> v;
#pragma unroll
    for (int r = 0; r < rhs; ++r) v.of[r] = from[i * rhs + r];
    return v;
}
template <class V, int rhs>
__device__ void store(V* to, Offset i, const Values<V, rhs>& v)
{
#pragma unroll
    for (int r = 0; r < rhs; ++r) to[i * rhs + r] = v.of[r];
}

/// Row i of the front's right-hand side: the caller's, and what children left.
template <int rhs, class V>
__device__ Values<V, rhs> gathered(const FrontSolveView<V>& s, const DeviceFront& d, Index i)
{
    Values<V, rhs> v{};
    if (i < d.k) v = load<V, rhs>(s.y, d.first + i);
    const Offset row = d.first + d.row + i;
    for (Offset p = s.gather_ptr[row]; p < s.gather_ptr[row + 1]; ++p) {
        const auto more = load<V, rhs>(s.left, s.gather[p]);
#pragma unroll
        for (int r = 0; r < rhs; ++r) v.of[r] += more.of[r];
    }
    return v;
}

template <class V, int rhs>
__device__ void divide_all(Values<V, rhs>& v, V by)
{
#pragma unroll
    for (int r = 0; r < rhs; ++r) v.of[r] = divide(v.of[r], by);
}

/// The front's pivots by position, or where their rows were.
template <bool transposed, class V>
__device__ Index pivot_place(const FrontSolveView<V>& s, const DeviceFront& d, Index i)
{
    return transposed ? d.first + i : d.first + s.F.perm[d.first + i];
}

}  // namespace ilux

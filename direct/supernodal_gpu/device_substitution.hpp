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
__device__ void subtract(Values<V, rhs>& v, const Values<V, rhs>& less)
{
#pragma unroll
    for (int r = 0; r < rhs; ++r) v.of[r] = v.of[r] - less.of[r];
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

/// Where row i of a front finds what its right-hand side begins with: the caller's, and what children left. Known
/// before any is solved.
struct RowSources {
    Index  i = 0;
    Offset begin = 0, end = 0;
    Index  first = 0, second = 0;  ///< of the children's
};

template <class V>
__device__ RowSources sources_of(const FrontSolveView<V>& s, const DeviceFront& d, Index i)
{
    const Offset row = d.first + d.row + i;
    RowSources   from{i, s.gather_ptr[row], s.gather_ptr[row + 1], 0, 0};
    if (from.begin < from.end) from.first = s.gather[from.begin];
    if (from.begin + 1 < from.end) from.second = s.gather[from.begin + 1];
    return from;
}

template <int rhs, class V>
__device__ Values<V, rhs> gathered(const FrontSolveView<V>& s, const DeviceFront& d, const RowSources& from)
{
    Values<V, rhs> v{}, first{}, second{};
    if (from.i < d.k) v = load<V, rhs>(s.y, d.first + from.i);
    if (from.begin < from.end) first = load<V, rhs>(s.left, from.first);
    if (from.begin + 1 < from.end) second = load<V, rhs>(s.left, from.second);
    add(v, first);
    add(v, second);
    for (Offset p = from.begin + 2; p < from.end; ++p) add(v, load<V, rhs>(s.left, s.gather[p]));
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

#pragma once
// Rows of a product on a device, each summed up in a table of shared memory. Only .cu files include this.

#include "ilux/base/gpu/device_csr.hpp"
#include "ilux/precond/gpu_rounds/device_table.hpp"
#include "ilux/precond/gpu_rounds/launch.hpp"

namespace ilux::coarse {

/// A matrix as kernels see it.
template <class V>
struct DeviceRows {
    const Offset* ptr;
    const Index*  col;
    const V*      val;

    __device__ Offset length(Index i) const { return ptr[i + 1] - ptr[i]; }
};
template <class T>
DeviceRows<cuda::Value<T>> rows_of(const DeviceCsr<T>& A)
{
    return {A.row_ptr().data(), A.col().data(), cuda::as_values(A.val().data())};
}

/// C + diag(f) A B
template <class V>
struct SumOfProduct {
    DeviceRows<V> A, B, C;
    const V*      f;        ///< null: 1
    bool          has_sum;  ///< C is there

    /// An upper bound of the terms of row r.
    __device__ Offset terms(Index r) const
    {
        Offset sum = has_sum ? C.length(r) : 0;
        for (Offset p = A.ptr[r]; p < A.ptr[r + 1]; ++p) sum += B.length(A.col[p]);
        return sum;
    }
};

/// Adds row r up, terms in a fixed order. @return whether the table holds it
template <class Group, int slots, class V>
__device__ bool sum_row(const Group& group, const SumOfProduct<V>& sum, bool is, Index r,
                        rounds::Table<V, slots>& table)
{
    for (int s = group.lane(); s < slots; s += Group::size) table.col[s] = rounds::Table<V, slots>::free;
    if (group.lane() == 0) *table.count = 0;
    group.sync();
    if (!is) return true;
    bool full = false;
    if (sum.has_sum) {
        for (Offset q = sum.C.ptr[r] + group.lane(); q < sum.C.ptr[r + 1]; q += Group::size)
            full |= !table.add(sum.C.col[q], sum.C.val[q]);
        group.sync();
    }
    const V f = sum.f ? sum.f[r] : cuda::from_real<V>(1);
    for (Offset p = sum.A.ptr[r]; p < sum.A.ptr[r + 1]; ++p) {
        const Index k = sum.A.col[p];
        const V     a = sum.f ? rounds::plain_product(f, sum.A.val[p]) : sum.A.val[p];
        for (Offset q = sum.B.ptr[k] + group.lane(); q < sum.B.ptr[k + 1]; q += Group::size)
            full |= !table.add(sum.B.col[q], rounds::plain_product(a, sum.B.val[q]));
        group.sync();
    }
    return group.max(full ? 1 : 0) == 0;
}

}  // namespace ilux::coarse

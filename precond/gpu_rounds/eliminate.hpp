#pragma once
// What the kernels of an elimination share. Only .cu files of gpu_rounds/ include this.

#include "ilux/precond/gpu_rounds/launch.hpp"
#include "ilux/precond/gpu_rounds/steps.hpp"
#include "ilux/precond/crout/sparse_accumulator.hpp"

namespace ilux::rounds {

/// One round, as its kernels see it.
template <class V>
struct Elimination {
    RowsView<V>   S;
    RowArrays<V>  at;
    Counters*     counters;
    RoundDropping dropping;

    const Index *pivots, *rest;
    Index        pivot_count, rest_count, first_place;
    Index*       number;
    V*           pivot;  ///< by place
    Index*       U_col;
    V*           U_val;
    Index*       L_col;  ///< of a row, by number of the pivot
    V*           L_val;

    __device__ bool is_pivot(Index k) const { return at.status[k] == chosen; }
};

/// TestVectors::weight. Apart, since where there is one vector kernels should not hold registers for it.
template <class V>
__device__ __noinline__ static double weight_of_several(const RowArrays<V>& at, Index i, Index j)
{
    const double* ti = at.vectors + static_cast<std::size_t>(i) * at.vector_count;
    const double* tj = at.vectors + static_cast<std::size_t>(j) * at.vector_count;
    double        sum = 0;
    for (Index c = 0; c < at.vector_count; ++c) sum += ti[c] * tj[c];
    return sum / at.scale[i].t / at.scale[i].t;
}

/// Rows of the next matrix, from those of this one and from L and U of the round, with more room while there is too
/// little.
/// @param found  how many rows need a table of each size
template <Scalar S>
Counters form_next(Gpu& gpu, RoundsState<S>& state, const Elimination<cuda::Value<S>>& round, const Counters& found);

}  // namespace ilux::rounds

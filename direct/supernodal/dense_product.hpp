#pragma once
// Products and triangles of fronts, by columns. Blocks up to some size go by our own kernels: a call of OpenBLAS takes
// a lock twice, for which threads queue, and its dtrsm reaches a third of its dgemm's rate at most. Large products go
// by BLAS, which must be there then (blas::why_none() is empty).

#include "ilux/base/types.hpp"

namespace ilux {

/// C ← C − A B; A is m × k, B k × n.
template <class S>
void subtract_product(Index m, Index n, Index k, const S* A, Index lda, const S* B, Index ldb, S* C, Index ldc);

/// B ← L⁻¹ B; L is m × m with ones on its diagonal, of which only what is below is read; B is m × n.
template <class S>
void solve_unit_lower(Index m, Index n, const S* L, Index ldl, S* B, Index ldb);

namespace detail {

/// Kernels of one kind of processor and numbers. Each c_ij takes its products one by one, p = 0, 1, …, as fma(−a_ip,
/// b_pj, c_ij).
template <class S>
struct DenseKernels {
    void (*subtract_product)(Index m, Index n, Index k, const S* A, Offset lda, const S* B, Offset ldb, S* C,
                             Offset ldc);
    void (*solve_unit_lower)(Index m, Index n, const S* L, Offset ldl, S* B, Offset ldb);
    double largest_product;   ///< multiply-adds; beyond, BLAS is faster
    Index  largest_triangle;  ///< rows; beyond, half of it goes by products
};

/// Null where the processor has no AVX-512.
const DenseKernels<double>* avx512_dense_kernels();
/// The fastest that this processor has.
template <class S>
const DenseKernels<S>& dense_kernels();
/// For any processor.
template <class S>
const DenseKernels<S>& portable_dense_kernels();

}  // namespace detail
}  // namespace ilux

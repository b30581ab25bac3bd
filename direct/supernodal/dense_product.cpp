#include "ilux/direct/supernodal/dense_product.hpp"

#include "ilux/base/instances.hpp"
#include "ilux/base/processor.hpp"
#include "ilux/direct/supernodal/blas.hpp"
#include "ilux/direct/supernodal/dense_columns.hpp"

namespace ilux {
namespace detail {
namespace {

template <class S>
[[gnu::always_inline]] inline void product_by_columns(Index m, Index n, Index k, const S* A, Offset lda, const S* B,
                                                      Offset ldb, S* C, Offset ldc)
{
    for (Index j = 0; j < n; ++j) by_vectors::multiply_subtract(m, k, A, lda, B + j * ldb, C + j * ldc);
}
template <class S>
void product_portable(Index m, Index n, Index k, const S* A, Offset lda, const S* B, Offset ldb, S* C, Offset ldc)
{
    product_by_columns(m, n, k, A, lda, B, ldb, C, ldc);
}
template <class S>
ILUX_FMA void product_fma(Index m, Index n, Index k, const S* A, Offset lda, const S* B, Offset ldb, S* C, Offset ldc)
{
    product_by_columns(m, n, k, A, lda, B, ldb, C, ldc);
}

template <class S>
void triangle_portable(Index m, Index n, const S* L, Offset ldl, S* B, Offset ldb)
{
    for (Index j = 0; j < n; ++j) by_vectors::solve_lower(m, L, ldl, B + j * ldb);
}
template <class S>
ILUX_FMA void triangle_fma(Index m, Index n, const S* L, Offset ldl, S* B, Offset ldb)
{
    for (Index j = 0; j < n; ++j) by_vectors::solve_lower(m, L, ldl, B + j * ldb);
}

template <class S>
constexpr DenseKernels<S> portable{product_portable<S>, triangle_portable<S>, 4e3, 32};
template <class S>
constexpr DenseKernels<S> fma{product_fma<S>, triangle_fma<S>, 4e3, 32};

template <class S>
const DenseKernels<S>& fastest()
{
    if constexpr (!is_complex<S>)
        if (const auto* const kernels = avx512_dense_kernels()) return *kernels;
    return processor_has_fma() ? fma<S> : portable<S>;
}

}  // namespace

template <class S>
const DenseKernels<S>& portable_dense_kernels()
{
    return portable<S>;
}

template <class S>
const DenseKernels<S>& dense_kernels()
{
    static const DenseKernels<S>& chosen = fastest<S>();
    return chosen;
}

}  // namespace detail

template <class S>
void subtract_product(Index m, Index n, Index k, const S* A, Index lda, const S* B, Index ldb, S* C, Index ldc)
{
    const auto& kernels = detail::dense_kernels<S>();
    if (double(m) * n * k <= kernels.largest_product) kernels.subtract_product(m, n, k, A, lda, B, ldb, C, ldc);
    else blas::multiply_subtract(blas::Op::none, m, n, k, A, lda, B, ldb, C, ldc);
}

template <class S>
void solve_unit_lower(Index m, Index n, const S* L, Index ldl, S* B, Index ldb)
{
    const auto& kernels = detail::dense_kernels<S>();
    if (m <= kernels.largest_triangle) return kernels.solve_unit_lower(m, n, L, ldl, B, ldb);
    constexpr Index lanes = 8;
    const Index     top = (m / 2 + lanes - 1) / lanes * lanes, below = m - top;
    solve_unit_lower(top, n, L, ldl, B, ldb);
    subtract_product(below, n, top, L + top, ldl, B, ldb, B + top, ldb);
    solve_unit_lower(below, n, L + top + static_cast<Offset>(top) * ldl, ldl, B + top, ldb);
}

#define ILUX_INSTANTIATE(S)                                                                           \
    template const detail::DenseKernels<S>& detail::portable_dense_kernels<S>();                      \
    template const detail::DenseKernels<S>& detail::dense_kernels<S>();                               \
    template void subtract_product(Index, Index, Index, const S*, Index, const S*, Index, S*, Index); \
    template void solve_unit_lower(Index, Index, const S*, Index, S*, Index);
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux

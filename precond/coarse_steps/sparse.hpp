#pragma once
// Sparse matrices where B computes.

#include <concepts>
#include <type_traits>

#include "ilux/base/cpu.hpp"
#include "ilux/base/gpu/device_copy.hpp"
#include "ilux/base/gpu/device_csr.hpp"
#include "ilux/base/matrix/csr.hpp"

namespace ilux {

/// A matrix with arrays of its own, and what a function takes: on a Cpu a view of any.
template <Backend B, class T>
using Sparse = std::conditional_t<std::same_as<B, Cpu>, CsrMatrix<T>, DeviceCsr<T>>;
template <Backend B, class T>
using SparseView = std::conditional_t<std::same_as<B, Cpu>, CsrView<T>, DeviceCsr<T>>;

/// A on the host.
template <class T>
CsrMatrix<T> brought(Gpu& gpu, const DeviceCsr<T>& A)
{
    return CsrMatrix<T>::from_sorted(A.rows(), A.cols(), on_host<Offset>(gpu, A.row_ptr()),
                                     on_host<Index>(gpu, A.col()), on_host<T>(gpu, A.val()));
}

}  // namespace ilux

#pragma once
// Sparse matrices where B computes.

#include <concepts>
#include <type_traits>

#include "ilux/base/cpu.hpp"
#include "ilux/base/gpu/device_csr.hpp"
#include "ilux/base/matrix/csr.hpp"

namespace ilux {

/// A matrix with arrays of its own, and what a function takes: on a Cpu a view of any.
template <Backend B, class T>
using Sparse = std::conditional_t<std::same_as<B, Cpu>, CsrMatrix<T>, DeviceCsr<T>>;
template <Backend B, class T>
using SparseView = std::conditional_t<std::same_as<B, Cpu>, CsrView<T>, DeviceCsr<T>>;

}  // namespace ilux

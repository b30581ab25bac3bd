#pragma once
// Vectors that A takes to little: what a coarse space should hold.

#include <memory>
#include <vector>

#include "ilux/base/cpu.hpp"
#include "ilux/base/matrix/csr.hpp"
#include "ilux/precond/coarse/aggregates.hpp"

namespace ilux {

/// Vectors by rows: n × count.
template <class T>
struct NearNull {
    std::vector<T> values;
    Index          count = 0;

    T operator()(Index i, Index c) const { return values[static_cast<std::size_t>(i) * count + c]; }
    /// One vector more. @param x  n
    void append(std::span<const T> x);
};

/// Whether some a_ii is 0.
template <class T>
bool has_zero_diagonal(const CsrView<T>& A);

/// A constant for each kind of unknowns. Kinds are told apart by the pattern: unknowns with a zero on the diagonal; the
/// components of what the others couple, where these are few; the unknowns of a node. O(nnz)
template <class T>
NearNull<T> constants(const CsrView<T>& A, const Nodes& nodes);

}  // namespace ilux

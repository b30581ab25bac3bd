#pragma once
// Scaling of rows by powers of two, which rounds nothing.

#include <span>
#include <vector>

#include "ilux/direct/analysis/lu_symbolic.hpp"

namespace ilux {

/// For each row i the power of two nearest to 1 / max_j |a_ij c_j|, within 2^±1022; 1 for rows of zeros. O(nnz)
/// @param A  finite  @param c  n; empty: ones
template <class S>
std::vector<double> power_of_two_row_scales(const MatrixView<S>& A, std::span<const double> c);

}  // namespace ilux

#pragma once
// L and U as two matrices of their own, for those who look at factors.

#include <vector>

#include "ilux/direct/factor/lu_factors.hpp"

namespace ilux {

/// A(row_perm, col_perm) = L U, each by columns with ascending rows. L has its diagonal of ones.
template <class S>
struct LuTriangles {
    std::vector<Offset> l_ptr = {0}, u_ptr = {0};  ///< n + 1
    std::vector<Index>  l_row, u_row;
    std::vector<S>      l_val, u_val;
};

/// The scales of rows and columns are taken back: R⁻¹ (L U) C⁻¹ = (R⁻¹ L R) (R⁻¹ U C⁻¹), exactly, as they are powers of
/// two.
/// @throws InvalidInput unless the factors are by entries, and of one diagonal block: with F there is no such L and U
/// Cost: O(nnz(L + U)).
template <class S>
LuTriangles<S> triangles_of(const LuFactors<S>& factors);

}  // namespace ilux

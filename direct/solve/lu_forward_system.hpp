#pragma once
// Both substitutions with factors, and F between blocks, as one forward system, which the engines of sptrsv/ solve.

#include <cstdint>
#include <span>

#include "ilux/direct/factor/lu_factors.hpp"
#include "ilux/direct/solve/lu_solve.hpp"
#include "ilux/sptrsv/gpu/renewed_system.hpp"

namespace ilux {

/// x ← A⁻¹ b, blocks last to first: of a block first y_i = s_i b_i − Σ f_ij x_j − Σ l_ij y_j, i ascending, then
/// x_i = (y_i − Σ u_ij x_j) / u_ii, i descending. A y_i that nothing but x_i reads has no row of its own: x_i reads
/// what it would. With Aᵀ, blocks first to last: y_i = (s_i b_i − Σ f_ji x_j − Σ u_ji y_j) / u_ii, x_i = y_i − Σ l_ji
/// x_j, and there is no row for an x_i that is y_i. Permutations and scales are the frame's, whose length is n. Values
/// are positions of factor entries. O(nnz), but a row of F within Aᵀ is sorted.
/// @param slot_of  by entry of LuPattern, those of F behind the others, its position; empty: entry e is at e
/// @throws InvalidInput when 32 bits cannot count entries or rows
RenewedSystem lu_forward_system(const LuPattern& pattern, std::span<const std::uint32_t> slot_of, Transpose transpose);

}  // namespace ilux

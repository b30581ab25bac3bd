#pragma once
// Block triangular form: the strongly connected components of a matrix whose diagonal is nonzero [tarjan_72].

#include <span>
#include <vector>

#include "ilux/base/types.hpp"
#include "ilux/reorder/ordering.hpp"

namespace ilux {

/// A symmetric permutation and the diagonal blocks it leads to.
struct BlockForm {
    std::vector<Index> perm;       ///< n; perm[new] = old, ascending within a block
    std::vector<Index> block_ptr;  ///< blocks + 1
};

/// C(perm, perm) is block upper triangular with as many blocks as possible, where row v of C is row row_of[v] of the
/// given pattern; entries (v, v) do not matter. Columns in any order, duplicates allowed.
/// @param ptr     n + 1; @param col  nnz
/// @param row_of  n, a permutation; the transversal's row of each column
/// O(n + nnz) without recursion; 24 n bytes.
BlockForm block_form(std::span<const Offset> ptr, std::span<const Index> col, std::span<const Index> row_of);

/// Whether C is symmetric and all of it one component, found by tasks: then block_form() is single_block(), for the
/// rows as they are. O(nnz log) for rows that ascend strictly.
bool is_one_component(const PatternView& C);

/// All of it as one block, in the given order.
BlockForm single_block(Index n);

}  // namespace ilux

#pragma once
// Where every number of a supernodal LU lies, and where every value of the caller goes. No numbers are in it.

#include <memory>

#include "ilux/direct/supernodal/front_passes.hpp"
#include "ilux/direct/supernodal/front_tree.hpp"

namespace ilux {

/// Rows of B by position: R A(row_perm, col_perm) C. Of front f with k pivots and m rows, L and U of its pivot columns
/// are m × k numbers by columns from val_ptr[f] on, and behind them U of its update columns, k × (m − k) by columns.
/// What is left of the front, the (m − k)² numbers of its update rows and columns, is added to the parent's front and
/// not kept. F is what of B lies above the diagonal blocks. Immutable and shared.
struct FrontPlan {
    Index               n = 0;
    FrontTree           tree;
    std::vector<Index>  row_perm, col_perm;  ///< n; perm[position] = row or column of the caller
    std::vector<Index>  block_ptr;           ///< blocks + 1; positions
    std::vector<Index>  block_front;         ///< blocks + 1; the first front of each
    std::vector<Offset> val_ptr;             ///< fronts + 1
    EntryArray<Index>   place;  ///< of each tree.row, its row in the parent's front; ascending within a front

    /// The caller's values by front; duplicates are added in this order.
    std::vector<Offset> in_ptr;          ///< fronts + 1
    EntryArray<Offset>  in_source;       ///< position among the caller's values
    EntryArray<Offset>  in_target;       ///< position among the numbers, which val_ptr counts
    EntryArray<Index>   in_row, in_col;  ///< positions in B

    std::vector<Offset> f_col_ptr;  ///< n + 1; F by columns, duplicates as entries of their own
    std::vector<Index>  f_row;      ///< ascending within a column
    std::vector<Offset> f_source;   ///< position among the caller's values

    std::vector<FrontPasses> passes;  ///< of blocks that threads are worth; blocks ascend

    double multiply_adds = 0;  ///< of a factorization; of each front Σ_i (m − 1 − i)², i < k
    Index  largest_front = 0;  ///< its rows

    Offset      numbers() const { return val_ptr.empty() ? 0 : val_ptr.back(); }
    Index       fronts() const { return tree.fronts(); }
    Index       blocks() const { return static_cast<Index>(block_ptr.size()) - 1; }
    std::size_t bytes() const;
};

/// O(nnz log + Σ updates); the same on any number of threads. @throws OutOfMemory
std::shared_ptr<const FrontPlan> make_front_plan(Cpu& be, const LuSymbolic& symbolic, const FrontMerging& merging = {});

/// Multiply-adds of a front of m rows and k pivots, a division counted as one of them.
double front_multiply_adds(Index m, Index k);

}  // namespace ilux

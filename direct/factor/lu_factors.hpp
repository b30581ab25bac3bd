#pragma once
// P A Q = L U with scaling: one storage for every method that computes it.

#include <memory>
#include <span>
#include <vector>

#include "ilux/base/unset_vector.hpp"
#include "ilux/direct/analysis/lu_symbolic.hpp"
#include "ilux/direct/factor/pivot_monitor.hpp"

namespace ilux {

/// The pattern that pivoting fixed. B = R A(row_perm, col_perm) C is block upper triangular; L + U of its diagonal
/// blocks share one CSC, closed under fill, rows ascending; F is what of B lies above the diagonal blocks.
/// Columns of different blocks never touch one another. Immutable and shared.
struct LuPattern {
    Index               n = 0;
    std::vector<Index>  row_perm, col_perm;    ///< n; perm[new] = old, pivoting included
    std::vector<double> row_scale, col_scale;  ///< n by old number, powers of two; empty: ones
    std::vector<Index>  block_ptr;             ///< blocks + 1
    std::vector<Offset> col_ptr;               ///< n + 1
    std::vector<Index>  row;                   ///< nnz(L + U): of column k, rows of strict U, k, rows of strict L
    std::vector<Offset> diag;                  ///< n; position of (k, k)
    std::vector<Offset> f_col_ptr;             ///< n + 1
    std::vector<Index>  f_row;                 ///< nnz(F), ascending within a column

    /// Entries of the caller's values by column k of B: in_ptr[k] … in_ptr[k + 1] − 1. Those of a diagonal block first,
    /// then those of F, which start at in_split[k]. Duplicates are added in this order.
    std::vector<Offset> in_ptr;     ///< n + 1
    std::vector<Offset> in_split;   ///< n
    std::vector<Offset> in_source;  ///< position among the caller's values
    std::vector<Index>  in_row;     ///< row in B
    EntryArray<double>  in_scale;   ///< r_i c_j; of fronts, of FrontPlan::in_source, and then of f_source

    Offset      nnz() const { return col_ptr.empty() ? 0 : col_ptr.back(); }
    Offset      nnz_F() const { return f_col_ptr.empty() ? 0 : f_col_ptr.back(); }
    Index       blocks() const { return static_cast<Index>(block_ptr.size()) - 1; }
    Index       lower_count(Index k) const { return static_cast<Index>(col_ptr[k + 1] - diag[k] - 1); }
    Index       upper_count(Index k) const { return static_cast<Index>(diag[k] - col_ptr[k]); }
    double      multiply_adds() const;  ///< Σ_k Σ_{i∈U(:,k)} lc(i); O(nnz)
    double      flops() const;          ///< twice that, and nnz(L) divisions
    std::size_t bytes() const;
    void        forget_entries();  ///< of a failure: permutations, scales and blocks stay
};

struct FrontPlan;

/// Numbers of factors. resize() leaves them unset, so that the threads that make them touch their memory first.
template <class S>
using LuValues = UnsetVector<S, Pages::usual>;

/// Values of one factorization, stored by entries as LuPattern says, or by dense fronts as FrontPlan says. A finished
/// one is only read, so it serves several threads at once.
template <class S = double>
struct LuFactors {
    std::shared_ptr<const LuSymbolic> symbolic = {};
    std::shared_ptr<const LuPattern>  pattern = {};
    LuValues<S>                       val = {};    ///< nnz; strict U, u_kk, strict L (unit diagonal not stored)
    std::vector<S>                    f_val = {};  ///< nnz(F)
    /// Not null: by fronts. Then val has fronts->numbers(), the pattern has permutations before pivoting, scales,
    /// blocks and F only, and row k of a front changed places with row swap[k] of it when k was eliminated.
    std::shared_ptr<const FrontPlan> fronts = {};
    std::vector<Index>               swap = {};  ///< n; counted within the front; as LAPACK's ipiv, but from 0
    PivotMonitor                     monitor = {};

    std::size_t bytes() const  ///< of the values
    {
        return (val.capacity() + f_val.capacity()) * sizeof(S) + swap.capacity() * sizeof(Index);
    }
};

}  // namespace ilux

#pragma once
// Maximum-product transversal with scaling: the job 5 of MC64, from the published algorithm [duff_koster_01].

#include <vector>

#include "ilux/base/csr.hpp"

namespace ilux {

struct MatchingOptions {
    double work_limit = 200;  ///< give up optimality once this many times nnz + n entries were scanned; 0: never
};

/// A permutation of the columns that puts large entries on the diagonal, and scalings that make them 1.
struct Matching {
    std::vector<Index>  col_of_row;    ///< n; a permutation: row i is matched with column col_of_row[i]
    std::vector<double> row_scale;     ///< n; r with |r_i a_ij c_j| ≤ 1, and = 1 on matched entries (not rounded)
    std::vector<double> col_scale;     ///< n; c
    Index               rank = 0;      ///< structural rank; rows and columns beyond it are paired arbitrarily, c = r = their own scale
    std::vector<Index>  unmatched_rows, unmatched_cols;  ///< ascending; n − rank each
    bool                optimal = true;  ///< false: the work limit was hit; a transversal, but not the maximal product
};

/// Explicit zeros count as absent. Cost: O(n nnz log n) at worst, near nnz log n typically, bounded by the work limit.
/// @throws InvalidInput unless A is square
Matching maximum_product_matching(const CsrMatrix<double>& A, const MatchingOptions& options = {});

}  // namespace ilux

#pragma once
// Maximum-product transversal with scaling: the job 5 of MC64, from the published algorithm [duff_koster_01].

#include <algorithm>
#include <complex>
#include <vector>

#include "ilux/base/matrix/csr.hpp"
#include "ilux/base/stop_token.hpp"

namespace ilux {

/// When a matching may be less than the best.
struct MatchingOptions {
    /// Optimality is given up once the searches scanned this many times nnz + n entries; 0: never.
    double work_limit = 200;
};

/// A permutation of the columns that puts large entries on the diagonal, and scalings that make them 1.
/// Bounds and equalities hold to about 1e-12, more loosely (about 1e-11) when a row's values span 1e±300.
struct Matching {
    std::vector<Index>  col_of_row;      ///< n; a permutation: row i is matched with column col_of_row[i]
    std::vector<double> row_scale;       ///< n; r with |r_i a_ij c_j| ≤ 1, and = 1 on matched entries (not rounded)
    std::vector<double> col_scale;       ///< n; c. Both are positive and within 2^±1000
    Index               rank = 0;        ///< structural rank
    std::vector<Index>  unmatched_rows;  ///< ascending, n − rank; the k-th is paired with the k-th unmatched column
    std::vector<Index>  unmatched_cols;  ///< the same
    bool                optimal = true;  ///< false: the work limit was hit; rank is right, the product not maximal
    /// False: |r a c| < 1 on some matched entries, because not optimal, or because exact scalings exceed 2^±1000.
    bool unit_diagonal = true;
};

/// Maximises Π |a_{i,σ(i)}|. Explicit zeros count as absent. A structurally singular A gets a transversal of `rank`
/// entries, maximal for the rows and columns it uses; the rest is paired in ascending order, with scalings that keep
/// the bound (1 for an empty row or column). The tight diagonal is preferred: equal values give the identity.
/// Threads do not change the result; within with_tasks() it takes those of the team. Cost: O(n nnz log n) at worst,
/// near nnz typically, bounded by the work limit plus O(√n nnz). Memory: 8 nnz + 90 n bytes, up to
/// 150 n more where a search meets all columns, and 8 nnz more past the
/// work limit.
/// @param stop  ends the call
/// @throws InvalidInput unless A is square; InvalidOption for a negative or NaN work limit
Matching maximum_product_matching(const CsrView<double>& A, const MatchingOptions& options = {},
                                  const StopToken& stop = {});
/// The matching of a complex A is that of |A|, which takes 8 nnz bytes more.
/// @throws InvalidInput also where a modulus overflows
template <class T>
    requires is_complex<T> Matching maximum_product_matching(const CsrView<T>& A, const MatchingOptions& options = {},
                                                             const StopToken& stop = {})
    {
        std::vector<double> modulus(A.val().size());
        std::ranges::transform(A.val(), modulus.begin(), [](T a) { return std::abs(a); });
        return maximum_product_matching(CsrView<double>(A.rows(), A.cols(), A.row_ptr(), A.col(), modulus), options,
                                        stop);
    }

}  // namespace ilux

#pragma once
// A matrix as a program leaves it that adds the terms of (i, j) in another order than those of (j, i).

#include <limits>
#include <vector>

#include "ilux/base/matrix/csr.hpp"

namespace ilux::test {

/// Every entry above the diagonal as rounding may leave it, and one that is there on one side alone.
inline CsrMatrix<double> rounded(const CsrMatrix<double>& A)
{
    std::vector<Index>  row{0}, col{A.rows() - 1};
    std::vector<double> val{1e-17};
    for (Index i = 0; i < A.rows(); ++i)
        for (Offset p = A.row_ptr()[i]; p < A.row_ptr()[i + 1]; ++p) {
            const Index j = A.col()[p];
            row.push_back(i);
            col.push_back(j);
            val.push_back(j > i ? A.val()[p] * (1 + (i % 3 - 1) * std::numeric_limits<double>::epsilon()) : A.val()[p]);
        }
    return CsrMatrix<>::from_triplets(A.rows(), A.cols(), row, col, val);
}

}  // namespace ilux::test

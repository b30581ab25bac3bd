#pragma once
// What the targets that read matrices share.

#include <algorithm>
#include <iterator>

#include "ilux/base/matrix/csr.hpp"
#include "ilux/base/error.hpp"
#include "ilux/base/io/matrix_market.hpp"
#include "ilux/fuzz/expect.hpp"

namespace ilux::fuzz {

/// A short text can name some 10⁷ empty rows, which take this build 10 s and more.
inline void refuse_large(const MatrixMarketHeader& header)
{
    if (std::max(header.rows, header.cols) > 1'000'000) throw InvalidInput("fuzz: too large");
}

template <Scalar T>
void expect_invariant(const CsrMatrix<T>& A)
{
    const auto row_ptr = A.row_ptr();
    expect(std::ssize(row_ptr) == Offset{A.rows()} + 1 && row_ptr.front() == 0, "row pointers");
    expect(row_ptr.back() == std::ssize(A.col()) && A.col().size() == A.val().size(), "lengths");
    for (Index i = 0; i < A.rows(); ++i) {
        expect(row_ptr[i] <= row_ptr[i + 1], "row pointers that ascend");
        for (Offset p = row_ptr[i]; p < row_ptr[i + 1]; ++p) {
            expect(A.col()[p] >= 0 && A.col()[p] < A.cols() && is_finite(A.val()[p]), "an entry");
            expect(p == row_ptr[i] || A.col()[p - 1] < A.col()[p], "order of a row");
        }
    }
}

}  // namespace ilux::fuzz

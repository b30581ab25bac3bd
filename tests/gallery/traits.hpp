#pragma once
// What Traits claim of a sparse matrix, checked slowly: augmenting paths, sums of rows, the invariant of CsrMatrix.

#include <algorithm>
#include <cmath>
#include <functional>
#include <variant>
#include <vector>

#include "ilux/base/matrix/any_matrix.hpp"

namespace ilux {

/// Size of a maximum matching of rows to columns whose entry is stored and not zero.
template <Scalar S>
Index structural_rank(const CsrMatrix<S>& A)
{
    std::vector<Index>               row_of(A.cols(), -1);
    std::vector<char>                seen;
    const std::function<bool(Index)> augment = [&](Index i) {
        for (Offset p = A.row_ptr()[i]; p < A.row_ptr()[i + 1]; ++p) {
            const Index j = A.col()[p];
            if (A.val()[p] == S(0) || seen[j]) continue;
            seen[j] = 1;
            if (row_of[j] < 0 || augment(row_of[j])) {
                row_of[j] = i;
                return true;
            }
        }
        return false;
    };
    Index rank = 0;
    for (Index i = 0; i < A.rows(); ++i) {
        seen.assign(A.cols(), 0);
        rank += augment(i);
    }
    return rank;
}

template <Scalar S>
bool is_weakly_dominant(const CsrMatrix<S>& A)
{
    for (Index i = 0; i < A.rows(); ++i) {
        double others = 0;
        for (Offset p = A.row_ptr()[i]; p < A.row_ptr()[i + 1]; ++p)
            if (A.col()[p] != i) others += std::abs(A.val()[p]);
        if (std::abs(A.at(i, i)) < others * (1 - 1e-14)) return false;
    }
    return true;
}

inline bool off_diagonals_are_nonpositive(const CsrMatrix<double>& A)
{
    for (Index i = 0; i < A.rows(); ++i)
        for (Offset p = A.row_ptr()[i]; p < A.row_ptr()[i + 1]; ++p)
            if (A.col()[p] != i && A.val()[p] > 0) return false;
    return true;
}

template <Scalar S>
Index count_zero_diagonals(const CsrMatrix<S>& A)
{
    Index zeros = 0;
    for (Index i = 0; i < A.rows(); ++i) zeros += A.at(i, i) == S(0);
    return zeros;
}

/// The invariant of CsrMatrix: rows ascend strictly, indices are in range, values are finite.
template <Scalar S>
bool is_well_formed(const CsrMatrix<S>& A)
{
    if (A.row_ptr().size() != static_cast<std::size_t>(A.rows()) + 1 || A.row_ptr()[0] != 0) return false;
    for (Index i = 0; i < A.rows(); ++i) {
        if (A.row_ptr()[i + 1] < A.row_ptr()[i]) return false;
        for (Offset p = A.row_ptr()[i]; p < A.row_ptr()[i + 1]; ++p) {
            const bool ascends = p == A.row_ptr()[i] || A.col()[p - 1] < A.col()[p];
            if (!ascends || A.col()[p] < 0 || A.col()[p] >= A.cols() || !is_finite(A.val()[p])) return false;
        }
    }
    return true;
}

template <Scalar S>
bool same(const CsrMatrix<S>& A, const CsrMatrix<S>& B)
{
    return A.rows() == B.rows() && A.cols() == B.cols() && std::ranges::equal(A.row_ptr(), B.row_ptr()) &&
           std::ranges::equal(A.col(), B.col()) && std::ranges::equal(A.val(), B.val());
}

inline bool same(const AnyMatrix& A, const AnyMatrix& B)
{
    return std::visit(
        [&]<Scalar S>(const CsrMatrix<S>& one) {
            const auto* other = std::get_if<CsrMatrix<S>>(&B);
            return other != nullptr && same(one, *other);
        },
        A);
}

}  // namespace ilux

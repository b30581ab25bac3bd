#pragma once
// Values of a preconditioner of A as those of R A C in single precision, for diagonals R and C of powers of two.

#include <cmath>
#include <span>
#include <string>
#include <vector>

#include "ilux/base/matrix/csr.hpp"
#include "ilux/base/error.hpp"

namespace ilux {

/// R and C, as n positive numbers or none: all ones.
struct SingleScales {
    std::span<const double> row = {}, col = {};

    double of_row(std::size_t i) const { return row.empty() ? 1 : row[i]; }
    double of_col(std::size_t j) const { return col.empty() ? 1 : col[j]; }
};

/// @throws InvalidInput where single precision has no number for it
template <Scalar S>
single_of<S> in_single(S value)
{
    const auto rounded = single_of<S>(value);
    require(is_finite(rounded),
            [] { return std::string("single precision cannot hold a value of the preconditioner"); });
    return rounded;
}

/// a / r / c, a factor of M⁻¹.
template <Scalar S>
S divided(S a, double r, double c)
{
    return scaled_entry(1 / r, a, 1 / c);
}

/// Rounds values that M multiplies or divides by: none but a 0 may become 0.
/// @throws InvalidInput where single precision has no number for one
template <Scalar S>
std::vector<single_of<S>> in_single(const std::vector<S>& values)
{
    std::vector<single_of<S>> rounded(values.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
        rounded[i] = in_single(values[i]);
        require(rounded[i] != single_of<S>(0) || values[i] == S(0),
                [] { return std::string("single precision has no number for a pivot of the preconditioner"); });
    }
    return rounded;
}

/// The pattern of A with each value as entry(i, j, value) has it.
template <Scalar S, class Entry>
CsrMatrix<single_of<S>> in_single(const CsrView<S>& A, Entry&& entry)
{
    std::vector<single_of<S>> val(A.val().size());
    for (Index i = 0; i < A.rows(); ++i)
        for (Offset p = A.row_ptr()[i]; p < A.row_ptr()[i + 1]; ++p)
            val[p] = in_single<S>(entry(i, A.col()[p], A.val()[p]));
    return CsrMatrix<single_of<S>>::from_sorted(A.rows(), A.cols(), {A.row_ptr().begin(), A.row_ptr().end()},
                                                {A.col().begin(), A.col().end()}, std::move(val));
}

template <Scalar S>
CsrMatrix<single_of<S>> in_single(const CsrView<S>& A)
{
    return in_single<S>(A, [](Index, Index, S value) { return value; });
}

}  // namespace ilux

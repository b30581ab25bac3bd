#pragma once
// Complex data for tests, and its real form, which the real library and plain sums can judge:
//     A x = b   as   [Re A  −Im A; Im A  Re A] (Re x; Im x) = (Re b; Im b),   whose transpose is the real form of Aᴴ.

#include <algorithm>
#include <complex>
#include <span>
#include <vector>

#include "ilux/base/matrix/csr.hpp"
#include "ilux/tests/support/checks.hpp"
#include "ilux/tests/support/entry_list.hpp"

namespace ilux::test {

using Complex = std::complex<double>;
using ComplexVector = std::vector<Complex>;

inline ComplexVector random_complex_vector(Index n, std::uint64_t seed)
{
    Random        random(seed);
    ComplexVector x(n);
    for (Complex& value : x) {
        const double real = random.uniform();
        value = {real, random.uniform()};
    }
    return x;
}

/// The pattern of A with other values: those of A, turned by random angles.
inline CsrMatrix<Complex> turned(const CsrMatrix<double>& A, std::uint64_t seed)
{
    Random        random(seed);
    ComplexVector val;
    for (const double value : A.val()) val.push_back(std::polar(1., random.uniform(0, 6)) * value);
    return CsrMatrix<Complex>::from_arrays(A.rows(), A.cols(), {A.row_ptr().begin(), A.row_ptr().end()},
                                           {A.col().begin(), A.col().end()}, val);
}

/// The pattern of a symmetric A with other values: those beside the diagonal turned, a_ji by the angle −φ of a_ij, so
/// that the result is Hermitian. Diagonally dominant as A is.
inline CsrMatrix<Complex> turned_hermitian(const CsrMatrix<double>& A, std::uint64_t seed)
{
    const auto    n = static_cast<std::uint64_t>(A.rows());
    ComplexVector val;
    for (Index i = 0; i < A.rows(); ++i)
        for (Offset p = A.row_ptr()[i]; p < A.row_ptr()[i + 1]; ++p) {
            const Index j = A.col()[p];
            const auto  low = static_cast<std::uint64_t>(std::min(i, j)),
                       high = static_cast<std::uint64_t>(std::max(i, j));
            const double angle = Random(seed + low * n + high).uniform(0, 6);
            const auto   turn = std::polar(1., i < j ? angle : -angle);
            val.push_back(i == j ? A.val()[p] : turn * A.val()[p]);
        }
    return CsrMatrix<Complex>::from_arrays(A.rows(), A.cols(), {A.row_ptr().begin(), A.row_ptr().end()},
                                           {A.col().begin(), A.col().end()}, val);
}

inline CsrMatrix<double> real_form(const CsrMatrix<Complex>& A)
{
    EntryList form;
    for (Index i = 0; i < A.rows(); ++i)
        for (Offset p = A.row_ptr()[i]; p < A.row_ptr()[i + 1]; ++p) {
            const Index   j = A.col()[p];
            const Complex a = A.val()[p];
            form.add(i, j, a.real());
            form.add(i, A.cols() + j, -a.imag());
            form.add(A.rows() + i, j, a.imag());
            form.add(A.rows() + i, A.cols() + j, a.real());
        }
    return form.matrix(2 * A.rows(), 2 * A.cols());
}

inline std::vector<double> real_form(std::span<const Complex> x)
{
    std::vector<double> parts(2 * x.size());
    for (std::size_t i = 0; i < x.size(); ++i) {
        parts[i] = x[i].real();
        parts[x.size() + i] = x[i].imag();
    }
    return parts;
}

}  // namespace ilux::test

#pragma once
// A in single precision, scaled where its numbers would not fit.

#include <vector>

#include "ilux/base/cpu.hpp"
#include "ilux/base/matrix/csr.hpp"
#include "ilux/base/matrix/single.hpp"

namespace ilux {

/// R A C in single precision, with powers of two R and C that bring the largest entry of every row and column near 1.
/// Where A has them within 2^±16 already, R = C = I. Of a symmetric or Hermitian A, R = C. An entry below 1e-38 of its
/// row's and column's becomes 0.
template <Scalar S = double>
struct SingleMatrix {
    CsrMatrix<single_of<S>> A;
    std::vector<double>     row_scale = {}, col_scale = {};  ///< n each; none where both are I

    SingleScales scales() const { return {row_scale, col_scale}; }
    std::size_t  bytes() const { return A.bytes() + (row_scale.size() + col_scale.size()) * sizeof(double); }
};

/// Whether the numbers of A fit single precision as they are: all but zeros within 2^±16. One pass, threaded.
template <Scalar S>
bool fits_single(Cpu& be, const CsrView<S>& A);

/// Method: the simultaneous scaling of [ruiz_01], with whole exponents. Where A does not fit, a few passes over the
/// exponents of its entries.
template <Scalar S>
SingleMatrix<S> single_matrix(Cpu& be, const CsrView<S>& A);

/// Real numbers where S are wanted; no copy where these are real.
template <Scalar S>
auto in_scalars(std::span<const double> values)
{
    if constexpr (is_complex<S>) return std::vector<S>(values.begin(), values.end());
    else return values;
}

}  // namespace ilux

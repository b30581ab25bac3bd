#pragma once
// b − A x by a plain loop in 113 bits, with exponents that no product of doubles leaves: what reports of a solver are
// held against.

#include <algorithm>
#include <cmath>
#include <span>

#include "ilux/base/matrix/csr.hpp"

namespace ilux::fuzz {

__extension__ using Real = __float128;

inline Real magnitude(Real value) { return value < 0 ? -value : value; }
inline Real root(Real value) { return std::sqrt(static_cast<long double>(value)); }

/// A reported size and what it may be off by.
struct Size {
    Real value = 0, doubt = 0;

    /// Whether `reported` is this size as far as it can be known.
    bool is(double reported) const { return magnitude(Real{reported} - value) <= 1e-6 * value + doubt + 0x1p-1074; }
    bool at_most(Real limit) const { return value <= 1.01 * limit + doubt; }
};

/// The measures of x that Accuracy has, by the same names.
struct ExactResidual {
    bool finite = true;
    Size relative_residual, backward_error, rowwise, rowwise_counting;
};

/// Σ v_i² of doubles.
inline Real squares(std::span<const double> v)
{
    Real sum = 0;
    for (const double value : v) sum += Real{value} * value;
    return sum;
}

/// What is below this is lost where sums of the size of b are stored as doubles in units of b.
inline Real lost_beside(std::span<const double> b)
{
    double largest = 0;
    for (const double value : b) largest = std::max(largest, std::abs(value));
    return 0x1p-1070 * (largest < 0x1p-200 || largest > 0x1p200 ? Real{largest} : Real{1});
}

/// Finite A and b. Doubts are those of sums in twice the precision of double.
inline ExactResidual exact_residual(const CsrView<double>& A, std::span<const double> x, std::span<const double> b)
{
    constexpr Real eps = 0x1p-52;
    const Real     lost = lost_beside(b), rounding = 4 * Real(A.cols() + 2) * eps * eps;
    ExactResidual  found;
    Real           r2 = 0, doubt2 = 0, largest = 0;
    for (const double value : x) {
        if (!std::isfinite(value)) return {.finite = false};
        largest = std::max(largest, magnitude(value));
    }
    const auto raise = [](Size& most, Real r, Real doubt, Real size) {
        if (size > 0 && r / size > most.value) most.value = r / size;
        if (size > 0 && doubt / size > most.doubt) most.doubt = doubt / size;
    };
    for (Index i = 0; i < A.rows(); ++i) {
        Real r = b[i], size = magnitude(b[i]), row = 0;
        for (Offset p = A.row_ptr()[i]; p < A.row_ptr()[i + 1]; ++p) {
            const Real a = A.val()[p], product = a * x[A.col()[p]];
            r -= product;
            size += magnitude(product);
            row += magnitude(a);
        }
        const Real doubt = rounding * size + lost;
        r2 += r * r;
        doubt2 += doubt * doubt;
        raise(found.rowwise, magnitude(r), rounding * size, size);
        raise(found.rowwise_counting, magnitude(r), doubt, std::max(size, 1e-12 * row * largest));
    }
    const Real norm_b = root(squares(b)), all = root(squares(A.val())) * root(squares(x)) + norm_b;
    found.relative_residual = {root(r2) / (norm_b > 0 ? norm_b : 1), root(doubt2) / (norm_b > 0 ? norm_b : 1)};
    if (all > 0) found.backward_error = {root(r2) / all, root(doubt2) / all};
    return found;
}

}  // namespace ilux::fuzz

#include "ilux/base/matrix/row_sum.hpp"

#include <limits>

#include "ilux/base/instances.hpp"

namespace ilux::detail {
namespace {

constexpr int none = std::numeric_limits<int>::min();

/// v = fraction · 2^exponent, ½ ≤ |fraction| < 1
struct Parts {
    int    exponent = 0;  // first: frexp sets it
    double fraction;

    explicit Parts(double v) : fraction(std::frexp(v, &exponent)) {}
};

/// Too large by one at most; none for a product with 0.
int product_exponent(double a, double x) { return a == 0 || x == 0 ? none : Parts(a).exponent + Parts(x).exponent; }
int product_exponent(std::complex<double> a, std::complex<double> x)
{
    return std::max({product_exponent(a.real(), x.real()), product_exponent(a.real(), x.imag()),
                     product_exponent(a.imag(), x.real()), product_exponent(a.imag(), x.imag())});
}

/// sum ← sum + 2^−exponent a x, where that is not 0
void add_scaled(double a, double x, int exponent, TwofoldSum& sum)
{
    if (a == 0 || x == 0) return;
    const Parts of_a(a), of_x(x);
    sum.add(std::ldexp(of_a.fraction, of_a.exponent + of_x.exponent - exponent), of_x.fraction);
}

void add_scaled(std::complex<double> a, std::complex<double> x, int exponent, ComplexTwofoldSum& sum)
{
    TwofoldSum real, imaginary;  // of this product alone: its size
    for (auto* of : {&sum.real, &real}) {
        add_scaled(a.real(), x.real(), exponent, *of);
        add_scaled(-a.imag(), x.imag(), exponent, *of);
    }
    for (auto* of : {&sum.imaginary, &imaginary}) {
        add_scaled(a.real(), x.imag(), exponent, *of);
        add_scaled(a.imag(), x.real(), exponent, *of);
    }
    sum.size += std::hypot(value_of(real), value_of(imaginary));
}

}  // namespace

template <Scalar S>
RowSum<S> scaled_row_sum(std::span<const Index> col, std::span<const S> val, std::span<const S> x, S b)
{
    int  exponent = product_exponent(b, S(1));
    bool finite = is_finite(b);
    for (std::size_t p = 0; p < col.size(); ++p) {
        finite = finite && is_finite(val[p]) && is_finite(x[col[p]]);
        exponent = std::max(exponent, product_exponent(val[p], x[col[p]]));
    }
    if (!finite) return {NAN, NAN, 0};
    if (exponent == none) return {};
    auto sum = begun_with(S(0));
    add_scaled(b, S(1), exponent, sum);
    for (std::size_t p = 0; p < col.size(); ++p) add_scaled(-val[p], x[col[p]], exponent, sum);
    return {value_of(sum), sum.size, exponent};
}

#define ILUX_INSTANTIATE(S) \
    template RowSum<S> scaled_row_sum(std::span<const Index>, std::span<const S>, std::span<const S>, S);
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux::detail

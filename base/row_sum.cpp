#include "ilux/base/row_sum.hpp"

#include <limits>

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

}  // namespace

RowSum scaled_row_sum(std::span<const Index> col, std::span<const double> val, std::span<const double> x, double b)
{
    int  exponent = product_exponent(b, 1);
    bool finite = std::isfinite(b);
    for (std::size_t p = 0; p < col.size(); ++p) {
        finite = finite && std::isfinite(val[p]) && std::isfinite(x[col[p]]);
        exponent = std::max(exponent, product_exponent(val[p], x[col[p]]));
    }
    if (!finite) return {NAN, NAN, 0};
    if (exponent == none) return {};
    TwofoldSum sum{};
    const auto add = [&](double a, double x_j) {
        const Parts of_a(a), of_x(x_j);
        sum.add(std::ldexp(of_a.fraction, of_a.exponent + of_x.exponent - exponent), of_x.fraction);
    };
    if (b != 0) add(b, 1);
    for (std::size_t p = 0; p < col.size(); ++p)
        if (product_exponent(val[p], x[col[p]]) != none) add(-val[p], x[col[p]]);
    return {sum.high + sum.low, sum.size, exponent};
}

}  // namespace ilux::detail

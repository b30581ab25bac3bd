#include "ilux/direct/solve/row_residual.hpp"

#include <algorithm>

namespace ilux::detail {

RowResidual scaled_row_residual(std::span<const Index> idx, std::span<const double> val, std::span<const double> x,
                                double b)
{
    int exponent = product_exponent(b, 1);
    for (std::size_t p = 0; p < idx.size(); ++p) exponent = std::max(exponent, product_exponent(val[p], x[idx[p]]));
    CompensatedSum sum{scaled_product(b, 1, exponent)};
    double         size = std::abs(sum.sum), slack = std::numeric_limits<double>::infinity();
    for (std::size_t p = 0; p < idx.size(); ++p) {
        const double a_x = scaled_product(val[p], x[idx[p]], exponent);
        sum.add(-a_x);
        size += std::abs(a_x);
        if (val[p] != 0) slack = std::min(slack, std::abs(scaled_product(val[p], step_of(x[idx[p]]), exponent)) / 2);
    }
    return unscaled(sum.value(), size, std::isinf(slack) ? 0 : slack, exponent);
}

}  // namespace ilux::detail

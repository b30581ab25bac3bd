#include "ilux/direct/solve/row_residual.hpp"

#include <algorithm>

#include "ilux/base/instances.hpp"

namespace ilux::detail {

template <Values values, class S>
RowResidual<S> scaled_row_residual(std::span<const Index> idx, std::span<const S> val, std::span<const S> x,
                                   NotDeduced<S> b)
{
    const auto a = [&](std::size_t p) { return value_of<values, S>(val[p]); };
    int        exponent = product_exponent(b, S(1));
    for (std::size_t p = 0; p < idx.size(); ++p) exponent = std::max(exponent, product_exponent(a(p), x[idx[p]]));
    CompensatedSum<S> sum{scaled_product(b, S(1), exponent)};
    double            size = std::abs(sum.sum), slack = std::numeric_limits<double>::infinity();
    for (std::size_t p = 0; p < idx.size(); ++p) {
        const S a_x = scaled_product(a(p), x[idx[p]], exponent);
        sum.add(-a_x);
        size += std::abs(a_x);
        if (val[p] != S(0))
            slack = std::min(slack, std::abs(scaled_product(a(p), S(step_of(x[idx[p]])), exponent)) / 2);
    }
    return unscaled(sum.value(), size, std::isinf(slack) ? 0 : slack, exponent);
}

#define ILUX_ROW(S, values)                                                                         \
    template RowResidual<S> scaled_row_residual<values>(std::span<const Index>, std::span<const S>, \
                                                        std::span<const S>, S);
#define ILUX_INSTANTIATE(S) ILUX_ROW(S, Values::as_stored) ILUX_ROW(S, Values::conjugated)
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE
#undef ILUX_ROW

}  // namespace ilux::detail

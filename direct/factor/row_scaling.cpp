#include "ilux/direct/factor/row_scaling.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

#include "ilux/base/instances.hpp"

namespace ilux {
namespace {

/// For x > 0.
double reciprocal_power_of_two(double x)
{
    constexpr std::uint64_t fraction = (std::uint64_t{1} << 52) - 1, fraction_of_root_2 = 0x6a09e667f3bcc;
    constexpr int           bias = 1023;
    const auto              bits = std::bit_cast<std::uint64_t>(x);
    const bool              up = (bits & fraction) > fraction_of_root_2;
    const int               exponent = static_cast<int>(bits >> 52) + up;  // biased; of denormals 0 or 1, up to 2047
    const int               reciprocal = std::clamp(2 * bias - exponent, 1, 2 * bias - 1);
    return std::bit_cast<double>(static_cast<std::uint64_t>(reciprocal) << 52);
}

}  // namespace

template <class S>
std::vector<double> power_of_two_row_scales(const MatrixView<S>& A, std::span<const double> c)
{
    std::vector<double> scale(A.n);
    const auto size = [&](Offset p, Index j) { return c.empty() ? std::abs(A.val[p]) : std::abs(A.val[p]) * c[j]; };
    for (Index line = 0; line < A.n; ++line) {
        const Offset end = A.ptr[line + 1];
        Offset       p = A.ptr[line];
        if (A.layout == MatrixLayout::rows) {
            double largest = 0;
            for (; p < end; ++p) largest = std::max(largest, size(p, A.idx[p]));
            scale[line] = largest;
        } else {
            for (; p < end; ++p) scale[A.idx[p]] = std::max(scale[A.idx[p]], size(p, line));
        }
    }
    for (double& r : scale) r = r > 0 ? reciprocal_power_of_two(r) : 1;
    return scale;
}

#define ILUX_INSTANTIATE(S) \
    template std::vector<double> power_of_two_row_scales(const MatrixView<S>&, std::span<const double>);
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux

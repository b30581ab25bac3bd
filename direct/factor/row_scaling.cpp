#include "ilux/direct/factor/row_scaling.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

#include "ilux/base/instances.hpp"
#include "ilux/base/tasks.hpp"

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
    if (A.layout == MatrixLayout::rows)
        for_pieces(A.n, [&](Index, Index begin, Index end) {
            for (Index i = begin; i < end; ++i) {
                double largest = 0;
                for (Offset p = A.ptr[i]; p < A.ptr[i + 1]; ++p) largest = std::max(largest, size(p, A.idx[p]));
                scale[i] = largest;
            }
        });
    else
        for (Index j = 0; j < A.n; ++j)
            for (Offset p = A.ptr[j]; p < A.ptr[j + 1]; ++p) scale[A.idx[p]] = std::max(scale[A.idx[p]], size(p, j));
    for_pieces(A.n, [&](Index, Index begin, Index end) {
        for (Index i = begin; i < end; ++i) scale[i] = scale[i] > 0 ? reciprocal_power_of_two(scale[i]) : 1;
    });
    return scale;
}

#define ILUX_INSTANTIATE(S) \
    template std::vector<double> power_of_two_row_scales(const MatrixView<S>&, std::span<const double>);
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux

#include "ilux/engine/report/gpu_accuracy.hpp"

#include <cmath>

#include "ilux/base/instances.hpp"

namespace ilux {
namespace {

/// The bound of measure(): numbers beyond it need an exponent of their own.
bool is_far_from_1(double largest)
{
    constexpr int far = 200;
    return largest > 0 && std::abs(std::ilogb(largest)) > far;
}

/// A norm whose squares have neither over- nor underflowed.
bool is_safe(double norm, double largest) { return std::isfinite(norm) && (norm > 0x1p-900 || largest == 0); }

}  // namespace

template <Scalar S>
std::optional<Accuracy> GpuAccuracy<S>::measure(DeviceSpan<const S> x, DeviceSpan<const S> b)
{
    using Wide = long double;  // the product of two norms is a number of this type
    const RowMeasures of_rows = measure_rows<S>(gpu_, A_, x, b, least_unknown, rows_);
    if (!of_rows.regular || is_far_from_1(of_rows.largest_b)) return {};
    largest_x_ = of_rows.largest_x;
    const double norm_r = norm2<S>(gpu_, rows_.r), norm_b = norm2<S>(gpu_, b), norm_x = norm2<S>(gpu_, x),
                 norm_A = norm2<S>(gpu_, A_.val);
    if (!is_safe(norm_r, of_rows.largest_r) || !is_safe(norm_b, of_rows.largest_b) ||
        !is_safe(norm_x, of_rows.largest_x) || !is_safe(norm_A, 1))
        return {};
    const Wide size = Wide(norm_A) * norm_x + norm_b;
    return Accuracy{.relative_residual = norm_b > 0 ? norm_r / norm_b : norm_r,
                    .backward_error = norm_r > 0 ? static_cast<double>(norm_r / size) : 0,
                    .rowwise = of_rows.rowwise,
                    .rowwise_counting = of_rows.rowwise_counting,
                    .finite = true};
}

template <Scalar S>
void GpuAccuracy<S>::note_error(DeviceSpan<const S> x, DeviceSpan<const S> e, Accuracy& accuracy)
{
    const ErrorMeasures seen = measure_errors<S>(gpu_, x, e, scale_, own_share, least_unknown, uncertain_from);
    accuracy.error = seen.largest_error == 0 ? 0 : seen.largest_error / seen.largest;
    if (std::isnan(accuracy.error) || std::isinf(seen.largest_error)) accuracy.error = INFINITY;
    accuracy.uncertain = seen.uncertain;
    accuracy.worst = seen.worst_at;
    accuracy.worst_error = seen.worst;
}

template <Scalar S>
void GpuAccuracy<S>::equilibrate(DeviceSpan<S> D, DeviceSpan<S> inverse)
{
    equilibrate_rows<S>(gpu_, rows_, least_unknown / 100 * largest_x_, D, inverse);
}

#define ILUX_INSTANTIATE(S) template class GpuAccuracy<S>;
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux

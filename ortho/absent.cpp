// Gram-Schmidt on a Gpu in a build without CUDA: where no Gpu can be made, these are only there to be linked.

#include "ilux/ortho/cgs2.hpp"
#include "ilux/ortho/mgso.hpp"

namespace ilux {

Extension mgso(Gpu& be, DeviceSpan<const double> V, DeviceSpan<double> w, std::span<double> h, double threshold)
{
    return mgso_hybrid<Gpu>(be, V, w, h, threshold);
}

Extension cgs2(Gpu& be, DeviceSpan<const double> V, DeviceSpan<double> w, std::span<double> h,
               std::span<double> scratch)
{
    return detail::cgs2_by_primitives<Gpu>(be, V, w, h, scratch);
}

}  // namespace ilux

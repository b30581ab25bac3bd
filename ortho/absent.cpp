// Gram-Schmidt on a Gpu in a build without CUDA: where no Gpu can be made, these are only there to be linked.

#include "ilux/ortho/cgs2.hpp"
#include "ilux/base/instances.hpp"
#include "ilux/ortho/mgso.hpp"

namespace ilux {

template <class S>
Extension mgso(Gpu& be, DeviceSpan<const NotDeduced<S>> V, DeviceSpan<NotDeduced<S>> w, std::span<NotDeduced<S>> h,
               double threshold)
{
    return mgso_hybrid<Gpu, S>(be, V, w, h, threshold);
}

template <class S>
Extension cgs2(Gpu& be, DeviceSpan<const NotDeduced<S>> V, DeviceSpan<NotDeduced<S>> w, std::span<NotDeduced<S>> h,
               std::span<NotDeduced<S>> scratch)
{
    return detail::cgs2_by_primitives<Gpu, S>(be, V, w, h, scratch);
}

#define ILUX_INSTANTIATE(S)                                                                     \
    template Extension mgso<S>(Gpu&, DeviceSpan<const S>, DeviceSpan<S>, std::span<S>, double); \
    template Extension cgs2<S>(Gpu&, DeviceSpan<const S>, DeviceSpan<S>, std::span<S>, std::span<S>);
ILUX_WORKING(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux

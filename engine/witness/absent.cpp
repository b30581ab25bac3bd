// dominance.cu and known_answer.cu in a build without CUDA, where no Gpu can be made.

#include "ilux/base/instances.hpp"
#include "ilux/engine/witness/dominance.hpp"
#include "ilux/engine/witness/known_answer.hpp"

namespace ilux {

template <Scalar S>
GpuDominance<S>::GpuDominance(Gpu&, std::span<const Index>)
{
    throw DeviceError("this ilux was built without CUDA");
}
template <Scalar S>
std::optional<RowTotals> GpuDominance<S>::prove_regular(Gpu&, const DeviceCsr<S>&)
{
    return {};
}
template <Scalar S>
void known_answer(Gpu&, DeviceSpan<const NotDeduced<S>>, double, DeviceSpan<NotDeduced<S>>)
{
    throw DeviceError("this ilux was built without CUDA");
}

#define ILUX_INSTANTIATE(S)         \
    template class GpuDominance<S>; \
    template void known_answer<S>(Gpu&, DeviceSpan<const S>, double, DeviceSpan<S>);
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux

// dominance.cu in a build without CUDA, where no Gpu can be made.

#include "ilux/base/instances.hpp"
#include "ilux/solver/witness/dominance.hpp"

namespace ilux {

template <Scalar S>
GpuDominance<S>::GpuDominance(Gpu&, std::span<const Index>)
{
    throw DeviceError("this ilux was built without CUDA");
}
template <Scalar S>
std::optional<RowSums> GpuDominance<S>::prove_regular(Gpu&, const DeviceCsr<S>&)
{
    return {};
}

#define ILUX_INSTANTIATE(S) template class GpuDominance<S>;
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux

// What lu_factored.hpp has of a GPU, in a build without CUDA: no Gpu can be made there.

#include "ilux/base/gpu/absent.hpp"
#include "ilux/base/instances.hpp"
#include "ilux/direct/lu/lu_factored.hpp"

namespace ilux {

template <Scalar S>
std::unique_ptr<LuDevice<S>> make_lu_device(Gpu&, std::shared_ptr<const LuSymbolic>)
{
    detail::absent();
}

#define ILUX_INSTANTIATE(S) \
    template std::unique_ptr<LuDevice<S>> make_lu_device(Gpu&, std::shared_ptr<const LuSymbolic>);
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux

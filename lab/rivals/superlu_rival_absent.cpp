// For a build that found no slu_zdefs.h.

#include "ilux/base/error.hpp"
#include "ilux/base/instances.hpp"
#include "ilux/lab/rivals/lu_rival.hpp"

namespace ilux::app {

std::string why_no_superlu() { return "slu_zdefs.h was not found when this was built"; }

template <Scalar S>
LuRivalPointer<S> make_superlu(const CsrView<S>&, int)
{
    throw InvalidInput("SuperLU: " + why_no_superlu());
}

#define ILUX_INSTANTIATE(S) template LuRivalPointer<S> make_superlu(const CsrView<S>&, int);
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux::app

// For a build that found no klu.h.

#include "ilux/base/error.hpp"
#include "ilux/base/instances.hpp"
#include "ilux/lab/rivals/lu_rival.hpp"

namespace ilux::app {

std::string why_no_klu() { return "klu.h was not found when this was built"; }

template <Scalar S>
LuRivalPointer<S> make_klu(const CsrView<S>&, int)
{
    throw InvalidInput("KLU: " + why_no_klu());
}

#define ILUX_INSTANTIATE(S) template LuRivalPointer<S> make_klu(const CsrView<S>&, int);
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux::app

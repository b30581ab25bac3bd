// For a build that found no mkl_pardiso.h.

#include "ilux/base/error.hpp"
#include "ilux/base/instances.hpp"
#include "ilux/lab/rivals/lu_rival.hpp"

namespace ilux::app {

std::string why_no_pardiso()
{
    return "mkl_pardiso.h was not found when this was built; docs/design/lab.md says how to get oneMKL";
}

template <Scalar S>
LuRivalPointer<S> make_pardiso(const CsrView<S>&, int)
{
    throw InvalidInput("PARDISO: " + why_no_pardiso());
}

#define ILUX_INSTANTIATE(S) template LuRivalPointer<S> make_pardiso(const CsrView<S>&, int);
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux::app

// For a build that found no klu.h.

#include "ilux/apps/bench/lu/klu_rival.hpp"
#include "ilux/base/error.hpp"
#include "ilux/base/instances.hpp"

namespace ilux::app {

template <Scalar S>
struct KluRival<S>::State {};

std::string why_no_klu() { return "klu.h was not found when this was built"; }

template <Scalar S>
KluRival<S>::KluRival(const CsrView<S>&)
{
    throw InvalidInput("KLU: " + why_no_klu());
}
template <Scalar S>
KluRival<S>::~KluRival() = default;
template <Scalar S>
void KluRival<S>::set_values(std::span<const S>)
{}
template <Scalar S>
bool KluRival<S>::refactor()
{
    return false;
}
template <Scalar S>
void KluRival<S>::solve(std::span<S>)
{}
template <Scalar S>
double KluRival<S>::nnz() const
{
    return 0;
}

#define ILUX_INSTANTIATE(S) template class KluRival<S>;
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux::app

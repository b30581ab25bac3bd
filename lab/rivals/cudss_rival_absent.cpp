// For a build that found no cudss.h, or without CUDA.

#include "ilux/base/error.hpp"
#include "ilux/base/instances.hpp"
#include "ilux/lab/rivals/cudss_rival.hpp"

namespace ilux::app {

template <Scalar S>
struct CudssRival<S>::State {};

std::string why_no_cudss()
{
    return "cudss.h was not found when this was built, or this build has no CUDA; docs/design/lab.md says how to get cuDSS";
}

// clang-format off
template <Scalar S> CudssRival<S>::CudssRival(Gpu&, const CsrView<S>&, int) { throw InvalidInput("cuDSS: " + why_no_cudss()); }
template <Scalar S> CudssRival<S>::~CudssRival() = default;
template <Scalar S> void CudssRival<S>::analyse(const S*) {}
template <Scalar S> void CudssRival<S>::factor(const S*) {}
template <Scalar S> void CudssRival<S>::refactor(const S*) {}
template <Scalar S> void CudssRival<S>::solve(const S*, S*) {}
template <Scalar S> CudssFacts CudssRival<S>::facts() const { return {}; }
// clang-format on

#define ILUX_INSTANTIATE(S) template class CudssRival<S>;
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux::app

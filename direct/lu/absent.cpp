// gpu_lu.hpp in a build without CUDA: no Gpu can be made there.

#include "ilux/base/gpu/absent.hpp"
#include "ilux/base/instances.hpp"
#include "ilux/direct/lu/gpu_lu.hpp"

namespace ilux {

using detail::absent;

// clang-format off
template <Scalar S> void GpuLuDeleter::operator()(GpuLu<S>*) const noexcept {}
template <Scalar S> void GpuLuDeleter::operator()(GpuLuFactors<S>*) const noexcept {}

template <Scalar S> GpuLuPtr<S> make_gpu_lu(Gpu&, std::shared_ptr<const LuSymbolic>) { absent(); }
template <Scalar S> GpuLuFactorsPtr<S> make_gpu_lu_factors(Gpu&, std::shared_ptr<const LuPattern>, std::shared_ptr<const FrontPlan>, const LuOptions&, Cpu) { absent(); }

template <Scalar S> std::string_view GpuLuFactors<S>::method() const { absent(); }
template <Scalar S> void             GpuLuFactors<S>::download(Gpu&, LuFactors<S>&) const { absent(); }
template <Scalar S> std::size_t      GpuLuFactors<S>::bytes() const { absent(); }

template <Scalar S> void         GpuLu<S>::upload_next() { absent(); }
template <Scalar S> void         GpuLu<S>::bring_next(DeviceSpan<const S>) { absent(); }
template <Scalar S> void         GpuLu<S>::copy_next(DeviceSpan<const S>) { absent(); }
template <Scalar S> void         GpuLu<S>::use_next() { absent(); }
template <Scalar S> PivotMonitor GpuLu<S>::refactor(GpuLuFactors<S>&) { absent(); }
template <Scalar S> typename GpuLu<S>::Step GpuLu<S>::refactor_and_solve(GpuLuFactors<S>&, std::span<const S>, std::span<S>) { absent(); }
template <Scalar S> void GpuLu<S>::solve(GpuLuFactors<S>&, std::span<const S>, std::span<S>, Transpose, std::span<RefineReport>) { absent(); }
template <Scalar S> RefineReport GpuLu<S>::solve(GpuLuFactors<S>&, DeviceSpan<const S>, DeviceSpan<S>, Transpose) { absent(); }
template <Scalar S> std::size_t GpuLu<S>::bytes() const { absent(); }

#define ILUX_INSTANTIATE(S)                                                                                              \
    template std::string_view              GpuLuFactors<S>::method() const;                                          \
    template void                          GpuLuFactors<S>::download(Gpu&, LuFactors<S>&) const;                     \
    template std::size_t                   GpuLuFactors<S>::bytes() const;                                           \
    template void                          GpuLu<S>::upload_next();                                                  \
    template void                          GpuLu<S>::bring_next(DeviceSpan<const S>);                                \
    template void                          GpuLu<S>::copy_next(DeviceSpan<const S>);                                 \
    template void                          GpuLu<S>::use_next();                                                     \
    template PivotMonitor                  GpuLu<S>::refactor(GpuLuFactors<S>&);                                     \
    template typename GpuLu<S>::Step       GpuLu<S>::refactor_and_solve(GpuLuFactors<S>&, std::span<const S>, std::span<S>); \
    template void GpuLu<S>::solve(GpuLuFactors<S>&, std::span<const S>, std::span<S>, Transpose, std::span<RefineReport>); \
    template RefineReport GpuLu<S>::solve(GpuLuFactors<S>&, DeviceSpan<const S>, DeviceSpan<S>, Transpose);              \
    template std::size_t                   GpuLu<S>::bytes() const;                                                  \
    ILUX_GPU_LU_FUNCTIONS(S)
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE
// clang-format on

}  // namespace ilux

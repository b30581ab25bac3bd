// What gpu_rounds.cpp holds, in a build without CUDA: no Gpu can be made there, so nothing of it is reached.

#include "ilux/base/error.hpp"
#include "ilux/base/instances.hpp"
#include "ilux/precond/gpu_rounds/gpu_rounds.hpp"

namespace ilux {
namespace {

[[noreturn]] void absent() { throw DeviceError("this ilux was built without CUDA; precondition on the CPU"); }

}  // namespace

template <Scalar S>
GpuRounds<S> GpuRounds<S>::build(Cpu&, Gpu&, const DeviceCsr<S>&, const MlIluOptions&, bool, const ProgressListener&,
                                 const StopToken&)
{
    absent();
}
template <Scalar S>
GpuRounds<S> GpuRounds<S>::rebuild(Cpu&, Gpu&, const DeviceCsr<S>&, const MlIluOptions&, bool, const GpuRoundsPlan&,
                                   const ProgressListener&, const StopToken&)
{
    absent();
}
template <Scalar S>
std::size_t GpuRounds<S>::bytes() const
{
    return 0;
}
template <Scalar S>
Index GpuRounds<S>::rounds() const
{
    return 0;
}
template <Scalar S>
Index GpuRounds<S>::dense_order() const
{
    return 0;
}
template <Scalar S>
std::size_t GpuRounds<S>::most_bytes(bool) const
{
    return 0;
}
template <Scalar S>
std::size_t GpuRounds<S>::workspace_bytes() const
{
    return 0;
}
template <Scalar S>
std::vector<GpuFactorReport::System> GpuRounds<S>::systems(bool) const
{
    return {};
}
template <Scalar S>
std::unique_ptr<Preconditioner<Gpu, S>> GpuRounds<S>::preconditioner(Gpu&, bool) const
{
    absent();
}
template <Scalar S>
auto GpuRounds<S>::preconditioner_in_single(Gpu&, const SingleScales&, bool) const
    -> std::unique_ptr<Preconditioner<Gpu, Single>>
{
    absent();
}

#define ILUX_INSTANTIATE(S) template class GpuRounds<S>;
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux

// What gpu_rounds.cpp holds, in a build without CUDA: no Gpu can be made there, so nothing of it is reached.

#include "ilux/base/error.hpp"
#include "ilux/precond/gpu_rounds/gpu_rounds.hpp"

namespace ilux {
namespace {

[[noreturn]] void absent() { throw DeviceError("this ilux was built without CUDA; precondition on the CPU"); }

}  // namespace

GpuRounds GpuRounds::build(Cpu&, Gpu&, const DeviceCsr<double>&, const MlIluOptions&, bool, const ProgressListener&,
                           const StopToken&)
{
    absent();
}
GpuRounds GpuRounds::rebuild(Cpu&, Gpu&, const DeviceCsr<double>&, const MlIluOptions&, bool, const GpuRoundsPlan&,
                             const ProgressListener&, const StopToken&)
{
    absent();
}
std::size_t                                 GpuRounds::bytes() const { return 0; }
Index                                       GpuRounds::rounds() const { return 0; }
Index                                       GpuRounds::dense_order() const { return 0; }
std::size_t                                 GpuRounds::most_bytes(bool) const { return 0; }
std::size_t                                 GpuRounds::workspace_bytes() const { return 0; }
std::vector<GpuFactorReport::System>        GpuRounds::systems(bool) const { return {}; }
std::unique_ptr<Preconditioner<Gpu>>        GpuRounds::preconditioner(Gpu&, bool) const { absent(); }
std::unique_ptr<Preconditioner<Gpu, float>> GpuRounds::preconditioner_in_single(Gpu&, const SingleScales&, bool) const
{
    absent();
}

}  // namespace ilux

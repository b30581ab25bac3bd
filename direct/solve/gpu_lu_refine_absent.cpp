// gpu_lu_refine.hpp in a build without CUDA: there is no Gpu to refine on.

#include "ilux/base/gpu/absent.hpp"
#include "ilux/direct/solve/gpu_lu_refine.hpp"

namespace ilux {

using detail::absent;

struct GpuResidual::State {};

GpuResidual::GpuResidual(Gpu&, const LuSymbolic&, Transpose) { absent(); }
GpuResidual::~GpuResidual() = default;
GpuResidual::GpuResidual(GpuResidual&&) noexcept = default;
GpuResidual& GpuResidual::operator=(GpuResidual&&) noexcept = default;
void                      GpuResidual::make_room(Gpu&, Index) { absent(); }
Index                     GpuResidual::room() const { absent(); }
std::size_t               GpuResidual::room_bytes() const { absent(); }
void GpuResidual::run(Gpu&, const double*, const double*, const double*, double*, Index) { absent(); }
std::span<const double> GpuResidual::backward_errors(Gpu&, Index) const { absent(); }
std::size_t             GpuResidual::bytes() const { absent(); }

}  // namespace ilux

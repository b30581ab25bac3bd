// gpu_lu.hpp in a build without CUDA: no Gpu can be made there, so no Lu has numbers on one.

#include "ilux/base/gpu/absent.hpp"
#include "ilux/direct/lu/gpu_lu.hpp"

namespace ilux {

using detail::absent;

void GpuLuDeleter::operator()(GpuLu*) const noexcept {}
void GpuLuDeleter::operator()(GpuLuFactors*) const noexcept {}

GpuLuPtr        make_gpu_lu(Gpu&, std::shared_ptr<const LuSymbolic>) { absent(); }
GpuLuFactorsPtr make_gpu_lu_factors(Gpu&, std::shared_ptr<const LuPattern>, const LuOptions&) { absent(); }

std::string_view GpuLuFactors::method() const { absent(); }
void             GpuLuFactors::download(Gpu&, LuFactors<>&) const { absent(); }
std::size_t      GpuLuFactors::bytes() const { absent(); }

void         GpuLu::upload_next() { absent(); }
void         GpuLu::copy_next(DeviceSpan<const double>) { absent(); }
void         GpuLu::use_next() { absent(); }
PivotMonitor GpuLu::refactor(GpuLuFactors&) { absent(); }
GpuLu::Step  GpuLu::refactor_and_solve(GpuLuFactors&, std::span<const double>, std::span<double>) { absent(); }
void         GpuLu::solve(GpuLuFactors&, std::span<const double>, std::span<double>, Transpose, std::span<RefineReport>)
{
    absent();
}
std::size_t GpuLu::bytes() const { absent(); }

}  // namespace ilux

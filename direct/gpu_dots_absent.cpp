// gpu_dots.hpp in a build without CUDA: there is no Gpu to make programs for.

#include "ilux/direct/absent.hpp"
#include "ilux/direct/gpu_dots.hpp"

namespace ilux {

using detail::absent;

GpuDots::GpuDots(Gpu&, const DotProgram&, std::span<const std::int32_t>, std::span<const double>, const DotsTrial&)
{
    absent();
}
template <class T>
DeviceBuffer<T> GpuDots::workspace(Gpu&) const
{
    absent();
}
void GpuDots::run(Gpu&, const double*, const double*, DeviceSpan<double>, double*) const { absent(); }
void GpuDots::run(Gpu&, const double*, const float*, DeviceSpan<float>, double*) const { absent(); }

template DeviceBuffer<double> GpuDots::workspace(Gpu&) const;
template DeviceBuffer<float>  GpuDots::workspace(Gpu&) const;

}  // namespace ilux

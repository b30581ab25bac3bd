// z ← D⁻¹ r: a thread an element, grid-stride. Bound by memory: 24 bytes an element.

#include <algorithm>

#include "ilux/base/gpu/cuda.hpp"
#include "ilux/precond/gpu/gpu_jacobi.hpp"

namespace ilux {
namespace {

constexpr int         block_size = 256;
constexpr std::size_t most_blocks = 1 << 16;

__global__ void multiply(std::size_t n, const double* inverse, const double* r, double* z)
{
    const std::size_t stride = std::size_t{gridDim.x} * block_size;
    for (std::size_t i = std::size_t{blockIdx.x} * block_size + threadIdx.x; i < n; i += stride)
        z[i] = inverse[i] * r[i];
}

}  // namespace

GpuJacobi::GpuJacobi(Gpu& gpu, const Jacobi<>& jacobi) : inverse_((gpu.make_current(), jacobi.inverse().size()))
{
    upload<double>(gpu, jacobi.inverse(), inverse_);
}

void GpuJacobi::apply(Gpu& be, DeviceSpan<const double> r, DeviceSpan<double> z)
{
    require(r.size() == inverse_.size() && z.size() == r.size(), [&] {
        return "r has " + std::to_string(r.size()) + " values and z " + std::to_string(z.size()) +
               "; the preconditioner is of order " + std::to_string(inverse_.size());
    });
    const cuda::Range range("jacobi");
    const auto        stream = cuda::stream(be);
    if (r.empty()) return;
    const auto blocks = static_cast<unsigned>(std::min((r.size() + block_size - 1) / block_size, most_blocks));
    multiply<<<blocks, block_size, 0, stream>>>(r.size(), inverse_.data(), r.data(), z.data());
    cuda::check_launch("jacobi");
}

}  // namespace ilux

// z ← D⁻¹ r: a thread an element, grid-stride. Bound by memory: three numbers an element.

#include <algorithm>

#include "ilux/base/gpu/cuda.hpp"
#include "ilux/base/gpu/device_value.hpp"
#include "ilux/base/instances.hpp"
#include "ilux/precond/gpu/gpu_jacobi.hpp"

namespace ilux {
namespace {

constexpr int         block_size = 256;
constexpr std::size_t most_blocks = 1 << 16;

template <bool conjugated, class S>
__global__ void multiply_each(std::size_t n, const S* inverse, const S* r, S* z)
{
    const std::size_t stride = std::size_t{gridDim.x} * block_size;
    for (std::size_t i = std::size_t{blockIdx.x} * block_size + threadIdx.x; i < n; i += stride)
        z[i] = (conjugated ? cuda::conjugate(inverse[i]) : inverse[i]) * r[i];
}

}  // namespace

template <Scalar S>
GpuJacobi<S>::GpuJacobi(Gpu& gpu, const Jacobi<S>& jacobi) : inverse_((gpu.make_current(), jacobi.inverse().size()))
{
    upload<S>(gpu, jacobi.inverse(), inverse_);
}

template <Scalar S>
void GpuJacobi<S>::apply(Gpu& be, DeviceSpan<const S> r, DeviceSpan<S> z)
{
    multiply<false>(be, r, z);
}

template <Scalar S>
void GpuJacobi<S>::apply_adjoint(Gpu& be, DeviceSpan<const S> r, DeviceSpan<S> z)
{
    multiply<true>(be, r, z);
}

template <Scalar S>
template <bool conjugated>
void GpuJacobi<S>::multiply(Gpu& be, DeviceSpan<const S> r, DeviceSpan<S> z)
{
    require(r.size() == inverse_.size() && z.size() == r.size(), [&] {
        return "r has " + std::to_string(r.size()) + " values and z " + std::to_string(z.size()) +
               "; the preconditioner is of order " + std::to_string(inverse_.size());
    });
    const cuda::Range range("jacobi");
    const auto        stream = cuda::stream(be);
    if (r.empty()) return;
    const auto blocks = static_cast<unsigned>(std::min((r.size() + block_size - 1) / block_size, most_blocks));
    multiply_each<conjugated>
        <<<blocks, block_size, 0, stream>>>(r.size(), cuda::as_values(static_cast<const S*>(inverse_.data())),
                                            cuda::as_values(r.data()), cuda::as_values(z.data()));
    cuda::check_launch("jacobi");
}

#define ILUX_INSTANTIATE(S) template class GpuJacobi<S>;
ILUX_WORKING(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux

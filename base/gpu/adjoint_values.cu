// A thread an entry. Nobody waits.

#include "ilux/base/gpu/adjoint_values.hpp"
#include "ilux/base/gpu/cuda.hpp"
#include "ilux/base/gpu/device_value.hpp"
#include "ilux/base/instances.hpp"

namespace ilux {
namespace {

constexpr unsigned threads = 256;

__device__ std::size_t entry() { return std::size_t(blockIdx.x) * threads + threadIdx.x; }

template <class V>
__global__ void gather(std::size_t count, const V* from, const Offset* at, V* to)
{
    const std::size_t p = entry();
    if (p < count) to[p] = cuda::conjugate(from[at[p]]);
}

template <class V>
__global__ void conjugate_each(std::size_t count, V* x)
{
    const std::size_t i = entry();
    if (i < count) x[i] = cuda::conjugate(x[i]);
}

unsigned blocks(std::size_t count) { return static_cast<unsigned>((count + threads - 1) / threads); }

}  // namespace

template <Scalar S>
void gather_conjugates(Gpu& gpu, DeviceSpan<const S> from, DeviceSpan<const Offset> at, DeviceSpan<S> to)
{
    ILUX_ASSERT(at.size() == to.size());
    if (to.empty()) return;
    const cuda::Range range("gather_conjugates");
    gather<<<blocks(to.size()), threads, 0, cuda::stream(gpu)>>>(to.size(), cuda::as_values(from.data()), at.data(),
                                                                 cuda::as_values(to.data()));
    cuda::check_launch("gather_conjugates");
}

template <Scalar S>
void conjugate(Gpu& gpu, DeviceSpan<S> x)
{
    if (!is_complex<S> || x.empty()) return;
    const cuda::Range range("conjugate");
    conjugate_each<<<blocks(x.size()), threads, 0, cuda::stream(gpu)>>>(x.size(), cuda::as_values(x.data()));
    cuda::check_launch("conjugate");
}

ILUX_SCALARS(ILUX_ADJOINT_VALUES)

}  // namespace ilux

// The vectors that a coarse space begins with, on a device: a thread an unknown.

#include "ilux/precond/coarse_steps/first_vectors.hpp"

#include "ilux/base/instances.hpp"
#include "ilux/precond/gpu_rounds/launch.hpp"

namespace ilux {
namespace {

using rounds::launch;
using rounds::thread_in_grid;

template <class V>
__global__ void set_constants(NodeNumbering nodes, V* values)
{
    const Index v = thread_in_grid();
    if (v >= nodes.n) return;
    for (Index kind = 0; kind < nodes.size; ++kind)
        values[static_cast<Offset>(kind) * nodes.n + v] = cuda::from_real<V>(kind == nodes.kind(v) ? 1 : 0);
}

template <class V>
__global__ void set_random(Index n, Index which, V* x)
{
    const Index i = thread_in_grid();
    if (i < n) x[i] = cuda::from_real<V>(random_number(i, which));
}

}  // namespace

template <Scalar T>
NearNull<Gpu, T> constants_of(Gpu& be, const NodeNumbering& nodes)
{
    using V = cuda::Value<T>;
    be.make_current();
    NearNull<Gpu, T> constants{.values = DeviceBuffer<T>(static_cast<std::size_t>(nodes.n) * nodes.size),
                               .count = nodes.size};
    launch(be, set_constants<V>, nodes.n, nodes, cuda::as_values(constants.values.data()));
    return constants;
}

template <Scalar T>
DeviceBuffer<T> random_numbers(Gpu& be, Index n, Index which)
{
    using V = cuda::Value<T>;
    be.make_current();
    DeviceBuffer<T> x(static_cast<std::size_t>(n));
    launch(be, set_random<V>, n, n, which, cuda::as_values(x.data()));
    return x;
}

#define ILUX_INSTANTIATE(T)                                             \
    template NearNull<Gpu, T> constants_of(Gpu&, const NodeNumbering&); \
    template DeviceBuffer<T>  random_numbers(Gpu&, Index, Index);
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux

// The solution of a system with a known answer, on the device: a thread an unknown. Bound by memory.

#include "ilux/base/gpu/cuda.hpp"
#include "ilux/base/gpu/device_value.hpp"
#include "ilux/base/instances.hpp"
#include "ilux/base/random_number.hpp"
#include "ilux/engine/witness/known_answer.hpp"

namespace ilux {
namespace {

constexpr int threads = 256;

template <class V>
__global__ void __launch_bounds__(threads) choose_answer(Index n, const V* x, double usual, V* z)
{
    const Offset i = Offset{blockIdx.x} * threads + threadIdx.x;
    if (i >= n) return;
    const double size = cuda::magnitude(x[i]);
    z[i] = cuda::from_real<V>(random_factor(static_cast<Index>(i)) * (size > 0 ? size : usual));
}

}  // namespace

template <Scalar S>
void known_answer(Gpu& gpu, DeviceSpan<const NotDeduced<S>> x, double usual, DeviceSpan<NotDeduced<S>> z)
{
    const cuda::Range range("known_answer");
    const auto        n = static_cast<Index>(z.size());
    if (n == 0) return;
    const auto blocks = static_cast<unsigned>((n + Offset{threads} - 1) / threads);
    choose_answer<<<blocks, threads, 0, cuda::stream(gpu)>>>(n, cuda::as_values(x.data()), usual > 0 ? usual : 1,
                                                             cuda::as_values(z.data()));
    cuda::check_launch("choose_answer");
}

#define ILUX_INSTANTIATE(S) template void known_answer<S>(Gpu&, DeviceSpan<const S>, double, DeviceSpan<S>);
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux

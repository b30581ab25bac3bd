#include "ilux/engine/system_vectors.hpp"

#include <algorithm>

#include "ilux/base/gpu/adjoint_values.hpp"
#include "ilux/base/gpu/host_buffer.hpp"
#include "ilux/base/gpu/stream_order.hpp"
#include "ilux/base/instances.hpp"

namespace ilux {
namespace {

/// to ← from, as bytes: a caller's complex numbers may stand on multiples of 8 bytes only.
template <Scalar S>
void enqueue(Gpu& gpu, DeviceSpan<const S> from, DeviceSpan<S> to)
{
    detail::enqueue_copy(gpu, from.data(), to.data(), from.size() * sizeof(S));
}

template <Scalar S>
void conjugate_all(std::span<S> x)
{
    for (S& one : x) one = conj(one);
}

}  // namespace

template <Scalar S>
std::span<const S> SystemVectors<S>::b()
{
    if (!caller_) return host_b_;
    if (copied_b_.size() != device_b_.size()) {
        copied_b_.resize(device_b_.size());
        download<S>(*caller_, device_b_, copied_b_);
        if (conjugated_) conjugate_all<S>(copied_b_);
    }
    return copied_b_;
}

template <Scalar S>
void SystemVectors<S>::read_guess(Solution& x)
{
    if (!guessed_) return;
    download<S>(*caller_, device_x_, std::span<S>(x.of<S>()));
    if (conjugated_) conjugate_all<S>(x.of<S>());
}

template <Scalar S>
void SystemVectors<S>::load(Gpu& gpu, DeviceSpan<S> b, DeviceSpan<S> x)
{
    run_after(gpu, *caller_);
    enqueue<S>(gpu, device_b_, b);
    if (conjugated_) conjugate<S>(gpu, b);
    if (guessed_) enqueue<S>(gpu, device_x_, x);
    else fill<S>(gpu, 0, x);
    if (guessed_ && conjugated_) conjugate<S>(gpu, x);
}

template <Scalar S>
void SystemVectors<S>::deliver(Gpu& gpu, DeviceSpan<S> x)
{
    if (conjugated_) conjugate<S>(gpu, x);
    enqueue<S>(gpu, x, device_x_);
    run_after(*caller_, gpu);
}

template <Scalar S>
void SystemVectors<S>::deliver(std::span<const S> x)
{
    if (caller_ && x.empty()) return;
    if (conjugated_) {
        std::vector<S> of_x(x.begin(), x.end());
        conjugate_all<S>(of_x);
        upload<S>(*caller_, of_x, device_x_);
    } else if (caller_) upload<S>(*caller_, x, device_x_);
    else std::ranges::copy(x, host_x_.begin());
}

#define ILUX_INSTANTIATE(S) template class SystemVectors<S>;
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux

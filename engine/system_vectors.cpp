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
    if (!given_b_.gpu() && !conjugated_) return given_b_.host();
    if (copied_b_.size() == given_b_.size()) return copied_b_;
    if (given_b_.gpu()) {
        copied_b_.resize(given_b_.size());
        download<S>(*given_b_.gpu(), given_b_.there(), copied_b_);
    } else copied_b_.assign(given_b_.host().begin(), given_b_.host().end());
    if (conjugated_) conjugate_all<S>(copied_b_);
    return copied_b_;
}

template <Scalar S>
std::vector<S> SystemVectors<S>::host_guess() const
{
    if (given_x_.gpu() || !guessed_) return {};
    std::vector<S> guess(given_x_.host().begin(), given_x_.host().end());
    if (conjugated_) conjugate_all<S>(guess);
    return guess;
}

template <Scalar S>
void SystemVectors<S>::read_guess(Solution& x)
{
    if (!given_x_.gpu() || !guessed_) return;
    download<S>(*given_x_.gpu(), given_x_.there(), std::span<S>(x.of<S>()));
    if (conjugated_) conjugate_all<S>(x.of<S>());
}

template <Scalar S>
void SystemVectors<S>::load(Cpu& cpu, std::span<S> b, std::span<S> x)
{
    copy<S>(cpu, this->b(), b);
    fill<S>(cpu, 0, x);
    if (const std::vector<S> guess = host_guess(); !guess.empty()) copy<S>(cpu, guess, x);
}

template <Scalar S>
void SystemVectors<S>::load(Gpu& gpu, DeviceSpan<S> b, DeviceSpan<S> x)
{
    run_after(gpu, *given_b_.gpu());
    enqueue<S>(gpu, given_b_.there(), b);
    if (conjugated_) conjugate<S>(gpu, b);
    if (guessed_) enqueue<S>(gpu, given_x_.there(), x);
    else fill<S>(gpu, 0, x);
    if (guessed_ && conjugated_) conjugate<S>(gpu, x);
}

template <Scalar S>
void SystemVectors<S>::deliver(Gpu& gpu, DeviceSpan<S> x)
{
    if (conjugated_) conjugate<S>(gpu, x);
    enqueue<S>(gpu, x, given_x_.there());
    run_after(*given_x_.gpu(), gpu);
}

template <Scalar S>
void SystemVectors<S>::deliver(std::span<const S> x)
{
    if (given_x_.gpu() && x.empty()) return;
    std::vector<S> conjugated;
    if (conjugated_) {
        conjugated.assign(x.begin(), x.end());
        conjugate_all<S>(conjugated);
        x = conjugated;
    }
    if (given_x_.gpu()) upload<S>(*given_x_.gpu(), x, given_x_.there());
    else std::ranges::copy(x, given_x_.host().begin());
}

#define ILUX_INSTANTIATE(S) template class SystemVectors<S>;
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux

#pragma once
// b and x of a system as the caller gave them: arrays of the host, or of a GPU.

#include <span>
#include <vector>

#include "ilux/base/gpu/gpu.hpp"
#include "ilux/base/scalar.hpp"
#include "ilux/engine/report/solution.hpp"

namespace ilux {

/// Where b comes from and x goes to. A solution on the GPU that the arrays are of takes and leaves them there; for any
/// other b is copied to the host.
template <Scalar S = double>
class SystemVectors {
public:
    /// @param b, x  n each; they outlive this, here and below
    SystemVectors(std::span<const S> b, std::span<S> x) : host_b_(b), host_x_(x) {}
    /// @param caller  whose stream they are read and written in the order of  @param guessed  x is a guess
    /// @param conjugated  what is solved for is x̄, by b̄
    SystemVectors(Gpu& caller, DeviceSpan<const S> b, DeviceSpan<S> x, bool guessed, bool conjugated = false)
        : caller_(&caller), device_b_(b), device_x_(x), guessed_(guessed), conjugated_(is_complex<S> && conjugated)
    {}

    bool are_of(const Gpu& gpu) const { return caller_ && caller_->device() == gpu.device(); }

    /// x of the host; empty of a GPU's.
    std::span<const S> host_x() const { return host_x_; }
    /// b on the host: those of a GPU are copied when they are first asked for.
    std::span<const S> b();
    /// x ← a guess that is on a GPU; of host arrays, and without a guess, nothing is done.
    void read_guess(Solution& x);

    /// to_b ← b, and x ← the guess or 0, on the GPU that are_of() says. Does not wait.
    void load(Gpu& gpu, DeviceSpan<S> b, DeviceSpan<S> x);
    /// The caller's x ← x, of that GPU. Does not wait: the caller's stream does. @param x  may be conjugated where it
    /// is
    void deliver(Gpu& gpu, DeviceSpan<S> x);
    /// The caller's x ← x. An empty one says that it was delivered where it is.
    void deliver(std::span<const S> x);

private:
    Gpu*                caller_ = nullptr;  // null: all is of the host
    std::span<const S>  host_b_;
    std::span<S>        host_x_;
    DeviceSpan<const S> device_b_;
    DeviceSpan<S>       device_x_;
    std::vector<S>      copied_b_;
    bool                guessed_ = false, conjugated_ = false;
};

}  // namespace ilux

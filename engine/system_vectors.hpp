#pragma once
// b and x of a system as the caller gave them: arrays of the host, or of a GPU.

#include <span>
#include <vector>

#include "ilux/base/gpu/array.hpp"
#include "ilux/engine/report/solution.hpp"

namespace ilux {

/// The caller's b and x. A solver on the same GPU uses them in place. For every other solver b is copied to the host.
template <Scalar S = double>
class SystemVectors {
public:
    /// @param b, x  n each, both of the host or of one GPU; they outlive this  @param guessed  x is a guess
    /// @param conjugated  what is solved for is x̄, by b̄
    SystemVectors(Array<const S> b, Array<S> x, bool guessed = false, bool conjugated = false)
        : given_b_(b), given_x_(x), guessed_(guessed), conjugated_(is_complex<S> && conjugated)
    {}

    bool is_guessed() const { return guessed_; }
    bool are_of(const Gpu& gpu) const { return given_b_.gpu() && given_b_.gpu()->device() == gpu.device(); }

    /// b on the host: those of a GPU are copied when they are first asked for.
    std::span<const S> b();
    /// The guess, where there is one on the host; else nothing.
    std::vector<S> host_guess() const;
    /// x ← a guess that is on a GPU; of host arrays, and without a guess, nothing is done.
    void read_guess(Solution& x);

    /// b ← the caller's b, and x ← the guess or 0, where the caller's are: on the host, or on the GPU that are_of()
    /// says. That does not wait.
    void load(Cpu& cpu, std::span<S> b, std::span<S> x);
    void load(Gpu& gpu, DeviceSpan<S> b, DeviceSpan<S> x);
    /// The caller's x ← x, of that GPU. Does not wait: the caller's stream does. @param x  may be conjugated where it
    /// is
    void deliver(Gpu& gpu, DeviceSpan<S> x);
    void deliver(Cpu&, std::span<const S> x) { deliver(x); }
    /// The caller's x ← x. An empty one says that it was delivered where it is.
    void deliver(std::span<const S> x);

private:
    Array<const S> given_b_;
    Array<S>       given_x_;
    std::vector<S> copied_b_;
    bool           guessed_ = false, conjugated_ = false;
};

}  // namespace ilux

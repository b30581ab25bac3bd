#pragma once
// New values, the same pattern and pivots, on a GPU: what every way to do it, by entries or by fronts, offers.

#include <limits>
#include <memory>
#include <string_view>

#include "ilux/base/gpu/gpu.hpp"
#include "ilux/direct/factor/lu_factors.hpp"

namespace ilux {

/// x ← A⁻¹ b or A⁻ᵀ b from factors on the device.
template <Scalar S = double>
class GpuSubstitution {
public:
    virtual ~GpuSubstitution() = default;

    /// Only enqueued; allocates nothing, may be captured in a graph. Each right-hand side has the bits it has alone.
    /// Repeatable: bitwise. Zero pivots and NaN spread.
    /// @param b, x  rhs·n, on the device, vector after vector; not the same memory
    virtual void run(Gpu& gpu, const S* b, S* x, Index rhs = 1) = 0;
    /// Takes over the numbers of the last refactorization, where they are copied: once after each. Only enqueued.
    virtual void refill(Gpu&) {}

    /// Right-hand sides that a launch has room for. What a run of one works in stays where it is, since graphs may know
    /// it.
    virtual Index       room() const { return std::numeric_limits<Index>::max(); }
    virtual void        make_room(Gpu&, Index) {}         ///< allocates only where there was less
    virtual std::size_t room_bytes() const { return 0; }  ///< on the device, of each further right-hand side
    virtual std::size_t bytes() const = 0;                ///< on the device
};

/// Factors on the device by given pivots. Serves one stream at a time.
template <Scalar S = double>
class GpuRefactor {
public:
    virtual ~GpuRefactor() = default;

    /// Factors and monitor from the caller's values, which are on the device; only enqueued, allocates nothing.
    virtual void run(Gpu& gpu, const S* values) = 0;
    /// What was seen of the last run; waits for it.
    virtual PivotMonitor monitor(Gpu& gpu) const = 0;
    /// The numbers of `factors`, which must be of the same pattern and fronts; waits.
    virtual void download(Gpu& gpu, LuFactors<S>& factors) const = 0;
    /// What solves with these factors. It refers to this, which must stay where it is.
    /// @param transpose  whether with Aᵀ; Aᴴ is its conjugate, with conjugated vectors
    /// @throws OutOfMemory; InvalidInput when 32 bits cannot count
    virtual std::unique_ptr<GpuSubstitution<S>> substitution(Gpu& gpu, bool transpose) const = 0;

    virtual std::string_view method() const = 0;
    /// Whether run() captures graphs of its own, so that it may not be captured.
    virtual bool        makes_graphs() const { return false; }
    virtual std::size_t bytes() const = 0;  ///< on the device
};

}  // namespace ilux

#pragma once
// The published ways to refactor by entries on a GPU, and where they are chosen by name.

#include <memory>

#include "ilux/direct/gpu/gpu_lu_pattern.hpp"

namespace ilux {

/// One of them, for one pattern. Serves one stream at a time.
template <Scalar S = double>
class PublishedRefactor {
public:
    virtual ~PublishedRefactor() = default;
    /// L + U in place of the scattered inputs; only enqueued. A zero or non-finite pivot runs through as IEEE
    /// arithmetic has it. Each captures graphs of its own.
    /// @param val  GpuLuPattern::entries()
    virtual void        run(Gpu& gpu, DeviceSpan<S> val) = 0;
    virtual std::size_t bytes() const = 0;  ///< on the device, without the pattern's
};

/// The one of that name: left, glu1, glu3 or islu.
/// @param options  of which each reads its own  @throws InvalidOption for another name; OutOfMemory
template <Scalar S = double>
std::unique_ptr<PublishedRefactor<S>> make_published(Gpu& gpu, std::shared_ptr<const GpuLuPattern> pattern,
                                                     RefactorMethod method, const LuOptions& options);

}  // namespace ilux

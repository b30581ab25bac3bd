#pragma once
// What a function asks of a Gpu, written down once and asked again by a single launch.

#include <functional>
#include <memory>

#include "ilux/base/gpu/gpu.hpp"

namespace ilux {

/// Memory that the work reads and writes must stay where it is as long as the graph is launched.
class GpuGraph {
public:
    GpuGraph() = default;
    /// `work` only enqueues on `gpu`, and allocates nothing; it does not run now. On the legacy default stream of a
    /// caller, which cannot be captured, it is kept and run at every launch.
    GpuGraph(Gpu& gpu, std::function<void()> work);

    explicit operator bool() const { return graph_ != nullptr || work_; }
    void     launch(Gpu& gpu) const;

private:
    std::shared_ptr<void> graph_;
    std::function<void()> work_;  ///< where there is no graph
};

}  // namespace ilux

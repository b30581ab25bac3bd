#pragma once
// Engines `level_set` and `level_graph`: the tasks of a level at once, levels one after another. Internal.

#include "ilux/sptrsv/gpu/gpu_engines.hpp"
#include "ilux/sptrsv/gpu/warp_rows.hpp"

namespace ilux {

/// Where one solve reads and writes.
template <class S>
struct SolveEnds {
    const S* b;
    S*       out;
};

/// A launch for each wide level, and one for each run of thin ones. Contract: gpu_engines.hpp.
template <class T>
class LevelSetEngine {
public:
    using S = working_of<T>;
    LevelSetEngine(Gpu& gpu, const ForwardSystem<T>& system, std::span<const Index> level);

    std::size_t bytes() const { return rows_.bytes(); }
    std::size_t workspace_bytes() const { return sizeof(S) * rows_.positions(); }
    void        prepare(Gpu&, DeviceSpan<std::byte>) const {}
    void        solve(Gpu& gpu, DeviceSpan<const S> b, DeviceSpan<S> out, DeviceSpan<std::byte> work) const;
    /// Solves with b and out found in device memory when the kernels run.
    void             solve_at(Gpu& gpu, const SolveEnds<S>* ends, DeviceSpan<std::byte> work) const;
    EngineNumbers<T> numbers() { return rows_.numbers(); }

private:
    WarpRows<T>           rows_;
    std::vector<LevelRun> runs_;
};

/// The launches of LevelSetEngine, captured once for each workspace. They find b and out in the workspace, so one
/// graph serves all vectors; a solve writes both there and launches it. Inside a caller's capture, where a graph cannot
/// be launched, the launches themselves are enqueued.
template <class T>
class LevelGraphEngine {
public:
    using S = working_of<T>;
    LevelGraphEngine(Gpu& gpu, const ForwardSystem<T>& system, std::span<const Index> level)
        : levels_(gpu, system, level)
    {}

    std::size_t      bytes() const { return levels_.bytes(); }
    std::size_t      workspace_bytes() const;
    HostState        prepare(Gpu& gpu, DeviceSpan<std::byte> work) const;
    void             solve(Gpu& gpu, DeviceSpan<const S> b, DeviceSpan<S> out, DeviceSpan<std::byte> work,
                           const HostState& graph) const;
    EngineNumbers<T> numbers() { return levels_.numbers(); }

private:
    LevelSetEngine<T> levels_;
};

}  // namespace ilux

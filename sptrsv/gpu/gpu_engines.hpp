#pragma once
// The engines behind GpuSpTrsvPlan and what they have in common. Internal: users see gpu_sptrsv.hpp.
//
// An engine over T, which solves for S = working_of<T>, is immutable once made and offers
//     Engine(Gpu&, const ForwardSystem<T>&, std::span<const Index> level)   level of every row; uploads what it needs
//     or, chunked, Engine(Gpu&, const ForwardSystem<T>&), with facts() and seconds() of its own analysis
//     std::size_t bytes() const                                             on the device, without workspaces
//     std::size_t workspace_bytes() const                                   for one right-hand side
//     void prepare(Gpu&, DeviceSpan<std::byte> work) const                  once, for each workspace
//     void solve(Gpu&, DeviceSpan<const S> b, DeviceSpan<S> out, DeviceSpan<std::byte> work) const
// solve() enqueues one right-hand side and keeps all that changes in `work` (256-byte aligned). An engine that needs
// more than device memory for each workspace returns it from prepare(), and solve() takes it as its last argument.
// One that solves several right-hand sides in one launch offers instead
//     void solve(Gpu&, DeviceSpan<const S> b, DeviceSpan<S> out, DeviceSpan<std::byte> work, Index rhs) const
// where b, out and work are rhs equal parts each, those of `work` 256-byte aligned; each solution has the bits it has
// alone.
// One whose values can be renewed also offers
//     EngineNumbers<T> numbers()                                            as its kernels read them; places that stay

#include <concepts>
#include <memory>

#include "ilux/base/gpu/gpu.hpp"
#include "ilux/sptrsv/gpu/forward_system.hpp"

namespace ilux {

/// What a workspace keeps besides device memory: a graph, a handle. Made and used by its engine alone.
using HostState = std::shared_ptr<void>;

template <class Engine>
concept KeepsHostState = requires(const Engine& engine, Gpu& gpu, DeviceSpan<std::byte> work)
{
    {
        engine.prepare(gpu, work)
        } -> std::same_as<HostState>;
};

template <class Engine>
concept SolvesSeveral = requires(const Engine& engine, Gpu& gpu, DeviceSpan<const typename Engine::S> b,
                                 DeviceSpan<typename Engine::S> out, DeviceSpan<std::byte> work, Index rhs)
{
    engine.solve(gpu, b, out, work, rhs);
};

}  // namespace ilux

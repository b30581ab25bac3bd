#pragma once
// What a factorization on a GPU saw of its pivots: the monitor of pivot_monitor.hpp, gathered behind any method.

#include <memory>

#include "ilux/direct/factor/pivot_monitor.hpp"
#include "ilux/direct/gpu/gpu_lu_pattern.hpp"
#include "ilux/direct/gpu/value_slot.hpp"

namespace ilux {

/// Serves one stream at a time. Every entry is read once, columns by as many lanes as their length asks for, so that
/// those of 10⁵ entries cost no more than others. Repeatable: bitwise.
class GpuPivotMonitor {
public:
    /// @param slot_of  by entry, where it is among the values; empty: entry e is at e
    GpuPivotMonitor(Gpu& gpu, std::shared_ptr<const GpuLuPattern> pattern, std::span<const ValueSlot> slot_of = {});
    ~GpuPivotMonitor();
    GpuPivotMonitor(GpuPivotMonitor&&) noexcept;
    GpuPivotMonitor& operator=(GpuPivotMonitor&&) noexcept;

    /// Looks at finished factors; only enqueued, allocates nothing, may be captured in a graph.
    /// @param values  the caller's, on the device  @param val  the factors, by slot, in double, float or complex
    template <class T>
    void watch(Gpu& gpu, const working_of<T>* values, const T* val);

    /// What the last watch saw; waits for it. Keeps the promises of CpuRefactor::run: where there is a bad column all
    /// else is as for no columns; the first of several columns that share an extreme is named.
    PivotMonitor result(Gpu& gpu) const;

    std::size_t bytes() const;

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace ilux

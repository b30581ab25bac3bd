#pragma once
// Launches of the steps of a factorization by fronts; V is the Value of a scalar. Only enqueued.

#include "ilux/base/gpu/gpu.hpp"
#include "ilux/direct/factor/pivot_monitor.hpp"
#include "ilux/direct/supernodal_gpu/gpu_front_schedule.hpp"
#include "ilux/direct/supernodal_gpu/fronts_view.hpp"

namespace ilux {

/// Inputs of fronts, those of duplicates added in order, and F.
template <class V>
struct FrontInputs {
    Offset        entries = 0, f_entries = 0;
    const Offset* ptr = nullptr;     ///< entries + 1
    const Offset* source = nullptr;  ///< ptr[entries], then of F
    const double* scale = nullptr;   ///< the same
    const Index*  col = nullptr;     ///< entries
    V *           value = nullptr, *f_value = nullptr;
    Magnitude*    bmax = nullptr;     ///< n
    Magnitude*    cleared = nullptr;  ///< bmax among them
    std::size_t   magnitudes = 0;     ///< how many begin at 0
};
template <class V>
void launch_inputs(Gpu& gpu, const FrontInputs<V>& inputs, const V* values);

/// Fronts that a warp, or a block in shared memory, works on from begin to end.
template <class V>
void launch_small_fronts(Gpu& gpu, const FrontsView<V>& F, const FrontLevel& level, const FrontClasses& classes,
                         const Index* small);

/// A large front's tile, and its inputs.
struct AssemblyItem {
    Offset    input = 0;
    FrontItem item;
    Index     inputs = 0;
};
template <class V>
void launch_assembly(Gpu& gpu, const FrontsView<V>& F, FrontRange items, const AssemblyItem* item);

template <class V>
void launch_panel(Gpu& gpu, const FrontsView<V>& F, const PanelStep& step, const Index* large);
template <class V>
void launch_beside(Gpu& gpu, const FrontsView<V>& F, const PanelStep& step, const FrontItem* item);
template <class V>
void launch_update(Gpu& gpu, const FrontsView<V>& F, const PanelStep& step, const FrontItem* item);

/// What the columns together show.
struct FrontExtremes {
    unsigned long long bad = ~0ull;  ///< 2 k + 1 for the first column that is not finite, 2 k for one with a zero pivot
    double             min_pivot = 0, max_pivot = 0, rgrowth = 0, max_multiplier = 0;
    Index              growth_column = -1, multiplier_column = -1, replaced = 0;
};
constexpr unsigned monitor_blocks = 256;
/// extremes[0] ← of all columns. @param extremes  monitor_blocks + 1
template <class V>
void launch_monitor(Gpu& gpu, const FrontsView<V>& F, Index n, FrontExtremes* extremes);

#define ILUX_FRONT_VALUES(instantiate) instantiate(double) instantiate(cuda::Complex<double>)

}  // namespace ilux

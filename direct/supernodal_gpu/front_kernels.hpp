#pragma once
// Launches of the steps of a factorization by fronts; V is the Value of a scalar. Only enqueued.

#include <memory>

#include "ilux/base/gpu/gpu.hpp"
#include "ilux/direct/factor/pivot_monitor.hpp"
#include "ilux/direct/supernodal_gpu/gpu_front_schedule.hpp"
#include "ilux/direct/supernodal_gpu/fronts_view.hpp"

namespace ilux {

namespace cuda {
class Branches;
}

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

/// Streams beside that of the Gpu, for small fronts.
std::shared_ptr<const cuda::Branches> front_branches(Gpu& gpu);
/// Fronts that a warp, or a block in shared memory, works on from begin to end. Those of several classes, and the large
/// ones of the level, which are launched in between, run side by side; what is launched after join_small_fronts waits
/// for all.
template <class V>
void launch_small_fronts(Gpu& gpu, const FrontsView<V>& F, const FrontLevel& level, const FrontClasses& classes,
                         const Index* small, const cuda::Branches& branches);
void join_small_fronts(Gpu& gpu, const FrontLevel& level, const FrontClasses& classes, const cuda::Branches& branches);

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

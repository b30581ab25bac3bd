#pragma once
// Launches of a substitution with fronts; V is the Value of a scalar. Only enqueued.

#include "ilux/base/gpu/gpu.hpp"
#include "ilux/direct/supernodal_gpu/front_solve_plan.hpp"
#include "ilux/direct/supernodal_gpu/fronts_view.hpp"

namespace ilux {

/// Right-hand sides that are worked on together, where there are several.
template <class V>
constexpr int solve_together = is_complex<V> ? 2 : 4;

/// What kernels get. Vectors are by position, those of right-hand sides side by side.
template <class V>
struct FrontSolveView {
    FrontsView<V>    F;
    const Index*     list = nullptr;  ///< FrontSolvePlan::front
    const FrontItem* item = nullptr;  ///< FrontSolvePlan::item
    const Offset*    gather_ptr = nullptr;
    const Index*     gather = nullptr;
    const Index*     f_row = nullptr;
    const Offset*    f_ptr = nullptr;
    const Index*     f_col = nullptr;
    const Offset*    f_entry = nullptr;
    const V*         f_val = nullptr;
    V *              y = nullptr, *z = nullptr;  ///< n; z: after the forward pass
    V*               left = nullptr;             ///< by FrontTree::row: what a front leaves to its parent
};

/// Inverses of L and of U of diagonal blocks of solve_block pivots, for fronts that blocks substitute with.
/// @param item  front, and number of a tile of its pivots
/// @param largest  pivots of a block
template <class V>
void launch_inverses(Gpu& gpu, const FrontsView<V>& F, Index count, const FrontItem* item, Index largest);

/// Permutations and scales of both sides of a solve.
struct FrontSolveFrame {
    Index         n = 0;
    const Index*  perm = nullptr;   ///< by position, row or column of the caller
    const double* scale = nullptr;  ///< by position; null: ones
};
/// y ← P R b for right-hand sides first … first + count − 1, zero for further ones; x ← Q C y.
template <class V>
void launch_enter(Gpu& gpu, const FrontSolveFrame& frame, const V* b, V* y, int count, bool several);
template <class V>
void launch_leave(Gpu& gpu, const FrontSolveFrame& frame, const V* y, V* x, int count, bool several);
template <class V>
void launch_stage(Gpu& gpu, const FrontSolveView<V>& view, const FrontSolveStage& stage, bool transposed, bool several);

}  // namespace ilux

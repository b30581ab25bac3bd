// Systems of the direct strategy whose b and x are on the GPU where the factors are.

#include "ilux/base/gpu/stream_order.hpp"
#include "ilux/base/instances.hpp"
#include "ilux/engine/report/gpu_accuracy.hpp"
#include "ilux/engine/direct_solver.hpp"
#include "ilux/engine/standard.hpp"
#include "ilux/engine/witness/known_answer.hpp"

namespace ilux {

/// By the former pivots where they hold. Values that are on this GPU stay there.
template <Scalar S>
LuReport DirectSolver<S>::refactored(const CsrView<S>& A)
{
    const bool there = values_.gpu() && lu_->on_gpu() && values_.gpu()->device() == machine_.gpu->device();
    if (!there) return lu_->refactor_or_factor(A.val());
    run_after(*machine_.gpu, *values_.gpu());
    return lu_->refactor_or_factor(A.val(), values_.there());
}

/// The room for vectors of the GPU on which the factors are; null where these are elsewhere, or there is no room.
template <Scalar S>
GpuDirectSide<S>* DirectSolver<S>::gpu_side_for(const CsrView<S>& A, const SystemVectors<S>& given)
{
    if (!machine_.gpu || !lu_->on_gpu() || !given.are_of(*machine_.gpu)) return nullptr;
    try {
        if (!gpu_side_) gpu_side_.emplace(*machine_.gpu, A);
    } catch (const OutOfMemory&) {
        return nullptr;
    }
    return &*gpu_side_;
}

/// The rows of A, or of Aᴴ; nothing where there is no memory for them.
template <Scalar S>
std::optional<DeviceRows<S>> DirectSolver<S>::rows_on_gpu(GpuDirectSide<S>& side, const CsrView<S>& A, Transpose turn)
{
    if (turn == Transpose::no) return side.rows(lu_->device_values());
    try {
        return side.adjoint_rows(*machine_.gpu, A, lu_->device_values());
    } catch (const OutOfMemory&) {
        return {};
    }
}

/// Whether the factors find a known solution, but for unknowns below 1e-12 of the largest; where not, the host looks
/// closer. b is lost.
template <Scalar S>
bool DirectSolver<S>::find_known_answer_there(GpuDirectSide<S>& side, GpuAccuracy<S>& measured, Transpose turn)
{
    Gpu&                gpu = *machine_.gpu;
    const DeviceSpan<S> z = side.error(), t = side.b();
    known_answer<S>(gpu, side.x(), least_unknown * measured.largest_x(), z);
    fill<S>(gpu, 0, t);
    if (!measured.multiply(z, t)) return false;
    if (!lu_->solve_on_gpu(measured.r(), t, turn, INFINITY)) return false;
    axpy<S>(gpu, 1, z, t);  // r was -A z
    Accuracy missed;
    measured.note_error(z, t, missed);
    return missed.worst_error <= found_share;
}

/// All of it there, as long as x is good at once.
/// @return false, and all is as it was, where the arrays are elsewhere, or x needs more than that: corrections, other
/// pivots, a look at the factors. The host does it then, from the beginning.
template <Scalar S>
bool DirectSolver<S>::solve_on_gpu(const CsrView<S>& A, Transpose turn, SystemVectors<S>& given, double rtol,
                                   Attempt& tried)
{
    clock_ = WallClock();
    GpuDirectSide<S>* const side = gpu_side_for(A, given);
    const auto              rows = side ? rows_on_gpu(*side, A, turn) : std::nullopt;
    if (!rows) return false;
    Gpu& gpu = *machine_.gpu;
    given.load(gpu, side->b(), side->x());
    const auto solved = lu_->solve_on_gpu(side->b(), side->x(), turn, lu_tolerance);
    if (!solved) return false;
    const double   seconds = clock_.seconds();
    GpuAccuracy<S> measured(gpu, *rows, side->vectors());
    auto           accuracy = measured.measure(side->x(), side->b());
    if (!accuracy || !is_plain_success(*accuracy, rtol) || accuracy->rowwise > lu_tolerance) return false;
    if (!lu_->solve_on_gpu(measured.r(), side->error(), turn, INFINITY)) return false;
    measured.note_error(side->x(), side->error(), *accuracy);
    if (excess(*accuracy, DirectBatch<S>::standard(options_)) > 1) return false;
    if (!find_known_answer_there(*side, measured, turn)) return false;
    note_refinement(*solved, tried);
    tried.report.outcome = Outcome::converged;  // whatever the refinement says of itself: x has been measured
    tried.report.seconds.solve = seconds;
    tried.accuracy = *accuracy;
    tried.report.relative_residual = accuracy->relative_residual;
    tried.report.backward_error = accuracy->backward_error;
    tried.x = std::vector<S>();
    hold_to_etol(options_, A.rows(), tried);  // the standard has held x to it
    ILUX_ASSERT(tried.report.outcome == Outcome::converged);
    given.deliver(gpu, side->x());
    estimate_condition(A, tried);
    return true;
}

/// @return false, and nothing is done, unless vectors and factors are on one GPU, and where the host has to solve it
template <Scalar S>
bool DirectSolver<S>::apply_on_gpu(const CsrView<S>& A, SystemVectors<S>& given, Transpose turn)
{
    GpuDirectSide<S>* const side = gpu_side_for(A, given);
    if (!side) return false;
    given.load(*machine_.gpu, side->b(), side->x());
    if (!lu_->solve_on_gpu(side->b(), side->x(), turn, INFINITY)) return false;
    given.deliver(*machine_.gpu, side->x());
    return true;
}

#define ILUX_INSTANTIATE(S)                                                                                          \
    template LuReport                     DirectSolver<S>::refactored(const CsrView<S>&);                            \
    template GpuDirectSide<S>*            DirectSolver<S>::gpu_side_for(const CsrView<S>&, const SystemVectors<S>&); \
    template std::optional<DeviceRows<S>> DirectSolver<S>::rows_on_gpu(GpuDirectSide<S>&, const CsrView<S>&,         \
                                                                       Transpose);                                   \
    template bool DirectSolver<S>::solve_on_gpu(const CsrView<S>&, Transpose, SystemVectors<S>&, double, Attempt&);  \
    template bool DirectSolver<S>::find_known_answer_there(GpuDirectSide<S>&, GpuAccuracy<S>&, Transpose);           \
    template bool DirectSolver<S>::apply_on_gpu(const CsrView<S>&, SystemVectors<S>&, Transpose);
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux

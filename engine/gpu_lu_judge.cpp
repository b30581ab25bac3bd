#include "ilux/engine/gpu_lu_judge.hpp"

#include <cmath>

#include "ilux/base/gpu/adjoint_values.hpp"
#include "ilux/base/gpu/device_copy.hpp"
#include "ilux/base/instances.hpp"
#include "ilux/base/matrix/pattern.hpp"
#include "ilux/base/wall_clock.hpp"
#include "ilux/engine/lu_judge.hpp"
#include "ilux/engine/witness/known_answer.hpp"

namespace ilux {

template <Scalar S>
GpuLuJudge<S>::GpuLuJudge(Gpu& gpu, const CsrView<S>& A)
    : gpu_(gpu),
      row_ptr_(on_device<Offset>(gpu, A.row_ptr())),
      col_(on_device<Index>(gpu, A.col())),
      b_(A.rows()),
      x_(A.rows()),
      r_(A.rows()),
      error_(A.rows()),
      size_(A.rows()),
      row_size_(A.rows())
{}

/// The rows of A, or of Aᴴ; nothing where there is no memory for them. The first call for Aᴴ brings its pattern, every
/// call gathers the values.
template <Scalar S>
std::optional<DeviceRows<S>> GpuLuJudge<S>::rows(const CsrView<S>& A, DeviceSpan<const S> val, Transpose transpose)
{
    const Index n = A.rows();
    if (transpose == Transpose::no) return DeviceRows<S>{n, row_ptr_, col_, val};
    try {
        if (!adjoint_) {
            const TransposedPattern of = transposed_pattern(A.row_ptr(), A.col(), A.cols());
            adjoint_ = Adjoint{on_device<Offset>(gpu_, of.row_ptr), on_device<Offset>(gpu_, of.from),
                               on_device<Index>(gpu_, of.col), DeviceBuffer<S>(of.col.size())};
        }
    } catch (const OutOfMemory&) {
        return {};
    }
    gather_conjugates<S>(gpu_, val, adjoint_->from, adjoint_->val);
    return DeviceRows<S>{n, adjoint_->row_ptr, adjoint_->col, adjoint_->val};
}

template <Scalar S>
LuSolveReport GpuLuJudge<S>::substitute(Lu<S>& lu, DeviceSpan<S> r, DeviceSpan<S> z, Transpose transpose,
                                        double tolerance)
{
    return lu.solve_as_factored(Array<const S>(gpu_, r), Array<S>(gpu_, z), transpose, tolerance);
}

/// Whether the factors find a known solution, but for unknowns below 1e-12 of the largest. b is lost.
template <Scalar S>
bool GpuLuJudge<S>::find_known_answer(Lu<S>& lu, GpuAccuracy<S>& measured, Transpose transpose)
{
    const DeviceSpan<S> z = error_, t = b_;
    known_answer<S>(gpu_, x_, least_unknown * measured.largest_x(), z);
    fill<S>(gpu_, 0, t);
    if (!measured.multiply(z, t)) return false;
    if (substitute(lu, r_, t, transpose, INFINITY).outcome != Outcome::converged) return false;
    axpy<S>(gpu_, 1, z, t);  // r was -A z
    Accuracy missed;
    measured.note_error(z, t, missed);
    return missed.worst_error <= found_share;
}

template <Scalar S>
bool GpuLuJudge<S>::solve(Lu<S>& lu, const CsrView<S>& A, Transpose transpose, SystemVectors<S>& given, double rtol,
                          const SolverOptions& options, Attempt& tried)
{
    const WallClock clock;
    const auto      rows = this->rows(A, lu.values().there(), transpose);
    if (!rows) return false;
    given.load(gpu_, b_, x_);
    const LuSolveReport solved = substitute(lu, b_, x_, transpose, lu_tolerance);
    if (solved.outcome != Outcome::converged) return false;
    const double   seconds = clock.seconds();
    GpuAccuracy<S> measured(gpu_, *rows, {r_, size_, row_size_});
    auto           accuracy = measured.measure(x_, b_);
    if (!accuracy || !is_plain_success(*accuracy, rtol) || accuracy->rowwise > lu_tolerance) return false;
    if (substitute(lu, r_, error_, transpose, INFINITY).outcome != Outcome::converged) return false;
    measured.note_error(x_, error_, *accuracy);
    if (excess(*accuracy, standard_of_lu(options)) > 1) return false;
    if (!find_known_answer(lu, measured, transpose)) return false;
    note_refinement(solved, tried);
    tried.report.outcome = Outcome::converged;  // whatever the refinement says of itself: x has been measured
    tried.report.seconds.solve = seconds;
    tried.accuracy = *accuracy;
    tried.report.relative_residual = accuracy->relative_residual;
    tried.report.backward_error = accuracy->backward_error;
    tried.x = std::vector<S>();
    hold_to_etol(options, A.rows(), tried);  // the standard has held x to it
    ILUX_ASSERT(tried.report.outcome == Outcome::converged);
    given.deliver(gpu_, x_);
    return true;
}

template <Scalar S>
bool GpuLuJudge<S>::apply(Lu<S>& lu, Transpose transpose, SystemVectors<S>& given)
{
    given.load(gpu_, b_, x_);
    if (substitute(lu, b_, x_, transpose, INFINITY).outcome != Outcome::converged) return false;
    given.deliver(gpu_, x_);
    return true;
}

#define ILUX_INSTANTIATE(S) template class GpuLuJudge<S>;
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux

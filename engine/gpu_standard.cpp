#include "ilux/engine/gpu_standard.hpp"

#include <cmath>

#include "ilux/base/instances.hpp"
#include "ilux/engine/report/gpu_accuracy.hpp"
#include "ilux/engine/corrections.hpp"
#include "ilux/engine/witness/known_answer.hpp"

namespace ilux {
namespace {

template <Scalar S>
DeviceRows<S> rows_of(const DeviceCsr<S>& A)
{
    return {A.rows(), A.row_ptr(), A.col(), A.val()};
}

/// What measures and corrects x on a GPU, in the room of its system.
template <Scalar S>
class GpuSide {
public:
    GpuSide(const GpuJudged<S>& judged, const StopToken& stop)
        : judged_(judged),
          room_(judged.room),
          accuracy_(judged.gpu, rows_of(judged.A), {room_.r, room_.size, room_.row_size},
                    judged.A.rows() > few_unknowns ? DeviceSpan<double>(room_.scale) : DeviceSpan<double>()),
          stop_(stop)
    {}

    /// Numbers that only the host can measure count as not finite: a correction to such an x is taken back.
    Accuracy measure()
    {
        const auto measured = accuracy_.measure(judged_.x, judged_.b);
        if (!measured) return {.relative_residual = INFINITY, .backward_error = INFINITY, .rowwise = INFINITY};
        if (size() > few_unknowns) accuracy_.note_own_scales();
        return *measured;
    }
    std::optional<bool> estimate_exactly() { return {}; }  // by an LU, which is of the host
    void                precondition() { judged_.correction.apply(accuracy_.r(), DeviceSpan<S>(room_.d)); }
    void                note_error(Accuracy& accuracy) { accuracy_.note_error(judged_.x, room_.d, accuracy); }
    bool                d_is_zero() { return norm2<S>(gpu(), room_.d) == 0; }
    Index               size() const { return judged_.A.rows(); }

    IterationReport solve_for_correction(bool scaled, const KrylovOptions& krylov)
    {
        return solve_scaled(scaled, krylov);
    }

    /// z of random numbers of either sign, 1 to 2.
    Missed begin_known_answer()
    {
        fill<S>(gpu(), 1, room_.d);
        known_answer<S>(gpu(), room_.d, 1, room_.former);
        look_at_missed();
        rows_known_ = norm2<S>(gpu(), accuracy_.r());
        return {};
    }
    /// A d = A t for what is missed, t; t ← t − d. Rows are told by their norm.
    Missed reduce_known_answer(bool scaled, const KrylovOptions& krylov)
    {
        if (!std::isfinite(own_) || !(rows_known_ > 0)) return {.share = 0};
        const IterationReport done = solve_scaled(scaled, krylov);
        axpy<S>(gpu(), 1, room_.d, room_.former);
        const double share = measure_errors<S>(gpu(), room_.d, room_.former, {}, 0, 0, INFINITY).largest_error;
        look_at_missed();
        return {.share = share, .rows = norm2<S>(gpu(), accuracy_.r()) / rows_known_, .steps = done.steps, .own = own_};
    }
    void        end_known_answer() { (void)accuracy_.measure(judged_.x, judged_.b); }
    bool        examine_known_answer() { return false; }
    std::string witness_warning(const Accuracy&, double) { return ""; }

    void add_correction()
    {
        copy<S>(gpu(), judged_.x, room_.former);
        axpy<S>(gpu(), 1, room_.d, judged_.x);
    }
    void take_back() { copy<S>(gpu(), room_.former, judged_.x); }

private:
    Gpu& gpu() { return judged_.gpu; }

    /// r ← −A t, and max |r|_i / (|A||t|)_i; Inf where only the host can measure it.
    void look_at_missed()
    {
        fill<S>(gpu(), 0, room_.scaled);
        const auto measured = accuracy_.measure(room_.former, room_.scaled);
        own_ = measured ? measured->rowwise : INFINITY;
    }

    /// D A d = D r from d = 0, r being what was measured last.
    IterationReport solve_scaled(bool scaled, const KrylovOptions& krylov)
    {
        if (scaled) accuracy_.equilibrate(room_.D, room_.inverse);
        else
            for (auto* ones : {&room_.D, &room_.inverse}) fill<S>(gpu(), 1, *ones);
        multiply<S>(gpu(), room_.D, accuracy_.r(), room_.scaled);
        fill<S>(gpu(), 0, room_.d);
        try {
            return judged_.correction.solve(room_.D, room_.inverse, room_.scaled, room_.d, krylov, stop_);
        } catch (const OutOfMemory&) {  // x stays as good as it is
            IterationReport nothing;
            nothing.outcome = Outcome::out_of_memory;
            return nothing;
        }
    }

    const GpuJudged<S>&   judged_;
    GpuJudgeWorkspace<S>& room_;
    GpuAccuracy<S>        accuracy_;
    const StopToken&      stop_;
    double                rows_known_ = 0;  // ‖A z‖ of a known answer
    double                own_ = 1;         // max |A t|_i / (|A||t|)_i of what is missed
};

}  // namespace

template <Scalar S>
bool finish_on_gpu(const GpuJudged<S>& judged, const KrylovOptions& krylov, const Standard& standard,
                   Witness<S>& witness, const StopToken& stop, Attempt& tried)
{
    GpuSide<S> side(judged, stop);
    return finish_by(side, krylov, standard, &witness, stop, tried);
}

#define ILUX_INSTANTIATE(S)                                                                              \
    template bool finish_on_gpu(const GpuJudged<S>&, const KrylovOptions&, const Standard&, Witness<S>&, \
                                const StopToken&, Attempt&);
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux

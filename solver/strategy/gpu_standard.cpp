#include "ilux/solver/strategy/gpu_standard.hpp"

#include "ilux/base/instances.hpp"
#include "ilux/solver/report/gpu_accuracy.hpp"
#include "ilux/solver/strategy/corrections.hpp"

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
    GpuSide(GpuSystem<S>& system, const ProgressListener& on_progress, const StopToken& stop)
        : system_(system),
          room_(system.room()),
          accuracy_(system.gpu(), rows_of(system.matrix()), {room_.r, room_.size, room_.row_size}),
          on_progress_(on_progress),
          stop_(stop)
    {}

    /// Numbers that only the host can measure count as not finite: a correction to such an x is taken back.
    Accuracy measure()
    {
        const auto measured = accuracy_.measure(system_.x(), system_.b());
        if (!measured) return {.relative_residual = INFINITY, .backward_error = INFINITY, .rowwise = INFINITY};
        return *measured;
    }
    void  precondition() { system_.precondition(accuracy_.r(), DeviceSpan<S>(room_.d)); }
    void  note_error(Accuracy& accuracy) { accuracy_.note_error(system_.x(), room_.d, accuracy); }
    bool  d_is_zero() { return norm2<S>(gpu(), room_.d) == 0; }
    Index size() const { return system_.matrix().rows(); }

    IterationReport solve_for_correction(bool scaled, const KrylovOptions& krylov)
    {
        if (scaled) accuracy_.equilibrate(room_.D, room_.inverse);
        else
            for (auto* ones : {&room_.D, &room_.inverse}) fill<S>(gpu(), 1, *ones);
        multiply<S>(gpu(), room_.D, accuracy_.r(), room_.scaled);
        fill<S>(gpu(), 0, room_.d);
        try {
            return system_.solve_rows_scaled(room_.D, room_.inverse, room_.scaled, room_.d, krylov, on_progress_,
                                             stop_);
        } catch (const OutOfMemory&) {  // x stays as good as it is
            IterationReport nothing;
            nothing.outcome = Outcome::out_of_memory;
            return nothing;
        }
    }

    void add_correction()
    {
        copy<S>(gpu(), system_.x(), room_.former);
        axpy<S>(gpu(), 1, room_.d, system_.x());
    }
    void take_back() { copy<S>(gpu(), room_.former, system_.x()); }

private:
    Gpu& gpu() { return system_.gpu(); }

    GpuSystem<S>&                system_;
    typename GpuSystem<S>::Room& room_;
    GpuAccuracy<S>               accuracy_;
    const ProgressListener&      on_progress_;
    const StopToken&             stop_;
};

}  // namespace

template <Scalar S>
bool finish_on_gpu(GpuSystem<S>& system, const KrylovOptions& krylov, const Standard& standard,
                   const ProgressListener& on_progress, const StopToken& stop, Attempt& tried)
{
    try {
        (void)system.room();
    } catch (const OutOfMemory&) {
        return false;
    }
    GpuSide<S> side(system, on_progress, stop);
    finish_by(side, krylov, standard, stop, tried);
    return tried.accuracy.finite;
}

#define ILUX_INSTANTIATE(S)                                                                                    \
    template bool finish_on_gpu(GpuSystem<S>&, const KrylovOptions&, const Standard&, const ProgressListener&, \
                                const StopToken&, Attempt&);
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux

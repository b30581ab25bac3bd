#pragma once
// The level loop of the rounds on a device. Internal to gpu_rounds/.

#include "ilux/precond/gpu_rounds/gpu_rounds.hpp"
#include "ilux/precond/gpu_rounds/rounds_state.hpp"
#include "ilux/precond/gpu_rounds/steps.hpp"
#include "ilux/precond/mlilu/mlilu_choice.hpp"

namespace ilux {

/// The level loop of MlIluBuilder for levels in rounds alone; gives up where that one would go on by Crout's sweep, or
/// where the rounds of a plan do not suit A.
template <Scalar S>
class GpuRoundsBuilder {
public:
    GpuRoundsBuilder(Cpu& cpu, Gpu& gpu, const DeviceCsr<S>& A, const MlIluOptions& options,
                     const ProgressListener& on_progress, const StopToken& stop, const GpuRoundsPlan* plan = nullptr);

    /// `decision` and the time of what was given up go to the report.
    void note(std::string decision, const MlIluReport& seconds_lost);

    GpuRounds<S> run(bool in_single);

private:
    bool                        make_levels();
    void                        damp();
    bool                        is_last() const;
    bool                        may_invert_rest() const;
    void                        tell(Index done, Index total) const;
    bool                        scale_level();
    bool                        may_begin(const rounds::DiagonalFacts& found);
    bool                        match(rounds::MatchedLevel& level);
    bool                        eliminate_level();
    bool                        round(const RoundsOptions& options, MlIluLevelReport& level);
    rounds::Counters            set_of_round(const RoundsOptions& options, Index number);
    const GpuRoundsPlan::Level* kept_level() const
    {
        return plan_ ? &plan_->levels[made_.report_.levels.size()] : nullptr;
    }
    bool go_on(const RoundsOptions& options, const MlIluLevelReport& level) const;
    void judge_level(const MlIluLevelReport& level);
    void assemble(bool in_single);
    template <class T>
    std::shared_ptr<const RoundsFactors<T>> assembled(const DeviceBuffer<S>& W);
    DeviceBuffer<S>                         inverse_of_rest();

    Cpu&                    cpu_;
    Gpu&                    gpu_;
    const MlIluOptions&     opt_;
    const ProgressListener& on_progress_;
    const StopToken&        stop_;
    const Offset            nnz_;
    const Index             tail_;
    const Offset            most_entries_;
    const GpuRoundsPlan*    plan_;
    GpuRoundsPlan           next_plan_;
    rounds::RoundsState<S>  state_;
    LevelMatrix             level_;
    GpuRounds<S>            made_;
};

}  // namespace ilux

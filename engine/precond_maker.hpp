#pragma once
// M of an iteration: made for some numbers of A, and by the rounds of an M before where these serve again.

#include <functional>
#include <optional>
#include <string>

#include "ilux/engine/gpu_system.hpp"

namespace ilux {

/// Who listens to a try, and whether its residuals are kept.
struct AttemptListener {
    ProgressListener on_progress = {};
    bool             keep_history = false;
};

/// Makes M as a plan has it, and holds it.
template <Scalar S = double>
class PrecondMaker {
public:
    /// What M is made for, and where.
    struct Task {
        const CsrView<S>&            A;
        const std::function<void()>& bring_values;     ///< A's newest values to the host, before that looks at them
        Machine&                     machine;          ///< whose host factors
        GpuSystem<S>*                there = nullptr;  ///< A on a GPU, where M may be made, too; or null
        const AttemptListener&       listener;
        const StopToken&             stop;  ///< gives a multilevel factorization in progress up
    };

    explicit PrecondMaker(Bytes limit) : limit_(limit) {}

    /// M as the plan asks for it; for a GPU with off_diagonal and depth_bound as suit one, where they are left to us.
    /// @return whether there is one; where not, `tried` says why: a zero pivot, overflow, lack of time, cancellation
    /// @throws OutOfMemory, DeviceError
    bool make(const Task& task, Attempt& tried);

    /// The M at hand goes, and another is to be made: by its rounds where it has some, and the options are the same.
    void begin_next();
    void drop();
    /// The next M is made without a look at the rounds of the one at hand.
    void forget_rounds() { made_by_.reset(); }
    /// No other M is to be made by the former rounds.
    void end_next() { former_.reset(); }

    const PrecondFactors<S>& factors() const { return factors_; }
    /// Gives every M from now on this null space.
    void set_null_space(std::shared_ptr<const NullSpace<S>> space) { factors_.null_space = std::move(space); }

private:
    /// What M is made of.
    struct MatrixOfM;
    /// What a later M may be made by.
    struct FormerRounds {
        std::optional<RoundsPlan>    on_host = {};  // one of the two
        std::optional<GpuRoundsPlan> on_gpu = {};
        MlIluOptions                 options;
    };
    std::optional<FormerRounds> rounds_at_hand() const;
    std::optional<GpuRounds<S>> made_there(const Task& task, const MlIluOptions& options, MatrixOfM& source,
                                           const ProgressListener& on_progress, Attempt& tried);
    MlIlu<S>                    made_here(const Task& task, const MlIluOptions& asked, const MatrixOfM& source,
                                          const ProgressListener& on_progress, Attempt& tried);
    bool        add_coarse(const Task& task, const MlIluOptions& of_M, MatrixOfM& source, Attempt& tried);
    std::string why_not_coarse(const Task& task, const MlIluOptions& of_M, MatrixOfM& source, Attempt& tried);
    bool        make_mlilu(const Task& task, const ProgressListener& on_progress, Attempt& tried, bool lumps);
    bool        make_kind(const Task& task, const ProgressListener& on_progress, Attempt& tried);

    Bytes                       limit_;  // of what has no limit of its own
    PrecondFactors<S>           factors_;
    std::optional<MlIluOptions> made_by_;  // of factors_.mlilu or .rounds
    std::optional<FormerRounds> former_;   // of the M before, while another is made
};

}  // namespace ilux

#pragma once
// Systems of one pattern solved together by the pivots of one factorization, and each x judged.

#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "ilux/direct/batch/lu_batch.hpp"
#include "ilux/direct/lu/lu.hpp"
#include "ilux/engine/report/batch_report.hpp"
#include "ilux/engine/lu_judge.hpp"
#include "ilux/engine/witness/known_answer.hpp"

namespace ilux {

/// A_m x_m = b_m for m = 0 … count − 1, of one pattern: values, right-hand sides and solutions, member after member.
template <Scalar S = double>
struct BatchSystems {
    std::span<const S> values, b;  ///< count·nnz, count·n
    std::span<S>       x;          ///< count·n
    std::size_t        n = 0, nnz = 0;
    Index              count = 0;

    std::span<const S> values_of(std::size_t m) const { return values.subspan(m * nnz, nnz); }
    std::span<const S> b_of(std::size_t m) const { return b.subspan(m * n, n); }
    std::span<S>       x_of(std::size_t m) const { return x.subspan(m * n, n); }
    BatchSystems<S>    part(Index first, Index many) const
    {
        const auto at = static_cast<std::size_t>(first), size = static_cast<std::size_t>(many);
        return {values.subspan(at * nnz, size * nnz),
                b.subspan(at * n, size * n),
                x.subspan(at * n, size * n),
                n,
                nnz,
                many};
    }
};

/// What became of one of them.
struct MemberOutcome {
    Alone        alone = Alone::none;  ///< why x is not to be used
    std::string  why;                  ///< with figures, or ""
    PivotMonitor monitor;
    RefineReport refine;
    Index        corrections = 0;  ///< of x by residuals in twice the precision
    Accuracy     accuracy;
};
/// A member's try, as a solver reports it.
struct BatchAttempt {
    Attempt     tried;
    Alone       alone = Alone::none;
    std::string why;
};

/// Members that are worked on together: on a GPU as many as fit, on the host one.
template <Scalar S = double>
class BatchGroup {
public:
    /// @throws as LuBatch
    BatchGroup(Gpu* gpu, const SolverOptions& options, std::shared_ptr<const LuSymbolic> symbolic, const LuPivots& by,
               Index members, std::size_t most_bytes);

    Index       room() const { return batch_.room(); }
    bool        on_gpu() const { return batch_.on_gpu(); }
    std::size_t bytes() const;  ///< of the host

    /// x refined, measured and corrected as DirectSolver does it. Members whom the pivots do not serve are alone.
    /// @param cpu  its threads share the members where x is measured
    /// @param A    of their pattern; its values are not looked at
    void   solve(Cpu& cpu, const CsrView<S>& A, const BatchSystems<S>& systems, double rtol,
                 std::span<MemberOutcome> tries);
    double seconds_factor() const { return seconds_factor_; }  ///< of the last solve
    double seconds_solve() const { return seconds_solve_; }

private:
    void judge_pivots_of(std::size_t m, MemberOutcome& tried) const;
    void measure_those(Cpu& cpu, const CsrView<S>& A, std::span<const std::size_t> which,
                       const BatchSystems<S>& systems, std::span<MemberOutcome> tries);
    void leave_singular_alone(Cpu& cpu, const CsrView<S>& A, const BatchSystems<S>& systems,
                              std::span<MemberOutcome> tries);
    void improve(Cpu& cpu, const CsrView<S>& A, const BatchSystems<S>& systems, std::span<MemberOutcome> tries);

    SolverOptions                     options_;
    std::shared_ptr<const LuSymbolic> symbolic_;
    LuPivots                          by_;
    LuBatch<S>                        batch_;
    std::vector<BatchMember>          member_;
    std::vector<Residual<S>>          residual_;  // by member
    std::vector<S> r_, e_, best_;  // n each, by member: b − A x; A⁻¹ r; the x before a correction, or a known solution
    double         seconds_factor_ = 0, seconds_solve_ = 0;
};

/// Systems together by the pivots of one factorization, which stay as they are: on a GPU one group, on the host a group
/// a thread, whose members are whichever comes next.
template <Scalar S = double>
class DirectBatch {
public:
    /// @param cpu  its threads take part  @param gpu  null: the host; else it must outlive this
    /// @param members  that are wanted together  @param most_bytes  of the GPU, or of the host
    /// @throws as LuBatch
    DirectBatch(Cpu& cpu, Gpu* gpu, const SolverOptions& options, const std::shared_ptr<const LuSymbolic>& symbolic,
                const LuPivots& by, Index members, std::size_t most_bytes);

    Index room() const { return on_gpu() ? group_.front().room() : wanted_; }  ///< members of a solve at most
    Index wanted() const { return wanted_; }
    bool  on_gpu() const { return group_.front().on_gpu(); }

    /// @param tries  as many as there are systems, at most room()
    void   solve(const CsrView<S>& A, const BatchSystems<S>& systems, double rtol, std::span<MemberOutcome> tries);
    double seconds_factor() const { return seconds_factor_; }  ///< of the last solve, all members
    double seconds_solve() const { return seconds_solve_; }

private:
    Cpu                        cpu_;
    Index                      wanted_;
    std::vector<BatchGroup<S>> group_;
    double                     seconds_factor_ = 0, seconds_solve_ = 0;
};

}  // namespace ilux

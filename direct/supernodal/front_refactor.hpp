#pragma once
// Numbers of a supernodal LU on host threads: multifrontal, pivots chosen anew within each front.

#include <memory>
#include <span>
#include <vector>

#include "ilux/base/stop_token.hpp"
#include "ilux/direct/factor/lu_factors.hpp"
#include "ilux/direct/supernodal/front_assembly.hpp"
#include "ilux/direct/supernodal/front_dense.hpp"
#include "ilux/direct/supernodal/front_schedule.hpp"

namespace ilux {

/// Factors one system after another of one plan. Each front is assembled from its inputs and from what its children
/// left [duff_reid_83], its pivot columns are factored with partial pivoting among its pivot rows, and the rest goes to
/// its parent. The bits do not depend on the number of threads; they do on the BLAS. Serves one caller at a time.
template <Scalar S = double>
class FrontRefactor {
public:
    /// Makes the schedule; what a run needs is allocated by the first one. @throws OutOfMemory
    explicit FrontRefactor(std::shared_ptr<const FrontPlan> plan);

    /// val, f_val, swap and monitor of `factors`, whose pattern is of front_pattern. Pivots next to 0 are replaced and
    /// counted; the monitor's bad_column is the first column of zeros, or with NaN or Inf. Columns are numbered as in
    /// the pattern.
    /// @param values  as many as the analysed matrix has, in the caller's order
    /// @param stop    asked before each task; then the monitor's `stopped` says so and column 0 is a bad one
    /// @throws InvalidInput for another number of values; OutOfMemory
    void run(Cpu& be, std::span<const S> values, LuFactors<S>& factors, const StopToken& stop = {});

    /// How many threads a run has work for, at most those of `be`.
    int                  threads(const Cpu& be) const;
    const FrontSchedule& schedule() const { return *schedule_; }
    std::size_t          bytes() const;

private:
    class Run;
    struct OfThread {
        LuValues<S>            stacks;  // both of FrontSchedule, behind each other; made by the thread itself
        std::vector<FrontRuns> runs;    // of the children at hand
    };

    std::shared_ptr<const FrontSchedule> schedule_;
    LuValues<S>                          arena_;
    std::vector<OfThread>                threads_;
    std::vector<double>                  B_sizes_, U_sizes_;  // n each: largest size of a column
    std::vector<double>     left_sizes_;  // of tree.row: largest sizes of U in update columns, of the subtree
    std::vector<PivotsSeen> seen_;        // by front
};

}  // namespace ilux

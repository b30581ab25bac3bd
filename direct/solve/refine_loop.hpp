#pragma once
// Iterative refinement, wherever its vectors are [arioli_demmel_duff_89].

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

#include "ilux/direct/analysis/lu_options.hpp"
#include "ilux/direct/solve/lu_solve.hpp"

namespace ilux::detail {

/// When the refinement of one x ends, and which iterate it keeps. Backward errors are componentwise; one that is not
/// finite says that the vector or its residual is not.
class RefineLoop {
public:
    /// @param error  of the x to begin with
    RefineLoop(const LuOptions& options, double error)
        : error_(error),
          target_(std::max(2 * std::numeric_limits<double>::epsilon(), options.refine_target)),
          most_(options.refine_steps)
    {
        note(error);
    }

    /// Whether another correction is to be tried.
    bool goes_on() const { return !ended_ && error_ > target_ && error_ < infinity && steps_ < most_; }
    /// @param next  backward error of the corrected x  @return whether that is the better one
    bool take(double next)
    {
        ++steps_;
        note(next);
        const bool better = next < error_;
        ended_ = !better || next > error_ / 2;
        if (better) error_ = next;
        return better;
    }
    RefineReport report() const
    {
        const bool finite = error_ < infinity;
        return {.steps = steps_,
                .backward_error = finite ? error_ : infinity,
                .finite = finite,
                .first_errors = first_errors_};
    }

private:
    static constexpr double infinity = std::numeric_limits<double>::infinity();

    void note(double error)
    {
        if (steps_ < std::ssize(first_errors_)) first_errors_[steps_] = error;
    }

    double                               error_, target_;
    Index                                most_, steps_ = 0;
    bool                                 ended_ = false;  // the last correction was of little use, or none
    decltype(RefineReport::first_errors) first_errors_ = {};
};

/// @param measure  () → backward error of x; r ← b − A x
/// @param correct  () → that of d; d ← x + A⁻¹ r, then r ← b − A d
/// @param accept   (): x ← d
template <class Measure, class Correct, class Accept>
RefineReport refine(const LuOptions& options, Measure&& measure, Correct&& correct, Accept&& accept)
{
    RefineLoop loop(options, measure());
    while (loop.goes_on())
        if (loop.take(correct())) accept();
    return loop.report();
}

}  // namespace ilux::detail

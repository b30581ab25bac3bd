#pragma once
// Iterative refinement, wherever its vectors are [arioli_demmel_duff_89].

#include <algorithm>
#include <cmath>
#include <limits>

#include "ilux/direct/lu_options.hpp"
#include "ilux/direct/lu_solve.hpp"

namespace ilux::detail {

/// Backward errors are componentwise; one that is not finite says that the vector or its residual is not.
/// @param measure  () → that of x; r ← b − A x
/// @param correct  () → that of d; d ← x + A⁻¹ r, then r ← b − A d
/// @param accept   (): x ← d
template <class Measure, class Correct, class Accept>
RefineReport refine(const LuOptions& options, Measure&& measure, Correct&& correct, Accept&& accept)
{
    constexpr double infinity = std::numeric_limits<double>::infinity();
    const double     target = std::max(2 * std::numeric_limits<double>::epsilon(), options.refine_target);
    RefineReport     report;
    double           error = measure();
    while (error > target && error < infinity && report.steps < options.refine_steps) {
        ++report.steps;
        const double next = correct();
        if (!(next < error)) break;
        accept();
        const bool slow = next > error / 2;
        error = next;
        if (slow) break;
    }
    report.finite = error < infinity;
    report.backward_error = report.finite ? error : infinity;
    return report;
}

}  // namespace ilux::detail

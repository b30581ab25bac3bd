#pragma once
// What a factorization with given pivots saw of their quality, and what follows from it.

#include <limits>
#include <string>

#include "ilux/base/enum_names.hpp"
#include "ilux/base/stop_token.hpp"
#include "ilux/base/types.hpp"
#include "ilux/direct/analysis/lu_options.hpp"

namespace ilux {

/// Gathered column by column inside the factorization; columns are numbered as in LuPattern.
struct PivotMonitor {
    Index      bad_column = -1;     ///< first column whose pivot is zero or whose values are not finite; −1: none
    bool       not_finite = false;  ///< the bad column holds NaN or Inf, rather than a zero pivot
    StopReason stopped =
        StopReason::none;  ///< why not none, the bad column is merely the first that gilbert_peierls left
    double min_pivot = std::numeric_limits<double>::infinity();  ///< smallest |u_kk|
    double max_pivot = 0;
    double rgrowth =
        std::numeric_limits<double>::infinity();  ///< min over k of max|B(:,k)| / max|U(:,k)| [davis_palamadai_10]
    Index  growth_column = -1;                    ///< where that is
    double max_multiplier = 0;                    ///< largest |l_ik|
    Index  multiplier_column = -1;
    bool   overfilled = false;  ///< the work ended at bad_column because L + U had passed most_entries
    Index  replaced = 0;        ///< pivots of fronts that were next to 0 and made larger

    double rcond() const
    {
        return max_pivot > 0 ? min_pivot / max_pivot : 0;
    }  ///< KLU's cheap estimate; 1 for n = 0 is the caller's to say
};

/// What becomes of a column whose pivot is zero or whose values are not finite.
enum class BadPivots {
    end,   ///< the work ends there
    keep,  ///< it is kept as it is, and the work goes on; what is divided by its pivot is Inf or NaN
};

/// What the monitors say of pivots chosen for other values.
enum class PivotState {
    good,
    large_growth,      ///< rgrowth < 1 / growth_limit: refactoring with new pivots is advised
    large_multiplier,  ///< some |l| > 1 / pivot_tol: threshold pivoting would have chosen another pivot
    zero_pivot,
    not_finite,
};

/// The decision table of docs/design/direct.md. For pivots just chosen by threshold pivoting only zero_pivot and
/// not_finite are failures.
PivotState judge(const PivotMonitor& monitor, const LuOptions& options);

constexpr auto names(PivotState)
{
    return words("good", "large_growth", "large_multiplier", "zero_pivot", "not_finite");
}

}  // namespace ilux

#pragma once
// What a batch of systems through LinearSolver reports.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ilux/base/enum_names.hpp"
#include "ilux/engine/report/solver_report.hpp"

namespace ilux {

/// Why a member of a batch was not solved together with the others.
enum class Alone {
    none,           ///< it was
    stale,          ///< the former pivots are stale for its values
    failed,         ///< they met a zero pivot, or numbers overflowed
    near_singular,  ///< its factors do not find a known solution
    inaccurate,     ///< x does not meet the standard
};
constexpr auto names(Alone) { return words("none", "stale", "failed", "near_singular", "inaccurate"); }

/// How the members of one batch or more were solved.
struct BatchCounts {
    /// Those that were tried together with others and then solved alone, for one kind of reason.
    struct Kind {
        Alone       alone = Alone::none;
        Index       count = 0, first = -1;
        std::string why;  ///< of the first
    };
    Index             members = 0, at_once = 0;  ///< all; those that were solved together with others
    Index             together = 0;              ///< the most at a time
    std::vector<Kind> kinds = {};

    void note(Alone alone, Index member, const std::string& why);
    /// @param number  by member of `other`: what it is called here
    void add(const BatchCounts& other, std::span<const Index> number);
    /// Sentences with these figures. @param what  "member" or "system"
    std::vector<std::string> decisions(std::string_view what) const;
};

/// What became of the members of a batch.
struct [[nodiscard]] BatchReport {
    std::vector<SolverReport> members;  ///< as solve() reports, but x of the tries is empty: it is in X
    BatchCounts               counts;
    std::vector<std::string>  decisions;  ///< beside those of the counts, and of members in their own reports
    double                    seconds_factor = 0, seconds_solve = 0, seconds = 0;  ///< in all

    /// That of the first member that did not converge.
    Outcome outcome() const;
    bool    converged() const { return outcome() == Outcome::converged; }
};

/// Every choice made about the batch; members that were solved alone have others in their reports.
std::vector<std::string> all_decisions(const BatchReport& report);

}  // namespace ilux

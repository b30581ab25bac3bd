#pragma once
// One level of the multilevel ILU, eliminated in rounds: sets of pivots that do not see one another, instead of one
// after another.

#include <functional>
#include <string>
#include <vector>

#include "ilux/base/cpu.hpp"
#include "ilux/precond/crout/crout_ilu.hpp"
#include "ilux/precond/rounds/round_eliminate.hpp"
#include "ilux/precond/rounds/round_set.hpp"
#include "ilux/precond/rounds/rounds_plan.hpp"

namespace ilux {

/// What one level is made by, and where it ends.
struct RoundsOptions {
    RoundBounds   bounds;
    RoundDropping dropping;
    Index         enough = 0;          ///< the level ends when so few rows are left
    double        least_share = 0.02;  ///< or a round finds fewer pivots than this share of its rows
    double        most_entries = 0;    ///< or its factors and S together have more entries; 0: no limit
    /// These rounds and no others, whatever `enough` and `least_share` are, within `bounds`, which should be
    /// bounds_of_replay().
    const RoundsOfLevel* kept = nullptr;
    Index  most_rounds = 0;  ///< or there were so many rounds; 0: no limit. Chains of L and U are no longer
    double drop_growth = 1;  ///< by which dropping.drop_tol grows from round to round

    /// @param round  of the level, from 0
    RoundDropping dropping_in(Index round) const;
};

/// A level as crout_ilu makes it, and what goes on to the next one.
template <class T = double>
struct RoundsLevel {
    CroutLevel<T>       factors;
    CsrMatrix<T>        S;             ///< of the rows postponed, in their order
    std::vector<double> t;             ///< the test vectors there
    std::vector<Index>  round_ends;    ///< among the pivots
    double              cut = 0;       ///< MlIluLevelReport::cut
    bool                full = false;  ///< most_entries ended it
    std::string         why_not;       ///< why the rounds kept do not suit A, or ""; then there are no factors
    RoundSeconds        seconds;       ///< all but the tail

    Index rounds() const { return static_cast<Index>(round_ends.size()); }
};

/// @param A  n×n, scaled so that entries are about 1; consumed
/// @param t  test vectors, n × how many, no row 0: what is dropped from a row of S changes S t as little as may be
/// With τ_S = 0, θ = 0 the factors are exact up to rounding, whatever is postponed.
template <Scalar T>
RoundsLevel<T> rounds_ilu(Cpu& be, CsrMatrix<T> A, std::vector<double> t, const RoundsOptions& options,
                          const std::function<void(Index)>& tell = {});

}  // namespace ilux

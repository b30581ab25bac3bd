#pragma once
// What a setup in rounds has decided, enough to eliminate other matrices of the same pattern by the same rounds, and
// where its time went.

#include <vector>

#include "ilux/base/enum_names.hpp"
#include "ilux/base/types.hpp"

namespace ilux {

/// The rounds of a level of n rows, and what was done to it before them.
struct RoundsOfLevel {
    std::vector<double> row_scale = {}, col_scale = {};  ///< n, of a matching; none where none has moved a row
    std::vector<Index>  col_of_row = {};  ///< n: the diagonal entry of row i is in this column; none likewise
    std::vector<Index>  pivots;           ///< of all rounds, one round after another; ascending in each
    std::vector<Index>  ends;             ///< of each round, in `pivots`
    double              cut = 0;          ///< MlIluLevelReport::cut

    bool matched() const { return !col_of_row.empty(); }
};

/// Whether what rounds drop is added to the diagonal; automatic: where nearly all rows are diagonally dominant as they
/// stand. lumped: its magnitude to both diagonals, for a Hermitian A with a positive diagonal.
enum class Compensation { automatic, on, off, lumped };

constexpr auto names(Compensation) { return words("auto", "on", "off", "lumped"); }

/// All levels in rounds, from the first on.
struct RoundsPlan {
    Index                      n = 0;
    std::vector<RoundsOfLevel> levels = {};  ///< at least one
    Compensation               compensation = Compensation::off;
    bool                       crout_follows = false;  ///< what these levels left went to Crout's sweep
};

/// Seconds of a setup in rounds, of all levels; what is left of seconds_factor stores levels and plans their solves.
struct RoundSeconds {
    double sets = 0;       ///< choosing pivots, Sᵀ included
    double eliminate = 0;  ///< D, L, U and S of each round
    double assemble = 0;   ///< rounds put together as a level
    double tail = 0;       ///< the last level: dense, or its diagonal; by Crout's sweep, too
};

}  // namespace ilux

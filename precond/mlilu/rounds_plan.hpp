#pragma once
// What a setup in rounds has decided: enough to eliminate other matrices of the same pattern by the same rounds.

#include <vector>

#include "ilux/base/types.hpp"

namespace ilux {

/// The rounds of a level of n rows, and what was done to it before them.
struct RoundsOfLevel {
    std::vector<double> row_scale, col_scale;  ///< n
    std::vector<Index>  col_of_row;            ///< n: the diagonal entry of row i is in this column
    std::vector<Index>  pivots;                ///< of all rounds, one round after another; ascending in each
    std::vector<Index>  ends;                  ///< of each round, in `pivots`
    double              cut = 0;               ///< MlIluLevelReport::cut
};

/// All levels in rounds, from the first on.
struct RoundsPlan {
    Index                      n = 0;
    std::vector<RoundsOfLevel> levels = {};  ///< at least one
    bool                       compensates = false;
    bool                       crout_follows = false;  ///< what these levels left went to Crout's sweep
};

}  // namespace ilux

#pragma once
// LU of the pivot columns of one front, pivots chosen among its pivot rows.

#include <span>

#include "ilux/base/types.hpp"

namespace ilux {

/// What the pivots of some columns were like.
struct PivotsSeen {
    double least, largest, multiplier;  ///< of |pivot| and of |l|
    double rgrowth;                     ///< least max |B(:,j)| / max |U(:,j)|
    Index  multiplier_column = -1, growth_column = -1;
    Index  infinite = -1;  ///< the first column with a U that is not finite
    Index  replaced = 0;
    Index  bad = -1;  ///< the first column without a pivot, or with NaN or Inf
    bool   not_finite = false;

    PivotsSeen();
    /// Takes the growth of column j, which comes after those already taken.
    void take_growth(Index j, double of_column, bool finite)
    {
        if (of_column < rgrowth) rgrowth = of_column, growth_column = j;
        if (!finite && infinite < 0) infinite = j;
    }
};

/// a ← L and U of columns `first` … `first + columns − 1` of an m × k panel, whose earlier columns have been applied to
/// them. Rows change places within these columns only: swap[i] is the row that row i changed with.
/// @param a      the panel, by columns, ld = m
/// @param k      pivots come from the first k rows
/// @param sizes  k; largest size of each column in B: a pivot below least_pivot of it is replaced, 0 means none is
/// possible
/// @param swap   k; entries of these columns are set
template <class S>
void factor_panel(S* a, Index m, Index k, Index first, Index columns, std::span<const double> sizes,
                  std::span<Index> swap, PivotsSeen& seen);

/// Exchanges rows first … last − 1 with those of swap in `columns` columns of leading dimension ld.
template <class S>
void exchange_rows(S* a, Index ld, Index columns, Index first, Index last, std::span<const Index> swap);

}  // namespace ilux

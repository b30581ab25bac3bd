#pragma once
// Which unknowns are not determined: x may move along a vector t that A takes nearly to 0, and no row tells.

#include <limits>
#include <span>
#include <string>
#include <vector>

#include "ilux/base/matrix/csr.hpp"
#include "ilux/engine/report/accuracy.hpp"
#include "ilux/engine/witness/constant_vectors.hpp"

namespace ilux {

/// A change of a row by this share of its terms is rounding.
inline constexpr double rounding_share = 4 * std::numeric_limits<double>::epsilon();

/// How far x may move along t, and who moves.
struct Undetermined {
    /// The largest change of an unknown, as a share of it, by a multiple of t that changes each row of A x by 4 ε
    /// (|A||x| + |b|)_i at most. Inf: rounding hides any multiple.
    double             share = 0;
    Index              count = 0;      ///< unknowns that change by more than 0.5 % then
    std::vector<Index> unknowns = {};  ///< the first ten of them

    bool any() const { return count > 0; }
};

/// @param t         n, any length  @param residual  of x, whose sizes are taken
/// Where |A t|_i is below 4 ε (|A||t|)_i it counts as 0: t is known to no more digits. A pass over A.
template <Scalar S = double>
Undetermined undetermined_along(const CsrView<S>& A, std::span<const NotDeduced<S>> t, std::span<const NotDeduced<S>> x,
                                const Residual<S>& residual);

/// "A is singular: x is one of many; 12 of 300 unknowns are not determined: 3, 8, 9 (counted from 1)", or "nearly
/// singular".
std::string undetermined_text(const Undetermined& found, Index n);
/// "x is determined up to a constant in each of 3 parts", in the words for these sets. @param sets  those that x may
/// move along
std::string undetermined_text(std::span<const LooseSet* const> sets, double share, Index n);

}  // namespace ilux

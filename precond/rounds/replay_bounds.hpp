#pragma once
// What pivots that were chosen for other numbers have to keep to, on whatever machine.

#include <limits>
#include <string>

#include "ilux/precond/rounds/round_set.hpp"

namespace ilux {

/// What pivots chosen for other numbers have to keep to: 4 κ and 10 γ. An update that grows is measured by the largest
/// entry, which need not be about 1 where the scale factors of an old matching meet new numbers.
inline RoundBounds bounds_of_replay(RoundBounds bounds, double largest_entry)
{
    bounds.inverse *= 4;
    bounds.growth *= 10 * largest_entry;
    return bounds;
}

/// What may be cut from a level's rows between pivots of one round, where `cut` was when the rounds were chosen; both
/// as MlIluLevelReport::cut.
constexpr double most_cut(double cut)
{
    constexpr double factor = 3, unseen = 0.01;
    return factor * (cut > unseen ? cut : unseen);
}

/// The worst of all pivots of a round; NaN stays.
struct WorstPivot {
    double smallest =
        std::numeric_limits<double>::infinity();  ///< |s_kk|, or its real part where that must be positive
    double growth = 0, inverse_L = 0, inverse_U = 0;

    void add(const WorstPivot& other);
};
/// What speaks against pivots no better than `worst`, or "".
std::string why_not(const WorstPivot& worst, const RoundBounds& bounds);
/// What speaks against a level of which so much was cut, or "".
std::string why_not_cut(double cut, double most);

}  // namespace ilux

#pragma once
// What a pivot must keep to, and how far that is relaxed where a level would postpone almost all of its rows.

#include "ilux/base/types.hpp"

namespace ilux {

/// What a sweep made of the n rows of a level.
struct SweepCounts {
    Index n = 0, accepted = 0, postponed = 0;
    Index too_deep = 0;  ///< of those postponed: for the depth bound
};

/// κ, γ and the depth bound of the next sweep. A level is swept until relax() finds that its sweep stands.
class PivotBounds {
public:
    /// What relax() did. Only the last one ends the level.
    enum class Relief {
        depth,   ///< the depth bound was doubled: chains are most of the reason
        pivots,  ///< κ and γ were doubled
        all,     ///< κ and γ were lifted, for this level alone: it accepts nothing, and is too large to go dense
        none,    ///< the sweep stands
    };
    static constexpr double stalled_share = 0.75;  ///< a level that postpones more has stalled
    static constexpr int    most_doublings = 4;    ///< of κ and γ within a level

    /// @param depth  0: chains of any length
    PivotBounds(double kappa, double gamma, Index depth) : kappa_(kappa), gamma_(gamma), depth_(depth) {}

    double kappa() const { return kappa_; }
    double gamma() const { return gamma_; }
    Index  depth() const { return depth_; }

    /// Relaxes one of them where the sweep stalled. A level that ends leaves its bounds to the next one.
    Relief relax(const SweepCounts& sweep);

private:
    void double_pivots();
    void lift_pivots();
    void end_level();

    double kappa_, gamma_;
    Index  depth_;
    int    doublings_ = 0;                        // of κ and γ on this level
    bool   lifted_ = false;                       // they are, and
    double kappa_before_ = 0, gamma_before_ = 0;  // what they were when this level began
};

}  // namespace ilux

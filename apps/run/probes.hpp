#pragma once
// The unknowns that a frequency sweep tells of.

#include <complex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ilux/apps/draw/transfer_curve.hpp"

namespace ilux::app {

/// "3" or "3,1,7": unknowns counted from 1, in that order. @throws InvalidOption for anything else, and for one that
/// stands twice
std::vector<Index> parse_probes(std::string_view text);

/// Takes them out of one x after another. Where none were named, that is the unknown that is the largest in the first
/// x.
class Probes {
public:
    /// @param n  of x  @throws InvalidOption for an unknown above n
    Probes(std::vector<Index> unknowns, Index n);

    /// @param x  n, or empty where there is none
    CurvePoint at(double frequency, std::span<const std::complex<double>> x);

    const std::vector<Index>& unknowns() const { return unknowns_; }  ///< empty while none is chosen
    /// What was chosen for the user; "" where nothing was.
    const std::string& decision() const { return decision_; }

private:
    std::vector<Index> unknowns_;
    std::string        decision_;
};

}  // namespace ilux::app

#pragma once
// Some unknowns over frequency: as a table and as curves of magnitude and phase.

#include <complex>
#include <string>
#include <vector>

#include "ilux/apps/draw/line_plot.hpp"
#include "ilux/base/types.hpp"

namespace ilux::app {

/// An unknown's value.
struct ProbedValue {
    Index                unknown = 1;  ///< counted from 1
    std::complex<double> value;
};

/// x at one frequency.
struct CurvePoint {
    double                   frequency = 0;  ///< in Hz
    std::vector<ProbedValue> probed = {};    ///< empty where there is no x
};

struct TransferCurve {
    std::vector<Index>      unknowns;  ///< counted from 1
    std::vector<CurvePoint> points;    ///< in any order; probed: in the order of `unknowns`, or empty
};

double decibel(std::complex<double> z);        ///< 20 log₁₀ |z|, −∞ for 0
double phase_degrees(std::complex<double> z);  ///< in [−180, 180]; 0 for 0

/// A head, and a line for each point in the order given: frequency_hz, and for each unknown magnitude_K, db_K,
/// phase_deg_K; nan where there is no x. Numbers have the shortest digits that read back to the same doubles.
std::string curve_csv(const TransferCurve& curve);

/// A drawing draws so many unknowns, the first ones.
inline constexpr std::size_t most_drawn = 8;
/// Over a logarithmic axis where all but f = 0, which it leaves out, spans a factor of ten or more. Points in ascending
/// order.
LinePlot magnitude_plot(const TransferCurve& curve);
LinePlot phase_plot(const TransferCurve& curve);  ///< broken where the phase jumps by more than 180°
/// What the plots leave out, or "".
std::string left_out(const TransferCurve& curve);

/// Both plots above one another with a legend, as a file of its own: colours included, white behind.
std::string curve_svg(const TransferCurve& curve);

}  // namespace ilux::app

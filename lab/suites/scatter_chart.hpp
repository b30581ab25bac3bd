#pragma once
// Points of two positive numbers of one kind, one against the other, as a self-contained SVG.

#include <string>
#include <utility>
#include <vector>

namespace ilux::app {

struct ScatterSeries {
    std::string                            name;
    std::vector<std::pair<double, double>> points = {};  ///< x, y; those not positive and finite are left out
};

/// Both axes are logarithmic and of one range, so that the diagonal, which is drawn, is where both numbers agree;
/// between the dashed lines beside it they are within a factor of two.
struct ScatterChart {
    std::string                title, subtitle, x, y;  ///< axes with their unit
    std::vector<ScatterSeries> series;
    std::vector<std::string>   notes = {};  ///< lines below
};

/// One SVG document of standard elements and no references.
std::string to_svg(const ScatterChart& chart);

}  // namespace ilux::app

#pragma once
// Stacked bars in groups, as a self-contained SVG.

#include <string>
#include <vector>

namespace ilux::app {

struct Bar {
    std::string         label;  ///< below it: a letter or two
    std::string         value;  ///< above it, upright
    std::vector<double> parts;  ///< from the axis upwards, ≥ 0; as many as the chart has part names
};

struct BarGroup {
    std::string      name;
    std::vector<Bar> bars;
};

struct BarChart {
    std::string              title, subtitle, axis;
    std::vector<std::string> parts;       ///< names, for the legend
    std::vector<std::string> notes = {};  ///< lines below
    std::vector<BarGroup>    groups;
    double                   top = 1;     ///< of the axis; what is higher is cut off, and its bar ends in a gap
    double                   bottom = 0;  ///< > 0: the axis is logarithmic from there on
};

/// One SVG document of standard elements and no references.
std::string to_svg(const BarChart& chart);

}  // namespace ilux::app

#pragma once
// Curves and points over two axes, as an SVG without colours of its own: a page's style gives them.

#include <optional>
#include <string>
#include <vector>

#include "ilux/apps/draw/plot.hpp"

namespace ilux::app {

struct PlotPoint {
    double x = 0, y = 0;
};

struct Curve {
    enum class Style { line, marks };
    std::string            name;
    std::vector<PlotPoint> points;  ///< ascending in x; one that is not finite is left out, and breaks a line
    Style                  style = Style::line;
};

struct LinePlot {
    std::string           title;  ///< for who cannot see it
    Axis                  x, y;
    std::vector<Curve>    curves;
    std::optional<double> level = {};       ///< a horizontal line, such as a tolerance
    std::string           level_name = {};  ///< beside it
};

/// At most about `most` of the points, which keep the first, the last, and the extremes of y in between.
std::vector<PlotPoint> thinned(const std::vector<PlotPoint>& points, std::size_t most);

/// One element `svg`, 400 × 270 before scaling. Classes: grid, axis, level; c0, c1, … for the curves in their order,
/// with line or marks; text is of the page's colour. Curves of more than 800 points are thinned. No references, no
/// style.
std::string to_svg(const LinePlot& plot);

}  // namespace ilux::app

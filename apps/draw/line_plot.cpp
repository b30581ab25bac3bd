#include "ilux/apps/draw/line_plot.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

namespace ilux::app {
namespace {

// Sizes of the drawing, before scaling. Text of size 12 is legible where 400 become the width of a phone.
constexpr double      width = 400, height = 270, room_left = 64, room_right = 12, room_above = 14, room_below = 44;
constexpr double      inner_width = width - room_left - room_right, inner_height = height - room_above - room_below;
constexpr std::size_t most_points = 800;

double place_x(const Axis& axis, double value) { return room_left + inner_width * axis.share(value); }
double place_y(const Axis& axis, double value) { return room_above + inner_height * (1 - axis.share(value)); }

std::string axes(const Axis& x, const Axis& y)
{
    std::string svg;
    for (const double mark : y.marks(6)) {
        const double at = place_y(y, mark);
        svg += svg_line(room_left, at, width - room_right, at, "class=\"grid\"");
        svg += svg_text(room_left - 5, at + 4, "end", mark_text(mark));
    }
    for (const double mark : x.marks(5)) {
        const double at = place_x(x, mark);
        svg += svg_line(at, room_above, at, height - room_below, "class=\"grid\"");
        svg += svg_text(at, height - room_below + 16, "middle", mark_text(mark));
    }
    svg += svg_line(room_left, height - room_below, width - room_right, height - room_below, "class=\"axis\"");
    svg += svg_line(room_left, room_above, room_left, height - room_below, "class=\"axis\"");
    svg += svg_text(room_left + inner_width / 2, height - 8, "middle", x.title);
    const double middle = room_above + inner_height / 2;
    return svg + svg_text(13, middle, "middle", y.title, fmt::format(" transform=\"rotate(-90 13 {:.1f})\"", middle));
}

/// The data of a path: a polyline with gaps, or a dot for each point, which round line ends make.
std::string path(const LinePlot& plot, const Curve& curve)
{
    std::string data;
    bool        going = false;
    for (const PlotPoint& point : thinned(curve.points, most_points)) {
        const bool there = std::isfinite(point.x) && std::isfinite(point.y);
        if (there) {
            const bool begins = !going || curve.style == Curve::Style::marks;
            data += fmt::format("{}{:.1f} {:.1f}{}", begins ? "M" : "L", place_x(plot.x, point.x),
                                place_y(plot.y, point.y), begins ? "h0" : "");
        }
        going = there;
    }
    return data;
}

}  // namespace

std::vector<PlotPoint> thinned(const std::vector<PlotPoint>& points, std::size_t most)
{
    if (points.size() <= most || most < 4) return points;
    const std::size_t      parts = most / 4;
    std::vector<PlotPoint> kept;
    for (std::size_t k = 0; k < parts; ++k) {
        const std::size_t begin = k * points.size() / parts, end = (k + 1) * points.size() / parts;
        std::size_t       low = begin, high = begin;
        for (std::size_t p = begin; p < end; ++p) {
            if (!std::isfinite(points[p].y)) continue;
            if (!(std::isfinite(points[low].y) && points[low].y <= points[p].y)) low = p;
            if (!(std::isfinite(points[high].y) && points[high].y >= points[p].y)) high = p;
        }
        std::array<std::size_t, 4> chosen{begin, low, high, end - 1};
        std::ranges::sort(chosen);
        for (std::size_t c = 0; c < chosen.size(); ++c)
            if (c == 0 || chosen[c] != chosen[c - 1]) kept.push_back(points[chosen[c]]);
    }
    return kept;
}

std::string to_svg(const LinePlot& plot)
{
    std::string svg = fmt::format("<svg viewBox=\"0 0 {:.0f} {:.0f}\" role=\"img\" aria-label=\"{}\">\n", width, height,
                                  escaped(plot.title));
    svg += axes(plot.x, plot.y);
    if (plot.level && *plot.level >= plot.y.from && *plot.level <= plot.y.to) {
        const double at = place_y(plot.y, *plot.level);
        svg += svg_line(room_left, at, width - room_right, at, "class=\"level\"");
        svg += svg_text(room_left + 5, at - 4, "start", plot.level_name, " class=\"level\"");
    }
    for (std::size_t k = 0; k < plot.curves.size(); ++k)
        if (const std::string data = path(plot, plot.curves[k]); !data.empty())
            svg += fmt::format("<path class=\"{} c{}\" d=\"{}\"/>\n",
                               plot.curves[k].style == Curve::Style::line ? "line" : "marks", k, data);
    return svg + "</svg>\n";
}

}  // namespace ilux::app

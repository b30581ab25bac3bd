#include "ilux/lab/suites/scatter_chart.hpp"

#include <fmt/core.h>

#include <cmath>

#include "ilux/apps/draw/plot.hpp"

namespace ilux::app {
namespace {

// Pixels.
constexpr double from_left = 60, from_top = 74, side = 420, legend_width = 110, note_line = 15;
constexpr int    most_marks = 8;

bool shown(const std::pair<double, double>& point)
{
    return point.first > 0 && point.second > 0 && std::isfinite(point.first) && std::isfinite(point.second);
}

Axis axis_of(const ScatterChart& chart)
{
    std::vector<double> values;
    for (const ScatterSeries& series : chart.series)
        for (const auto& point : series.points)
            if (shown(point)) values.insert(values.end(), {point.first, point.second});
    return axis_around("", values, true);
}

double x_of(const Axis& axis, double value) { return from_left + side * axis.share(value); }
double y_of(const Axis& axis, double value) { return from_top + side * (1 - axis.share(value)); }

std::string axes(const ScatterChart& chart, const Axis& axis)
{
    std::string svg;
    for (const double mark : axis.marks(most_marks)) {
        const double x = x_of(axis, mark), y = y_of(axis, mark);
        svg += svg_line(from_left, y, from_left + side, y, "stroke=\"#dddddd\"");
        svg += svg_line(x, from_top, x, from_top + side, "stroke=\"#dddddd\"");
        svg += svg_text(from_left - 6, y + 4, "end", mark_text(mark));
        svg += svg_text(x, from_top + side + 16, "middle", mark_text(mark));
    }
    svg += svg_line(from_left, from_top + side, from_left + side, from_top + side, "stroke=\"#000000\"");
    svg += svg_line(from_left, from_top, from_left, from_top + side, "stroke=\"#000000\"");
    svg += svg_text(from_left + side / 2, from_top + side + 34, "middle", chart.x);
    const double middle = from_top + side / 2;
    return svg + svg_text(14, middle, "middle", chart.y, fmt::format(" transform=\"rotate(-90 14 {:.1f})\"", middle));
}

/// y = factor · x, as far as both are on the axis.
std::string guide(const Axis& axis, double factor, const char* look)
{
    const double from = std::max(axis.from, axis.from / factor), to = std::min(axis.to, axis.to / factor);
    return svg_line(x_of(axis, from), y_of(axis, from * factor), x_of(axis, to), y_of(axis, to * factor), look);
}

std::string drawn(const ScatterSeries& series, std::string_view colour, const Axis& axis)
{
    std::string svg;
    for (const auto& point : series.points)
        if (shown(point))
            svg += fmt::format(
                "<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3.5\" fill=\"{}\" fill-opacity=\"0.7\" stroke=\"#ffffff\" "
                "stroke-width=\"0.5\"/>\n",
                x_of(axis, point.first), y_of(axis, point.second), colour);
    return svg;
}

}  // namespace

std::string to_svg(const ScatterChart& chart)
{
    const double width = from_left + side + legend_width,
                 height = from_top + side + 50 + note_line * double(chart.notes.size());
    std::string svg = fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:.0f} {1:.0f}\" width=\"{0:.0f}\" "
        "height=\"{1:.0f}\" font-family=\"sans-serif\" font-size=\"11\">\n"
        "<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n",
        width, height);
    svg += svg_text(from_left, 20, "start", chart.title, " font-size=\"14\" font-weight=\"bold\"");
    svg += svg_text(from_left, 37, "start", chart.subtitle);
    const Axis axis = axis_of(chart);
    svg += axes(chart, axis) + guide(axis, 1, "stroke=\"#000000\"");
    for (const double factor : {0.5, 2.}) svg += guide(axis, factor, "stroke=\"#888888\" stroke-dasharray=\"4 3\"");
    for (std::size_t k = 0; k < chart.series.size(); ++k) {
        const std::string_view colour = plot_colours[k % plot_colours.size()];
        const double           y = from_top + 14 + 18 * double(k);
        svg += drawn(chart.series[k], colour, axis);
        svg += svg_rectangle(from_left + side + 12, y - 9, 11, 11, colour);
        svg += svg_text(from_left + side + 28, y, "start", chart.series[k].name);
    }
    for (std::size_t k = 0; k < chart.notes.size(); ++k)
        svg += svg_text(from_left, from_top + side + 54 + note_line * double(k), "start", chart.notes[k]);
    return svg + "</svg>\n";
}

}  // namespace ilux::app

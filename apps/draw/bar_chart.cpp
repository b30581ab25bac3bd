#include "ilux/apps/draw/bar_chart.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "ilux/apps/draw/plot.hpp"

namespace ilux::app {
namespace {

// Pixels.
constexpr double left = 56, above = 104, plot = 260, bar_width = 15, bar_gap = 3, group_gap = 20, text_line = 15;

/// Wide enough for its bars and for its name.
double group_width(const BarGroup& group)
{
    return std::max(std::max(4., double(group.bars.size())) * (bar_width + bar_gap), 6 * double(group.name.size()));
}

Axis axis_of(const BarChart& chart)
{
    return {.title = chart.axis, .from = std::max(0., chart.bottom), .to = chart.top, .logarithmic = chart.bottom > 0};
}

std::string drawn(const Axis& axis, double width)
{
    std::string               svg;
    const std::vector<double> marks = axis.marks(5);
    for (const double mark : marks) {
        const double y = above + plot * (1 - axis.share(mark));
        svg += svg_line(left, y, width - 10, y, mark == marks.front() ? "stroke=\"#000000\"" : "stroke=\"#dddddd\"");
        svg += svg_text(left - 6, y + 4, "end", mark_text(mark));
    }
    const double middle = above + plot / 2;
    return svg +
           svg_text(14, middle, "middle", axis.title, fmt::format(" transform=\"rotate(-90 14 {:.1f})\"", middle));
}

double part_width(const std::string& part) { return 40 + 7 * double(part.size()); }

std::string legend(const BarChart& chart)
{
    std::string svg;
    double      x = left;
    for (std::size_t k = 0; k < chart.parts.size(); ++k) {
        svg += svg_rectangle(x, 46, 11, 11, plot_colours[k % plot_colours.size()]);
        svg += svg_text(x + 16, 56, "start", chart.parts[k]);
        x += part_width(chart.parts[k]);
    }
    return svg;
}

std::string drawn(const Bar& bar, double x, const Axis& axis)
{
    std::string  svg;
    double       height = 0;  // in units of the axis
    const double top = axis.to;
    for (std::size_t k = 0; k < bar.parts.size(); ++k) {
        const double part = std::isfinite(bar.parts[k]) ? std::max(0., bar.parts[k]) : 0;
        const double low = plot * axis.share(std::min(height, top));
        const double high = plot * axis.share(std::min(height + part, top));
        if (high > low)
            svg += svg_rectangle(x, above + plot - high, bar_width, high - low, plot_colours[k % plot_colours.size()]);
        height += part;
    }
    const double y = above + plot - plot * axis.share(std::min(height, top));
    if (height > top) svg += svg_rectangle(x, y + 8, bar_width, 4, "#ffffff");  // it goes on
    const double centre = x + bar_width / 2;
    svg += svg_text(centre + 3, y - 4, "start", bar.value,
                    fmt::format(" font-size=\"9\" transform=\"rotate(-90 {:.1f} {:.1f})\"", centre + 3, y - 4));
    return svg + svg_text(centre, above + plot + 13, "middle", bar.label);
}

}  // namespace

std::string to_svg(const BarChart& chart)
{
    double width = left + 20, legends = left;
    for (const BarGroup& group : chart.groups) width += group_width(group) + group_gap;
    for (const std::string& part : chart.parts) legends += part_width(part);
    width = std::max({width, legends, 520.});
    const Axis   axis = axis_of(chart);
    const double height = above + plot + 44 + text_line * double(chart.notes.size());
    std::string  svg = fmt::format(
         "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:.0f} {1:.0f}\" width=\"{0:.0f}\" height=\"{1:.0f}\" "
          "font-family=\"sans-serif\" font-size=\"11\">\n<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n",
         width, height);
    svg += svg_text(left, 20, "start", chart.title, " font-size=\"14\" font-weight=\"bold\"");
    svg += svg_text(left, 37, "start", chart.subtitle);
    svg += legend(chart) + drawn(axis, width);
    double x = left + group_gap / 2;
    for (const BarGroup& group : chart.groups) {
        for (std::size_t k = 0; k < group.bars.size(); ++k)
            svg += drawn(group.bars[k], x + double(k) * (bar_width + bar_gap), axis);
        svg += svg_text(x + group_width(group) / 2, above + plot + 29, "middle", group.name);
        x += group_width(group) + group_gap;
    }
    for (std::size_t k = 0; k < chart.notes.size(); ++k)
        svg += svg_text(left, above + plot + 46 + text_line * double(k), "start", chart.notes[k]);
    return svg + "</svg>\n";
}

}  // namespace ilux::app

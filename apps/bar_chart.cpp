#include "ilux/apps/bar_chart.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

namespace ilux::app {
namespace {

// Pixels.
constexpr double left = 56, above = 104, plot = 260, bar_width = 15, bar_gap = 3, group_gap = 20, text_line = 15;
// Distinct in every common colour vision deficiency (Okabe and Ito).
constexpr std::array<std::string_view, 8> colours{"#0072b2", "#e69f00", "#009e73", "#bbbbbb",
                                                  "#cc79a7", "#d55e00", "#56b4e9", "#f0e442"};

std::string escaped(std::string_view text)
{
    std::string safe;
    for (const char c : text) {
        if (c == '<') safe += "&lt;";
        else if (c == '>') safe += "&gt;";
        else if (c == '&') safe += "&amp;";
        else if (c == '"') safe += "&quot;";
        else if (static_cast<unsigned char>(c) >= ' ') safe += c;
    }
    return safe;
}

std::string text_at(double x, double y, std::string_view anchor, std::string_view text, std::string_view more = "")
{
    return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\"{}>{}</text>\n", x, y, anchor, more,
                       escaped(text));
}

std::string rectangle(double x, double y, double width, double height, std::string_view colour)
{
    return fmt::format("<rect x=\"{:.1f}\" y=\"{:.2f}\" width=\"{:.1f}\" height=\"{:.2f}\" fill=\"{}\"/>\n", x, y,
                       width, height, colour);
}

double group_width(const BarGroup& group) { return std::max(4., double(group.bars.size())) * (bar_width + bar_gap); }

/// Pixels from the foot of the axis to a value on it.
double height_of(const BarChart& chart, double value)
{
    if (chart.bottom <= 0) return value * plot / chart.top;
    return value <= chart.bottom ? 0 : plot * std::log(value / chart.bottom) / std::log(chart.top / chart.bottom);
}

/// Fifths of the top, or powers of ten from the bottom on.
std::vector<double> marks(const BarChart& chart)
{
    std::vector<double> values;
    if (chart.bottom > 0)
        for (double value = chart.bottom; value <= 1.001 * chart.top; value *= 10) values.push_back(value);
    else
        for (int k = 0; k <= 5; ++k) values.push_back(chart.top * k / 5);
    return values;
}

std::string axis(const BarChart& chart, double width)
{
    std::string svg;
    for (const double mark : marks(chart)) {
        const double y = above + plot - height_of(chart, mark);
        svg += fmt::format("<line x1=\"{0:.1f}\" y1=\"{1:.1f}\" x2=\"{2:.1f}\" y2=\"{1:.1f}\" stroke=\"{3}\"/>\n", left,
                           y, width - 10, mark == marks(chart).front() ? "#000000" : "#dddddd");
        svg += text_at(left - 6, y + 4, "end", fmt::format("{:g}", mark));
    }
    const double middle = above + plot / 2;
    return svg + text_at(14, middle, "middle", chart.axis, fmt::format(" transform=\"rotate(-90 14 {:.1f})\"", middle));
}

std::string legend(const BarChart& chart)
{
    std::string svg;
    double      x = left;
    for (std::size_t k = 0; k < chart.parts.size(); ++k) {
        svg += rectangle(x, 46, 11, 11, colours[k % colours.size()]);
        svg += text_at(x + 16, 56, "start", chart.parts[k]);
        x += 40 + 7 * double(chart.parts[k].size());
    }
    return svg;
}

std::string drawn(const Bar& bar, double x, const BarChart& chart)
{
    std::string  svg;
    double       height = 0;  // in units of the axis
    const double top = chart.top;
    for (std::size_t k = 0; k < bar.parts.size(); ++k) {
        const double part = std::isfinite(bar.parts[k]) ? std::max(0., bar.parts[k]) : 0;
        const double low = height_of(chart, std::min(height, top));
        const double high = height_of(chart, std::min(height + part, top));
        if (high > low) svg += rectangle(x, above + plot - high, bar_width, high - low, colours[k % colours.size()]);
        height += part;
    }
    const double y = above + plot - height_of(chart, std::min(height, top));
    if (height > top) svg += rectangle(x, y + 8, bar_width, 4, "#ffffff");  // it goes on
    const double centre = x + bar_width / 2;
    svg += text_at(centre + 3, y - 4, "start", bar.value,
                   fmt::format(" font-size=\"9\" transform=\"rotate(-90 {:.1f} {:.1f})\"", centre + 3, y - 4));
    return svg + text_at(centre, above + plot + 13, "middle", bar.label);
}

}  // namespace

std::string to_svg(const BarChart& chart)
{
    double width = left + 20;
    for (const BarGroup& group : chart.groups) width += group_width(group) + group_gap;
    width = std::max(width, 520.);
    const double height = above + plot + 44 + text_line * double(chart.notes.size());
    std::string  svg = fmt::format(
         "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:.0f} {1:.0f}\" width=\"{0:.0f}\" height=\"{1:.0f}\" "
          "font-family=\"sans-serif\" font-size=\"11\">\n<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n",
         width, height);
    svg += text_at(left, 20, "start", chart.title, " font-size=\"14\" font-weight=\"bold\"");
    svg += text_at(left, 37, "start", chart.subtitle);
    svg += legend(chart) + axis(chart, width);
    double x = left + group_gap / 2;
    for (const BarGroup& group : chart.groups) {
        for (std::size_t k = 0; k < group.bars.size(); ++k)
            svg += drawn(group.bars[k], x + double(k) * (bar_width + bar_gap), chart);
        svg += text_at(x + group_width(group) / 2, above + plot + 29, "middle", group.name);
        x += group_width(group) + group_gap;
    }
    for (std::size_t k = 0; k < chart.notes.size(); ++k)
        svg += text_at(left, above + plot + 46 + text_line * double(k), "start", chart.notes[k]);
    return svg + "</svg>\n";
}

}  // namespace ilux::app

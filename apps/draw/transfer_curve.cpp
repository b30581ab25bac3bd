#include "ilux/apps/draw/transfer_curve.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "ilux/base/fields.hpp"

namespace ilux::app {
namespace {

constexpr double not_there = std::numeric_limits<double>::quiet_NaN();

/// Frequencies above 0 over which all other points lie.
struct Extent {
    double least = std::numeric_limits<double>::infinity(), most = 0;
    bool   zero = false;  ///< f = 0 is among the points
    bool   logarithmic() const { return most > 0 && most / least >= 10; }
};

Extent extent_of(const TransferCurve& curve)
{
    Extent extent;
    for (const CurvePoint& point : curve.points) {
        if (point.frequency == 0) extent.zero = true;
        else {
            extent.least = std::min(extent.least, point.frequency);
            extent.most = std::max(extent.most, point.frequency);
        }
    }
    return extent;
}

Axis frequency_axis(const Extent& extent)
{
    Axis axis{.title = "frequency in Hz", .logarithmic = extent.logarithmic()};
    axis.from = extent.zero && !axis.logarithmic ? 0 : std::min(extent.least, extent.most);
    axis.to = extent.most > axis.from ? extent.most : axis.from + 1;
    return axis;
}

/// Whole multiples of `step` around all points.
Axis stepped_axis(std::string title, double step, const std::vector<Curve>& curves)
{
    double low = std::numeric_limits<double>::infinity(), high = -low;
    for (const Curve& curve : curves)
        for (const PlotPoint& point : curve.points)
            if (std::isfinite(point.y)) {
                low = std::min(low, point.y);
                high = std::max(high, point.y);
            }
    if (low > high) low = high = 0;
    Axis axis{.title = std::move(title), .from = step * std::floor(low / step), .to = step * std::ceil(high / step)};
    if (axis.to == axis.from) {
        axis.from -= step;
        axis.to += step;
    }
    return axis;
}

/// A curve for each unknown. @param jump  a line is broken where values differ by more
template <class Value>
std::vector<Curve> curves_of(const TransferCurve& curve, double jump, Value&& value)
{
    const bool no_zero = extent_of(curve).logarithmic();
    auto       points = curve.points;
    std::ranges::stable_sort(points, {}, &CurvePoint::frequency);
    std::vector<Curve> curves;
    for (std::size_t k = 0; k < std::min(curve.unknowns.size(), most_drawn); ++k) {
        Curve one{.name = fmt::format("unknown {}", curve.unknowns[k]), .points = {}};
        for (const CurvePoint& point : points) {
            if (no_zero && point.frequency == 0) continue;
            const double y = point.probed.empty() ? not_there : value(point.probed[k].value);
            if (!one.points.empty() && std::abs(y - one.points.back().y) > jump)
                one.points.push_back({point.frequency, not_there});
            one.points.push_back({point.frequency, y});
        }
        if (points.size() == 1) one.style = Curve::Style::marks;
        curves.push_back(std::move(one));
    }
    return curves;
}

}  // namespace

double decibel(std::complex<double> z) { return 20 * std::log10(std::abs(z)); }
double phase_degrees(std::complex<double> z) { return std::arg(z) * (180 / std::numbers::pi); }

std::string curve_csv(const TransferCurve& curve)
{
    std::string text = "frequency_hz";
    for (const Index k : curve.unknowns) text += fmt::format(",magnitude_{0},db_{0},phase_deg_{0}", k);
    text += '\n';
    for (const CurvePoint& point : curve.points) {
        text += field_text(point.frequency);
        for (std::size_t k = 0; k < curve.unknowns.size(); ++k) {
            if (point.probed.empty()) {
                text += ",nan,nan,nan";
                continue;
            }
            const std::complex<double> x = point.probed[k].value;
            for (const double number : {std::abs(x), decibel(x), phase_degrees(x)}) text += "," + field_text(number);
        }
        text += '\n';
    }
    return text;
}

LinePlot magnitude_plot(const TransferCurve& curve)
{
    LinePlot plot{.title = "Magnitude over frequency",
                  .x = frequency_axis(extent_of(curve)),
                  .y = {},
                  .curves = curves_of(curve, std::numeric_limits<double>::infinity(), decibel)};
    plot.y = stepped_axis("20 log₁₀ |x| in dB", 10, plot.curves);
    return plot;
}

LinePlot phase_plot(const TransferCurve& curve)
{
    LinePlot plot{.title = "Phase over frequency",
                  .x = frequency_axis(extent_of(curve)),
                  .y = {},
                  .curves = curves_of(curve, 180, phase_degrees)};
    plot.y = stepped_axis("phase of x in degrees", 30, plot.curves);
    return plot;
}

std::string left_out(const TransferCurve& curve)
{
    std::string text;
    const auto  extent = extent_of(curve);
    if (extent.zero && extent.logarithmic()) text = "f = 0 has no place on a logarithmic axis. ";
    if (curve.unknowns.size() > most_drawn)
        text += fmt::format("The first {} of {} unknowns are drawn. ", most_drawn, curve.unknowns.size());
    if (!text.empty()) text.pop_back();
    return text;
}

std::string curve_svg(const TransferCurve& curve)
{
    constexpr int     width = 400, height = 270, line = 18;
    const LinePlot    plots[] = {magnitude_plot(curve), phase_plot(curve)};
    const std::string remark = left_out(curve);
    const auto        names = static_cast<int>(plots[0].curves.size());
    const int         rows = names + (remark.empty() ? 0 : 1), all = 2 * height + line * rows + 8;

    std::string svg = fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {} {}\">\n<style>"
        "text{{fill:#1b1f24;font:12px system-ui,sans-serif}}.grid{{stroke:#d8dde3;stroke-width:.7}}"
        ".axis{{stroke:#57606a}}.line{{fill:none;stroke-width:1.8;stroke-linejoin:round}}"
        ".marks{{fill:none;stroke-width:6;stroke-linecap:round}}",
        width, all);
    for (int k = 0; k < names; ++k)
        svg += fmt::format(".c{}{{stroke:{}}}", k, plot_colours[static_cast<std::size_t>(k)]);
    svg += "</style>\n" + svg_rectangle(0, 0, width, all, "#fff");
    for (int p = 0; p < 2; ++p)
        svg += fmt::format("<svg y=\"{}\" width=\"{}\" height=\"{}\">\n{}</svg>\n", p * height, width, height,
                           to_svg(plots[p]));
    for (int k = 0; k < names; ++k) {
        const double y = 2 * height + line * k + 12;
        svg += svg_line(64, y - 4, 88, y - 4, fmt::format("class=\"line c{}\"", k));
        svg += svg_text(94, y, "start", plots[0].curves[static_cast<std::size_t>(k)].name);
    }
    if (!remark.empty()) svg += svg_text(64, 2 * height + line * names + 12, "start", remark);
    return svg + "</svg>\n";
}

}  // namespace ilux::app

#include "ilux/apps/draw/plot.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "ilux/base/io/printable.hpp"

namespace ilux::app {
namespace {

/// 1, 2 or 5 times a power of ten, so that `most` steps or fewer cover the range.
double round_step(double range, int most)
{
    const double least = range / most, power = std::pow(10, std::floor(std::log10(least)));
    for (const double factor : {1., 2., 5.})
        if (factor * power >= 0.999 * least) return factor * power;
    return 10 * power;
}

std::vector<double> linear_marks(const Axis& axis, int most)
{
    double step = round_step(axis.to - axis.from, most);
    if (axis.whole) step = std::max(1., step);
    if (!std::isfinite(step) || step <= 0) return {axis.from, axis.to};  // as wide, or as narrow, as a double can tell
    std::vector<double> values;
    const double        first = std::ceil(axis.from / step - 1e-6), last = std::floor(axis.to / step + 1e-6);
    for (int k = 0; k <= most + 1 && first + k <= last; ++k) values.push_back((first + k) * step);
    return values;
}

/// Powers of ten, every one or every second, fifth, …; below two decades also their doubles and halves.
std::vector<double> logarithmic_marks(const Axis& axis, int most)
{
    const double        decades = std::log10(axis.to / axis.from);
    const double        stride = std::max(1., round_step(decades, most));
    std::vector<double> values;
    const auto          add = [&](double value) {
        if (value >= 0.999 * axis.from && value <= 1.001 * axis.to) values.push_back(value);
    };
    for (double k = std::floor(std::log10(axis.from) + 1e-6); k <= std::log10(axis.to) + 1e-6; k += stride)
        for (const double factor : {1., 2., 5.})
            if (factor == 1 || decades < 2) add(factor * std::pow(10, k));
    return values;
}

}  // namespace

std::string escaped(std::string_view text)
{
    std::string safe;
    for (std::size_t p = 0; p < text.size();) {
        const std::size_t size = utf8_size(text, p);
        const char        c = text[p];
        if (size == 0) safe += "\xef\xbf\xbd";
        else if (size > 1) safe += text.substr(p, size);
        else if (c == '<') safe += "&lt;";
        else if (c == '>') safe += "&gt;";
        else if (c == '&') safe += "&amp;";
        else if (c == '"') safe += "&quot;";
        else if (c >= ' ') safe += c;
        p += std::max<std::size_t>(size, 1);
    }
    return safe;
}

std::string svg_text(double x, double y, std::string_view anchor, std::string_view text, std::string_view more)
{
    return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\"{}>{}</text>\n", x, y, anchor, more,
                       escaped(text));
}

std::string svg_rectangle(double x, double y, double width, double height, std::string_view colour)
{
    return fmt::format("<rect x=\"{:.1f}\" y=\"{:.2f}\" width=\"{:.1f}\" height=\"{:.2f}\" fill=\"{}\"/>\n", x, y,
                       width, height, colour);
}

std::string svg_line(double x1, double y1, double x2, double y2, std::string_view look)
{
    return fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" {}/>\n", x1, y1, x2, y2, look);
}

double Axis::share(double value) const
{
    if (!(value > from)) return 0;
    if (value >= to) return 1;
    return logarithmic ? std::log(value / from) / std::log(to / from) : (value - from) / (to - from);
}

std::vector<double> Axis::marks(int most) const
{
    return logarithmic ? logarithmic_marks(*this, most) : linear_marks(*this, most);
}

Axis axis_around(std::string title, std::span<const double> values, bool logarithmic)
{
    double least = std::numeric_limits<double>::infinity(), most = -least;
    for (const double value : values) {
        if (!std::isfinite(value) || (logarithmic && value <= 0)) continue;
        least = std::min(least, value);
        most = std::max(most, value);
    }
    Axis axis{.title = std::move(title), .logarithmic = logarithmic};
    if (!logarithmic) {
        if (least <= most) axis.from = least, axis.to = most > least ? most : least + std::max(1., std::abs(least));
        return axis;
    }
    constexpr double most_decades = 20;
    if (!(least <= most)) least = most = 1;
    const double top = std::clamp(std::ceil(std::log10(most) - 1e-9), -306., 308.);
    const double bottom = std::clamp(std::floor(std::log10(least) + 1e-9), -307., top - 1);
    axis.from = std::pow(10, std::max(bottom, top - most_decades));
    axis.to = std::pow(10, top);
    return axis;
}

std::string mark_text(double value)
{
    const double size = std::abs(value);
    if (size < 1e-300) return "0";
    std::string text = size < 1e-3 ? fmt::format("{:.3e}", value) : fmt::format("{:g}", value);
    // 1.500e-08 → 1.5e-8, 1e+06 → 1e6
    if (const auto e = text.find('e'); e != std::string::npos)
        text = fmt::format("{:g}e{}", std::atof(text.substr(0, e).c_str()), std::atoi(text.c_str() + e + 1));
    return text;
}

}  // namespace ilux::app

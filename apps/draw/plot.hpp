#pragma once
// What every drawing is made of: SVG elements, escaped text, axes and their marks.

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ilux::app {

/// The first eight are distinct in every common colour vision deficiency (Okabe and Ito).
inline constexpr std::array<std::string_view, 11> plot_colours{"#0072b2", "#e69f00", "#009e73", "#bbbbbb",
                                                               "#cc79a7", "#d55e00", "#56b4e9", "#f0e442",
                                                               "#000000", "#882255", "#999933"};

/// Text as XML may hold it, in elements and in attributes. Control characters are left out; bytes that are no UTF-8
/// become U+FFFD.
std::string escaped(std::string_view text);

/// `anchor` is start, middle or end; `text` is escaped here; `more` are attributes with a leading blank.
std::string svg_text(double x, double y, std::string_view anchor, std::string_view text, std::string_view more = "");
std::string svg_rectangle(double x, double y, double width, double height, std::string_view colour);
/// `look` is the attributes without a leading blank.
std::string svg_line(double x1, double y1, double x2, double y2, std::string_view look);

/// One axis of a drawing.
struct Axis {
    std::string title;     ///< with the unit
    double      from = 0;  ///< > 0 where logarithmic
    double      to = 1;    ///< > from
    bool        logarithmic = false;
    bool        whole = false;  ///< only whole numbers are marked

    /// Where a value lies: 0 at `from`, 1 at `to`; values outside, and NaN, at the nearer end, NaN at 0.
    double share(double value) const;
    /// At most about `most` round numbers, ascending: powers of ten, where there are two at least, on a logarithmic
    /// axis.
    std::vector<double> marks(int most) const;
};

/// From the smallest to the largest finite value, or to powers of ten around the positive ones. A logarithmic axis
/// shows 20 decades at most, the upper ones.
Axis axis_around(std::string title, std::span<const double> values, bool logarithmic);

/// 0.05, 2000, 1e-8, 2e6: no longer than it must be.
std::string mark_text(double value);

}  // namespace ilux::app

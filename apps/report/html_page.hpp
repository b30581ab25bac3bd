#pragma once
// A page of a report: one file, no scripts, nothing fetched; readable on a phone, light or dark as the reader has it.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ilux/apps/draw/line_plot.hpp"
#include "ilux/apps/draw/sparsity.hpp"
#include "ilux/apps/report/report_rows.hpp"

namespace ilux::app {

/// A block of a page. `html` is markup, made by the functions below; texts given to those are escaped there.
struct HtmlSection {
    std::string id, heading, html;
};

/// The whole file: well-formed as XML but for the first line, sections in their order.
std::string html_page(const std::string& title, std::span<const HtmlSection> sections);

std::string html_paragraph(std::string_view text, std::string_view css_class = "");
std::string html_list(const std::vector<std::string>& texts);
/// Heads and texts; a head "" goes on from the row before.
std::string html_rows(const Rows& rows);
/// On a narrow screen every row becomes a block, each cell with its head before it.
std::string html_table(const std::vector<std::string>& heads, const std::vector<std::vector<std::string>>& rows);

struct HtmlBar {
    std::string name, value;   ///< value: as text, with its unit
    double      share = 0;     ///< of the longest bar, 0 to 1
    bool        part = false;  ///< of the bar before
};
std::string html_bars(const std::vector<HtmlBar>& bars);

/// With a legend where there are two curves or more. @param caption  below it; may be ""
std::string html_figure(const LinePlot& plot, std::string_view caption = "");
std::string html_figure(const SparsityGrid& grid, const std::string& title, std::string_view caption,
                        std::span<const Index> cuts = {});
/// Figures beside one another where there is room.
std::string html_figures(const std::vector<std::string>& figures);

}  // namespace ilux::app

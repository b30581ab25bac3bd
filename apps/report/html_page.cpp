#include "ilux/apps/report/html_page.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "ilux/apps/report/html_style.hpp"

namespace ilux::app {
namespace {

std::string legend(const std::vector<Curve>& curves)
{
    std::string html;
    if (curves.size() < 2) return html;
    for (std::size_t k = 0; k < curves.size(); ++k)
        html += fmt::format(
            "<li><svg viewBox=\"0 0 24 12\" aria-hidden=\"true\"><path class=\"{} c{}\" d=\"{}\"/></svg>{}</li>\n",
            curves[k].style == Curve::Style::line ? "line" : "marks", k,
            curves[k].style == Curve::Style::line ? "M2 6L22 6" : "M12 6h0", escaped(curves[k].name));
    return "<ul class=\"legend\">\n" + html + "</ul>\n";
}

std::string figure(std::string_view title, const std::string& content, std::string_view caption)
{
    const std::string below = caption.empty() ? "" : fmt::format("<p class=\"note\">{}</p>\n", escaped(caption));
    return fmt::format("<figure>\n<figcaption>{}</figcaption>\n{}{}</figure>\n", escaped(title), content, below);
}

}  // namespace

std::string html_page(const std::string& title, std::span<const HtmlSection> sections)
{
    std::string html = fmt::format(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
        "<meta name=\"color-scheme\" content=\"light dark\"/>\n<title>{0}</title>\n<style>{1}</style>\n</head>\n"
        "<body>\n<main>\n<h1>{0}</h1>\n",
        escaped(title), html_style);
    for (const HtmlSection& section : sections)
        html += fmt::format("<section id=\"{}\">\n<h2>{}</h2>\n{}</section>\n", section.id, escaped(section.heading),
                            section.html);
    return html + "</main>\n</body>\n</html>\n";
}

std::string html_paragraph(std::string_view text, std::string_view css_class)
{
    const std::string look = css_class.empty() ? "" : fmt::format(" class=\"{}\"", css_class);
    return fmt::format("<p{}>{}</p>\n", look, escaped(text));
}

std::string html_list(const std::vector<std::string>& texts)
{
    std::string html = "<ul>\n";
    for (const std::string& text : texts) html += fmt::format("<li>{}</li>\n", escaped(text));
    return texts.empty() ? "" : html + "</ul>\n";
}

std::string html_rows(const Rows& rows)
{
    std::string html = "<table class=\"rows\">\n";
    for (const auto& [head, text] : rows)
        html += fmt::format("<tr><th scope=\"row\">{}</th><td>{}</td></tr>\n", escaped(head), escaped(text));
    return rows.empty() ? "" : html + "</table>\n";
}

std::string html_table(const std::vector<std::string>& heads, const std::vector<std::vector<std::string>>& rows)
{
    std::string html = "<table class=\"wide\">\n<thead><tr>";
    for (const std::string& head : heads) html += fmt::format("<th scope=\"col\">{}</th>", escaped(head));
    html += "</tr></thead>\n<tbody>\n";
    for (const auto& row : rows) {
        html += "<tr>";
        for (std::size_t k = 0; k < row.size(); ++k)
            html += fmt::format("<td data-head=\"{}\">{}</td>", escaped(heads[k]), escaped(row[k]));
        html += "</tr>\n";
    }
    return html + "</tbody>\n</table>\n";
}

std::string html_bars(const std::vector<HtmlBar>& bars)
{
    std::string html = "<table class=\"bars\">\n";
    for (const HtmlBar& bar : bars) {
        const double share = std::isfinite(bar.share) ? std::clamp(bar.share, 0., 1.) : 0;
        html += fmt::format(
            "<tr{}><th scope=\"row\">{}</th><td class=\"value\">{}</td><td class=\"bar\"><i style=\"width:{:.1f}%\"></i>"
            "</td></tr>\n",
            bar.part ? " class=\"part\"" : "", escaped(bar.name), escaped(bar.value), 100 * share);
    }
    return html + "</table>\n";
}

std::string html_figure(const LinePlot& plot, std::string_view caption)
{
    bool zero = false;
    for (const Curve& curve : plot.curves)
        for (const PlotPoint& point : curve.points) zero = zero || point.y == 0;
    std::string below(caption);
    if (zero && plot.y.logarithmic)
        below += fmt::format("{}0 is drawn at the foot of the axis.", below.empty() ? "" : " ");
    return figure(plot.title, to_svg(plot) + legend(plot.curves), below);
}

std::string html_figure(const SparsityGrid& grid, const std::string& title, std::string_view caption,
                        std::span<const Index> cuts)
{
    return figure(title, to_svg(grid, title, cuts), caption);
}

std::string html_figures(const std::vector<std::string>& figures)
{
    std::string html = "<div class=\"figures\">\n";
    for (const std::string& one : figures) html += one;
    return figures.empty() ? "" : html + "</div>\n";
}

}  // namespace ilux::app

#include "ilux/apps/draw/bar_chart.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "ilux/tests/apps/well_formed.hpp"

namespace ilux {
namespace {

TEST(WellFormed, TellsGoodFromBad)
{
    EXPECT_EQ(why_not_xml("<a b=\"1\"><c/>x &lt; y</a>\n"), "");
    for (const char* bad : {"<a>", "<a></b>", "<a/><b/>", "x<a/>", "<a>x & y</a>", "<a b=\"1></a>", "</a>", ""})
        EXPECT_NE(why_not_xml(bad), "") << bad;
}

TEST(BarChart, IsWellFormedWhateverTheNamesHold)
{
    const std::string awkward = "a<b>&\"c\"\n\x01";
    app::BarChart     chart{.title = awkward,
                            .subtitle = awkward,
                            .axis = awkward,
                            .parts = {awkward, "M⁻¹"},
                            .notes = {awkward},
                            .groups = {{awkward, {{awkward, awkward, {0.5, 0.25}}}}},
                            .top = 1};
    EXPECT_EQ(why_not_xml(app::to_svg(chart)), "");
    chart.groups = {};
    EXPECT_EQ(why_not_xml(app::to_svg(chart)), "");
}

TEST(BarChart, DrawsARectangleForEveryPartThatShows)
{
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const auto   rectangles = [](std::vector<double> parts) {
        const app::BarChart chart{.title = "",
                                    .subtitle = "",
                                    .axis = "",
                                    .parts = {},
                                    .groups = {{"g", {{"a", "", std::move(parts)}}}}};
        return count(app::to_svg(chart), "<rect") - 1;  // the background
    };
    EXPECT_EQ(rectangles({}), 0);
    EXPECT_EQ(rectangles({0.25, 0.25, 0.5}), 3);
    EXPECT_EQ(rectangles({0.25, 0, nan, -1}), 1);
    EXPECT_EQ(rectangles({0.5, 2, 1}), 3);  // two show, and the gap of a bar that goes on
}

TEST(BarChart, HeightsAreTheParts)
{
    const app::BarChart chart{.title = "",
                              .subtitle = "",
                              .axis = "",
                              .parts = {},
                              .groups = {{"g", {{"a", "", {0.25, 0.5}}}}},
                              .top = 1};
    const std::string   svg = app::to_svg(chart);
    std::vector<double> heights;
    for (std::size_t p = svg.find("<rect x="); p != std::string::npos; p = svg.find("<rect x=", p + 1))
        heights.push_back(std::stod(svg.substr(svg.find("height=\"", p) + 8)));
    ASSERT_EQ(heights.size(), 2u);
    EXPECT_DOUBLE_EQ(heights[1], 2 * heights[0]);
}

}  // namespace
}  // namespace ilux

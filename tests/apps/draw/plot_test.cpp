// Axes, curves and pictures of patterns.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "ilux/apps/draw/line_plot.hpp"
#include "ilux/apps/draw/sparsity.hpp"
#include "ilux/tests/apps/well_formed.hpp"
#include "ilux/tests/support/checks.hpp"

namespace ilux::app {
namespace {

using ilux::test::infinity;
using ilux::test::nan;

std::vector<std::string> texts(const std::vector<double>& marks)
{
    std::vector<std::string> all;
    for (const double mark : marks) all.push_back(mark_text(mark));
    return all;
}

TEST(Escaped, LeavesNothingThatXmlForbids)
{
    EXPECT_EQ(escaped("a<b>&\"c\""), "a&lt;b&gt;&amp;&quot;c&quot;");
    EXPECT_EQ(escaped("A·1 ‖x‖ 𝄞"), "A·1 ‖x‖ 𝄞");
    EXPECT_EQ(escaped(std::string("a\0b\x01\nc", 6)), "abc");
    const std::string unknown = "\xef\xbf\xbd";
    for (const char* bad : {"\xff", "\xc3", "\xc0\x80", "\xed\xa0\x80", "\xef\xbf\xbf", "\xf4\x90\x80\x80", "\x80"})
        EXPECT_TRUE(escaped(bad).starts_with(unknown)) << bad;
    EXPECT_EQ(escaped("\xc3z"), unknown + "z");
}

TEST(Axis, MarksAreRoundNumbersOnIt)
{
    EXPECT_EQ(texts(Axis{.title = "", .from = 0, .to = 1}.marks(5)),
              (std::vector<std::string>{"0", "0.2", "0.4", "0.6", "0.8", "1"}));
    EXPECT_EQ(texts(Axis{.title = "", .from = 0, .to = 3, .whole = true}.marks(6)),
              (std::vector<std::string>{"0", "1", "2", "3"}));
    EXPECT_EQ(texts(Axis{.title = "", .from = 1e-8, .to = 1, .logarithmic = true}.marks(5)),
              (std::vector<std::string>{"1e-8", "1e-6", "1e-4", "0.01", "1"}));
    EXPECT_EQ(texts(Axis{.title = "", .from = 1, .to = 10, .logarithmic = true}.marks(5)),
              (std::vector<std::string>{"1", "2", "5", "10"}));
    for (const Axis& axis :
         {Axis{.title = "", .from = 1e17, .to = 1e17 + 16}, Axis{.title = "", .from = -1e308, .to = 1e308},
          Axis{.title = "", .from = 1e-300, .to = 1e300, .logarithmic = true},
          Axis{.title = "", .from = 5e-324, .to = 1e-323}}) {
        EXPECT_LE(axis.marks(5).size(), 13u) << axis.from;
        for (const double mark : axis.marks(5)) EXPECT_TRUE(std::isfinite(mark)) << axis.from;
    }
}

TEST(Axis, SharesRunFromFootToEnd)
{
    const Axis axis{.title = "", .from = 1e-4, .to = 1, .logarithmic = true};
    EXPECT_DOUBLE_EQ(axis.share(1e-4), 0);
    EXPECT_DOUBLE_EQ(axis.share(1e-2), 0.5);
    EXPECT_DOUBLE_EQ(axis.share(1), 1);
    for (const double low : {0., -1., 1e-9, nan}) EXPECT_EQ(axis.share(low), 0) << low;
    EXPECT_EQ(axis.share(infinity), 1);
}

TEST(Axis, HoldsEveryFiniteValueOrPowersOfTenAroundThem)
{
    const std::vector<double> values{nan, 3e-9, 0, 0.2, infinity};
    const Axis                logarithmic = axis_around("", values, true), linear = axis_around("", values, false);
    EXPECT_DOUBLE_EQ(logarithmic.from, 1e-9);
    EXPECT_DOUBLE_EQ(logarithmic.to, 1);
    EXPECT_EQ(linear.from, 0);
    EXPECT_EQ(linear.to, 0.2);
    for (const std::vector<double>& few : std::vector<std::vector<double>>{{}, {nan}, {0}, {7}, {1e308}, {5e-324}})
        for (const bool log : {false, true}) {
            const Axis axis = axis_around("", few, log);
            EXPECT_LT(axis.from, axis.to) << log;
            EXPECT_TRUE(!log || axis.from > 0);
        }
}

TEST(Thinned, KeepsEndsAndExtremes)
{
    std::vector<PlotPoint> points;
    for (int k = 0; k < 100'000; ++k) points.push_back({double(k), 1});
    points[34'567].y = 1e-20;
    points[76'543].y = 1e20;
    points[50'000].y = nan;
    const auto kept = thinned(points, 800);
    EXPECT_LE(kept.size(), 800u);
    EXPECT_EQ(kept.front().x, 0);
    EXPECT_EQ(kept.back().x, 99'999);
    const auto has = [&](double y) { return std::ranges::any_of(kept, [&](const PlotPoint& p) { return p.y == y; }); };
    EXPECT_TRUE(has(1e-20));
    EXPECT_TRUE(has(1e20));
    EXPECT_TRUE(std::ranges::is_sorted(kept, {}, &PlotPoint::x));
    EXPECT_EQ(thinned({{0, 1}, {1, 2}}, 800).size(), 2u);
}

TEST(LinePlot, DrawsWhatIsFiniteAndBreaksWhereItIsNot)
{
    LinePlot          plot{.title = "a<b",
                           .x = {.title = "x", .from = 0, .to = 4},
                           .y = {.title = "y & z", .from = 0, .to = 1},
                           .curves = {{.name = "c", .points = {{0, 0}, {1, 1}, {2, nan}, {3, 0.5}, {4, infinity}}}}};
    const std::string svg = to_svg(plot);
    EXPECT_EQ(why_not_xml(svg), "");
    const auto data = svg.find(" d=\"");
    ASSERT_NE(data, std::string::npos);
    const std::string path = svg.substr(data, svg.find('"', data + 4) - data);
    EXPECT_EQ(std::ranges::count(path, 'M'), 2);  // before the gap and behind it
    EXPECT_EQ(std::ranges::count(path, 'L'), 1);
    EXPECT_EQ(path.find("nan"), std::string::npos);
    EXPECT_EQ(path.find("inf"), std::string::npos);
    plot.curves.front().points = {{0, nan}};
    EXPECT_EQ(to_svg(plot).find("<path"), std::string::npos);
}

TEST(SparsityGrid, CountsEveryEntryInItsCell)
{
    SparsityGrid small(3);
    small.add(0, 2);
    small.add(0, 2);
    small.add(2, 1);
    EXPECT_EQ(small.cells(), 3);
    EXPECT_EQ(small.count(0, 2), 2);
    EXPECT_EQ(small.count(2, 1), 1);
    EXPECT_EQ(small.count(1, 1), 0);

    const Index  n = 1000;
    SparsityGrid large(n);
    for (Index i = 0; i < n; ++i) large.add(i, n - 1 - i);
    Offset sum = 0;
    for (Index i = 0; i < large.cells(); ++i)
        for (Index j = 0; j < large.cells(); ++j) sum += large.count(i, j);
    EXPECT_EQ(sum, n);
    EXPECT_GT(large.count(0, large.cells() - 1), 0);
    EXPECT_EQ(large.count(0, 0), 0);
}

TEST(SparsityGrid, IsDrawnSmallWhateverItHolds)
{
    const Index        n = 2'000'000'000;
    SparsityGrid       noise(n);
    ilux::test::Random random(7);
    for (int k = 0; k < 300'000; ++k) noise.add(random.below(n), random.below(n));
    const std::string svg = to_svg(noise, "noise");
    EXPECT_EQ(why_not_xml(svg), "");
    EXPECT_LT(svg.size(), 300'000u);
    EXPECT_EQ(why_not_xml(to_svg(SparsityGrid(0), "<nothing>")), "");
}

}  // namespace
}  // namespace ilux::app

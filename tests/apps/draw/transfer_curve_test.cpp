#include "ilux/apps/draw/transfer_curve.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "ilux/tests/apps/well_formed.hpp"
#include "ilux/tests/support/checks.hpp"

namespace ilux::app {
namespace {

using namespace ilux::test;

TransferCurve curve_of(std::vector<CurvePoint> points) { return {.unknowns = {3}, .points = std::move(points)}; }

TEST(TransferCurve, HasDecibelAndDegrees)
{
    EXPECT_EQ(decibel(10), 20);
    EXPECT_NEAR(decibel({0, -1e-3}), -60, 1e-12);
    EXPECT_EQ(decibel(0), -infinity);
    EXPECT_TRUE(std::isfinite(decibel({1e300, 1e300})));
    EXPECT_EQ(phase_degrees({0, -2}), -90);
    EXPECT_EQ(phase_degrees(-1), 180);
    EXPECT_EQ(phase_degrees(0), 0);
}

TEST(TransferCurve, IsATableWithNanWhereThereIsNoX)
{
    const TransferCurve curve{.unknowns = {3, 1},
                              .points = {{1000, {{3, {0, 10}}, {1, 1}}}, {0.1, {}}, {2e9, {{3, 0}, {1, -0.5}}}}};
    EXPECT_EQ(curve_csv(curve),
              "frequency_hz,magnitude_3,db_3,phase_deg_3,magnitude_1,db_1,phase_deg_1\n"
              "1000,10,20,90,1,0,0\n"
              "0.1,nan,nan,nan,nan,nan,nan\n"
              "2000000000,0,-inf,0,0.5,-6.020599913279624,180\n");
    EXPECT_EQ(curve_csv({.unknowns = {}, .points = {{1, {}}}}), "frequency_hz\n1\n");
}

TEST(TransferCurve, IsDrawnInAscendingOrderOverTheRightAxis)
{
    const auto wide = magnitude_plot(curve_of({{1e6, {{3, 1}}}, {0, {{3, 1}}}, {1e3, {{3, 0.01}}}}));
    EXPECT_TRUE(wide.x.logarithmic);
    EXPECT_EQ(wide.x.from, 1e3);
    EXPECT_EQ(wide.x.to, 1e6);
    ASSERT_EQ(wide.curves.at(0).points.size(), 2U);
    EXPECT_EQ(wide.curves[0].points[0].x, 1e3);
    EXPECT_EQ(wide.curves[0].points[0].y, -40);
    EXPECT_EQ(wide.y.from, -40);
    EXPECT_EQ(wide.y.to, 0);
    EXPECT_NE(left_out(curve_of({{0, {{3, 1}}}, {1, {{3, 1}}}, {10, {{3, 1}}}})).find("f = 0"), std::string::npos);

    const auto narrow = phase_plot(curve_of({{0, {{3, 1}}}, {5, {{3, {0, 1}}}}}));
    EXPECT_FALSE(narrow.x.logarithmic);
    EXPECT_EQ(narrow.x.from, 0);
    EXPECT_EQ(narrow.x.to, 5);
    EXPECT_EQ(narrow.curves[0].points.size(), 2U);
    EXPECT_EQ(narrow.y.to, 90);
    EXPECT_EQ(left_out(curve_of({{0, {{3, 1}}}, {5, {{3, 1}}}})), "");
}

TEST(TransferCurve, BreaksItsLineWhereThePhaseJumps)
{
    const Curve phase = phase_plot(curve_of({{1, {{3, {-1, 0.1}}}}, {2, {{3, {-1, -0.1}}}}})).curves.at(0);
    ASSERT_EQ(phase.points.size(), 3U);
    EXPECT_TRUE(std::isnan(phase.points[1].y));
}

TEST(TransferCurve, IsDrawnWhateverThereIs)
{
    TransferCurve many{.unknowns = {}, .points = {{1, {}}, {100, {}}}};
    for (Index k = 1; k <= 12; ++k) {
        many.unknowns.push_back(k);
        many.points[0].probed.push_back({k, double(k)});
    }
    for (const TransferCurve& curve :
         {TransferCurve{.unknowns = {}, .points = {}}, TransferCurve{.unknowns = {}, .points = {{1, {}}}},
          curve_of({{1, {}}}), curve_of({{0, {{3, 0}}}}), curve_of({{1e3, {{3, 1}}}}),
          curve_of({{1, {{3, 1}}}, {1, {{3, 1}}}}), curve_of({{1e-300, {{3, 1e-300}}}, {1e300, {{3, 1e300}}}}), many}) {
        for (const LinePlot& plot : {magnitude_plot(curve), phase_plot(curve)}) {
            EXPECT_LT(plot.x.from, plot.x.to);
            EXPECT_LT(plot.y.from, plot.y.to);
            EXPECT_LE(plot.curves.size(), most_drawn);
        }
        const std::string svg = curve_svg(curve);
        EXPECT_EQ(why_not_xml(svg), "") << svg;
        EXPECT_TRUE(svg.starts_with("<svg xmlns")) << svg;
        EXPECT_EQ(svg.find("nan"), std::string::npos) << svg;
    }
    EXPECT_NE(curve_svg(many).find("The first 8 of 12 unknowns are drawn."), std::string::npos);
    EXPECT_NE(curve_svg(many).find("unknown 8"), std::string::npos);
    EXPECT_EQ(curve_svg(many).find("unknown 9"), std::string::npos);
}

}  // namespace
}  // namespace ilux::app

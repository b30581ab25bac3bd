// Both strategies side by side: what they keep of one another's work.

#include "ilux/engine/strategies.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "ilux/gallery/gallery.hpp"
#include "ilux/engine/analysis_limits.hpp"
#include "ilux/tests/solver/solving.hpp"

namespace ilux {
namespace {

using namespace ilux::test;

Attempt by_lu(const LuOptions& lu)
{
    Attempt tried;
    tried.plan.method = MethodChoice::lu;
    tried.plan.lu = lu;
    return tried;
}

TEST(Strategies, KeepAnAnalysisForAnotherPivotTolerance)
{
    const auto            A = gallery::build("poisson2d:n=10");
    const CsrView<double> view_of_A = A;
    Strategies            both(serial(), view_of_A, 1, nullptr);
    (void)both.take(true);
    const auto analysed_by = [&](const LuOptions& lu) {
        Attempt tried = by_lu(lu);
        EXPECT_TRUE(both.analyse_lu({}, tried));
        EXPECT_TRUE(both.direct().chooses_pivots_by(lu));
        return both.direct().symbolic()->options;  // of when it was made
    };
    EXPECT_EQ(analysed_by({.matching = LuMatching::off, .pivot_tol = 0.5}).pivot_tol, 0.5);
    EXPECT_EQ(analysed_by({.matching = LuMatching::off, .pivot_tol = 1}).pivot_tol, 0.5);
    EXPECT_EQ(analysed_by({.matching = LuMatching::off, .scaling = LuScaling::none, .pivot_tol = 1}).pivot_tol, 1);
    // Whether rows are matched is decided by pivot_tol: a later system must not keep what the largest pivots wanted.
    EXPECT_EQ(analysed_by({.pivot_tol = 1}).pivot_tol, 1);
    EXPECT_EQ(analysed_by({.pivot_tol = 1e-3}).pivot_tol, 1e-3);
}

TEST(AnalysisWithin, SaysHowLongOrThatNoTimeWasLeft)
{
    for (const auto& [seconds, said] : {std::pair(-0.5, "no time was left"), std::pair(0.0, "no time was left"),
                                        std::pair(1e-9, "more than 1e-09 s")})
        try {
            const StopToken stop = analysis_within({}, seconds);
            while (!stop.stopped()) {
            }
            stop.check();
            ADD_FAILURE();
        } catch (const OutOfTime& late) {
            EXPECT_NE(std::string(late.what()).find(said), std::string::npos) << late.what();
        }
}

TEST(Strategies, TellTheDeviceOfAnLuThatIsNotBegun)
{
    const auto            A = CsrMatrix<double>::from_arrays(6000, 6000, std::vector<Offset>(6001, 0), {}, {});
    const CsrView<double> view_of_A = A;
    Strategies            both(serial(), view_of_A, 1, nullptr);
    (void)both.take(true);
    Attempt tried = by_lu({});
    EXPECT_FALSE(both.analyse_lu({}, tried));
    EXPECT_EQ(tried.report.outcome, Outcome::singular);
    EXPECT_EQ(tried.device.name, both.device().name);
    EXPECT_FALSE(tried.device.name.empty());
}

}  // namespace
}  // namespace ilux

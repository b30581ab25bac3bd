// Both strategies side by side: what they keep of one another's work.

#include "ilux/solver/strategy/strategies.hpp"

#include <gtest/gtest.h>

#include "ilux/gallery/gallery.hpp"
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
    const SolverOptions   options = serial();
    const CsrView<double> view_of_A = A;
    Strategies            both(options, view_of_A, 1, nullptr);
    (void)both.take(true);
    LuOptions lu = options.lu;
    Attempt   first = by_lu(lu);
    ASSERT_TRUE(both.analyse_lu({}, first));
    const LuSymbolic* const analysis = &both.direct().symbolic();

    lu.pivot_tol = 1;
    Attempt second = by_lu(lu);
    ASSERT_TRUE(both.analyse_lu({}, second));
    EXPECT_EQ(&both.direct().symbolic(), analysis);
    EXPECT_TRUE(both.direct().chooses_pivots_by(lu));

    lu.scaling = LuScaling::matching;
    Attempt third = by_lu(lu);
    ASSERT_TRUE(both.analyse_lu({}, third));
    EXPECT_EQ(both.direct().symbolic().options.scaling, LuScaling::matching);
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

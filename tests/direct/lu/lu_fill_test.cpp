// Lu where pivots leave the diagonal, and L + U fill far beyond what the analysis predicted.

#include <gtest/gtest.h>

#include "ilux/base/io/matrix_market.hpp"
#include "ilux/direct/lu/lu.hpp"
#include "ilux/tests/direct/kronecker_sum.hpp"
#include "ilux/tests/direct/small_matrix.hpp"
#include "ilux/tests/support/checks.hpp"

namespace ilux {
namespace {

TEST(LuFill, EndsWherePivotsFillPastTheirLimit)
{
    Cpu        be(2);
    const auto A = test::kronecker_sum(40, 1e-8);
    const auto symbolic = analyse(view<double>(A), {.supernodes = LuSupernodes::off});
    Lu         lu(be, symbolic);
    lu.limit_fill(1.5);
    const LuReport filled = lu.factor(A.val());
    EXPECT_EQ(filled.outcome, Outcome::out_of_memory);
    EXPECT_TRUE(filled.overfilled);
    EXPECT_TRUE(test::says(filled.reason, "L + U have more than")) << filled.reason;
    lu.limit_fill(0);
    const LuReport whole = lu.factor(A.val());
    EXPECT_EQ(whole.outcome, Outcome::converged) << whole.reason;
    EXPECT_FALSE(whole.overfilled);
    EXPECT_GT(static_cast<double>(lu.factors().val.size()), 1.5 * symbolic->report.nnz);
}

TEST(LuFill, TakesFrontsInsteadWherePivotsFillPastTheirLimit)
{
    ILUX_SKIP_WITHOUT_MATRICES();
    const test::TempFolder folder;
    Cpu                    be(2);
    const auto             A = read_matrix_market(test::real_matrix("NSR8K", folder)).A;
    Lu                     lu(be, analyse(view<double>(A)));
    lu.limit_fill(1.5);
    const LuReport report = lu.factor(A.val());
    EXPECT_EQ(report.outcome, Outcome::converged) << report.reason;
    EXPECT_TRUE(test::says(lu.storage(), "supernodes")) << lu.storage();
    EXPECT_TRUE(test::says(lu.storage(), "were expected of all")) << lu.storage();
}

}  // namespace
}  // namespace ilux

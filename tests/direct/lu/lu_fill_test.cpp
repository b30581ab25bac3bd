// Lu where pivots leave the diagonal, and L + U fill far beyond what the analysis predicted.

#include <gtest/gtest.h>

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
    EXPECT_GT(filled.pivot, 0);
    EXPECT_LT(filled.pivot, A.rows());
    EXPECT_TRUE(test::says(filled.reason, "L + U have more than")) << filled.reason;
    const LuReport whole = lu.factor(A.val());
    EXPECT_EQ(whole.outcome, Outcome::converged) << whole.reason;
    EXPECT_FALSE(whole.overfilled);
    EXPECT_GT(static_cast<double>(lu.factors().val.size()), 1.5 * symbolic->report.nnz);
}

}  // namespace
}  // namespace ilux

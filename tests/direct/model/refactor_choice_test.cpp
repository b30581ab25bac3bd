#include "ilux/direct/model/refactor_choice.hpp"

#include <gtest/gtest.h>

#include <complex>
#include <limits>
#include <memory>
#include <string>

#include "ilux/direct/analysis/lu_symbolic.hpp"
#include "ilux/direct/supernodal_gpu/front_solve_plan.hpp"
#include "ilux/gallery/pde.hpp"

namespace ilux::test {
namespace {

constexpr double no_limit = std::numeric_limits<double>::infinity();

// The model counts what these say.
static_assert(refactor_rule::front_inverse_pivots == solve_block);
static_assert(refactor_rule::front_warp_pivots == solve_tile && refactor_rule::front_warp_rows == solve_warp_rows);

std::shared_ptr<const FrontPlan> plan_of(const CsrMatrix<>& A)
{
    Cpu be(1);
    return make_front_plan(be, *analyse(view<double>(A)));
}

/// The model's parts by hand: one front of 3 pivots, or two that wait for one another, a third beside them.
TEST(FrontCost, FollowsTheLongestPathOfPivots)
{
    using namespace refactor_rule;
    FrontPlan plan;
    plan.tree.pivot_ptr = {0, 3, 5, 9};
    plan.tree.row_ptr = {0, 0, 0, 0};
    plan.tree.parent = {2, 2, -1};
    plan.val_ptr = {0, 0, 0, 100};
    EXPECT_DOUBLE_EQ(gpu_cost(plan).seconds, front_start + 7 * front_pivot);
    plan.multiply_adds = 1e12;
    EXPECT_DOUBLE_EQ(gpu_cost(plan).seconds, front_start + 7 * front_pivot + 2e12 / front_flops);
    EXPECT_DOUBLE_EQ(gpu_cost<std::complex<double>>(plan).seconds, front_start + 7 * front_pivot + 8e12 / front_flops);
    EXPECT_GE(gpu_cost(plan).bytes, 800);
    plan.tree.parent = {-1, -1, -1};
    plan.multiply_adds = 0;
    EXPECT_DOUBLE_EQ(gpu_cost(plan).seconds, front_start + 4 * front_pivot);
}

TEST(FrontCost, SaysWhyTheHostKeepsFronts)
{
    const auto small = plan_of(gallery::convdiff2d({.n = 20})), large = plan_of(gallery::convdiff3d({.n = 20}));
    EXPECT_NE(why_cpu(*small, 1, 1e6, no_limit).find("one thread refactors in about"), std::string::npos);
    EXPECT_EQ(why_cpu(*large, 1, 1e6, no_limit), "");
    EXPECT_NE(why_cpu(*large, 1, 1, no_limit).find("preparation"), std::string::npos);
    EXPECT_NE(why_cpu(*large, 1, 1e6, 1e6).find("are free"), std::string::npos);
    EXPECT_NE(why_cpu(*large, 1000, 1e6, no_limit).find("1000 threads refactor in about"), std::string::npos);
}

}  // namespace
}  // namespace ilux::test

#include "ilux/direct/lu/refactor_choice.hpp"

#include <gtest/gtest.h>

#include <complex>
#include <limits>
#include <memory>
#include <string>

#include "ilux/direct/analysis/lu_symbolic.hpp"
#include "ilux/direct/supernodal_gpu/front_solve_plan.hpp"
#include "ilux/gallery/pde.hpp"
#include "ilux/tests/direct/dataflow/dataflow_systems.hpp"
#include "ilux/tests/direct/dense_factors.hpp"

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

TEST(DataflowPrediction, CountsLevelsAndWork)
{
    using namespace refactor_rule;
    const auto         diagonal = dataflow_system("", CsrMatrix<double>::identity(70)).F.pattern;
    DataflowPrediction found = predict_dataflow(*diagonal);
    EXPECT_DOUBLE_EQ(found.waits, level_seconds);
    EXPECT_DOUBLE_EQ(found.work, 70 / task_entries * task_seconds);
    const auto full =
        dataflow_system_as_it_stands("", random_dominant(150, 150, 5)).F.pattern;  // all of it is dense tail
    found = predict_dataflow(*full);
    EXPECT_LT(found.waits, 150 * level_seconds);
    EXPECT_DOUBLE_EQ(found.work,
                     (full->multiply_adds() / task_products + double(full->nnz()) / task_entries) * task_seconds);
}

TEST(GpuCost, IsOfDotProductsOnACircuit)
{
    const auto    P = dataflow_system("", gallery::mna_random({.n = 400, .decades = 6})).F.pattern;
    const GpuCost cost = gpu_cost(*P, no_limit);
    EXPECT_EQ(cost.method, RefactorMethod::automatic);
    const DataflowPrediction dots = predict_dataflow(*P);
    EXPECT_DOUBLE_EQ(cost.seconds,
                     refactor_rule::transfer_seconds + refactor_rule::call_seconds + dots.waits + dots.work);
    EXPECT_GT(cost.setup, 0);
    EXPECT_GT(cost.bytes, 0);
}

TEST(GpuCost, OfComplexValuesIsAMultipleAndTakesMoreMemory)
{
    const auto    P = dataflow_system("", gallery::mna_random({.n = 400, .decades = 6})).F.pattern;
    const GpuCost real = gpu_cost(*P, no_limit), complex = gpu_cost<std::complex<double>>(*P, no_limit);
    const double  transfer = refactor_rule::transfer_seconds;
    EXPECT_EQ(complex.method, RefactorMethod::automatic);
    EXPECT_DOUBLE_EQ(complex.seconds - transfer, refactor_rule::complex_by_dot_products * (real.seconds - transfer));
    EXPECT_EQ(complex.setup, real.setup);
    EXPECT_DOUBLE_EQ(complex.bytes - real.bytes, 8. * double(P->nnz() + P->nnz_F()));
}

TEST(GpuCost, IsOfAsManyMultiprocessorsAsTheGpuHas)
{
    const Index     n = 1000;  // enough work that few multiprocessors take longer
    const LuPattern full = pattern_of(Stored(n, std::vector<char>(n, 1)));
    EXPECT_DOUBLE_EQ(predict_dataflow(full, 7).work, predict_dataflow(full).work * usual_multiprocessors / 7);
    EXPECT_GT(gpu_cost(full, no_limit, 7).seconds, gpu_cost(full, no_limit).seconds);
    EXPECT_NE(why_cpu(full, 64, 1e6, no_limit, 1), why_cpu(full, 64, 1e6, no_limit));
}

TEST(GpuCost, OfThePreparationGrowsWithEntriesAndProducts)
{
    using namespace refactor_rule;
    const LuPattern four = pattern_of({{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}, {0, 0, 0, 1}});
    EXPECT_DOUBLE_EQ(gpu_cost(four, no_limit).setup, setup_start + 4 * setup_entry);
    const LuPattern full = pattern_of(Stored(4, std::vector<char>(4, 1)));  // 9 + 4 + 1 products
    EXPECT_DOUBLE_EQ(gpu_cost(full, no_limit).setup, setup_start + 16 * setup_entry + 14 * setup_product);
}

TEST(GpuCost, IsOfLeftWhereAProgramWouldTakeTooMuchMemory)
{
    const auto    circuit = dataflow_system("", gallery::mna_random({.n = 400, .decades = 6})).F.pattern;
    const GpuCost tight = gpu_cost(*circuit, 1000), wide = gpu_cost(*circuit, no_limit);
    EXPECT_EQ(tight.method, RefactorMethod::left);
    EXPECT_GT(tight.seconds, wide.seconds);
    EXPECT_EQ(gpu_cost(*circuit, wide.bytes).method, RefactorMethod::automatic);
    EXPECT_EQ(gpu_cost(*circuit, 0.99 * wide.bytes).method, RefactorMethod::left);
}

}  // namespace
}  // namespace ilux::test

#include "ilux/direct/dataflow/sum_rules.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <utility>

namespace ilux {
namespace {

using namespace sum_rule;

TEST(SumRules, CutLongSumsAsByHand)
{
    const struct {
        Offset        products, parts, sums, early;
        std::uint32_t early_operands, late_operands;
    } table[] = {
        {0, 0, 0, 0, 0, 0},
        {1, 0, 0, 0, 0, 1},
        {128, 0, 0, 0, 126, 2},
        {129, 1, 0, 128, 1, 1},    // a partial sum of 128 is added, one product is subtracted
        {255, 1, 0, 128, 126, 2},  // 1 + 127 operands
        {256, 2, 0, 256, 2, 0},
        {8256, 64, 0, 8192, 126, 2},  // 64 + 64 operands
        {8257, 65, 1, 8257, 1, 0},    // a sum of 65 partial sums
        {1'048'640, 8192, 64, 1'048'576, 126, 2},
    };
    for (const auto& row : table) {
        const LongSum cut = cut_long_sum(row.products);
        EXPECT_EQ(cut.parts, row.parts) << row.products;
        EXPECT_EQ(cut.sums, row.sums) << row.products;
        EXPECT_EQ(cut.early, row.early) << row.products;
        EXPECT_EQ(early_operands(row.products), row.early_operands) << row.products;
        EXPECT_EQ(late_operands(row.products), row.late_operands) << row.products;
        EXPECT_TRUE(cut.fits()) << row.products;
    }
    EXPECT_FALSE(cut_long_sum(1'048'641).fits());
}

TEST(SumRules, LeaveNoTaskMoreThanItsLanesHold)
{
    for (Offset products = 0; products <= 1'048'640; products += products < 20'000 ? 1 : 997) {
        const LongSum cut = cut_long_sum(products);
        ASSERT_LE(cut.early, products);
        ASSERT_LE(cut.early, cut.parts * chunk);
        ASSERT_GT(cut.early, (cut.parts - 1) * chunk) << products;
        ASSERT_LE(cut.parts, cut.sums > 0 ? cut.sums * chunk : chunk / 2) << products;
        ASSERT_LE(cut.added() + products - cut.early, chunk) << products;
        const Shape shape = lone_shape(7, early_operands(products), 0);
        ASSERT_LE(shape.log2_lanes, most_log2);
        ASSERT_LE(shape.steps, DataflowProgram::steps) << products;
    }
}

TEST(SumRules, TakeTheFewestLanes)
{
    for (std::uint32_t count = 1; count < 1000; ++count)
        EXPECT_EQ(ceil_log2(count), std::bit_width(count - 1)) << count;
    for (const auto& [operands, log2] :
         {std::pair{0u, 0}, {4u, 0}, {5u, 1}, {8u, 1}, {9u, 2}, {64u, 4}, {65u, 5}, {128u, 5}})
        EXPECT_EQ(log2_lanes(operands), log2) << operands;
    EXPECT_EQ(rows(0, 0), 0);
    EXPECT_EQ(rows(9, 2), 3);
}

TEST(SumRules, MakeGroupsThatFitATask)
{
    Shape group = group_shape(3, 100, 4, 4);  // 4 + 4 steps of one lane
    EXPECT_EQ(group.first, 3u);
    EXPECT_EQ(group.log2_part, 0);
    EXPECT_EQ(group.size, 32);
    EXPECT_EQ(group.log2_lanes, 5);
    group = group_shape(3, 5, 4, 5);  // 4 + 5 are too many: 2 + 3 of two lanes
    EXPECT_EQ(group.log2_part, 1);
    EXPECT_EQ(group.size, 5);
    EXPECT_EQ(group.log2_lanes, 4);  // 5 members of two lanes take 8 times two
    EXPECT_EQ(group.slots(), 8u);
    group = group_shape(3, 100, 128, 128);  // 4 + 4 steps of 32 lanes
    EXPECT_EQ(group.log2_part, 5);
    EXPECT_EQ(group.size, 1);
    EXPECT_TRUE(has_twin(4, 4, 0));
    EXPECT_FALSE(has_twin(5, 4, 0));
    EXPECT_TRUE(has_twin(5, 4, 1));
}

}  // namespace
}  // namespace ilux

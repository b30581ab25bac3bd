#include "ilux/base/matrix/pattern.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace ilux::test {
namespace {

/// Rows {0, 2}, {}, {1, 2}, {0}.
const std::vector<Offset> known_ptr{0, 2, 2, 4, 5};
const std::vector<Index>  known_idx{0, 2, 1, 2, 0};

void expect_difference(const std::vector<Offset>& ptr, const std::vector<Index>& idx, Index line, Offset position)
{
    const auto found = first_difference(ptr, idx, known_ptr, known_idx);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->line, line);
    EXPECT_EQ(found->position, position);
}

TEST(Pattern, HasNoDifferenceFromItself)
{
    EXPECT_FALSE(first_difference(known_ptr, known_idx, known_ptr, known_idx));
    const std::vector<Offset> empty{0};
    EXPECT_FALSE(first_difference(empty, {}, empty, {}));
}

TEST(Pattern, DiffersByAnIndexAtItsPosition)
{
    expect_difference(known_ptr, {1, 2, 1, 2, 0}, 0, 0);
    expect_difference(known_ptr, {0, 2, 0, 2, 0}, 2, 2);  // behind the empty row
    expect_difference(known_ptr, {0, 2, 2, 1, 0}, 2, 2);  // order counts
    expect_difference(known_ptr, {0, 2, 1, 2, 1}, 3, 4);
}

TEST(Pattern, DiffersByTheLengthOfALineBehindLinesThatAreEqual)
{
    expect_difference({0, 2, 3, 4, 5}, known_idx, 1, -1);
    expect_difference({0, 2, 2, 4, 6}, {0, 2, 1, 2, 0, 1}, 3, -1);
    expect_difference({0, 2, 3, 4, 5}, {0, 1, 1, 2, 0}, 0, 1);  // an index comes first
}

TEST(Pattern, MayBeBroken)
{
    expect_difference({7, 2, 2, 4, 5}, known_idx, 0, -1);
    expect_difference({0, -3, 2, 4, 5}, known_idx, 0, -1);
    expect_difference({0, 2, 2, 1'000'000, 5}, {}, 2, -1);
    expect_difference({0, 2, 2, 4, 99}, {0}, 3, -1);
    expect_difference(known_ptr, {0, 2, 1, 2}, 4, -1);
    expect_difference(known_ptr, {0, 2, 1, 2, 0, 0}, 4, -1);
}

TEST(Pattern, TransposedSaysWhereEachEntryStood)
{
    const TransposedPattern of = transposed_pattern(known_ptr, known_idx, 3);
    EXPECT_EQ(of.row_ptr, (std::vector<Offset>{0, 2, 3, 5}));
    EXPECT_EQ(of.col, (std::vector<Index>{0, 3, 2, 0, 2}));
    EXPECT_EQ(of.from, (std::vector<Offset>{0, 4, 2, 1, 3}));
    const TransposedPattern nothing = transposed_pattern(std::vector<Offset>{0}, {}, 0);
    EXPECT_EQ(nothing.row_ptr, std::vector<Offset>{0});
    EXPECT_TRUE(nothing.from.empty());
}

}  // namespace
}  // namespace ilux::test

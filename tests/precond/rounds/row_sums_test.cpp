#include "ilux/precond/rounds/row_sums.hpp"

#include <gtest/gtest.h>

#include <map>
#include <vector>

#include "ilux/tests/support/checks.hpp"

namespace ilux {
namespace {

TEST(RowSums, AreThoseOfAMap)
{
    test::Random    random(3);
    RowSums<double> row;
    for (Index columns : {1, 2, 31, 32, 33, 63, 64, 65, 5000}) {
        row.start();
        std::map<Index, double> expected;
        for (Index k = 0; k < 3 * columns; ++k) {
            const Index  col = 400'003 * random.below(columns);
            const double x = random.uniform();
            row.add(col, x);
            expected[col] += x;
        }
        ASSERT_EQ(row.entries().size(), expected.size());
        row.finish([](const auto& entry) { return entry.value < 0; });
        std::erase_if(expected, [](const auto& entry) { return entry.second < 0; });
        std::vector<std::pair<Index, double>> found;
        for (const auto& [col, value] : row.entries()) found.emplace_back(col, value);
        EXPECT_EQ(found, (std::vector<std::pair<Index, double>>(expected.begin(), expected.end()))) << columns;
    }
}

TEST(RowSums, StandInTheOrderInWhichColumnsCameUp)
{
    RowSums<double> row;
    row.start();
    for (Index col : {7, 3, 7, 9, 3}) row.add(col, 1);
    std::vector<Index> cols;
    for (const auto& entry : row.entries()) cols.push_back(entry.col);
    EXPECT_EQ(cols, (std::vector<Index>{7, 3, 9}));
    row.start();
    EXPECT_TRUE(row.entries().empty());
}

}  // namespace
}  // namespace ilux

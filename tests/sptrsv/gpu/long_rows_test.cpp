#include "ilux/sptrsv/gpu/long_rows.hpp"

#include <gtest/gtest.h>

#include "ilux/tests/sptrsv/systems.hpp"
#include "ilux/tests/support/checks.hpp"

using namespace ilux;

namespace {

/// Rows of 0 to 6 entries.
CsrMatrix<double> small()
{
    return test::lower_from(7, [](Index i) { return i == 2 ? std::vector<Index>() : test::identity(i); });
}

}  // namespace

TEST(LongRows, LongestRowIsTheOneOfMostEntries)
{
    EXPECT_EQ(longest_row(small().row_ptr()), 6);
    EXPECT_EQ(longest_row(CsrMatrix<double>().row_ptr()), 0);
    EXPECT_EQ(longest_row(CsrMatrix<double>::from_triplets(3, 3, {}, {}, {}).row_ptr()), 0);
}

TEST(LongRows, BecomeSumsThatStandDirectlyBeforeThem)
{
    // Rows of 0, 1, 0, 3, 4, 5, 6 entries; rows 4 to 6 are split into sums of two.
    const auto split = split_long_rows(small(), 3, 2);
    EXPECT_EQ(split.row, (std::vector<Index>{0, 1, 2, 3, -1, -1, 4, -1, -1, -1, 5, -1, -1, -1, 6}));
    EXPECT_EQ(test::broken_invariant(split.L), "");
    const auto columns = [&](Index i) {
        const auto first = split.L.row_ptr()[i], end = split.L.row_ptr()[i + 1];
        return std::vector<Index>(split.L.col().begin() + first, split.L.col().begin() + end);
    };
    EXPECT_EQ(columns(3), (std::vector<Index>{0, 1, 2}));
    EXPECT_EQ(columns(4), (std::vector<Index>{0, 1}));
    EXPECT_EQ(columns(6), (std::vector<Index>{4, 5}));
    EXPECT_EQ(columns(9), (std::vector<Index>{6}));
    EXPECT_EQ(columns(13), (std::vector<Index>{6, 10}));
    EXPECT_EQ(columns(14), (std::vector<Index>{11, 12, 13}));
    EXPECT_EQ(split.L.at(14, 12), -1);
    EXPECT_EQ(split.L.at(13, 10), small().at(6, 5));
}

TEST(LongRows, LeaveTheSolutionAsItIs)
{
    for (Index segment : {1, 2, 5}) {
        const auto  L = test::lower_from(60, [](Index i) { return i % 4 ? test::identity(i / 2) : test::identity(i); });
        const auto  split = split_long_rows(L, 7, segment);
        const Index nodes = split.L.rows();
        // A partial sum has the right-hand side 0; it is written beyond x.
        const auto          b = test::random_vector(60, 3);
        std::vector<double> of_nodes(nodes, 0), x(60), y(nodes);
        for (Index k = 0; k < nodes; ++k)
            if (split.row[k] >= 0) of_nodes[k] = b[split.row[k]];
        solve_serial<double>({.L = L, .inv_diag = {}, .frame = {}}, b, x);
        solve_serial<double>({.L = split.L, .inv_diag = {}, .frame = {}}, of_nodes, y);
        std::vector<double> of_rows;
        for (Index k = 0; k < nodes; ++k)
            if (split.row[k] >= 0) of_rows.push_back(y[k]);
        EXPECT_LE(test::relative_difference(of_rows, x), 100 * test::eps) << "segment " << segment;
    }
}

TEST(LongRows, OfNoRowsAreNone)
{
    const auto split = split_long_rows(CsrMatrix<double>(), 3, 2);
    EXPECT_EQ(split.L.rows(), 0);
    EXPECT_TRUE(split.row.empty());
}

TEST(LongRows, CarryFrameAndPivotsToPositions)
{
    const std::vector<Index> row = {2, -1, 0, 1};
    const SolveFrame<>       plain = frame_by_position(SolveFrame<>{}, row);
    EXPECT_EQ(plain.in_index, row);
    EXPECT_EQ(plain.out_index, row);
    EXPECT_TRUE(plain.in_scale.empty() && plain.out_scale.empty());
    const SolveFrame<> full = frame_by_position(SolveFrame<>{{5, 6, 7}, {1, 2, 3}, {7, 5, 6}, {4, 5, 6}}, row);
    EXPECT_EQ(full.in_index, (std::vector<Index>{7, -1, 5, 6}));
    EXPECT_EQ(full.in_scale, (std::vector<double>{3, 1, 1, 2}));
    EXPECT_EQ(full.out_index, (std::vector<Index>{6, -1, 7, 5}));
    EXPECT_EQ(full.out_scale, (std::vector<double>{6, 1, 4, 5}));
    EXPECT_EQ(inv_diag_by_position<double>({.5, .25, 2}, row), (std::vector<double>{2, 1, .5, .25}));
    EXPECT_TRUE(inv_diag_by_position<double>({}, row).empty());
}

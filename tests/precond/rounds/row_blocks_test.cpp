#include "ilux/precond/rounds/row_blocks.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <vector>

#include "ilux/tests/support/checks.hpp"

namespace ilux {
namespace {

constexpr Index row_counts[] = {0, 1, rows_in_block - 1, rows_in_block, rows_in_block + 1, 5 * rows_in_block + 7};

TEST(RowBlocks, VisitEveryRowOnce)
{
    for (Index n : row_counts)
        for (int threads : {1, 3}) {
            Cpu              be(threads);
            std::vector<int> visits(n, 0);
            for_row_blocks(be, n, [&](Index b, Index begin, Index end, int thread) {
                EXPECT_EQ(begin, b * rows_in_block);
                EXPECT_TRUE(0 <= thread && thread < threads);
                for (Index i = begin; i < end; ++i) ++visits[i];
            });
            EXPECT_EQ(visits, std::vector<int>(n, 1));
        }
}

TEST(RowBlocks, ThrowAgainWhatTheWorkThrew)
{
    for (int threads : {1, 3}) {
        Cpu be(threads);
        EXPECT_THROW(for_row_blocks(be, 20 * rows_in_block,
                                    [](Index b, Index, Index, int) {
                                        if (b == 7) throw std::runtime_error("block 7");
                                    }),
                     std::runtime_error);
    }
}

TEST(RowCollector, PutsRowsOfAllBlocksInOrder)
{
    for (Index n : row_counts)
        for (int threads : {1, 3}) {
            Cpu                  be(threads);
            RowCollector<double> rows(n);
            for_row_blocks(be, n, [&](Index b, Index begin, Index end, int) {
                for (Index i = begin; i < end; ++i) {
                    for (Index j = 0; j < i % 3; ++j) rows.block(b).add(j, i + 0.25 * j);  // every third row is empty
                    rows.block(b).end_row();
                }
            });
            const auto A = rows.matrix(be, 2);
            ASSERT_EQ(A.rows(), n);
            EXPECT_EQ(A.cols(), 2);
            for (Index i = 0; i < n; ++i) {
                EXPECT_EQ(A.row_ptr()[i + 1] - A.row_ptr()[i], i % 3);
                for (Index j = 0; j < i % 3; ++j) EXPECT_EQ(A.at(i, j), i + 0.25 * j);
            }
        }
}

}  // namespace
}  // namespace ilux

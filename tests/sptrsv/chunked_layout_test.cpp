#include "ilux/sptrsv/chunked_layout.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "ilux/sptrsv/forward_system.hpp"
#include "ilux/tests/support/checks.hpp"

namespace ilux {
namespace {

CsrMatrix<double> strictly_lower(Index n, Index per_row, std::uint64_t seed, Index reach)
{
    test::Random        random(seed);
    std::vector<Index>  row, col;
    std::vector<double> val;
    for (Index i = 1; i < n; ++i)
        for (Index e = random.below(per_row + 1); e > 0; --e) {
            row.push_back(i);
            col.push_back(std::max<Index>(i - 1 - random.below(reach), 0));
            val.push_back(random.uniform());
        }
    return CsrMatrix<double>::from_triplets(n, n, row, col, val);
}

CsrMatrix<double> chain(Index n)
{
    std::vector<Index> row(n - 1), col(n - 1);
    std::iota(row.begin(), row.end(), 1);
    std::iota(col.begin(), col.end(), 0);
    return CsrMatrix<double>::from_triplets(n, n, row, col, std::vector<double>(n - 1, -0.5));
}

/// Every row but the first reads row 0, and the last one reads them all.
CsrMatrix<double> arrow(Index n)
{
    std::vector<Index> row, col;
    for (Index i = 1; i < n - 1; ++i) row.push_back(i), col.push_back(0);
    for (Index j = 0; j < n - 1; ++j) row.push_back(n - 1), col.push_back(j);
    return CsrMatrix<double>::from_triplets(n, n, row, col, std::vector<double>(row.size(), 1. / 64));
}

ChunkedLayout<double> layout(const CsrMatrix<double>& L, const ChunkedTuning& tuning)
{
    return chunked_layout<double>(L, levels(L), tuning);
}

/// What the kernel does, by one thread: chunk after chunk, task after task. Expects nothing to be read before it is written.
std::vector<double> walk(const ChunkedLayout<double>& s, std::span<const double> b)
{
    constexpr double    unset = std::numeric_limits<double>::quiet_NaN();
    std::vector<double> x(b.size(), unset), exported(s.slots, unset);
    for (Index c = 0; c < s.chunks(); ++c) {
        const Index         first = s.chunk_ptr[c], rows = s.chunk_ptr[c + 1] - first;
        std::vector<double> local(rows + 1, unset);
        local[rows] = 0;
        for (Index t = s.task_ptr[c]; t < s.task_ptr[c + 1]; ++t) {
            const auto&         task = s.tasks[t];
            std::vector<double> result(task.rows);
            for (Index r = 0, slot = task.export_slot; r < task.rows; ++r) {
                const Index part = 1 << task.log2_part;
                double      sum = 0;
                for (Index step = 0; step < task.steps; ++step)
                    for (Index lane = r * part; lane < (r + 1) * part; ++lane) {
                        const auto at = 32 * (Offset{task.entries} + step) + lane;
                        sum += s.val[at] * (s.source[at] >= 0 ? local[s.source[at]] : exported[-1 - s.source[at]]);
                    }
                const Index i = s.row[first + task.first + r];
                x[i] = result[r] = b[i] - sum;
                EXPECT_FALSE(std::isnan(sum)) << "row " << i << " reads what is not known yet";
                if (task.exported >> r & 1) exported[slot++] = x[i];
            }
            std::copy(result.begin(), result.end(), local.begin() + task.first);
        }
    }
    return x;
}

void expect_solves(const CsrMatrix<double>& L, const ChunkedTuning& tuning)
{
    const Index n = L.rows();
    const auto  b = test::random_vector(n, 7);
    const auto  s = layout(L, tuning);
    auto        rows = s.row;
    std::sort(rows.begin(), rows.end());
    for (Index i = 0; i < n; ++i) ASSERT_EQ(rows[i], i) << "every row appears once";
    for (Index c = 0; c < s.chunks(); ++c)
        EXPECT_LE(chunk_shared_bytes(s.chunk_ptr[c + 1] - s.chunk_ptr[c], s.task_ptr[c + 1] - s.task_ptr[c]),
                  std::max(tuning.shared_bytes, chunk_shared_bytes(1, 1)));
    std::vector<double> expected(n);
    solve_serial<double>({.L = L, .inv_diag = {}, .frame = {}}, b, expected);
    EXPECT_LE(test::relative_difference(walk(s, b), expected), 100 * test::eps);
}

TEST(ChunkedLayout, SolvesRandomSystemsOfEverySize)
{
    for (Index n : {0, 1, 2, 31, 32, 33, 64, 65, 1000, 5000})
        for (Index per_row : {0, 1, 3, 40})
            for (Index chunks : {1, 7, 132}) {
                SCOPED_TRACE(testing::Message() << "n = " << n << ", per row " << per_row << ", chunks " << chunks);
                expect_solves(strictly_lower(n, per_row, n + per_row, 50), {.chunks = chunks, .least_rows = 8});
            }
}

TEST(ChunkedLayout, SolvesChainsAndArrows)
{
    for (Index n : {2, 33, 4000}) {
        expect_solves(chain(n), {.chunks = 5});
        expect_solves(arrow(n), {.chunks = 5});
    }
}

TEST(ChunkedLayout, SplitsChunksThatNeedTooMuchSharedMemory)
{
    const auto L = strictly_lower(3000, 4, 1, 3000);
    const auto s = layout(L, {.chunks = 2, .shared_bytes = 8 << 10});
    EXPECT_GT(s.chunks(), 2);
    EXPECT_LE(s.shared_bytes, 8u << 10);
    expect_solves(L, {.chunks = 2, .shared_bytes = 8 << 10});
    expect_solves(L, {.chunks = 2, .shared_bytes = 1});
}

TEST(ChunkedLayout, KeepsTheRowsOfATaskOnOneLevel)
{
    const auto L = strictly_lower(2000, 5, 3, 100);
    const auto level = levels(L);
    const auto s = layout(L, {.chunks = 9});
    for (Index c = 0; c < s.chunks(); ++c)
        for (Index t = s.task_ptr[c]; t < s.task_ptr[c + 1]; ++t)
            for (Index r = 0; r < s.tasks[t].rows; ++r)
                EXPECT_EQ(level[s.row[s.chunk_ptr[c] + s.tasks[t].first + r]],
                          level[s.row[s.chunk_ptr[c] + s.tasks[t].first]]);
}

TEST(ChunkedLayout, ExportsOnlyWhatOtherChunksRead)
{
    const auto s = layout(chain(1000), {.chunks = 10});
    EXPECT_EQ(s.chunks(), 10);
    EXPECT_EQ(s.slots, 9);
}

}  // namespace
}  // namespace ilux

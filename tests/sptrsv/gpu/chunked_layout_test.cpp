#include "ilux/sptrsv/gpu/chunked_layout.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "ilux/sptrsv/gpu/forward_system.hpp"
#include "ilux/tests/sptrsv/systems.hpp"
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
    return chunked_layout<double>(L, tuning);
}

/// Every third row is long, the last one reads all.
CsrMatrix<double> hubs(Index n)
{
    return test::lower_from(n, [&](Index i) {
        return i % 3 == 0 || i == n - 1 ? test::identity(i) : std::vector<Index>{i - 1};
    });
}

/// What the kernel does, by one thread: chunk after chunk, task after task. Expects nothing to be read before it is
/// written.
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
                result[r] = (i < 0 ? 0 : b[i]) - sum;
                if (i >= 0) x[i] = result[r];
                EXPECT_FALSE(std::isnan(sum)) << "row " << i << " reads what is not known yet";
                if (task.exported >> r & 1) exported[slot++] = result[r];
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
    std::erase(rows, -1);
    std::sort(rows.begin(), rows.end());
    EXPECT_EQ(rows, test::identity(n)) << "every row appears once";
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

TEST(ChunkedLayout, SharesLongRowsAmongWarps)
{
    for (Index n : {100, 600})
        for (Index segment : {3, 16, 50})
            for (Index chunks : {1, 3, 40})
                expect_solves(hubs(n), {.chunks = chunks, .least_rows = 8, .longest = 50, .segment = segment});
    for (Index n : {10000, 100000}) expect_solves(arrow(n), {});
    const auto s = layout(arrow(100000), {.chunks = 100, .longest = 512, .segment = 256});
    for (const ChunkTask& task : s.tasks) EXPECT_LE(task.steps, 16);
    EXPECT_EQ(std::count(s.row.begin(), s.row.end(), -1), (99999 + 255) / 256);
}

TEST(ChunkedLayout, GivesTheRowsOfATaskOneLevelAndAsManyLanes)
{
    const auto L = strictly_lower(2000, 20, 3, 100);
    const auto level = levels(L);
    const auto s = layout(L, {.chunks = 9});
    EXPECT_EQ(s.group, 4);
    EXPECT_EQ(s.depth, *std::max_element(level.begin(), level.end()) + 1);
    for (Index c = 0; c < s.chunks(); ++c)
        for (Index t = s.task_ptr[c]; t < s.task_ptr[c + 1]; ++t) {
            const auto& task = s.tasks[t];
            Index       steps = 0;
            for (Index r = 0; r < task.rows; ++r) {
                const Index i = s.row[s.chunk_ptr[c] + task.first + r];
                EXPECT_EQ(level[i], level[s.row[s.chunk_ptr[c] + task.first]]);
                const auto length = static_cast<Index>(L.row_ptr()[i + 1] - L.row_ptr()[i]),
                           lanes = 1 << task.log2_part;
                EXPECT_LE(length, s.group * lanes);
                EXPECT_TRUE(lanes == 1 || length > s.group * lanes / 2) << length << " by " << lanes;
                steps = std::max(steps, (length + lanes - 1) / lanes);
            }
            EXPECT_EQ(task.steps, steps);
            EXPECT_LE(task.rows << task.log2_part, 32);
        }
}

TEST(ChunkedLayout, HalvesOnlyChunksThatDoNotFit)
{
    const std::vector<Index> chunk_ptr = {0, 5, 6, 10};
    EXPECT_EQ(halved(chunk_ptr, {false, false, true}), (std::vector<Index>{0, 2, 5, 6, 10}));
    EXPECT_TRUE(halved(chunk_ptr, {true, false, true}).empty());
    EXPECT_TRUE(halved(std::vector<Index>{0}, {}).empty());
}

TEST(ChunkedLayout, ExportsOnlyWhatOtherChunksRead)
{
    const auto s = layout(chain(1000), {.chunks = 10});
    EXPECT_EQ(s.chunks(), 10);
    EXPECT_EQ(s.slots, 9);
}

}  // namespace
}  // namespace ilux

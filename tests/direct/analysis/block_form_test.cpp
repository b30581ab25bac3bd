// Oracle: reachability by Warshall's algorithm.

#include "ilux/direct/analysis/block_form.hpp"

#include <algorithm>
#include <numeric>

#include "ilux/base/tasks.hpp"
#include "ilux/tests/support/checks.hpp"

namespace ilux {
namespace {

using test::Random;

struct Pattern {
    std::vector<Offset> ptr{0};
    std::vector<Index>  col;
};

/// Columns in no order, duplicates now and then.
Pattern random_pattern(Index n, double per_row, Random& random)
{
    Pattern a;
    for (Index i = 0; i < n; ++i) {
        for (Index p = 0; p < 2 * per_row; ++p)
            if (random.uniform(0, 1) < 0.5) a.col.push_back(random.below(n));
        a.ptr.push_back(static_cast<Offset>(a.col.size()));
    }
    return a;
}

std::vector<Index> identity(Index n)
{
    std::vector<Index> perm(n);
    std::iota(perm.begin(), perm.end(), Index{0});
    return perm;
}

/// reach[v][w]: a path of entries of C leads from v to w.
std::vector<std::vector<char>> reachability(const Pattern& a, const std::vector<Index>& row_of)
{
    const Index                    n = static_cast<Index>(row_of.size());
    std::vector<std::vector<char>> reach(n, std::vector<char>(n, 0));
    for (Index v = 0; v < n; ++v) {
        reach[v][v] = 1;
        for (Offset p = a.ptr[row_of[v]]; p < a.ptr[row_of[v] + 1]; ++p) reach[v][a.col[p]] = 1;
    }
    for (Index k = 0; k < n; ++k)
        for (Index i = 0; i < n; ++i)
            for (Index j = 0; j < n; ++j) reach[i][j] |= reach[i][k] & reach[k][j];
    return reach;
}

std::vector<Index> block_of(const BlockForm& form)
{
    std::vector<Index> block(form.perm.size(), -1);
    for (Index b = 0; b + 1 < static_cast<Index>(form.block_ptr.size()); ++b)
        for (Index k = form.block_ptr[b]; k < form.block_ptr[b + 1]; ++k) block[form.perm[k]] = b;
    return block;
}

TEST(BlockForm, HasTheComponentsOfWarshallInAnOrderThatIsBlockUpperTriangular)
{
    for (unsigned seed = 0; seed < 300; ++seed) {
        Random      random(seed);
        const Index n = seed % 24;
        const auto  a = random_pattern(n, 0.3 + 0.01 * (seed % 200), random);
        const auto  row_of = seed % 3 == 0 ? identity(n) : test::random_permutation(n, seed);
        const auto  form = block_form(a.ptr, a.col, row_of);
        const auto  reach = reachability(a, row_of);

        auto sorted = form.perm;
        std::ranges::sort(sorted);
        ASSERT_EQ(sorted, identity(n)) << "seed " << seed;
        ASSERT_EQ(form.block_ptr.front(), 0);
        ASSERT_EQ(form.block_ptr.back(), n);
        const auto block = block_of(form);
        for (Index v = 0; v < n; ++v)
            for (Index w = 0; w < n; ++w) {
                ASSERT_EQ(block[v] == block[w], reach[v][w] && reach[w][v]) << "seed " << seed;
                ASSERT_TRUE(!reach[v][w] || block[v] <= block[w]) << "seed " << seed;
            }
        for (std::size_t b = 0; b + 1 < form.block_ptr.size(); ++b) {
            ASSERT_LT(form.block_ptr[b], form.block_ptr[b + 1]);
            ASSERT_TRUE(
                std::is_sorted(form.perm.begin() + form.block_ptr[b], form.perm.begin() + form.block_ptr[b + 1]));
        }
    }
}

TEST(BlockForm, OfChainsAndRingsLongerThanAnyCallStackIsFound)
{
    const Index n = 300'000;
    Pattern     chain, ring;
    for (Index i = 0; i < n; ++i) {
        if (i + 1 < n) chain.col.push_back(i + 1);
        ring.col.push_back((i + 1) % n);
        chain.ptr.push_back(static_cast<Offset>(chain.col.size()));
        ring.ptr.push_back(static_cast<Offset>(ring.col.size()));
    }
    const auto blocks = block_form(chain.ptr, chain.col, identity(n));
    EXPECT_EQ(blocks.block_ptr.size(), n + 1u);
    EXPECT_EQ(blocks.perm, identity(n));
    EXPECT_EQ(block_form(ring.ptr, ring.col, identity(n)).block_ptr, (std::vector<Index>{0, n}));
}

TEST(BlockForm, OfNothingHasNoBlockAndOfEmptyRowsOneForEach)
{
    EXPECT_EQ(block_form(std::vector<Offset>{0}, {}, {}).block_ptr, std::vector<Index>{0});
    EXPECT_EQ(single_block(0).block_ptr, std::vector<Index>{0});
    EXPECT_EQ(single_block(3).block_ptr, (std::vector<Index>{0, 3}));
    EXPECT_EQ(single_block(3).perm, identity(3));
    EXPECT_EQ(block_form(std::vector<Offset>(4, 0), {}, identity(3)).block_ptr, (std::vector<Index>{0, 1, 2, 3}));
}

TEST(BlockForm, OneComponentOfASymmetricPatternIsOneBlock)
{
    int ones = 0;
    for (unsigned seed = 0; seed < 200; ++seed) {
        Random      random(seed);
        const Index n = seed == 0 ? 30'000 : static_cast<Index>(seed) % 40;
        auto        A = test::random_matrix(n, n, seed == 0 ? 5 : 1 + seed % 3, seed);
        if (seed % 4 != 3) {  // made symmetric
            std::vector<Index> row, col;
            for (Index i = 0; i < n; ++i)
                for (Offset p = A.row_ptr()[i]; p < A.row_ptr()[i + 1]; ++p) {
                    row.insert(row.end(), {i, A.col()[p]});
                    col.insert(col.end(), {A.col()[p], i});
                }
            A = CsrMatrix<double>::from_triplets(n, n, row, col, std::vector<double>(row.size(), 1.));
        }
        const bool one = block_form(A.row_ptr(), A.col(), identity(n)).block_ptr.size() == 2;
        for (const int threads : {1, 2, 3, 7}) {
            bool found = false;
            with_tasks(Cpu(threads), true, [&] { found = is_one_component({n, A.row_ptr(), A.col()}); });
            EXPECT_EQ(found, one && is_pattern_symmetric(A)) << "seed " << seed << ", " << threads;
            ones += found;
        }
    }
    EXPECT_GT(ones, 40);
    EXPECT_LT(ones, 4 * 199);
}

}  // namespace
}  // namespace ilux

// What the Crout sweep may store.
#include <gtest/gtest.h>

#include <vector>

#include "ilux/tests/precond/mlilu/level_checks.hpp"

namespace ilux {
namespace {

using namespace test::precond;

using test::Dense;

TEST(CroutLimits, AreKept)
{
    const auto entries = [](const CroutLevel<>& l) { return l.L_B.nnz() + l.U_B.nnz() + l.L_G.nnz() + l.U_F.nnz(); };
    for (std::uint64_t seed : {1, 2, 3}) {
        const auto   A = random_regular(24, 5, seed, true);
        CroutOptions options{.drop_tol = 0, .inverse_bound = 4, .pivot_floor = 0.01};
        const Offset all = entries(level_of(A, options));
        for (Offset limit = 1; limit < all; ++limit) {
            options.max_entries = limit;
            const auto level = level_of(A, options);
            EXPECT_LE(entries(level), limit) << "of " << all;
            EXPECT_TRUE(level.truncated || entries(level) < limit) << "limit " << limit << " of " << all;
        }
        options.max_entries = 100 * all;
        EXPECT_FALSE(level_of(A, options).truncated);
        EXPECT_EQ(entries(level_of(A, options)), all);
    }
}

TEST(CroutLimits, CountTheSavedBlocks)
{
    // Row 0 has no pivot: its n − 1 entries are F, its column's G. Beside them the limit leaves room for some of L_B
    // and U_B.
    constexpr Index n = 30;
    Dense           A = zeros(n, n);
    for (Index i = 0; i < n; ++i) {
        if (i > 0) A(0, i) = A(i, 0) = 0.1;
        for (Index j = 1; i > 0 && j < n; ++j) A(i, j) = i == j ? n : 1 + 0.01 * i;
    }
    CroutOptions options{.drop_tol = 0, .inverse_bound = 100, .save = true};
    const auto   entries = [](const CroutLevel<>& level) { return level.L_B.nnz() + level.U_B.nnz(); };
    const auto   whole = level_of(test::to_csr(A), options);
    ASSERT_EQ(whole.postponed, (std::vector<Index>{0}));
    ASSERT_EQ(entries(whole), (n - 1) * (n - 2));
    for (Offset room : {0, 1, 10, 100, 500}) {
        options.max_entries = 2 * (n - 1) + room;
        const auto level = level_of(test::to_csr(A), options);
        EXPECT_LE(entries(level), room);
        EXPECT_TRUE(level.truncated);
    }
}

}  // namespace
}  // namespace ilux

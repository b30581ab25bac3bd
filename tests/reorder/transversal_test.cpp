// Oracle: Kuhn's one-row-at-a-time search, the slow obvious version.

#include "ilux/reorder/transversal.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <random>

#include "ilux/base/error.hpp"
#include "ilux/tests/support/stop_at.hpp"

namespace ilux {
namespace {

Index kuhn_rank(const CsrMatrix<double>& A, double limit)
{
    std::vector<Index>         owner(A.cols(), -1);
    std::vector<char>          seen;
    std::function<bool(Index)> place = [&](Index i) {
        for (Offset p = A.row_ptr()[i]; p < A.row_ptr()[i + 1]; ++p) {
            const Index j = A.col()[p];
            if (A.val()[p] > limit || seen[j]) continue;
            seen[j] = 1;
            if (owner[j] < 0 || place(owner[j])) {
                owner[j] = i;
                return true;
            }
        }
        return false;
    };
    Index rank = 0;
    for (Index i = 0; i < A.rows(); ++i) {
        seen.assign(A.cols(), 0);
        rank += place(i);
    }
    return rank;
}

Index count_and_check(const CsrMatrix<double>& A, double limit, const std::vector<Offset>& entry,
                      const std::vector<Index>& owner)
{
    Index rank = 0;
    for (Index i = 0; i < A.rows(); ++i) {
        if (entry[i] < 0) continue;
        ++rank;
        EXPECT_TRUE(entry[i] >= A.row_ptr()[i] && entry[i] < A.row_ptr()[i + 1]);
        EXPECT_LE(A.val()[entry[i]], limit);
        EXPECT_EQ(owner[A.col()[entry[i]]], i);
    }
    Index owned = 0;
    for (const Index i : owner) owned += i >= 0;
    EXPECT_EQ(owned, rank);
    return rank;
}

TEST(Transversal, HasTheRankOfTheSlowSearchUnderEveryLimit)
{
    for (unsigned seed = 0; seed < 200; ++seed) {
        std::mt19937        random(seed);
        const Index         n = 1 + static_cast<Index>(random() % 40);
        std::vector<Index>  row, col;
        std::vector<double> val;
        for (Index p = 0; p < n * 2; ++p) {
            row.push_back(static_cast<Index>(random() % n));
            col.push_back(static_cast<Index>(random() % n));
            val.push_back(double(random() % 4));
        }
        const auto          A = CsrMatrix<double>::from_triplets(n, n, row, col, val);
        std::vector<Offset> entry(n, -1);
        std::vector<Index>  owner(n, -1);
        std::vector<Offset> before;
        for (const double limit : {0.0, 1.0, 2.0, 3.0, 1e9}) {  // each continues from the last
            before = entry;
            extend_transversal(A, A.val(), limit, entry, owner);
            EXPECT_EQ(count_and_check(A, limit, entry, owner), kuhn_rank(A, limit))
                << "seed " << seed << ", limit " << limit;
            for (Index i = 0; i < n; ++i) EXPECT_TRUE(before[i] < 0 || entry[i] >= 0) << "row " << i << " was lost";
        }
    }
}

TEST(Transversal, TakesNeitherNanNorInfinity)
{
    const auto                A = CsrMatrix<double>::identity(3);
    const std::vector<double> cost{std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(),
                                   1};
    std::vector<Offset>       entry(3, -1);
    std::vector<Index>        owner(3, -1);
    extend_transversal(A, cost, std::numeric_limits<double>::max(), entry, owner);
    EXPECT_EQ(entry, (std::vector<Offset>{-1, -1, 2}));
    EXPECT_EQ(owner, (std::vector<Index>{-1, -1, 2}));
}

TEST(Transversal, UndoesALongChainInOnePath)
{
    // rows i hold columns i+1; the last row has column n−1 only: all must move
    const Index         n = 200000;
    std::vector<Offset> row_ptr{0}, entry(n, -1);
    std::vector<Index>  col, owner(n, -1);
    for (Index i = 0; i < n; ++i) {
        col.push_back(i);
        if (i + 1 < n) {
            entry[i] = static_cast<Offset>(col.size());
            owner[i + 1] = i;
            col.push_back(i + 1);
        }
        row_ptr.push_back(static_cast<Offset>(col.size()));
    }
    std::vector<double> val(col.size(), 1.0);
    const auto          A = CsrMatrix<double>::from_sorted(n, n, row_ptr, col, val);
    extend_transversal(A, A.val(), 1, entry, owner);
    for (Index i = 0; i < n; ++i) ASSERT_EQ(owner[i], i);
}

TEST(Transversal, ATokenEndsIt)
{
    constexpr Index     n = 20'000;  // two diagonals; the one matched first leaves a path through all rows
    std::vector<Offset> row_ptr{0};
    std::vector<Index>  col;
    for (Index i = 0; i < n; ++i) {
        if (i > 0) col.push_back(i - 1);
        col.push_back(i);
        row_ptr.push_back(static_cast<Offset>(col.size()));
    }
    const auto extended = [&](const StopToken& stop) {
        std::vector<Offset> entry_of_row(n, -1);
        std::vector<Index>  row_of_col(n, -1);
        for (Index i = 1; i < n; ++i) {
            entry_of_row[i] = row_ptr[i];
            row_of_col[i - 1] = i;
        }
        extend_transversal(row_ptr, col, {}, entry_of_row, row_of_col, stop);
        return row_of_col;
    };
    std::atomic<int> asked;
    const auto       done = extended(test::stop_at(0, asked));
    EXPECT_EQ(std::count(done.begin(), done.end(), -1), 0);
    EXPECT_GE(asked, 1);
    EXPECT_THROW(extended(test::at_once()), Cancelled);
}

}  // namespace
}  // namespace ilux

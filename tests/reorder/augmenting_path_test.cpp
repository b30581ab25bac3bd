// Matchings large enough for searches by regions, on several threads.

#include "ilux/base/tasks.hpp"
#include "ilux/gallery/gallery.hpp"
#include "ilux/reorder/augmenting_path.hpp"
#include "ilux/tests/reorder/matching_checks.hpp"

namespace ilux {
namespace {

Matching matching_by(int threads, const Csr& A, double work_limit = 200)
{
    Matching m;
    with_tasks(Cpu(threads), true, [&] { m = maximum_product_matching(A, {.work_limit = work_limit}); });
    return m;
}

void expect_same(const Matching& a, const Matching& b)
{
    EXPECT_EQ(a.col_of_row, b.col_of_row);
    EXPECT_EQ(a.row_scale, b.row_scale);
    EXPECT_EQ(a.col_scale, b.col_scale);
    EXPECT_EQ(a.optimal, b.optimal);
}

Csr with_shuffled_rows(const Csr& A, unsigned seed)
{
    std::vector<Index> p(A.rows());
    std::iota(p.begin(), p.end(), Index{0});
    std::ranges::shuffle(p, std::mt19937(seed));
    return permute<double>(A, p, {});
}

/// A with every so many-th row empty.
Csr with_empty_rows(const Csr& A, Index every)
{
    std::vector<Index>  row, col;
    std::vector<double> val;
    for (Index i = 0; i < A.rows(); ++i) {
        if (i % every == 0) continue;
        for (Offset p = A.row_ptr()[i]; p < A.row_ptr()[i + 1]; ++p) {
            row.push_back(i);
            col.push_back(A.col()[p]);
            val.push_back(A.val()[p]);
        }
    }
    return Csr::from_triplets(A.rows(), A.cols(), row, col, val);
}

class MatchingByRegions : public testing::TestWithParam<const char*> {};

TEST_P(MatchingByRegions, IsTheSameOnAnyNumberOfThreadsAndTheLargest)
{
    const Csr      A = gallery::build(GetParam());
    const Matching m = matching_by(1, A);
    EXPECT_TRUE(m.optimal);
    expect_sound(A, m);  // its duals prove the product
    for (const int threads : {2, 3, 8}) expect_same(matching_by(threads, A), m);
}

TEST_P(MatchingByRegions, HasTheProductOfShuffledRows)
{
    const Csr    A = gallery::build(GetParam()), B = with_shuffled_rows(A, 3);  // hardly a search ends in its region
    const auto   a = matching_by(2, A), b = matching_by(2, B);
    const double product = log_product(A, a);
    EXPECT_EQ(a.rank, b.rank);
    EXPECT_NEAR(log_product(B, b), product, 1e-9 * A.rows());
}

TEST_P(MatchingByRegions, FindsTheRankWhereRowsAreEmpty)
{
    const Csr      A = with_empty_rows(gallery::build(GetParam()), 50);
    const Matching m = matching_by(2, A);
    EXPECT_EQ(m.rank, matching_by(1, with_shuffled_rows(A, 4)).rank);
    EXPECT_LT(m.rank, A.rows());
    expect_sound(A, m);
    expect_same(matching_by(3, A), m);
}

TEST_P(MatchingByRegions, StopsAtItsWorkLimitOnAnyNumberOfThreads)
{
    const Csr      A = gallery::build(GetParam());
    const Matching m = matching_by(1, A, 0.01);
    EXPECT_FALSE(m.optimal);
    expect_sound(A, m);
    expect_same(matching_by(3, A, 0.01), m);
}

INSTANTIATE_TEST_SUITE_P(, MatchingByRegions, testing::Values("rlc_mesh:n=30", "mna_random:n=40000"));

TEST(AugmentInRegions, MatchesMostRowsOfACircuitAndKeepsDualsFeasible)
{
    const Csr          A = gallery::build("rlc_mesh:n=30");
    Assignment         a(A);
    std::vector<Index> rows(A.rows());
    std::iota(rows.begin(), rows.end(), Index{0});
    double scanned = 0;
    with_tasks(Cpu(3), true, [&] { rows = augment_in_regions(a, std::move(rows), scanned, 1e9, {}); });
    EXPECT_GT(scanned, 0);
    EXPECT_LT(4 * Index(rows.size()), A.rows());
    EXPECT_TRUE(std::ranges::all_of(rows, [&](Index i) { return a.entry_of_row[i] < 0; }));
    Index matched = 0;
    for (Index i = 0; i < A.rows(); ++i) {
        for (Offset p = A.row_ptr()[i]; p < A.row_ptr()[i + 1]; ++p) ASSERT_GE(a.reduced_cost(i, p), -1e-10);
        if (a.entry_of_row[i] < 0) continue;
        ++matched;
        ASSERT_NEAR(a.reduced_cost(i, a.entry_of_row[i]), 0, 1e-10);
        ASSERT_EQ(a.column[A.col()[a.entry_of_row[i]]].row, i);
    }
    EXPECT_EQ(matched + Index(rows.size()), A.rows());
}

TEST(AugmentInRegions, ScansNoMoreThanItMay)
{
    const Csr          A = gallery::build("rlc_mesh:n=30");
    Assignment         a(A);
    std::vector<Index> rows(A.rows());
    std::iota(rows.begin(), rows.end(), Index{0});
    double       scanned = 0;
    const double most = 8. * A.rows();
    augment_in_regions(a, std::move(rows), scanned, most, {});
    EXPECT_LT(scanned, most + 10. * A.rows());  // each search may end with a row, of at most 5 entries, and its first
}

TEST(AugmentInRegions, EndsByItsToken)
{
    const Csr  A = gallery::build("rlc_mesh:n=30");
    StopSource source;
    source.request_stop();
    EXPECT_THROW(with_tasks(Cpu(2), true, [&] { maximum_product_matching(A, {}, source.token()); }), Cancelled);
}

}  // namespace
}  // namespace ilux

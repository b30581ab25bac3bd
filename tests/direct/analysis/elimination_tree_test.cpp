// Oracles: row subtrees walked vertex by vertex, which is the definition; the definition of a postorder.

#include "ilux/direct/analysis/elimination_tree.hpp"

#include <gtest/gtest.h>

#include <numeric>

#include "ilux/gallery/gallery.hpp"
#include "ilux/reorder/nested_dissection.hpp"
#include "ilux/tests/support/checks.hpp"
#include "ilux/tests/support/stop_at.hpp"

namespace ilux {
namespace {

PatternView tree_pattern(const CsrMatrix<double>& A) { return {A.rows(), A.row_ptr(), A.col()}; }

struct SlowCounts {
    std::vector<Index> parent, count;  // by the given order
};

SlowCounts slow_counts(const PatternView& C, std::span<const Index> order)
{
    const auto         inv = inverse_permutation(order);
    std::vector<Index> seen(C.n, -1);
    SlowCounts         s{.parent = std::vector<Index>(C.n, -1), .count = std::vector<Index>(C.n, 0)};
    for (Index k = 0; k < C.n; ++k) {
        seen[k] = k;
        for (Offset p = C.row_ptr[order[k]]; p < C.row_ptr[order[k] + 1]; ++p)
            for (Index i = inv[C.col[p]]; i < k && seen[i] != k; i = s.parent[i]) {
                if (s.parent[i] < 0) s.parent[i] = k;
                seen[i] = k;
                ++s.count[i];
            }
    }
    return s;
}

void expect_tree(const PatternView& C, std::span<const Index> order)
{
    const auto slow = slow_counts(C, order);
    const auto tree = elimination_tree(Cpu(1), C, order);
    for (const int threads : {2, 3, 7}) {
        const auto same = elimination_tree(Cpu(threads), C, order);
        ASSERT_EQ(same.order, tree.order) << threads;
        ASSERT_EQ(same.parent, tree.parent) << threads;
        ASSERT_EQ(same.size, tree.size) << threads;
    }
    const auto inv = inverse_permutation(tree.order);
    const auto inv_given = inverse_permutation(order);
    for (Index k = 0; k < C.n; ++k) {
        const Index given = inv_given[tree.order[k]], up = slow.parent[given];
        ASSERT_EQ(tree.parent[k], up < 0 ? -1 : inv[order[up]]);
        ASSERT_TRUE(tree.parent[k] < 0 || tree.parent[k] > k);
        if (up < 0) continue;
        ASSERT_LE(tree.parent[k] - tree.size[tree.parent[k]], k - tree.size[k]);  // inside of its parent's subtree
    }
    for (const int threads : {1, 2, 3, 8}) {
        const auto count = column_counts(Cpu(threads), C, tree);
        for (Index k = 0; k < C.n; ++k) ASSERT_EQ(count[k], slow.count[inv_given[tree.order[k]]]) << threads;
    }
}

TEST(EliminationTree, AndItsCountsAreThoseOfRowSubtrees)
{
    for (const char* spec : {"poisson2d:n=1", "poisson2d:n=2", "poisson2d:n=33", "convdiff3d:n=9", "poisson2d:n=110"}) {
        const auto         A = gallery::build(spec);
        std::vector<Index> order(A.rows());
        std::iota(order.begin(), order.end(), Index{0});
        expect_tree(tree_pattern(A), order);
        expect_tree(tree_pattern(A), fill_reducing_order(tree_pattern(A), Ordering::amd));
        expect_tree(tree_pattern(A), test::random_permutation(A.rows(), 5));
        expect_tree(tree_pattern(A), nested_dissection(Cpu(2), tree_pattern(A)));
    }
}

TEST(EliminationTree, OfNothingAndOfADiagonal)
{
    for (const Index n : {0, 1, 2, 33}) {
        const auto         A = CsrMatrix<double>::identity(n);
        std::vector<Index> order(n);
        std::iota(order.begin(), order.end(), Index{0});
        expect_tree(tree_pattern(A), order);
    }
}

TEST(EliminationTree, ATokenEndsIt)
{
    const auto A = gallery::build("poisson2d:n=70");
    const auto order = fill_reducing_order(tree_pattern(A), Ordering::amd);
    const auto tree = elimination_tree(Cpu(2), tree_pattern(A), order);
    EXPECT_THROW((void)elimination_tree(Cpu(2), tree_pattern(A), order, test::at_once()), Cancelled);
    EXPECT_THROW((void)column_counts(Cpu(2), tree_pattern(A), tree, test::at_once()), Cancelled);
}

}  // namespace
}  // namespace ilux

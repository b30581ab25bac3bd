// Oracles: elimination on a dense matrix of bits; closed forms; the 8 x 8 example of docs/design/direct.md.

#include "ilux/direct/analysis/symbolic_cost.hpp"

#include <array>
#include <numeric>

#include "ilux/gallery/gallery.hpp"
#include "ilux/tests/direct/analysis/boolean_matrix.hpp"
#include "ilux/tests/direct/worked_example.hpp"
#include "ilux/tests/support/checks.hpp"
#include "ilux/tests/support/stop_at.hpp"

namespace ilux {
namespace {

using Count = std::optional<SymbolicCost> (*)(const PatternView&, std::span<const Index>, CostLimit, const StopToken&);
constexpr std::array<Count, 2> both_counts{symbolic_cost, [](const PatternView& C, std::span<const Index> order,
                                                             CostLimit limit, const StopToken& stop) {
                                               return symmetric_symbolic_cost(C, order, limit, stop, Cpu(2));
                                           }};

PatternView pattern(const CsrMatrix<double>& A) { return {A.rows(), A.row_ptr(), A.col()}; }

CsrMatrix<double> symmetrised(const CsrMatrix<double>& A)
{
    std::vector<Index> row, col;
    for (Index i = 0; i < A.rows(); ++i)
        for (Offset p = A.row_ptr()[i]; p < A.row_ptr()[i + 1]; ++p) {
            row.insert(row.end(), {i, A.col()[p]});
            col.insert(col.end(), {A.col()[p], i});
        }
    return CsrMatrix<double>::from_triplets(A.rows(), A.rows(), row, col, std::vector<double>(row.size(), 1.));
}

void expect_equal(const std::optional<SymbolicCost>& cost, const SymbolicCost& slow, unsigned seed)
{
    ASSERT_TRUE(cost.has_value());
    EXPECT_EQ(cost->nnz, slow.nnz) << "seed " << seed;
    EXPECT_EQ(cost->multiply_adds, slow.multiply_adds) << "seed " << seed;
    EXPECT_EQ(cost->levels, slow.levels) << "seed " << seed;
}

TEST(SymbolicCost, IsThatOfEliminationOnBits)
{
    for (unsigned seed = 0; seed < 300; ++seed) {
        const Index n = seed % 41;
        const auto  A = test::random_matrix(n, n, 1 + seed % 6, seed);
        const auto  order = test::random_permutation(n, seed + 1);
        expect_equal(symbolic_cost(pattern(A), order, {.levels = true}), test::slow_cost(pattern(A), order), seed);
        EXPECT_EQ(symbolic_cost(pattern(A), order)->levels, 0);
    }
}

TEST(SymbolicCost, OfSymmetricPatternsIsFoundThroughTheEliminationTreeToo)
{
    for (unsigned seed = 0; seed < 200; ++seed) {
        const Index n = seed % 37;
        const auto  A = symmetrised(test::random_matrix(n, n, 1 + seed % 4, seed));
        const auto  order = test::random_permutation(n, seed + 1);
        const auto  slow = test::slow_cost(pattern(A), order);
        expect_equal(symmetric_symbolic_cost(pattern(A), order, {.levels = true}, {}, Cpu(2)), slow, seed);
        expect_equal(symbolic_cost(pattern(A), order, {.levels = true}), slow, seed);
    }
}

/// Row i of A becomes `times` rows, all joined.
CsrMatrix<double> blown_up(const CsrMatrix<double>& A, Index times)
{
    std::vector<Index> row, col;
    for (Index i = 0; i < A.rows(); ++i)
        for (Index a = 0; a < times; ++a)
            for (Index b = 0; b < times; ++b) {
                row.push_back(i * times + a);
                col.push_back(i * times + b);
                for (Offset p = A.row_ptr()[i]; p < A.row_ptr()[i + 1]; ++p) {
                    row.push_back(i * times + a);
                    col.push_back(A.col()[p] * times + b);
                }
            }
    const Index n = A.rows() * times;
    return CsrMatrix<double>::from_triplets(n, n, row, col, std::vector<double>(row.size(), 1.));
}

TEST(SymbolicCost, OfClassesIsThatOfTheirMembers)
{
    for (unsigned seed = 0; seed < 100; ++seed) {
        const Index n = 4 + seed % 29;
        const auto  A = blown_up(symmetrised(test::random_matrix(n, n, 1 + seed % 4, seed)), 1 + seed % 4);
        const auto  c = compressed_graph(Cpu(2), pattern(A));
        if (!c.hub.empty()) continue;
        const auto order = test::random_permutation(c.classes(), seed + 1);
        expect_equal(cost_of_classes(Cpu(2), c, order, true), test::slow_cost(pattern(A), c.expanded(order)), seed);
    }
}

TEST(SymbolicCost, OfTheWorkedExampleIs29EntriesAnd18MultiplyAdds)
{
    const auto         A = test::worked_example();
    std::vector<Index> order(8);
    std::iota(order.begin(), order.end(), Index{0});
    const auto cost = symbolic_cost(pattern(A), order);
    ASSERT_TRUE(cost.has_value());
    EXPECT_EQ(cost->nnz, 29);
    EXPECT_EQ(cost->multiply_adds, 18);
    EXPECT_EQ(cost->flops(8), 2 * 18 + 29 - 8);
}

TEST(SymbolicCost, IsGivenUpBeyondItsLimitsOnly)
{
    const auto         A = gallery::build("poisson2d:n=12");
    std::vector<Index> order(A.rows());
    std::iota(order.begin(), order.end(), Index{0});
    for (const auto count : both_counts) {
        const auto all = count(pattern(A), order, {}, {});
        ASSERT_TRUE(all.has_value());
        EXPECT_TRUE(count(pattern(A), order, {.nnz = all->nnz}, {}).has_value());
        EXPECT_TRUE(count(pattern(A), order, {.multiply_adds = all->multiply_adds}, {}).has_value());
        EXPECT_FALSE(count(pattern(A), order, {.nnz = all->nnz - 1}, {}).has_value());
        EXPECT_FALSE(count(pattern(A), order, {.multiply_adds = all->multiply_adds - 1}, {}).has_value());
    }
}

TEST(SymbolicCost, OfAFullMatrixIsThatOfDenseElimination)
{
    const Index        n = 33;
    std::vector<Index> row, col, order(n);
    std::iota(order.begin(), order.end(), Index{0});
    for (Index i = 0; i < n; ++i)
        for (Index j = 0; j < n; ++j) {
            row.push_back(i);
            col.push_back(j);
        }
    const auto A = CsrMatrix<double>::from_triplets(n, n, row, col, std::vector<double>(row.size(), 1.));
    const auto cost = symbolic_cost(pattern(A), order);
    ASSERT_TRUE(cost.has_value());
    EXPECT_EQ(cost->nnz, n * n);
    EXPECT_EQ(cost->multiply_adds, (n - 1) * n * (2 * n - 1) / 6);
}

TEST(SymbolicCost, ATokenEndsTheCount)
{
    const auto         A = gallery::build("poisson2d:n=70");
    const PatternView  C{A.rows(), A.row_ptr(), A.col()};
    std::vector<Index> order(A.rows());
    std::iota(order.begin(), order.end(), Index{0});
    for (const auto count : both_counts) {
        std::atomic<int> asked;
        const auto       cost = count(C, order, {}, test::stop_at(0, asked));
        EXPECT_EQ(cost->nnz, count(C, order, {}, {})->nnz);
        EXPECT_GE(asked, 1);
        EXPECT_THROW((void)count(C, order, {}, test::at_once()), Cancelled);
    }
}

}  // namespace
}  // namespace ilux

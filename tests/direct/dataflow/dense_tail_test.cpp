#include "ilux/direct/dataflow/dense_tail.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>

#include "ilux/tests/direct/dataflow/tail_systems.hpp"
#include "ilux/tests/direct/elimination_bound.hpp"

namespace ilux::test {
namespace {

using Slot = DataflowProgram::Slot;

LuPattern chain(Index n, std::vector<Index> block_ptr)
{
    const CsrMatrix<double> A = gallery::tridiagonal({.n = n});
    LuPattern               P = *gilbert_peierls(analysed(A), A.val()).pattern;
    P.block_ptr = std::move(block_ptr);
    return P;
}

// A chain of n columns is n levels deep, so that each column of a tail saves a level.
TEST(DenseTail, IsChosenWhereItSavesLevelsAndOnlyThere)
{
    EXPECT_EQ(choose_dense_tail(chain(1000, {0, 1000})).size, TailColumns::most);
    EXPECT_EQ(choose_dense_tail(chain(1000, {0, 1000})).first, 1000 - TailColumns::most);
    EXPECT_TRUE(choose_dense_tail(chain(5000, {0, 5000})).empty());  // saves less than a twentieth
    EXPECT_TRUE(choose_dense_tail(chain(8, {0, 8})).empty());        // shorter than what is looked at
    for (const Index n : {0, 1, 70})
        EXPECT_TRUE(choose_dense_tail(*dataflow_system("blocks", CsrMatrix<double>::identity(n)).F.pattern).empty())
            << n;
}

TEST(DenseTail, EndsTheDeepestBlockUnlessAnotherIsAsDeep)
{
    const CsrMatrix<double> A = gallery::tridiagonal({.n = 150}), B = random_dominant(60, 60, 4);
    const Index             n = A.rows() + B.rows();
    for (const bool as_deep : {false, true}) {
        std::vector<Index>  row, col;
        std::vector<double> val;
        const auto          place = [&](const CsrMatrix<double>& block, Index at) {
            for (Index i = 0; i < block.rows(); ++i)
                for (Offset p = block.row_ptr()[i]; p < block.row_ptr()[i + 1]; ++p)
                    row.push_back(at + i), col.push_back(at + block.col()[p]), val.push_back(block.val()[p]);
        };
        place(A, 0);
        place(as_deep ? A : B, A.rows());
        const Index             order = as_deep ? 2 * A.rows() : n;
        const CsrMatrix<double> both = CsrMatrix<double>::from_triplets(order, order, row, col, val);
        const LuFactors<>       F = gilbert_peierls(analysed(both, {.block_ptr = {0, A.rows(), order}}), both.val());
        const TailColumns       tail = choose_dense_tail(*F.pattern);
        EXPECT_EQ(tail.empty(), as_deep);
        EXPECT_EQ(tail.first + tail.size, as_deep ? 0 : A.rows());
    }
}

TEST(DenseTail, IsRefusedWhereItDoesNotEndABlock)
{
    const LuPattern P = chain(300, {0, 100, 300});
    for (const TailColumns good : {TailColumns{}, TailColumns{0, 100}, TailColumns{99, 1}, TailColumns{140, 160}})
        EXPECT_NO_THROW(require_tail(P, good));
    for (const TailColumns bad : {TailColumns{0, 99}, TailColumns{90, 20}, TailColumns{99, 161}, TailColumns{139, 161},
                                  TailColumns{299, 2}, TailColumns{300, -100}, TailColumns{-1, 101}}) {
        expect_refusal([&] { require_tail(P, bad); }, {"tail of", "end of a diagonal block"});
        expect_refusal([&] { factor_dataflow(P, bad); }, {"tail of"});
    }
}

/// [2 1; 4 5] = [1 0; 2 1] [2 1; 0 3], in slots of no order; what has no slot stays what it was.
TEST(DenseTail, OfTwoColumnsIsFactoredByHand)
{
    std::vector<double> v{0, -1, 7, 5, 1, 2, 4};
    run_tail_serial({2, {5, 6, 4, 3}}, v);
    EXPECT_EQ(v, (std::vector<double>{0, -1, 7, 3, 1, 2, 2}));
    std::vector<double> upper{0, -1, 2, 3, 5};
    run_tail_serial({2, {2, DataflowProgram::zero_slot, 3, 4}}, upper);
    EXPECT_EQ(upper, (std::vector<double>{0, -1, 2, 3, 5}));
}

/// |L U − S| ≤ γ_m |L||U| [higham_02, th. 9.3], products summed in long double.
TEST(DenseTail, IsFactoredWithinTheBoundOfElimination)
{
    for (const Index m : {1, 2, 31, 32, 33, 64, 160}) {
        SCOPED_TRACE(m);
        const auto        size = static_cast<std::size_t>(m);
        std::vector<Slot> slot(size * size);
        std::iota(slot.begin(), slot.end(), DataflowProgram::first_slot);
        const auto shuffled = random_permutation(m * m, 5);
        DenseTail  tail{m, slot};
        for (std::size_t p = 0; p < slot.size(); ++p) tail.slot[p] = slot[static_cast<std::size_t>(shuffled[p])];
        std::vector<double> v = random_vector(static_cast<Index>(DataflowProgram::first_slot) + m * m, 8);
        for (std::size_t k = 0; k < size; ++k) v[tail.slot[k * size + k]] += 2 * std::sqrt(double(m));
        const std::vector<double> before = v;
        run_tail_serial(tail, v);
        const double gamma = m * (eps / 2) / (1 - m * (eps / 2));
        for (std::size_t i = 0; i < size; ++i)
            for (std::size_t j = 0; j < size; ++j) {
                long double product = 0, magnitude = 0;
                for (std::size_t k = 0; k <= std::min(i, j); ++k) {
                    const long double l = k == i ? 1 : v[tail.slot[k * size + i]], u = v[tail.slot[j * size + k]];
                    product += l * u;
                    magnitude += std::abs(l * u);
                }
                ASSERT_LE(std::abs(product - before[tail.slot[j * size + i]]), gamma * magnitude * (1 + 1e-10L))
                    << "row " << i << ", column " << j;
            }
    }
}

TEST(DenseTail, WithDotsBeforeItReproducesTheMatrixWithinTheBoundOfElimination)
{
    for (const DataflowSystem& system : tail_systems()) {
        const LuPattern& P = *system.F.pattern;
        for (const TailColumns tail : forced_tails(P)) {
            SCOPED_TRACE(system.name + ", tail " + std::to_string(tail.size));
            const TailProgram program(P, tail);
            expect_bound_of_elimination(P, values_of(P, program.dataflow, program.run(system.A.val)), system.A.val);
        }
    }
}

// A full matrix: 150 columns, a level each.
TEST(DenseTail, TakesItsLevelsFromTheDataflow)
{
    const DataflowSystem full = dataflow_system_as_it_stands("full", random_dominant(150, 150, 5));
    const LuPattern&     P = *full.F.pattern;
    EXPECT_GE(factor_dataflow(P).depth, 150);
    EXPECT_LE(factor_dataflow(P, {86, 64}).depth, 90);
    EXPECT_EQ(factor_dataflow(P, {0, 150}).depth, 1);
    EXPECT_EQ(factor_dataflow(P, {0, 150}).products, 0);
}

Index first_bad_column(const LuPattern& P, std::span<const double> val)
{
    for (Index k = 0; k < P.n; ++k) {
        if (val[P.diag[k]] == 0) return k;
        for (Offset p = P.col_ptr[k]; p < P.col_ptr[k + 1]; ++p)
            if (!std::isfinite(val[p])) return k;
    }
    return -1;
}

TEST(DenseTail, LeavesTheFirstBadColumnWhereItIs)
{
    constexpr double inf = std::numeric_limits<double>::infinity();
    for (const DataflowSystem& system :
         {dataflow_system("circuit", gallery::mna_random({.n = 200})),
          dataflow_system_as_it_stands("tridiagonal", gallery::tridiagonal({.n = 200}))}) {
        const LuPattern&  P = *system.F.pattern;
        const auto        tails = forced_tails(P);
        const TailProgram without(P, {}), with(P, tails.back());
        ASSERT_GT(tails.back().size, 30);
        const Index columns = tails.back().first + tails.back().size;
        for (const double bad : {0.0, inf, -inf, std::numeric_limits<double>::quiet_NaN()})
            for (Index k = std::max(0, columns - 45); k < columns; k += 4) {
                auto values = system.A.val;
                for (Offset e = P.in_ptr[k]; e < P.in_ptr[k + 1]; ++e) values[P.in_source[e]] = bad;
                const auto expected = first_bad_column(P, values_of(P, without.dataflow, without.run(values)));
                ASSERT_EQ(expected, k);
                EXPECT_EQ(first_bad_column(P, values_of(P, with.dataflow, with.run(values))), expected) << bad;
            }
    }
}

}  // namespace
}  // namespace ilux::test

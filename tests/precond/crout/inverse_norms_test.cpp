#include "ilux/precond/crout/inverse_norms.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "ilux/tests/precond/mlilu/level_checks.hpp"

namespace ilux {
namespace {

using namespace test::precond;

using test::Dense;

enum class Rule { greedy, look_ahead };

/// Feeds the columns of a unit lower triangular L and returns y.
Vector estimates(const Dense& L, Rule rule)
{
    InverseNorms norms(L.rows);
    Vector       y(L.rows);
    for (Index k = 0; k < L.rows; ++k) {
        std::vector<Index> index;
        Vector             value;
        for (Index i = k + 1; i < L.rows; ++i)
            if (L(i, k) != 0) index.push_back(i), value.push_back(L(i, k));
        y[k] = rule == Rule::greedy ? norms.greedy(k) : norms.look_ahead(k, index, value);
        EXPECT_LE(std::abs(y[k]), norms.bound(k));
        norms.accept(y[k], index, value);
    }
    return y;
}

Dense random_unit_lower(Index n, double size, std::uint64_t seed)
{
    test::Random random(seed);
    Dense        L = zeros(n, n);
    for (Index i = 0; i < n; ++i) {
        for (Index j = 0; j < i; ++j)
            if (random.below(4) == 0) L(i, j) = size * random.uniform();
        L(i, i) = 1;
    }
    return L;
}

TEST(InverseNorms, FollowsTheTableComputedByHand)
{
    // Columns of L of the hand example at τ = 0: (·,1,0,1), then (·,¼,·,½) of row 2, then (·,⅕,·,·) of row 3.
    InverseNorms             w(4);
    const std::vector<Index> both{1, 3}, one{1};
    EXPECT_EQ(w.bound(0), 1);
    EXPECT_EQ(w.greedy(0), 1);
    w.accept(1, both, Vector{1, 1});
    EXPECT_EQ(w.bound(1), 2);
    EXPECT_EQ(w.greedy(2), 1);
    w.accept(1, both, Vector{0.25, 0.5});
    EXPECT_EQ(w.largest_after(0, one, Vector{7}), 1.25);
    EXPECT_EQ(w.bound(3), 2.5);
    EXPECT_EQ(w.greedy(3), -2.5);
    EXPECT_NEAR(w.largest_after(-2.5, one, Vector{1. / 5}), 0.75, 1e-15);
    w.accept(-2.5, one, Vector{1. / 5});
    EXPECT_NEAR(w.bound(1), 1.75, 1e-15);
}

TEST(InverseNorms, GreedyTakesTheSignThatMakesItsOwnComponentLargest)
{
    InverseNorms w(3);
    w.accept(1, std::vector<Index>{1, 2}, Vector{0.5, -0.5});
    EXPECT_EQ(w.greedy(1), -1.5);
    EXPECT_EQ(w.greedy(2), 1.5);
    EXPECT_EQ(w.greedy(0), 1);
}

TEST(InverseNorms, LookAheadTakesTheSignThatMakesTheSumLargest)
{
    // w = (0, ½, 3). Column 1 with l_21 = 4: y = ½ gives ½ + |3 + 2| = 5½, y = −3/2 gives 3/2 + |3 − 6| = 4½.
    InverseNorms w(3);
    w.accept(1, std::vector<Index>{1, 2}, Vector{0.5, 3});
    EXPECT_EQ(w.look_ahead(1, std::vector<Index>{2}, Vector{4}), 0.5);
    EXPECT_EQ(w.look_ahead(1, std::vector<Index>{2}, Vector{-4}), -1.5);
    EXPECT_EQ(w.largest_after(0.5, std::vector<Index>{2}, Vector{4}), 5);
}

TEST(InverseNorms, AreTheSolutionOfLyEqualsE)
{
    for (Rule rule : {Rule::greedy, Rule::look_ahead})
        for (Index n : awkward_sizes) {
            const Dense  L = random_unit_lower(n, 0.5, n);
            const Vector e = test::multiply(L, estimates(L, rule));
            for (double component : e) EXPECT_NEAR(std::abs(component), 1, 1e-12);
        }
}

TEST(InverseNorms, AreLowerBoundsOfTheRowNorms)
{
    for (Rule rule : {Rule::greedy, Rule::look_ahead})
        for (double size : {0.1, 1., 3.})
            for (Index n : awkward_sizes) {
                const Dense  L = random_unit_lower(n, size, n + 100), X = inverse(L);
                const Vector y = estimates(L, rule);
                for (Index k = 0; k < n; ++k) {
                    double norm = 0;
                    for (Index j = 0; j < n; ++j) norm += std::abs(X(k, j));
                    EXPECT_LE(std::abs(y[k]), norm * (1 + 1e-12));
                }
            }
}

TEST(InverseNorms, GreedyIsExactWhereAllOffDiagonalsAreNegative)
{
    for (Index n : awkward_sizes) {
        Dense L = random_unit_lower(n, 0.5, n + 200);
        for (double& value : L.a) value = -std::abs(value);
        L = with_unit_diagonal(L);
        const Dense  X = inverse(L);
        const Vector y = estimates(L, Rule::greedy);
        for (Index k = 0; k < n; ++k) {
            double norm = 0;
            for (Index j = 0; j < n; ++j) norm += X(k, j);  // L⁻¹ ≥ 0
            EXPECT_NEAR(std::abs(y[k]), norm, 1e-12 * norm);
        }
    }
}

TEST(DropRule, KeepsWhatChangesTheInverseByMoreThanTheTolerance)
{
    EXPECT_TRUE(keeps(-0.5, -2.5, 1.2));
    EXPECT_FALSE(keeps(-0.5, -2.5, 1.25));
    EXPECT_TRUE(keeps(1e-300, 1, 0));
    EXPECT_FALSE(keeps(0., 1, 0));
}

}  // namespace
}  // namespace ilux

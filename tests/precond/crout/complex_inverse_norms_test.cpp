// The estimates of complex inverse factors, beside the true norms.

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "ilux/precond/crout/inverse_norms.hpp"
#include "ilux/tests/support/real_form.hpp"
#include "ilux/tests/precond/mlilu/level_checks.hpp"

namespace ilux::test {
namespace {

using precond::awkward_sizes;

/// y of the columns of a unit lower triangular L, by rows of n, and |y_k| beside its bound.
ComplexVector estimates(Index n, const ComplexVector& L, Estimator rule)
{
    InverseNorms<Complex> norms(n);
    ComplexVector         y(n);
    for (Index k = 0; k < n; ++k) {
        std::vector<Index> index;
        ComplexVector      value;
        for (Index i = k + 1; i < n; ++i)
            if (L[i * n + k] != Complex(0)) {
                index.push_back(i);
                value.push_back(L[i * n + k]);
            }
        y[k] = rule == Estimator::greedy ? norms.greedy(k) : norms.look_ahead(k, index, value);
        EXPECT_LE(std::abs(y[k]), norms.bound(k) * (1 + 4 * eps));
        if (rule == Estimator::greedy) {
            EXPECT_NEAR(std::abs(y[k]), norms.bound(k), 4 * eps * norms.bound(k));
        }
        norms.accept(y[k], index, value);
    }
    return y;
}

/// ‖e_kᵀ L⁻¹‖₁ of each row, by forward substitution.
std::vector<double> inverse_row_norms(Index n, const ComplexVector& L)
{
    std::vector<double> norms(n);
    for (Index j = 0; j < n; ++j) {
        ComplexVector x(n);
        for (Index i = j; i < n; ++i) {
            x[i] = i == j ? 1 : 0;
            for (Index k = j; k < i; ++k) x[i] -= L[i * n + k] * x[k];
            norms[i] += std::abs(x[i]);
        }
    }
    return norms;
}

ComplexVector random_unit_lower(Index n, double size, std::uint64_t seed)
{
    Random        random(seed);
    ComplexVector L(n * n);
    for (Index i = 0; i < n; ++i) {
        for (Index j = 0; j < i; ++j)
            if (random.below(4) == 0) L[i * n + j] = std::polar(size * random.uniform(0, 1), random.uniform(0, 6));
        L[i * n + i] = 1;
    }
    return L;
}

TEST(ComplexInverseNorms, AreLowerBoundsOfTheRowNormsForAnEOfModulusOne)
{
    for (Estimator rule : {Estimator::greedy, Estimator::look_ahead})
        for (double size : {0.1, 1., 3.})
            for (Index n : awkward_sizes) {
                const auto L = random_unit_lower(n, size, n + 100), y = estimates(n, L, rule);
                const auto norms = inverse_row_norms(n, L);
                for (Index i = 0; i < n; ++i) {
                    EXPECT_LE(std::abs(y[i]), norms[i] * (1 + 1e-12));
                    Complex e = 0;
                    double  terms = 0;
                    for (Index j = 0; j <= i; ++j) {
                        e += L[i * n + j] * y[j];
                        terms += std::abs(L[i * n + j] * y[j]);
                    }
                    EXPECT_NEAR(std::abs(e), 1, 1e-14 * n * terms);
                }
            }
}

/// D L D̄ for phases D and an L with entries ≤ 0 off the diagonal. Every row reads row 0, so no e_k is free to choose.
TEST(ComplexInverseNorms, GreedyIsExactForATurnedMMatrix)
{
    for (Index n : awkward_sizes) {
        ComplexVector L = random_unit_lower(n, 0.5, n + 200);
        for (Index i = 1; i < n; ++i) {
            L[i * n] += 0.25;
            for (Index j = 0; j < i; ++j) L[i * n + j] = -std::polar(std::abs(L[i * n + j]), double(i) - double(j));
        }
        const auto y = estimates(n, L, Estimator::greedy);
        const auto norms = inverse_row_norms(n, L);
        for (Index i = 0; i < n; ++i) EXPECT_NEAR(std::abs(y[i]), norms[i], 1e-12 * norms[i]);
    }
}

TEST(ComplexInverseNorms, LookAheadTakesTheSignThatMakesTheSumLargest)
{
    const std::vector<Index> index{1};
    const Complex            i(0, 1);
    InverseNorms<Complex>    w(3);
    w.accept(1, std::vector<Index>{1, 2}, ComplexVector{i, 2. * i});  // w₁ = i, w₂ = 2i
    // e₁ = ±i: y₁ = 0 or −2i, and |w₂ + l y₁| is 2 or |2i − 2i·l|, so that a column of l = −3 decides as |y₁| does, and
    // one of l = 1 leaves 0 + 2 against 2 + 0: a tie, which the sign nearer to 1 wins.
    EXPECT_EQ(w.look_ahead(1, std::vector<Index>{2}, ComplexVector{-3}), -2. * i);
    EXPECT_EQ(w.look_ahead(1, std::vector<Index>{2}, ComplexVector{1}), Complex(0));
    EXPECT_EQ(w.greedy(1), -2. * i);
    EXPECT_EQ(w.greedy(0), Complex(1));
}

}  // namespace
}  // namespace ilux::test

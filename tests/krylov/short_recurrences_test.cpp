#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "ilux/base/error.hpp"
#include "ilux/tests/krylov/runs.hpp"

namespace ilux {
namespace {

using namespace test::krylov;

using test::eps;

TEST(Cg, TakesTheStepsComputedByHand)
{
    // A = [4 1; 1 3], b = (1, 2): α₀ = 1/4, x₁ = (1/4, 1/2), x₂ = (1/11, 7/11).
    const auto A = dense(2, {4, 1, 1, 3});
    const auto one = run(Method::cg, A, {1, 2}, {.rtol = 1e-12, .max_steps = 1});
    EXPECT_EQ(one.report.outcome, Outcome::max_steps);
    EXPECT_LE(test::relative_difference(one.x, Vector{0.25, 0.5}), 4 * eps);
    EXPECT_NEAR(one.report.relative_residual, std::sqrt(0.3125 / 5), 4 * eps);  // r₁ = (−1/2, 1/4)
    const auto two = run(Method::cg, A, {1, 2}, {.rtol = 1e-12, .max_steps = 2});
    EXPECT_EQ(two.report.outcome, Outcome::converged);
    EXPECT_LE(test::relative_difference(two.x, Vector{1. / 11, 7. / 11}), 8 * eps);
}

TEST(Cg, NamesWhatIsNotPositiveDefinite)
{
    const auto indefinite = dense(2, {1, 0, 0, -1});
    const auto s = run(Method::cg, indefinite, {1, 2}, {});
    EXPECT_EQ(s.report.outcome, Outcome::breakdown);
    EXPECT_STREQ(s.report.detail, "p'Ap <= 0: A is not positive definite");
    Given      M(2, [](long, std::span<const double> r, std::span<double> z) {
        z[0] = -r[0];
        z[1] = -r[1];
    });
    const auto t = run(Method::cg, CsrMatrix<>::identity(2), M, {1, 2}, Vector(2), {});
    EXPECT_EQ(t.report.outcome, Outcome::breakdown);
    EXPECT_STREQ(t.report.detail, "r'inv(M)r <= 0: M is not positive definite");
}

TEST(Bicg, CountsAnIterationAsOneStep)
{
    // A = [1 2; 0 1], b = (1, 1): α₀ = 1/2, x₁ = (1/2, 1/2), r₁ = (−1/2, 1/2), r̃₁ = (1/2, −1/2), β = −1/4, p₁ = (−3/4,
    // 1/4), p̃₁ = (1/4, −3/4), α₁ = 2, x₂ = (−1, 1).
    const auto one = run(Method::bicg, dense(2, {1, 2, 0, 1}), {1, 1}, {.rtol = 1e-12, .max_steps = 1});
    EXPECT_EQ(one.report.outcome, Outcome::max_steps);
    EXPECT_EQ(one.report.steps, 1);
    EXPECT_LE(test::relative_difference(one.x, Vector{0.5, 0.5}), 4 * eps);
    EXPECT_NEAR(one.report.relative_residual, 0.5, 4 * eps);
    const auto two = run(Method::bicg, dense(2, {1, 2, 0, 1}), {1, 1}, {.rtol = 1e-12, .max_steps = 2});
    EXPECT_EQ(two.report.outcome, Outcome::converged);
    EXPECT_EQ(two.report.steps, 2);
    EXPECT_LE(test::relative_difference(two.x, Vector{-1, 1}), 8 * eps);
}

TEST(Bicg, BreaksDownOnTheSwapMatrix)
{
    // A = [0 1; 1 0], b = e₁: p̃ᵀAp = 0 at once. GMRES needs two steps.
    const auto A = dense(2, {0, 1, 1, 0});
    const auto s = run(Method::bicg, A, {1, 0}, {});
    EXPECT_EQ(s.report.outcome, Outcome::breakdown);
    EXPECT_STREQ(s.report.detail, "pt'Ap vanished");
    EXPECT_EQ(s.x, Vector(2));
    const auto t = run(Method::bicgstab, A, {1, 0}, {});
    EXPECT_EQ(t.report.outcome, Outcome::breakdown);
    EXPECT_STREQ(t.report.detail, "rh'v vanished");
    const auto g = run(Method::gmres, A, {1, 0}, {});
    EXPECT_EQ(g.report.outcome, Outcome::converged);
    EXPECT_EQ(g.x, (Vector{0, 1}));
}

TEST(Bicgstab, NamesAVanishingOmega)
{
    // Skew-symmetric part only after the half step: A = [1 -1; 1 1], b = e₁ gives s = (0, -1), t = (1, -1), tᵀs = 1;
    // with the diagonal of row 2 set to 0, t = (1, 0) and tᵀs = 0.
    const auto s = run(Method::bicgstab, dense(2, {1, -1, 1, 0}), {1, 0}, {});
    EXPECT_EQ(s.report.outcome, Outcome::breakdown);
    EXPECT_STREQ(s.report.detail, "omega = t's / t't vanished");
}

}  // namespace
}  // namespace ilux

#include "ilux/engine/report/lu_facts.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "ilux/direct/factor/gilbert_peierls.hpp"
#include "ilux/tests/support/checks.hpp"

namespace ilux {
namespace {

using namespace ilux::test;

LuFactors<> factors_of(const CsrMatrix<double>& A) { return gilbert_peierls(analyse(view(A)), A.val()); }

TEST(ForwardErrorBound, EstimatesWhatTheInverseGives)
{
    Cpu cpu(1);
    for (const Index n : {1, 2, 5, 33}) {
        const auto          A = random_dominant(n, 4, 7 + n);
        const auto          x = random_vector(n, 3), b = random_vector(n, 4);
        std::vector<double> weight(n), errors(n);
        double              largest = 0, exact = 0;
        for (Index i = 0; i < n; ++i) {
            double residual = b[i], size = std::abs(b[i]);
            for (Index j = 0; j < n; ++j) {
                residual -= A.at(i, j) * x[j];
                size += std::abs(A.at(i, j) * x[j]);
            }
            weight[i] = std::abs(residual) + eps * size;
            largest = std::max(largest, std::abs(x[i]));
        }
        for (Index j = 0; j < n; ++j) {  // column j of A⁻¹
            std::vector<double> unit(n, 0.0);
            unit[j] = 1;
            const auto column = dense_solve(A, unit);
            for (Index i = 0; i < n; ++i) errors[i] += std::abs(column[i]) * weight[j];
        }
        for (const double error : errors) exact = std::max(exact, error / largest);
        const double bound = forward_error_bound(cpu, factors_of(A), A, x, b);
        EXPECT_LE(bound, exact * (1 + 1e-10)) << n;
        EXPECT_GE(bound, exact / 3) << n;
    }
}

TEST(ForwardErrorBound, DoesNotMindTheScalingOfRows)
{
    Cpu                 cpu(1);
    const auto          A = random_dominant(20, 4, 1);
    const auto          x = random_vector(20, 3);
    auto                b = random_vector(20, 4);
    const auto          bound = forward_error_bound(cpu, factors_of(A), A, x, b);
    auto                scaled = A;
    std::vector<double> r(20);
    for (Index i = 0; i < 20; ++i) b[i] *= r[i] = std::ldexp(1.0, 3 * (i % 7) - 9);
    scale_rows_cols<double>(scaled, r, {});
    EXPECT_NEAR(forward_error_bound(cpu, factors_of(scaled), scaled, x, b) / bound, 1, 1e-10);
}

LuVerdict verdict(const CsrMatrix<double>& A, const std::vector<double>& b, std::vector<double> x, double rtol)
{
    Cpu cpu(1);
    Lu  lu(cpu, analyse(view(A)));
    EXPECT_EQ(lu.factor(A.val()).outcome, Outcome::converged);
    const LuSolveReport solved{.outcome = Outcome::converged};
    return lu_verdict(cpu, lu, A, x, b, solved, measure(A, x, b), rtol);
}

TEST(LuVerdict, IsSaidOfTheErrorsAndNotOfWhatTheSolverReported)
{
    const auto A = to_csr({2, 2, {4, 1, 1, 3}});
    EXPECT_EQ(verdict(A, {5, 4}, {1, 1}, 1e-8).outcome, Outcome::converged);
    EXPECT_EQ(verdict(A, {5, 4}, {1, 1 + 1e-9}, 1e-8).outcome, Outcome::stagnated);
    EXPECT_EQ(verdict(A, {5, 4}, {1, NAN}, 1e-8).outcome, Outcome::not_finite);
    const LuVerdict rounded = verdict(A, {5, 4}, {1, 1 + 4 * eps}, 1e-18);
    EXPECT_EQ(rounded.outcome, Outcome::converged);
    EXPECT_NE(rounded.remark, "");
    const auto nearly = to_csr({2, 2, {1, 1, 1, 1 + eps}});  // x = (1, 0) + t (1, −1) solves b = (1, 1) up to t ε
    EXPECT_EQ(verdict(nearly, {1, 1}, {1 + 0x1p50, -0x1p50}, 1e-8).outcome, Outcome::singular);
}

TEST(LuVerdict, TellsOfRowsThatDoNotCountAndDoNotHold)
{
    Cpu        cpu(1);
    const auto A = to_csr({2, 2, {1e300, 0, 0, 1e300}});  // b_1 / a_11 underflows
    Lu         lu(cpu, analyse(view(A)));
    EXPECT_EQ(lu.factor(A.val()).outcome, Outcome::converged);
    const std::vector<double> x{0, 1e-300}, b{1e-300, 1};
    Accuracy                  accuracy{.rowwise = 1, .rowwise_counting = 0};
    accuracy.relative_residual = accuracy.worst_error = 0;
    accuracy.finite = true;
    const auto of = [&] { return lu_verdict(cpu, lu, A, x, b, {.outcome = Outcome::converged}, accuracy, 1e-8); };
    EXPECT_EQ(of().outcome, Outcome::converged);
    EXPECT_NE(of().remark.find("solved to 1.0e+00 only"), std::string::npos) << of().remark;
    accuracy.rowwise = 1e-16;
    EXPECT_EQ(of().remark, "");
}

TEST(LuVerdict, IsSingularWhereANullVectorHidesABadRow)
{
    // x₃ is wrong in the ninth digit, which nothing shows beside x₁ and x₂: but only the first A makes them so large.
    const auto singular = to_csr({3, 3, {1, 1, 0, 1, 1 + eps, 0, 0, 0, 1}}), regular = CsrMatrix<double>::identity(3);
    EXPECT_EQ(verdict(singular, {1, 1, 1}, {1 + 0x1p50, -0x1p50, 1 + 1e-9}, 1e-8).outcome, Outcome::singular);
    EXPECT_EQ(verdict(regular, {0x1p50, -0x1p50, 1}, {0x1p50, -0x1p50, 1 + 1e-9}, 1e-8).outcome, Outcome::stagnated);
    // And a residual that is no rounding is no proof of anything.
    EXPECT_EQ(verdict(singular, {1, 1, 1}, {1, 1, 1}, 1e-8).outcome, Outcome::stagnated);
}

}  // namespace
}  // namespace ilux

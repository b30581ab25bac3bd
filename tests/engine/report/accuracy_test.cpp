#include "ilux/engine/report/accuracy.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "ilux/tests/support/checks.hpp"

namespace ilux {
namespace {

using namespace ilux::test;

TEST(Measure, TakesEachErrorByItsFormula)
{
    // r = (5, 4) − (4 + 2, 1 + 6) = (−1, −3); |A||x| + |b| = (11, 11).
    const auto     A = to_csr({2, 2, {4, 1, 1, 3}});
    const Accuracy errors = measure(A, std::vector<double>{1, 2}, std::vector<double>{5, 4});
    EXPECT_TRUE(errors.finite);
    EXPECT_DOUBLE_EQ(errors.relative_residual, std::sqrt(10.0) / std::sqrt(41.0));
    EXPECT_DOUBLE_EQ(errors.backward_error, std::sqrt(10.0) / (std::sqrt(27.0) * std::sqrt(5.0) + std::sqrt(41.0)));
    EXPECT_DOUBLE_EQ(errors.rowwise, 3.0 / 11);
}

TEST(Measure, CountsNothingOverNothingAsZero)
{
    const auto     A = CsrMatrix<double>::from_arrays(2, 2, {0, 1, 1}, {0}, {2.0});
    const Accuracy errors = measure(A, std::vector<double>{1, 7}, std::vector<double>{2, 0});
    EXPECT_EQ(errors.rowwise, 0);
    EXPECT_EQ(errors.relative_residual, 0);
    EXPECT_EQ(errors.backward_error, 0);
    EXPECT_EQ(measure(A, std::vector<double>{1, 7}, std::vector<double>{2, 1}).rowwise, 1);
}

TEST(Measure, TakesRowsBeyondTheRangeOfNumbersByTheSameFormula)
{
    // r₁ = −2ᵉ (3 − 2), (|A||x|)₁ = 5·2ᵉ; then 2⁻¹⁰⁷⁰ (16 − 9) of 2⁻¹⁰⁷⁰ (16 + 9).
    for (const double tiny : {0x1p-540, 0x1p-800, 0x1p-1074}) {
        const auto A = to_csr({2, 2, {3 * tiny, -tiny, 0, 1}});
        const auto errors = measure(A, std::vector<double>{tiny, 2 * tiny}, std::vector<double>{0, 2 * tiny});
        EXPECT_TRUE(errors.finite);
        EXPECT_DOUBLE_EQ(errors.rowwise, 0.2);
    }
    const auto A = to_csr({1, 1, {9 * 0x1p-1070}});
    EXPECT_DOUBLE_EQ(measure(A, std::vector<double>{1}, std::vector<double>{0x1p-1066}).rowwise, 7. / 25);
}

TEST(CountingRows, AreTakenByTheirFormulaWhereTheirSizesLeaveTheRangeOfNumbers)
{
    const auto counting = [](const CsrMatrix<double>& A, const std::vector<double>& x, const std::vector<double>& b) {
        Cpu      serial(1);
        Residual residual;
        Accuracy errors = measure(serial, A, x, b, residual);
        note_counting_rows(A, x, residual, errors);
        return errors.rowwise_counting;
    };
    // Σ|a| overflows: r₁ = 3e8 − 2e8 of 5e8.
    const auto wide = CsrMatrix<double>::from_arrays(2, 2, {0, 2, 2}, {0, 1}, {1e308, 1e308});
    EXPECT_NEAR(counting(wide, {1e-300, 1e-300}, {3e8, 0}), 0.2, 1e-12);
    // ‖x‖∞ does in units of b: r = 1e-100 − 1.
    EXPECT_NEAR(counting(to_csr({1, 1, {1e-300}}), {1e300}, {1e-100}), 1, 1e-12);
    // (|A||x|)₁ = 2e209 does: r₁ = −2⁻⁵⁰ 1e209.
    const auto cancels = CsrMatrix<double>::from_arrays(2, 2, {0, 2, 2}, {0, 1}, {1e209, -1e209});
    EXPECT_NEAR(counting(cancels, {1, 1 - 0x1p-50}, {1e-100, 0}) * 0x1p51, 1, 1e-12);
}

TEST(Measure, SeesAResidualThatRoundingHides)
{
    // b₁ − (2⁶⁰ + 1 − 2⁶⁰) = −1, which doubles lose: 2⁶⁰ + 1 rounds to 2⁶⁰.
    const auto          A = to_csr({3, 3, {1, 1, 1, 0, 1, 0, 0, 0, 1}});
    std::vector<double> x{0x1p60, 1, -0x1p60};
    const Accuracy      errors = measure(A, x, std::vector<double>{0, 1, -0x1p60});
    EXPECT_NEAR(errors.relative_residual * 0x1p60, 1, 1e-12);
}

TEST(Measure, TellsWhatIsNotFinite)
{
    const auto A = to_csr({2, 2, {4, 1, 1, 3}});
    EXPECT_FALSE(measure(A, std::vector<double>{NAN, 1}, std::vector<double>{1, 1}).finite);
    EXPECT_FALSE(measure(A, std::vector<double>{1e308, 1e308}, std::vector<double>{1, 1}).finite);
}

TEST(Measure, DoesNotTakeAnUnderflowForASuccess)
{
    // The solution is 1e-600: no number. 0 solves nothing, and its residual is b.
    const auto     A = to_csr({1, 1, {1e300}});
    const Accuracy lost = measure(A, std::vector<double>{0}, std::vector<double>{1e-300});
    EXPECT_EQ(lost.relative_residual, 1);
    EXPECT_EQ(lost.backward_error, 1);
    EXPECT_EQ(lost.rowwise, 1);
    // b − A x = 2⁻¹⁰⁷⁴ (3 − 2 · 1), of which plain arithmetic with a = 2⁻⁵³⁷ · 2, x = 2⁻⁵³⁷ sees the products.
    const auto     B = to_csr({1, 1, {0x1p-536}});
    const Accuracy small = measure(B, std::vector<double>{0x1p-537}, std::vector<double>{3 * 0x1p-1074});
    EXPECT_DOUBLE_EQ(small.relative_residual, 1. / 3);
    EXPECT_DOUBLE_EQ(small.rowwise, 1. / 5);
}

TEST(Measure, DividesByNormsThatOverflow)
{
    // A x = (0, 2e307), though ‖A‖_F ‖x‖₂ = 1.95e200 · 2.83e108 is no double: the error is 1e307 of it, and not 0.
    const auto     A = to_csr({2, 2, {1e200, -1e200, 1e200, -0.9e200}});
    const Accuracy errors = measure(A, std::vector<double>{2e108, 2e108}, std::vector<double>{0, 1e307});
    EXPECT_TRUE(errors.finite);
    EXPECT_NEAR(errors.relative_residual, 1, 1e-14);
    EXPECT_NEAR(errors.backward_error, 0.1 / (std::sqrt(3.81) * std::sqrt(8.0) + 0.1), 1e-14);
    EXPECT_FALSE(measure(A, std::vector<double>{1e200, -1e200}, std::vector<double>{1e300, 2e300}).finite);
}

TEST(Measure, IsTheSameForEveryNumberOfThreads)
{
    const auto A = random_dominant(20'000, 4, 5);
    const auto x = random_vector(20'000, 1), b = random_vector(20'000, 2);
    Cpu        one(1), three(3);
    Residual   r, s;
    const auto serial = measure(one, A, x, b, r), threaded = measure(three, A, x, b, s);
    EXPECT_EQ(r.r, s.r);
    EXPECT_EQ(r.size, s.size);
    EXPECT_EQ(serial.rowwise, threaded.rowwise);
    EXPECT_EQ(serial.relative_residual, threaded.relative_residual);
}

TEST(NoteError, JudgesEachUnknownByItsOwnSize)
{
    const std::vector<double> x{100, 1e-3, 1e-13, 2}, e{0.5, 1e-4, 1e-13, 0};
    Accuracy                  accuracy;
    note_error(x, e, {}, accuracy);
    EXPECT_DOUBLE_EQ(accuracy.error, 0.5 / 100.5);
    EXPECT_EQ(accuracy.uncertain, 1);  // the third is below 1e-12 of the largest
    EXPECT_EQ(accuracy.worst, 1);
    EXPECT_DOUBLE_EQ(accuracy.worst_error, 1e-4 / 1.1e-3);
    EXPECT_EQ(
        uncertainty_text(accuracy, 4),
        "1 of 4 unknowns is uncertain by more than 0.5 %, the worst, unknown 2 (counted from 1), by 0.09 times its size");
}

TEST(NoteError, TakesTheUnitsOfTheResidual)
{
    Accuracy       accuracy;
    const Residual residual{.r = {}, .size = {}, .exponent = -700};
    note_error(std::vector<double>{0x1p-700, 0x1p-699}, std::vector<double>{0.25, 0}, residual, accuracy);
    EXPECT_DOUBLE_EQ(accuracy.worst_error, 0.2);
    EXPECT_DOUBLE_EQ(accuracy.error, 0.125);
}

TEST(NoteError, CallsAnUnknownUncertainWhoseErrorIsNotFinite)
{
    for (const double bad : {std::nan(""), std::numeric_limits<double>::infinity()}) {
        Accuracy accuracy;
        note_error(std::vector<double>{1, 1, 1}, std::vector<double>{0, bad, 0}, {}, accuracy);
        EXPECT_EQ(accuracy.uncertain, 1);
        EXPECT_EQ(accuracy.worst, 1);
        EXPECT_TRUE(std::isinf(accuracy.error));
    }
}

TEST(NoteError, KnowsAZeroSolutionWithoutError)
{
    Accuracy accuracy;
    note_error(std::vector<double>{0, 0}, std::vector<double>{0, 0}, {}, accuracy);
    EXPECT_EQ(accuracy.error, 0);
    EXPECT_EQ(accuracy.uncertain, 0);
    EXPECT_EQ(uncertainty_text(accuracy, 2), "");
}

TEST(Accuracy, ARowSoFarFromOthersThatItsResidualIsLostCountsAllTheSame)
{
    const auto                A = to_csr({2, 2, {1e170, -3e169, 1e-160, 0}});
    const std::vector<double> b{7e169, 1e-160}, x{0, -7. / 3};  // the first row is solved, the second not at all
    Cpu                       cpu(1);
    Residual                  residual;
    Accuracy                  accuracy = measure(cpu, A, x, b, residual);
    EXPECT_EQ(residual.lost.size(), 2u);
    EXPECT_EQ(accuracy.rowwise, 1);
    note_counting_rows(A, x, residual, accuracy);
    EXPECT_EQ(accuracy.rowwise_counting, 1);
    EXPECT_FALSE(accuracy.estimate_settled);
}

TEST(OwnScales, AreTheTermsOfTheEquationThatDeterminesAnUnknownMostTightly)
{
    // x = (1, 1e-9): the second row has terms of 2 and 1e-9 · 1e3, the first of 1 and 1e-9.
    const auto                A = to_csr({2, 2, {1, 1, 2, 1e3}});
    const std::vector<double> x{1, 1e-9}, b{1, 2};
    Cpu                       cpu(1);
    Residual<double>          residual;
    (void)measure<double>(cpu, A, x, b, residual);
    std::vector<double> scale;
    note_own_scales<double>(A, residual, scale);
    EXPECT_NEAR(scale[0], 2, 1e-6);     // (1 + 1e-9 + 1) / 1, and (2 + 1e-6 + 2) / 2
    EXPECT_NEAR(scale[1], 4e-3, 1e-8);  // (2 + 1e-6 + 2) / 1e3, and not 2 / 1

    Accuracy                  accuracy;
    const std::vector<double> e{0, 1e-6};
    note_error<double>(x, e, residual, accuracy);
    EXPECT_NEAR(accuracy.worst_error, 0.999, 1e-3);  // of 1.001e-6, what the unknown should be
    note_error<double>(x, e, residual, accuracy, scale);
    EXPECT_NEAR(accuracy.worst_error, 1e-6 / (own_share * 4e-3), 1e-2);
}

TEST(NoteError, AnUnknownOfNoiseIsAsLargeAsItIs)
{
    // x should be (2, 1e-10): the noise of 1e10 is what the estimate takes away again.
    const std::vector<double> x{2, 1e10}, e{0, -1e10};
    Residual<double>          residual{.r = {0, 0}, .size = {1, 1}};
    Accuracy                  accuracy;
    note_error<double>(x, e, residual, accuracy);
    EXPECT_EQ(accuracy.error, 1);
    EXPECT_EQ(accuracy.worst_error, 1);
    EXPECT_EQ(accuracy.worst, 1);
    EXPECT_EQ(accuracy.uncertain, 1);
}

}  // namespace
}  // namespace ilux

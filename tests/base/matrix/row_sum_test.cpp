#include "ilux/base/matrix/row_sum.hpp"

#include <gtest/gtest.h>

#include <numeric>

#include "ilux/tests/support/checks.hpp"

namespace ilux::test {
namespace {

RowSum<> row(const std::vector<double>& a, const std::vector<double>& x, double b)
{
    std::vector<Index> col(a.size());
    std::iota(col.begin(), col.end(), 0);
    return row_sum(col, a, x, b);
}

TEST(RowSum, SeesWhatCancels)
{
    EXPECT_EQ(row({1e16, 1, -1e16}, {1, 1, 1}, 1).r, 0);
    EXPECT_EQ(row({1e16, 1, -1e16}, {1, 1, 1}, 0).r, -1);
    const double third = 1. / 3;  // 3·fl(1/3) = 1 − 2⁻⁵⁴ exactly: a rounded product says 1
    EXPECT_EQ(row({3}, {third}, 1).r, 0x1p-54);
    EXPECT_DOUBLE_EQ(row({3}, {third}, 1).error(), 0x1p-54 / 2);
}

TEST(RowSum, OfNothingIsB)
{
    EXPECT_EQ(row({}, {}, 0).error(), 0);
    EXPECT_EQ(row({}, {}, 0).size, 0);
    EXPECT_EQ(row({}, {}, 3).error(), 1);
    EXPECT_EQ(row({0, 2}, {5, 0}, 0).error(), 0);
}

TEST(RowSum, DoesNotMindTheRangeOfNumbers)
{
    // The same row, 9 − (2 · 3 + 4 · 1) = −1 of 19, times every power of two that its numbers allow.
    for (const int of_a : {-1070, -600, 0, 600, 1020})
        for (const int of_x : {-1070, -600, 0, 600, 1020}) {
            const int of_b = of_a + of_x;
            if (of_b < -1074 || of_b > 1019) continue;
            const double a = std::ldexp(1, of_a), x = std::ldexp(1, of_x);
            const RowSum sum = row({2 * a, 4 * a}, {3 * x, x}, std::ldexp(9, of_b));
            EXPECT_DOUBLE_EQ(sum.error(), 1. / 19) << of_a << ", " << of_x;
            EXPECT_EQ(std::ldexp(sum.r, sum.exponent - of_b), -1) << of_a << ", " << of_x;
        }
    // Products that no double holds: 2¹²⁰⁰ (2 · 3 − 6) cancel; 2⁻¹²⁰⁰ (3 + 1) stay, against b = 0.
    EXPECT_EQ(row({0x1p601, -0x1p600}, {3 * 0x1p600, 6 * 0x1p600}, 0).r, 0);
    const RowSum tiny = row({0x1p-600, 0x1p-600}, {3 * 0x1p-600, 0x1p-600}, 0);
    EXPECT_EQ(tiny.error(), 1);
    EXPECT_EQ(std::ldexp(tiny.r, tiny.exponent + 1200), -4);
}

TEST(RowSum, IsNotFiniteForWhatIsNot)
{
    for (const double bad : {nan, infinity}) {
        EXPECT_TRUE(std::isnan(row({1}, {bad}, 1).error()));
        EXPECT_TRUE(std::isnan(row({bad}, {1}, 1).error()));
        EXPECT_TRUE(std::isnan(row({1}, {1}, bad).error()));
    }
}

/// Each part as a real row of twice the length, exactly.
TEST(RowSum, OfComplexNumbersIsThatOfTheirParts)
{
    using Complex = std::complex<double>;
    for (const int exponent : {0, -500, 510}) {  // by rows, and scaled
        const double               s = std::ldexp(1.0, exponent);
        const std::vector<Complex> a{{3 * s, s}, {-s, 2 * s}}, x{{s, -2 * s}, {5 * s, s}};
        const Complex              b = times_power(Complex(1, 1), 2 * exponent);
        const auto                 sum = row_sum<Complex>(std::vector<Index>{0, 1}, a, x, b);
        // (3 + i)(1 − 2i) = 5 − 5i, (−1 + 2i)(5 + i) = −7 + 9i
        EXPECT_EQ(times_power(sum.r, sum.exponent - 2 * exponent), Complex(3, -3)) << exponent;
        EXPECT_NEAR(std::ldexp(sum.size, sum.exponent - 2 * exponent), std::sqrt(2) + std::sqrt(50) + std::sqrt(130),
                    1e-14 * 20)
            << exponent;
    }
    const Complex bad{0, NAN};
    EXPECT_TRUE(std::isnan(
        row_sum<Complex>(std::vector<Index>{0}, std::vector<Complex>{bad}, std::vector<Complex>{1}, 0.).error()));
}

}  // namespace
}  // namespace ilux::test

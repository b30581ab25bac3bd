// Factors of complex matrices, first and again, judged by dense sums and by those of real ones.

#include <gtest/gtest.h>

#include <algorithm>

#include "ilux/direct/factor/elimination_step.hpp"
#include "ilux/direct/factor/pivot_monitor.hpp"
#include "ilux/direct/refactor_cpu/refactor.hpp"
#include "ilux/tests/direct/complex_systems.hpp"
#include "ilux/tests/direct/same_monitor.hpp"

namespace ilux::test {
namespace {

/// |R A(row_perm, col_perm) C − L U − F| ≤ 4 n ε |L||U| entrywise.
void expect_complex_factors_of(const LuFactors<Complex>& F, const CsrMatrix<Complex>& A)
{
    ASSERT_EQ(F.monitor.bad_column, -1);
    const LuPattern& P = *F.pattern;
    const Index      n = P.n;
    using Matrix = std::vector<ComplexVector>;
    Matrix L(n, ComplexVector(n)), U = L, above = L;
    for (Index k = 0; k < n; ++k) {
        L[k][k] = 1;
        for (Offset p = P.col_ptr[k]; p < P.col_ptr[k + 1]; ++p) (p <= P.diag[k] ? U : L)[P.row[p]][k] = F.val[p];
        for (Offset p = P.f_col_ptr[k]; p < P.f_col_ptr[k + 1]; ++p) above[P.f_row[p]][k] = F.f_val[p];
    }
    for (Index i = 0; i < n; ++i)
        for (Index k = 0; k < n; ++k) {
            const Index  old_i = P.row_perm[i], old_k = P.col_perm[k];
            const double scale =
                (P.row_scale.empty() ? 1 : P.row_scale[old_i]) * (P.col_scale.empty() ? 1 : P.col_scale[old_k]);
            Complex difference = A.at(old_i, old_k) * scale - above[i][k];
            double  size = 0;
            for (Index m = 0; m < n; ++m) {
                difference -= L[i][m] * U[m][k];
                size += std::abs(L[i][m]) * std::abs(U[m][k]);
            }
            ASSERT_LE(std::abs(difference), 4 * n * eps * size) << "row " << i << ", column " << k << ", n = " << n;
        }
}

TEST(ComplexLu, FactorsReproduceTheMatrix)
{
    const LuOptions ways[] = {{},
                              {.ordering = LuOrdering::none, .matching = LuMatching::off, .scaling = LuScaling::none},
                              {.matching = LuMatching::on, .scaling = LuScaling::matching},
                              {.matching = LuMatching::off, .blocks = false, .pivot_tol = 1}};
    for (const Index n : orders)
        for (const LuOptions& options : ways) {
            const auto A = complex_system(n, n);
            expect_complex_factors_of(factor(A, options), A);
        }
}

TEST(ComplexLu, BoundsMultipliersByTheirAbsoluteValues)
{
    for (const double pivot_tol : {1., 0.1}) {
        const LuOptions options{.matching = LuMatching::off, .pivot_tol = pivot_tol};
        const auto      F = factor(complex_system(90, 3), options);
        EXPECT_EQ(judge(F.monitor, options), PivotState::good);
        EXPECT_GT(F.monitor.max_multiplier, 0.5);
    }
}

TEST(ComplexLu, WithoutImaginaryPartsHasThePivotsOfTheRealOne)
{
    for (const Index n : orders) {
        const auto real = real_parts(complex_system(n, 7));
        const auto val = widened(real.val());
        const auto A = MatrixView<Complex>{n, real.row_ptr(), real.col(), val};
        const auto F = gilbert_peierls<Complex>(analyse(A), val);
        const auto expected = gilbert_peierls(analyse(view(real)), real.val());
        EXPECT_EQ(F.pattern->row_perm, expected.pattern->row_perm);
        EXPECT_EQ(F.pattern->col_perm, expected.pattern->col_perm);
        EXPECT_EQ(F.pattern->row_scale, expected.pattern->row_scale);
        ASSERT_EQ(F.pattern->row, expected.pattern->row);
        for (std::size_t p = 0; p < F.val.size(); ++p) {
            EXPECT_EQ(F.val[p].imag(), 0);
            EXPECT_LE(std::abs(F.val[p] - expected.val[p]), 1e-9 * std::abs(expected.val[p]) + 1e-12) << "n = " << n;
        }
    }
}

TEST(ComplexLu, LooksAtDuplicatesAddedWhenItChoosesTheDiagonal)
{
    const std::vector<Offset> ptr{0, 3, 5};
    const std::vector<Index>  col{0, 0, 1, 0, 1};
    const ComplexVector       val{{0, 1}, {0, -1}, 1, 1, {0, 1}};  // [0 1; 1 i]
    const auto                symbolic = analyse(MatrixView<Complex>{2, ptr, col, val});
    for (Index k = 0; k < 2; ++k) EXPECT_NE(symbolic->row_perm[k], symbolic->col_perm[k]);
}

TEST(ComplexLu, NamesTheColumnOfAZeroPivot)
{
    const auto A = CsrMatrix<Complex>::from_arrays(2, 2, {0, 2, 4}, {0, 1, 0, 1}, {1, {0, 1}, {0, 1}, -1});
    const auto F = factor(A, {.ordering = LuOrdering::none, .matching = LuMatching::off});
    EXPECT_EQ(F.monitor.bad_column, 1);
    EXPECT_FALSE(F.monitor.not_finite);
}

TEST(ComplexLu, RefusesNaNInEitherPart)
{
    const auto A = complex_system(5, 1);
    const auto symbolic = analyse(view(A));
    for (const Complex bad : {Complex(nan, 0), Complex(0, nan), Complex(0, infinity)}) {
        ComplexVector val(A.val().begin(), A.val().end());
        val[A.row_ptr()[3]] = bad;
        expect_refusal([&] { gilbert_peierls<Complex>(symbolic, val); }, {"row 3", "column"});
        auto with_bad = view(A);
        with_bad.val = val;
        expect_refusal([&] { analyse(with_bad); }, {"row 3", "column"});
    }
}

/// The same pattern, and nothing right in the numbers.
LuFactors<Complex> blank(const LuFactors<Complex>& F)
{
    return {F.symbolic, F.pattern, LuValues<Complex>(F.val.size(), {7, 7}), ComplexVector(F.f_val.size(), {7, 7}), {}};
}

ComplexVector moved(std::span<const Complex> values, std::uint64_t seed)
{
    Random        random(seed);
    ComplexVector result;
    for (const Complex value : values)
        result.push_back(value * std::polar(random.uniform(0.8, 1.2), random.uniform(0, 0.3)));
    return result;
}

TEST(ComplexLu, SerialRefactorizationHasTheBitsOfTheFirst)
{
    for (const Index n : orders) {
        const auto A = complex_system(n, n);
        const auto F = factor(A);
        auto       again = blank(F);
        refactor_serial(A.val(), again);
        EXPECT_EQ(again.val, F.val);
        EXPECT_EQ(again.f_val, F.f_val);
        expect_same_monitor(again.monitor, F.monitor);
    }
}

TEST(ComplexLu, RefactorizationByThreadsHasTheBitsOfTheSerialOne)
{
    const RefactorTuning tunings[] =
        {{},
         {.arithmetic = Arithmetic::portable},
         {.window = 4, .hub_updates = 8, .hub_share = 0, .task_seconds = 1e-7, .least_gain = 0}};
    for (const Index n : {0, 1, 31, 32, 33, 300})
        for (const RefactorTuning& tuning : tunings)
            for (const int threads : {1, 3}) {
                Cpu        be(threads);
                const auto A = complex_system(n, n);
                const auto F = factor(A);
                const auto values = moved(A.val(), n);
                auto       serial = blank(F), by_threads = blank(F);
                refactor_serial(values, serial);
                CpuRefactor<Complex> refactor(be, F.pattern, tuning);
                refactor.run(be, values, by_threads);
                if (n == 300 && threads > 1 && tuning.least_gain == 0) {
                    EXPECT_GT(refactor.threads(), 1);
                }
                EXPECT_EQ(serial.monitor.bad_column, -1);
                EXPECT_EQ(by_threads.val, serial.val) << "n = " << n << ", " << threads << " threads";
                EXPECT_EQ(by_threads.f_val, serial.f_val);
                expect_same_monitor(by_threads.monitor, serial.monitor);
            }
}

/// [a 1; 1 i], in this order.
LuFactors<Complex> refactored(Complex a)
{
    const auto      A = CsrMatrix<Complex>::from_arrays(2, 2, {0, 2, 4}, {0, 1, 0, 1}, {2, 1, 1, {0, 1}});
    const LuOptions as_given{.ordering = LuOrdering::none, .matching = LuMatching::off, .scaling = LuScaling::none};
    auto            F = factor(A, as_given), serial = F;
    ComplexVector   values(A.val().begin(), A.val().end());
    values[0] = a;
    Cpu be(1);
    CpuRefactor<Complex>(be, F.pattern).run(be, values, F);
    refactor_serial(values, serial);
    expect_same_monitor(F.monitor, serial.monitor);
    return F;
}

TEST(ComplexLu, RefactorizationNoticesStalePivots)
{
    EXPECT_EQ(judge(refactored({0, 2}).monitor, {}), PivotState::good);
    EXPECT_EQ(judge(refactored({0, 1e-5}).monitor, {}), PivotState::large_multiplier);
    EXPECT_EQ(judge(refactored({1e-12, 1e-12}).monitor, {}), PivotState::large_growth);
    EXPECT_EQ(judge(refactored(0).monitor, {}), PivotState::zero_pivot);
    EXPECT_EQ(refactored(0).monitor.bad_column, 0);
    EXPECT_EQ(refactored({0, -1}).monitor.bad_column, 1);  // i − 1 / (−i) = 0
    EXPECT_EQ(judge(refactored({0, -1}).monitor, {}), PivotState::zero_pivot);
    EXPECT_EQ(judge(refactored({1, nan}).monitor, {}), PivotState::not_finite);
}

/// The arrays of a matrix, where every value may come twice, halved.
struct ComplexEntries {
    ComplexEntries(const CsrMatrix<Complex>& A, int copies)
    {
        for (Index i = 0; i < A.rows(); ++i) {
            for (Offset p = A.row_ptr()[i]; p < A.row_ptr()[i + 1]; ++p)
                for (int copy = 0; copy < copies; ++copy) {
                    col.push_back(A.col()[p]);
                    val.push_back(A.val()[p] / static_cast<double>(copies));
                }
            ptr.push_back(std::ssize(col));
        }
    }
    std::vector<Offset> ptr{0};
    std::vector<Index>  col;
    ComplexVector       val;
};

TEST(ComplexLu, ThreadsSeeTheSizesThatTheSerialOneSeesWhereSquaresAreNoNumbers)
{
    const LuOptions unscaled{.scaling = LuScaling::none};
    for (const int exponent :
         {-1000, -600, -479, 0, 509, 600, 1000})  // of 2; squares end at ±512, the limits are ±480 and 510
        for (const int copies : {1, 2}) {
            ComplexEntries A(complex_system(60, 2), copies);
            for (Complex& value : A.val) value *= std::ldexp(1., exponent);
            const MatrixView<Complex> matrix{60, A.ptr, A.col, A.val};
            const auto                F = gilbert_peierls<Complex>(analyse(matrix, unscaled), A.val);
            auto                      serial = blank(F), by_threads = blank(F);
            const double              at_one = std::ldexp(F.monitor.max_pivot, -exponent);
            Cpu                       be(1);
            refactor_serial(A.val, serial);
            CpuRefactor<Complex>(be, F.pattern).run(be, A.val, by_threads);
            EXPECT_EQ(by_threads.val, serial.val) << "2^" << exponent;
            expect_same_monitor(by_threads.monitor, serial.monitor);
            expect_same_monitor(serial.monitor, F.monitor);
            EXPECT_GT(at_one, 1);
            EXPECT_LT(at_one, 10);
        }
}

TEST(ComplexLu, ModulusIsWithinTwoUlpsOfTheRoot)
{
    Random random(3);
    for (int round = 0; round < 2000; ++round) {
        const int exponent = static_cast<int>(random.below(2000)) - 1000, apart = static_cast<int>(random.below(80));
        const Complex z(std::ldexp(random.uniform(), exponent), std::ldexp(random.uniform(), exponent - apart));
        const auto    exact = std::hypot(static_cast<long double>(z.real()), static_cast<long double>(z.imag()));
        EXPECT_LE(std::abs(modulus(z) - exact), 2 * eps * exact) << z;
    }
    EXPECT_EQ(modulus(Complex(-3, 4)), 5);
    EXPECT_EQ(modulus(Complex(0, 0)), 0);
    EXPECT_EQ(modulus(Complex(0, -infinity)), infinity);
    EXPECT_TRUE(std::isnan(modulus(Complex(nan, 1))));
    EXPECT_EQ(modulus(-2.0), 2);
}

TEST(ComplexLu, QuotientsAreThoseOfLongDoubles)
{
    using Wide = std::complex<long double>;
    Random random(4);
    for (int round = 0; round < 2000; ++round) {
        const auto draw = [&](int most) {
            const int exponent = static_cast<int>(random.below(2 * most)) - most;
            const int apart = static_cast<int>(random.below(60)) - 30;
            return Complex(std::ldexp(random.uniform(), exponent), std::ldexp(random.uniform(), exponent + apart));
        };
        const Complex u = draw(400), x = draw(400);
        const Wide    exact = Wide(x) / Wide(u);
        EXPECT_LE(std::abs(Wide(DividedBy(u)(x)) - exact), 8 * eps * std::abs(exact)) << x << " / " << u;
    }
    const double large = 1.2e308, small = 1e-300;
    EXPECT_EQ(DividedBy(Complex(large, large))(Complex(large, large)), Complex(1));
    EXPECT_EQ(DividedBy(Complex(large, -large))(Complex(large, large)), Complex(0, 1));
    EXPECT_LE(std::abs(DividedBy(Complex(small, small))(Complex(small, 0)) - Complex(0.5, -0.5)), eps);
    for (const double re : {3., -7., 1e-200})
        EXPECT_EQ(DividedBy(Complex(re, 0))(Complex(1, 5)), Complex(1 / re, 5 / re)) << "two real quotients";
    EXPECT_EQ(DividedBy(Complex(0, 2))(Complex(1, 5)), Complex(2.5, -0.5));
    EXPECT_FALSE(is_finite(DividedBy(Complex(0, 0))(Complex(1, 5))));
}

TEST(ComplexLu, WithoutImaginaryPartsHasTheBitsOfTheRealOne)
{
    for (const Index n : orders) {
        const auto real = real_parts(complex_system(n, 13));
        const auto val = widened(real.val());
        const auto symbolic = analyse(view(real));
        const auto F = gilbert_peierls<Complex>(symbolic, val);
        const auto expected = gilbert_peierls(symbolic, real.val());
        EXPECT_EQ(F.pattern->row_perm, expected.pattern->row_perm);
        EXPECT_EQ(ComplexVector(F.val.begin(), F.val.end()), widened(expected.val)) << "n = " << n;
        auto again = blank(F);
        Cpu  be(1);
        CpuRefactor<Complex>(be, F.pattern).run(be, val, again);
        EXPECT_EQ(again.val, F.val);
    }
}

TEST(ComplexLu, HasNoArithmeticOfVectorRegisters)
{
    Cpu        be(1);
    const auto F = factor(complex_system(4, 1));
    expect_refusal<InvalidOption>([&] { CpuRefactor<Complex>(be, F.pattern, {.arithmetic = Arithmetic::avx512}); },
                                  {"instructions"});
}

}  // namespace
}  // namespace ilux::test

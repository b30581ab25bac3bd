// What factors say of a system with a known answer: by hand, and of LU with matrices whose x is known exactly.

#include "ilux/engine/witness/known_answer.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <string>
#include <vector>

#include "ilux/gallery/gallery.hpp"
#include "ilux/tests/solver/solving.hpp"
#include "ilux/tests/engine/witness/known_systems.hpp"
#include "ilux/tests/support/gpu_test.hpp"

namespace ilux {
namespace {

using namespace ilux::test;

Cpu one_thread(1);

Residual<double> residual_of_x(const CsrMatrix<double>& A, const std::vector<double>& x, const std::vector<double>& b)
{
    Residual residual;
    (void)measure(one_thread, A, x, b, residual);
    return residual;
}

/// z ← a r of a dense 2 × 2.
Substitution<double> by_inverse(double a, double b, double c, double d)
{
    return [=](std::span<const double> r, std::span<double> z) {
        z[0] = a * r[0] + b * r[1];
        z[1] = c * r[0] + d * r[1];
    };
}

TEST(KnownAnswer, HasTheSizesOfXAndAnySign)
{
    const std::vector<double> x{1, -4, 0, 1e-20, 8};
    std::vector<double>       z(5), again(5);
    known_answer<double>(x, 1e-12, 8, z);
    known_answer<double>(x, 1e-12, 8, again);
    EXPECT_EQ(z, again);
    const double size[]{1, 4, 8, 8, 8};
    for (std::size_t i = 0; i < z.size(); ++i) {
        EXPECT_GE(std::abs(z[i]), size[i]);
        EXPECT_LE(std::abs(z[i]), 2 * size[i]);
    }
}

TEST(KnownAnswer, OfNothingIsAsLargeAs1)
{
    const std::vector<double> x(3);
    std::vector<double>       z(3);
    known_answer<double>(x, 0, largest_of<double>(x), z);
    for (const double one : z) {
        EXPECT_GE(std::abs(one), 1);
        EXPECT_LE(std::abs(one), 2);
    }
}

TEST(KnownAnswer, HasBothSignsAndDifferentSizes)
{
    // Equal rows, as of a Laplacian, must not have a right-hand side that is a multiple of ones.
    const std::vector<double> x(1000, 1.);
    std::vector<double>       z(1000);
    known_answer<double>(x, 0, largest_of<double>(x), z);
    EXPECT_GT(std::ranges::count_if(z, [](double one) { return one > 0; }), 400);
    EXPECT_LT(std::ranges::count_if(z, [](double one) { return one > 0; }), 600);
    std::ranges::sort(z);
    EXPECT_EQ(std::ranges::adjacent_find(z), z.end());
}

TEST(GpuKnownAnswer, IsThatOfTheHostToTheLastBit)
{
    ILUX_SKIP_WITHOUT_GPU();
    Gpu gpu;
    for (const Index n : {0, 1, 31, 32, 33, 257, 5000}) {
        std::vector<double> x = random_vector(n, 3), z(x.size()), there(x.size());
        for (std::size_t i = 0; i < x.size(); i += 7) x[i] = 0;
        for (const double usual : {0., 1e-9}) {
            DeviceBuffer<double> of_x(x.size()), of_z(x.size());
            upload<double>(gpu, x, of_x);
            known_answer<double>(x, 0, usual, z);
            known_answer<double>(gpu, of_x, usual, of_z);
            download<double>(gpu, of_z, there);
            EXPECT_EQ(there, z) << n;
        }
    }
}

TEST(MissedShare, IsTheWorstOfAllUnknownsWhateverTheirSize)
{
    const std::vector<double> z{1, -1e3, 1e-9};
    const auto                of = [&](std::vector<double> t) { return missed_share<double>(z, t); };
    EXPECT_EQ(of({0, 0, 0}), 0);
    EXPECT_DOUBLE_EQ(of({.1, 500, 0}), .5);
    EXPECT_DOUBLE_EQ(of({.1, 0, 2e-9}), 2);
    EXPECT_EQ(of({0, nan, 0}), infinity);
    EXPECT_EQ(of({0, 0, -infinity}), infinity);
}

TEST(MultiplyExactly, SeesWhatProductsOfDoublesLose)
{
    const auto                A = to_csr({2, 2, {1, -1, 3, 0}});
    const std::vector<double> e{1 + eps, 1};
    std::vector<double>       f(2);
    multiply_exactly<double>(one_thread, A, e, f);
    EXPECT_EQ(f[0], eps);
    EXPECT_NEAR(f[1], 3, 4 * eps);
}

TEST(KnownAnswerWarning, NamesTheUnknownsThatInexactFactorsOfASingularMatrixDoNotFindAgain)
{
    // A is singular; the factors are those of [1 1; 1 1 + 2⁻⁵²], as rounding may leave them.
    const auto                 A = to_csr({2, 2, {1, 1, 1, 1}});
    const std::vector<double>  x{3, 4}, b{7, 7};
    const Substitution<double> inverse = [](std::span<const double> r, std::span<double> z) {
        z[1] = (r[1] - r[0]) * 0x1p52;
        z[0] = r[0] - z[1];
    };
    std::vector<double> room;
    const std::string   text = known_answer_warning<double>(one_thread, A, x, residual_of_x(A, x, b), inverse, room);
    EXPECT_NE(text.find("singular"), std::string::npos) << text;
    EXPECT_NE(text.find("2 of 2"), std::string::npos) << text;
}

TEST(KnownAnswerWarning, TrustsFactorsThatFindAnErrorAgain)
{
    // [1 1; 1 1 + 2⁻⁵⁰] and its inverse to the last bit: refinement by it is right.
    const auto                A = to_csr({2, 2, {1, 1, 1, 1 + 0x1p-50}});
    const std::vector<double> x{3, 4}, b{7, 7 + 4 * 0x1p-50};
    const auto                inverse = by_inverse(0x1p50 + 1, -0x1p50, -0x1p50, 0x1p50);
    std::vector<double>       room;
    EXPECT_EQ(known_answer_warning<double>(one_thread, A, x, residual_of_x(A, x, b), inverse, room), "");
}

TEST(KnownAnswerWarning, SeesANullVectorThatTheRoundingOfRowsWouldNot)
{
    // The second and third rows hold x_2 = 0 alone, and its rounding is nothing: the third unknown is what factors make
    // of it.
    const auto                 A = to_csr({3, 3, {2, 1, 0, 0, 0.125, 0, 0, 0.375, 0}});
    const std::vector<double>  x{1, 0, 7}, b{2, 0, 0};
    const Substitution<double> inverse = [](std::span<const double> r, std::span<double> z) {
        const double c = r[1] / 0.125, d = (r[2] - 3 * r[1]) * 0x1p54;
        z[0] = (r[0] - c) / 2;
        z[1] = c;
        z[2] = d;
    };
    std::vector<double> room;
    const std::string   text = known_answer_warning<double>(one_thread, A, x, residual_of_x(A, x, b), inverse, room);
    EXPECT_NE(text.find("1 of 3"), std::string::npos) << text;
}

TEST(MultiplyExactly, HasTheSameBitsByAnyThreads)
{
    const auto          A = gallery::build("poisson2d:n=120");  // 71,520 entries
    Cpu                 three(3);
    const auto          e = random_vector(A.rows(), 5);
    std::vector<double> f(e.size()), by_three(e.size());
    multiply_exactly<double>(one_thread, A, e, f);
    multiply_exactly<double>(three, A, e, by_three);
    EXPECT_EQ(f, by_three);
}

TEST(KnownAnswerWarning, IsThatOfComplexNumbersToo)
{
    // [1 i; -i 1] is singular; the factors are those of [1 i; -i 1 + 2⁻⁵²].
    using C = std::complex<double>;
    const C              i(0, 1);
    const auto           A = CsrMatrix<C>::from_sorted(2, 2, {0, 2, 4}, {0, 1, 0, 1}, {1, i, -i, 1});
    const std::vector<C> x{3, 4}, b{3. + 4. * i, 4. - 3. * i};
    Residual<C>          residual;
    (void)measure<C>(one_thread, A, x, b, residual);
    const Substitution<C> inverse = [i](std::span<const C> r, std::span<C> z) {
        z[1] = (r[1] + i * r[0]) * 0x1p52;
        z[0] = r[0] - i * z[1];
    };
    std::vector<C>    room;
    const std::string text = known_answer_warning<C>(one_thread, A, x, residual, inverse, room);
    EXPECT_NE(text.find("2 of 2"), std::string::npos) << text;
}

TEST(KnownAnswerWarning, IsNoneOfNoUnknowns)
{
    std::vector<double>        room;
    const Substitution<double> nothing = [](std::span<const double>, std::span<double>) {};
    EXPECT_EQ(known_answer_warning<double>(one_thread, CsrMatrix<double>::identity(0), {}, {}, nothing, room), "");
}

TEST(KnownAnswerWarning, DoesNotTrustFactorsThatFindNothing)
{
    const auto                A = to_csr({2, 2, {1, 2, 3, 4}});
    const std::vector<double> x{1, 1}, b{3, 7};
    std::vector<double>       room;
    for (const double wrong : {0., nan}) {
        const std::string text = known_answer_warning<double>(one_thread, A, x, residual_of_x(A, x, b),
                                                              by_inverse(wrong, 0, 0, wrong), room);
        EXPECT_NE(text.find("singular"), std::string::npos) << wrong;
    }
}

TEST(KnownAnswerWarning, IsNoneWhereAIsFarFromSingularWhateverItsUnits)
{
    std::vector<double> room;
    for (const double unit : {1., 0x1p60, 0x1p-200}) {
        const auto                A = to_csr({2, 2, {2, unit, 1, unit}});
        const std::vector<double> x{1, 3 / unit}, b{5, 4};
        const auto                inverse = by_inverse(1, -1, -1 / unit, 2 / unit);
        EXPECT_EQ(known_answer_warning<double>(one_thread, A, x, residual_of_x(A, x, b), inverse, room), "") << unit;
    }
}

/// A transformer's inductances, resistances and a capacitance, each in its unit.
TEST(KnownAnswerOfLu, IsNoAlarmForAConditionThatComesOfUnitsAlone)
{
    const WholeMatrix whole{.entries = entries_of({3, 3, {4, 1, 0, 1, 4, 1, 0, 1, 4}}), .n = 3, .symmetric = true};
    const auto        base = whole.entries.matrix(3, 3);
    const int         unit[]{0, -66, 66};
    for (const MethodChoice method : {MethodChoice::lu, MethodChoice::automatic}) {
        std::vector<double> val(base.val().begin(), base.val().end()), x(3), b(3);
        const double        y[]{1, -2, 3};
        for (Index i = 0; i < 3; ++i) {
            for (Offset p = base.row_ptr()[i]; p < base.row_ptr()[i + 1]; ++p) {
                b[i] += std::ldexp(val[p] * y[base.col()[p]], unit[i]);
                val[p] = std::ldexp(val[p], unit[i] + unit[base.col()[p]]);
            }
        }
        const auto   A = base.with_values(val);
        LinearSolver solver(serial({.method = method}));
        solver.analyse(A);
        ASSERT_TRUE(solver.factor().ready());
        const auto report = solver.solve(b, x);
        EXPECT_TRUE(report.converged());
        EXPECT_EQ(report.result().warning, "");
        for (Index i = 0; i < 3; ++i) EXPECT_NEAR(std::ldexp(x[i], unit[i]), y[i], 1e-12);
    }
}

}  // namespace
}  // namespace ilux

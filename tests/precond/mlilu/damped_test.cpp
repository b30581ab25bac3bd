// The matrix with more damping of which M is made: iβ|a_jj| on the diagonal, no other entry touched, the sign A's own.

#include "ilux/precond/mlilu/damped.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "ilux/base/error.hpp"
#include "ilux/gallery/gallery.hpp"
#include "ilux/precond/mlilu/mlilu.hpp"
#include "ilux/tests/support/complex_on_device.hpp"

namespace ilux::test {
namespace {

Cpu serial(1);

CsrMatrix<Complex> waves(const std::string& spec) { return std::get<CsrMatrix<Complex>>(gallery::build_any(spec)); }

/// [3+4i  1; 2  −2+s·i]
CsrMatrix<Complex> two_rows(double s)
{
    return CsrMatrix<Complex>::from_sorted(2, 2, {0, 2, 4}, {0, 1, 0, 1}, {Complex{3, 4}, 1, 2, Complex{-2, s}});
}

TEST(Damped, AddsToTheDiagonalByHand)
{
    const auto made = damped<Complex>(serial, two_rows(0), {.damping = {0.5}}).A;
    EXPECT_EQ(made.at(0, 0), Complex(3, 6.5));
    EXPECT_EQ(made.at(1, 1), Complex(-2, 1));
    EXPECT_EQ(made.at(0, 1), Complex(1));
    EXPECT_EQ(made.at(1, 0), Complex(2));
}

TEST(Damped, HasTheSignOfTheDiagonal)
{
    const auto made = damped<Complex>(serial, two_rows(-5), {.damping = {0.5}}).A;
    EXPECT_EQ(made.at(0, 0), Complex(3, 1.5));
    EXPECT_EQ(made.at(1, 1), Complex(-2, -5 - std::sqrt(29.) / 2));
}

TEST(Damped, LeavesAAsItIsWithoutDamping)
{
    const auto A = waves("ac_mesh:n=9");
    EXPECT_TRUE(std::ranges::equal(damped<Complex>(serial, A, {}).A.val(), A.val()));
    const auto real = gallery::build("poisson2d:n=9");
    EXPECT_TRUE(std::ranges::equal(damped<double>(serial, real, {}).A.val(), real.val()));
}

TEST(Damped, HasNoEntryWhereADiagonalIsNotStored)
{
    const auto A = CsrMatrix<Complex>::from_sorted(2, 2, {0, 1, 2}, {1, 0}, {Complex{0, 1}, 1});
    EXPECT_EQ(damped<Complex>(serial, A, {.damping = {1}}).A.nnz(), 2);
    EXPECT_EQ(damped<Complex>(serial, CsrMatrix<Complex>::from_sorted(0, 0, {0}, {}, {}), {.damping = {1}}).A.rows(),
              0);
}

TEST(Damped, RefusesRealMatrices)
{
    const auto A = gallery::build("poisson2d:n=9");
    Cpu        cpu(1);
    EXPECT_THROW(damped<double>(serial, A, {.damping = {0.1}}), InvalidInput);
    EXPECT_THROW(MlIlu<double>::build(cpu, A, {.damping = {0.1}}), InvalidInput);
}

/// The gallery's own damping shift, −(1 − iβ)(kh)², is another formula of the same.
TEST(Damped, IsTheShiftedLaplacianInside)
{
    const double kh = 0.5, beta = 0.25;
    const auto   A = waves("helmholtz2d_open:n=33,kh=0.5"), shifted = waves("helmholtz2d_open:n=33,kh=0.5,shift=0.25");
    const auto   made = damped<Complex>(serial, A, {.damping = {beta * kh * kh / (4 - kh * kh)}}).A;
    for (Index i = 1; i < 32; ++i)
        for (Index j = 1; j < 32; ++j) {
            const Index row = 33 * i + j;
            EXPECT_LE(std::abs(made.at(row, row) - shifted.at(row, row)), 1e-15 * 4);
        }
}

TEST(Damped, ChoosesAShareOfTheWaveNumberForLargeWaveProblemsAlone)
{
    const double kh = 0.5, expected = damped_share * kh * kh / (4 - kh * kh);
    const auto   chosen = [](const char* spec) { return damped<Complex>(serial, waves(spec), {}); };
    const auto   made = chosen("helmholtz2d_open:n=150,kh=0.5");
    EXPECT_NEAR(made.beta, expected, 1e-12);
    ASSERT_EQ(made.decisions.size(), 1U);
    EXPECT_NE(made.decisions[0].find("damping"), std::string::npos);
    EXPECT_EQ(chosen("helmholtz2d_open:n=140,kh=0.5").beta, 0);   // small
    EXPECT_EQ(chosen("helmholtz2d_open:n=150,kh=0.15").beta, 0);  // long waves
    EXPECT_EQ(chosen("ac_mesh:n=150").beta, 0);                   // none
    EXPECT_EQ(damped<Complex>(serial, waves("helmholtz2d_open:n=150,kh=0.5"), {.damping = {0}}).beta, 0);
}

TEST(Damped, IsReadAndWritten)
{
    MlIluOptions options;
    for (const auto& [text, beta] : {std::pair{"off", 0.}, {"0.25", 0.25}, {"1", 1.}, {"auto", Damping::automatic}}) {
        set_field(options, "damping", text);
        EXPECT_EQ(options.damping.beta, beta);
        EXPECT_EQ(field_text(options.damping), text);
    }
    for (const char* text : {"", "-1", "1.5", "nan", "x"})
        expect_refusal<InvalidOption>([&] { set_field(options, "damping", text); },
                                      {"damping=" + std::string(text), "auto, off"});
}

TEST(Damped, MakesFactorsOfWavesSmall)
{
    Cpu        cpu(2);
    const auto A = waves("helmholtz2d_open:n=100,kh=0.6");
    for (const auto setup : {MlIluSetup::crout, MlIluSetup::rounds}) {
        const auto without = MlIlu<Complex>::build(cpu, A, {.setup = setup});
        const auto with = MlIlu<Complex>::build(cpu, A, {.setup = setup, .damping = {0.1}});
        EXPECT_LT(2 * with.report().fill, without.report().fill) << field_text(setup);
    }
}

}  // namespace
}  // namespace ilux::test

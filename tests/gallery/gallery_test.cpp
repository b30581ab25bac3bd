#include "ilux/gallery/gallery.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <random>
#include <set>

#include "ilux/base/error.hpp"
#include "ilux/gallery/assemble.hpp"
#include "ilux/tests/gallery/dense.hpp"
#include "ilux/tests/gallery/traits.hpp"

namespace ilux {
namespace {

using gallery::Problem;

std::string message_of(const std::string& spec)
{
    try {
        (void)gallery::build_any(spec);
    } catch (const InvalidOption& error) {
        return error.what();
    }
    return "";
}

void expect_says(const std::string& spec, std::string_view words)
{
    const auto message = message_of(spec);
    EXPECT_NE(message.find(words), std::string::npos) << spec << " → " << message;
}

class EveryProblem : public testing::TestWithParam<std::string> {
protected:
    const Problem& problem = gallery::find_problem(GetParam());
    std::string    small_spec = GetParam() + (problem.stand_in ? ":scale=0.0001" : ":n=6");
    AnyMatrix      small = gallery::build_any(small_spec);
};

class EveryRealProblem : public EveryProblem {
protected:
    const CsrMatrix<double>& A = std::get<CsrMatrix<double>>(small);
};
class EveryComplexProblem : public EveryProblem {};
class EveryPositiveDefiniteProblem : public EveryRealProblem {};
class EveryMMatrix : public EveryRealProblem {};

template <class Holds>
std::vector<std::string> names_where(Holds&& holds)
{
    std::vector<std::string> names;
    for (const auto& problem : gallery::problems())
        if (holds(problem.traits)) names.push_back(problem.name);
    return names;
}
std::vector<std::string> all_names()
{
    return names_where([](const gallery::Traits&) { return true; });
}

constexpr auto as_written = [](const auto& info) { return info.param; };
INSTANTIATE_TEST_SUITE_P(Gallery, EveryProblem, testing::ValuesIn(all_names()), as_written);
INSTANTIATE_TEST_SUITE_P(Gallery, EveryRealProblem,
                         testing::ValuesIn(names_where([](const auto& t) { return !t.complex; })), as_written);
INSTANTIATE_TEST_SUITE_P(Gallery, EveryComplexProblem,
                         testing::ValuesIn(names_where([](const auto& t) { return t.complex; })), as_written);
INSTANTIATE_TEST_SUITE_P(Gallery, EveryPositiveDefiniteProblem,
                         testing::ValuesIn(names_where([](const auto& t) { return t.positive_definite; })), as_written);
INSTANTIATE_TEST_SUITE_P(Gallery, EveryMMatrix,
                         testing::ValuesIn(names_where([](const auto& t) { return t.m_matrix; })), as_written);

TEST_P(EveryProblem, IsSquareFiniteSortedAndTheSameEveryTime)
{
    std::visit(
        [](const auto& A) {
            EXPECT_GT(A.rows(), 0);
            EXPECT_EQ(A.rows(), A.cols());
            EXPECT_TRUE(is_well_formed(A));
        },
        small);
    EXPECT_TRUE(same(small, gallery::build_any(small_spec)));
}

TEST_P(EveryRealProblem, IsBuiltAsSuch) { EXPECT_TRUE(same(A, gallery::build(small_spec))); }

TEST_P(EveryComplexProblem, HasImaginaryPartsIsNotHermitianAndIsRefusedWhereRealOnesAreWanted)
{
    const auto& A = std::get<CsrMatrix<std::complex<double>>>(small);
    EXPECT_TRUE(std::ranges::any_of(A.val(), [](std::complex<double> value) { return value.imag() != 0; }));
    EXPECT_FALSE(is_hermitian(A));
    EXPECT_NE(problem.summary.find("complex"), std::string::npos);
    try {
        (void)gallery::build(small_spec);
        FAIL();
    } catch (const InvalidOption& error) {
        EXPECT_NE(std::string(error.what()).find("gallery:" + small_spec + ": its values are complex"),
                  std::string::npos)
            << error.what();
    }
}

TEST_P(EveryProblem, IsSymmetricExactlyWhenItSaysSo)
{
    const auto larger = gallery::build_any(GetParam() + (problem.stand_in ? ":scale=0.01" : ":n=24"));
    std::visit(
        [&](const auto& B) {
            EXPECT_EQ(is_symmetric(B), problem.traits.symmetric);
            EXPECT_EQ(is_pattern_symmetric(B), problem.traits.pattern_symmetric);
        },
        larger);
    EXPECT_TRUE(std::visit([](const auto& A) { return is_symmetric(A); }, small) || !problem.traits.symmetric);
}

TEST_P(EveryPositiveDefiniteProblem, HasACholeskyFactor)
{
    EXPECT_TRUE(problem.traits.symmetric);
    EXPECT_TRUE(cholesky_succeeds(dense(A)));
}

TEST_P(EveryMMatrix, HasNonpositiveOffDiagonalsAndANonnegativeInverse)
{
    EXPECT_TRUE(off_diagonals_are_nonpositive(A));
    const auto [A_inverse, smallest_pivot] = inverse(dense(A));
    EXPECT_GT(smallest_pivot, 1e-14);
    EXPECT_GE(std::ranges::min(A_inverse.value), -1e-13 * largest(A_inverse.value));
}

TEST_P(EveryProblem, IsDominantLowerTriangularOrWithZeroDiagonalsWhenItSaysSo)
{
    std::visit(
        [&](const auto& A) {
            EXPECT_TRUE(is_weakly_dominant(A) || !problem.traits.dominant);
            bool lower = true;
            for (Index i = 0; i < A.rows(); ++i)
                for (Offset p = A.row_ptr()[i]; p < A.row_ptr()[i + 1]; ++p) lower = lower && A.col()[p] <= i;
            EXPECT_EQ(lower, problem.traits.lower_triangular);
            EXPECT_EQ(count_zero_diagonals(A) > 0, problem.traits.zero_diagonal);
        },
        small);
}

TEST_P(EveryProblem, IsStructurallyRegularUnlessItSaysOtherwise)
{
    const bool singular = std::visit([](const auto& A) { return structural_rank(A) < A.rows(); }, small);
    EXPECT_EQ(singular, problem.traits.structurally_singular);
}

TEST_P(EveryProblem, IsSingularExactlyWhenItSaysSo)
{
    // at its default 15 decades the condition of mna_random may pass 1/eps
    const auto   B = problem.name == "mna_random" ? gallery::build_any("mna_random:n=24,decades=2") : small;
    const double smallest_pivot = std::visit([](const auto& A) { return inverse(dense(A)).second; }, B);
    if (problem.traits.singular) EXPECT_LT(smallest_pivot, 1e-14);
    else EXPECT_GT(smallest_pivot, 1e-10);
}

TEST_P(EveryProblem, HasParametersWithHelpAndDefaultsThatReadBack)
{
    ASSERT_FALSE(problem.parameters.empty());
    std::string spec = small_spec;
    for (const auto& parameter : problem.parameters) {
        EXPECT_FALSE(parameter.help.empty()) << parameter.name;
        if (parameter.name != "n" && parameter.name != "scale")
            spec += "," + parameter.name + "=" + parameter.default_text;
    }
    EXPECT_TRUE(same(small, gallery::build_any(spec))) << spec;
}

TEST_P(EveryProblem, StatesItsPropertiesAndWhetherItStandsIn)
{
    EXPECT_FALSE(problem.summary.empty());
    EXPECT_FALSE(problem.properties.empty());
    EXPECT_EQ(problem.stand_in, problem.name.starts_with("like_"));
    EXPECT_EQ(problem.stand_in, problem.summary.find("STAND-IN") != std::string::npos);
}

TEST(Gallery, NamesAreDistinct)
{
    const auto names = all_names();
    EXPECT_EQ(std::set<std::string>(names.begin(), names.end()).size(), names.size());
}

TEST(Gallery, TakesDefaultsWithoutAColonAndParametersAfterIt)
{
    EXPECT_EQ(gallery::build("poisson2d").rows(), 10000);
    EXPECT_EQ(gallery::build("poisson2d:n=3,ny=5").rows(), 15);
    EXPECT_TRUE(same(gallery::build("convdiff2d:scheme=central,n=4"),
                     gallery::convdiff2d({.n = 4, .scheme = gallery::Scheme::central})));
}

TEST(Gallery, RefusesUnknownNamesWithTheNearestOne)
{
    expect_says("poison2d", "did you mean 'poisson2d'");
    expect_says("", "no gallery problem");
    expect_says("convdiff3d:peklet=3", "did you mean 'peclet'");
}

TEST(Gallery, RefusesMalformedSpecs)
{
    expect_says("poisson2d:", "key=value");
    expect_says("poisson2d:n", "key=value");
    expect_says("poisson2d:=3", "key=value");
    expect_says("poisson2d:n=3,", "key=value");
    expect_says("poisson2d:n=3,,ny=3", "key=value");
    expect_says("poisson2d:n=3,n=4", "twice");
    expect_says("poisson2d:n=", "whole number");
    expect_says("poisson2d:n=1e3", "whole number");
    expect_says("poisson2d:n=3 ", "whole number");
    expect_says("poisson2d:n=0", "at least 1");
    expect_says("poisson2d:n=99999999999", "fits");
    expect_says("helmholtz2d:k=nan", "k=nan");
    expect_says("helmholtz2d:k=inf", "k=inf");
    expect_says("convdiff2d:scheme=down", "upwind|central");
}

TEST(Gallery, RefusesMoreRowsThanAnIndexCountsAndSaysHowMany)
{
    expect_says("poisson3d:n=100000", "1e+15 rows");
    expect_says("poisson2d:n=50000", "2500000000 rows");
    expect_says("poisson2d:n=2147483647,ny=2147483647", "rows");
    expect_says("convdiff3d:n=2000", "8000000000 rows");
    expect_says("stokes2d:n=30000", "2699939999 rows");
    expect_says("elasticity2d:n=2147483647", "rows");
    expect_says("elasticity3d:n=1000", "3006003000 rows");
    expect_says("singular:n=50000", "rows");
    expect_says("rlc_mesh:n=10000,segments=100", "rows");
    expect_says("power_grid:n=50000", "rows");
    expect_says("mna_random:n=2147483647", "rows");
    expect_says("helmholtz3d_open:n=2000", "8000000000 rows");
    expect_says("maxwell3d:n=1000", "2994003000 rows");
    for (const char* name :
         {"anisotropic2d", "jump2d", "convdiff2d", "recirculating2d", "helmholtz2d", "helmholtz2d_open", "ac_mesh"})
        expect_says(std::string(name) + ":n=46341", "2147488281 rows");  // the first square above 2³¹ − 1
}

TEST(Gallery, TypedFunctionsCheckTheirOptionsToo)
{
    EXPECT_THROW((void)gallery::poisson2d(0, 3), InvalidOption);
    EXPECT_THROW((void)gallery::random_lower(-1, 3), InvalidOption);
    EXPECT_THROW((void)gallery::elasticity2d({.n = 3, .nu = 0.5}), InvalidOption);
    EXPECT_THROW((void)gallery::random_vector(-1), InvalidInput);
}

TEST(RandomVector, IsUniformOnMinusOneToOneAndSetByItsSeed)
{
    const auto x = gallery::random_vector(10000, 7);
    double     mean = 0, square = 0;
    for (double value : x) {
        ASSERT_TRUE(value >= -1 && value < 1);
        mean += value / 10000;
        square += value * value / 10000;
    }
    EXPECT_NEAR(mean, 0, 0.03);  // σ/√n is 0.006
    EXPECT_NEAR(square, 1. / 3, 0.02);
    EXPECT_EQ(x, gallery::random_vector(10000, 7));
    EXPECT_NE(x, gallery::random_vector(10000, 8));
    EXPECT_TRUE(gallery::random_vector(0).empty());
}

TEST(RandomVector, OfComplexValuesHasTheRealOneAsItsRealPartAndAnotherAsItsImaginaryPart)
{
    const auto x = gallery::random_vector(1000, 7);
    const auto z = gallery::random_vector<std::complex<double>>(1000, 7);
    double     product = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
        EXPECT_EQ(z[i].real(), x[i]);
        ASSERT_TRUE(z[i].imag() >= -1 && z[i].imag() < 1);
        product += z[i].real() * z[i].imag() / 1000;
    }
    EXPECT_NEAR(product, 0, 0.05);  // σ/√n is 0.011
    EXPECT_EQ(z, gallery::random_vector<std::complex<double>>(1000, 7));
    EXPECT_TRUE(gallery::random_vector<std::complex<double>>(0).empty());
    EXPECT_THROW((void)gallery::random_vector<std::complex<double>>(-1), InvalidInput);
}

TEST(Random, MapsTheSequenceThatTheStandardFixes)
{
    gallery::Random random(5489);  // [rand.predef]: the 10000th number of this seed is 9981545732273789042
    for (int k = 1; k < 10000; ++k) (void)random.unit();
    EXPECT_EQ(random.unit(), static_cast<double>(9981545732273789042u >> 11) * 0x1p-53);
}

TEST(Random, BelowReachesEveryValueAndNoOther)
{
    gallery::Random  random(3);
    std::vector<int> hits(5, 0);
    for (int k = 0; k < 1000; ++k) ++hits.at(random.below(5));
    EXPECT_GT(std::ranges::min(hits), 100);
}

TEST(LogSpread, CoversItsDecadesMonotonically)
{
    EXPECT_EQ(gallery::log_spread(0, 2, 8), 2);
    EXPECT_NEAR(gallery::log_spread(1, 2, 8) / 2e8, 1, 0.07);
    for (int k = 1; k <= 100; ++k)
        EXPECT_GT(gallery::log_spread(k / 100., 1, 8), gallery::log_spread((k - 1) / 100., 1, 8));
    EXPECT_EQ(gallery::power_of_two(-3), 0.125);
}

TEST(RowWriter, SortsRowsAndSumsEqualColumns)
{
    gallery::RowWriter A(3, 4, 2);
    for (auto [j, value] : {std::pair{3, 1.}, {0, 2.}, {3, 4.}}) A.add(j, value);
    A.end_row();
    A.end_row();  // empty
    A.add(1, 7);
    A.add(2, 0);
    A.end_row();
    const auto B = std::move(A).finish();
    EXPECT_TRUE(is_well_formed(B));
    EXPECT_EQ(B.nnz(), 4);
    EXPECT_EQ(B.at(0, 0), 2);
    EXPECT_EQ(B.at(0, 3), 5);
    EXPECT_EQ(B.at(2, 1), 7);
}

TEST(RowWriter, RefusesWhatIsNotFiniteAndSaysWhere)
{
    gallery::RowWriter A(2, 2, 1);
    A.add(0, 1);
    A.end_row();
    A.add(1, std::numeric_limits<double>::quiet_NaN());
    A.end_row();
    try {
        (void)std::move(A).finish();
        FAIL();
    } catch (const InvalidOption& error) {
        EXPECT_NE(std::string(error.what()).find("row 2, column 2 (counted from 1)"), std::string::npos)
            << error.what();
    }
}

TEST(RowWriter, OfComplexValuesSortsSumsAndRefusesANaNInEitherPart)
{
    using Complex = std::complex<double>;
    gallery::RowWriterOf<Complex> A(1, 3, 2);
    for (auto [j, value] : {std::pair{2, Complex(1, 2)}, {0, Complex(0, 1)}, {2, Complex(3, -2)}}) A.add(j, value);
    A.end_row();
    const auto B = std::move(A).finish();
    EXPECT_EQ(B.nnz(), 2);
    EXPECT_EQ(B.at(0, 0), Complex(0, 1));
    EXPECT_EQ(B.at(0, 2), Complex(4, 0));
    for (const Complex bad :
         {Complex(1, std::numeric_limits<double>::quiet_NaN()), Complex(std::numeric_limits<double>::infinity(), 0)}) {
        gallery::RowWriterOf<Complex> broken(1, 1, 1);
        broken.add(0, bad);
        broken.end_row();
        EXPECT_THROW((void)std::move(broken).finish(), InvalidOption);
    }
}

}  // namespace
}  // namespace ilux

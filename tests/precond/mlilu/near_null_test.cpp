// Test vectors of the caller, in rounds with compensation.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <memory>

#include "ilux/gallery/gallery.hpp"
#include "ilux/precond/mlilu/mlilu_choice.hpp"
#include "ilux/tests/precond/mlilu/mlilu_checks.hpp"

namespace ilux {
namespace {

using namespace test::precond;

MlIluOptions with(Vector near_null, MlIluOptions options = {})
{
    options.near_null = std::make_shared<const Vector>(std::move(near_null));
    return options;
}

/// The vectors count by what they span: neither a common factor, nor a sign, nor their order matters.
TEST(NearNull, CountsByWhatItSpans)
{
    MlIluOptions options = in_rounds;
    options.compensation = Compensation::on;
    for (const auto& A : {gallery::poisson2d(40, 37), gallery::convdiff3d({.n = 11})})
        for (Index count : {1, 2}) {
            Vector t = test::random_vector(A.rows() * count, 2);
            for (double& value : t) value += 2;
            Vector same = t;
            for (std::size_t i = 0; i < t.size(); i += count) {
                if (count == 2) std::swap(same[i], same[i + 1]);
                for (Index c = 0; c < count; ++c) same[i + c] *= c == 0 ? -0x1p40 : 0x1p40;
            }
            const auto M = build(A, with(t, options), 2), N = build(A, with(same, options), 2);
            const auto constant = build(A, options, 2);
            EXPECT_NE(M.report().stored, constant.report().stored) << "t makes no difference";
            MlIluPreconditioner<> by_t(M), by_same(N);
            const Vector          r = test::random_vector(A.rows(), 4);
            EXPECT_TRUE(test::identical(applied(by_same, r), applied(by_t, r))) << count;
        }
}

/// Neither does the size of a vector, where squares of its values overflow or underflow.
TEST(NearNull, MayHoldValuesWhoseSquaresAreNoNumbers)
{
    MlIluOptions options = in_rounds;
    options.compensation = Compensation::on;
    const auto   A = gallery::poisson2d(30, 30);
    const auto   expected = build(A, with(Vector(2 * A.rows(), 1.), options)).report();
    const Vector r = test::random_vector(A.rows(), 4);
    for (double size : {0x1p-1000, 0x1p1000}) {
        Vector t(2 * A.rows(), size);
        for (std::size_t i = 1; i < t.size(); i += 2) t[i] = 1;
        const auto made = build(A, with(t, options)).report();
        EXPECT_EQ(made.stored, expected.stored);
        EXPECT_EQ(rounds_of(made), rounds_of(expected));
        t[8] = 0;
        t[9] = 1e-200;
        EXPECT_EQ(rounds_of(build(A, with(t, options)).report()), rounds_of(expected))
            << "a row that is nothing beside the others";
    }
}

/// A mesh in units of its own for every unknown: a constant stands for nothing then, and what does is to be told.
TEST(NearNull, SpeaksForRoundsWhereUnitsHideThem)
{
    CsrMatrix<>  A = gallery::poisson2d(60, 60);
    const Vector units = sizes(A.rows(), 2, 3);
    Vector       t;
    for (double unit : units) t.push_back(1 / (unit * 1.1));
    for (Index i = 0; i < A.rows(); ++i)
        for (Offset p = A.row_ptr()[i]; p < A.row_ptr()[i + 1]; ++p) A.val()[p] *= units[i] * units[A.col()[p]] * 1.21;
    const auto blind = build(A), told = build(A, with(t));
    EXPECT_EQ(rounds_of(blind.report()), 0);
    EXPECT_GT(rounds_of(told.report()), 0);
    EXPECT_TRUE(any_mentions(told.report(), "setup=auto: rounds, 100 % of the rows are diagonally dominant"));
    EXPECT_TRUE(any_mentions(told.report(), "M is exact for x = near_null"));
    const auto plain = gallery::poisson2d(60, 60);
    EXPECT_LE(steps_with(told, A), steps_with(build(plain), plain) + 8);
    Cpu be;
    EXPECT_FALSE(rounds_are_likely(be, A, {}));
    EXPECT_TRUE(rounds_are_likely(be, A, with(t)));
}

/// Translations of a plate, an unknown in x and one in y at each node.
TEST(NearNull, OfSeveralVectorsTakesFewerStepsThanAConstant)
{
    const auto   A = gallery::elasticity2d({.n = 60});
    MlIluOptions options = in_rounds;
    options.compensation = Compensation::on;
    options.schur_drop_tol = 2e-4;
    Vector translations;
    for (Index i = 0; i < A.rows(); ++i) translations.insert(translations.end(), {1. - i % 2, 1. * (i % 2)});
    const auto told = build(A, with(translations, options)), constant = build(A, options);
    EXPECT_LE(told.report().fill, 1.05 * constant.report().fill);
    EXPECT_LE(5 * steps_with(told, A), 4 * steps_with(constant, A));
}

TEST(NearNull, IsToldWhereItHasNoEffect)
{
    const auto   A = gallery::poisson2d(12, 12), saddle = gallery::stokes2d({.n = 8});
    const Vector ones(A.rows(), 1.);
    EXPECT_TRUE(any_mentions(build(A, with(ones, {.setup = MlIluSetup::crout})).report(), "near_null has no effect"));
    EXPECT_TRUE(any_mentions(build(saddle, with(Vector(saddle.rows(), 1.))).report(), "near_null has no effect"));
    EXPECT_FALSE(any_mentions(build(A, with(ones)).report(), "near_null has no effect"));
}

/// Unknowns that are 0 in the only vector stand beside the others, whatever the length of the vector is.
TEST(NearNull, OfUnknownsHeldFastDoesNotDependOnItsLength)
{
    const auto A = gallery::poisson2d(30, 30);
    Vector     t(static_cast<std::size_t>(A.rows()), 1.);
    for (std::size_t i = 0; i < t.size(); i += 7) t[i] = 0;
    const auto one = build(A, with(t, in_rounds)).report();
    for (double& value : t) value *= 0x1p-40;
    const auto other = build(A, with(t, in_rounds)).report();
    EXPECT_EQ(rounds_of(one), rounds_of(other));
    EXPECT_EQ(one.stored, other.stored);
}

TEST(NearNull, MustFitTheMatrix)
{
    const auto A = gallery::poisson2d(3, 3);
    Vector     two(18, 1.);
    EXPECT_NO_THROW(build(A, with(two)));
    for (const Vector& wrong : {Vector{}, Vector(8, 1.), Vector(10, 1.), Vector(17, 1.), Vector(9 * 65, 1.)})
        EXPECT_THROW(build(A, with(wrong)), InvalidInput) << wrong.size();
    two[4] = 0;
    EXPECT_NO_THROW(build(A, with(two)));
    two[5] = 0;
    EXPECT_NO_THROW(build(A, with(two)));
    for (double bad : {std::numeric_limits<double>::infinity(), std::nan("")}) {
        two[5] = bad;
        EXPECT_THROW(build(A, with(two)), InvalidInput);
    }
    for (std::size_t i = 0; i < two.size(); ++i) two[i] = i % 2 == 0 ? 1 : 0;
    EXPECT_NO_THROW(build(A, with(two)));
    EXPECT_THROW(build(A, with(Vector(18, 0.))), InvalidInput);
    EXPECT_THROW(build(A, with(Vector(9, 0.), {.setup = MlIluSetup::crout})), InvalidInput);
    const auto none = CsrMatrix<>::from_triplets(0, 0, {}, {}, {});
    EXPECT_NO_THROW(build(none, with(Vector{})));
    EXPECT_THROW(build(none, with(Vector(1, 1.))), InvalidInput);
}

/// The rounds of an earlier matrix are replayed by the same vectors.
TEST(NearNull, ServesAReplay)
{
    const auto A = gallery::convdiff2d({.n = 40});
    Vector     t = test::random_vector(A.rows(), 2);
    for (double& value : t) value = 4 + value;
    const auto first = build(A, with(t, in_rounds));
    Cpu        be;
    const auto again = MlIlu<>::rebuild(be, A, with(t, in_rounds), *first.rounds_plan());
    EXPECT_TRUE(again.report().replayed);
    MlIluPreconditioner<> M(first), N(again);
    const Vector          r = test::random_vector(A.rows(), 4);
    EXPECT_TRUE(test::identical(applied(N, r), applied(M, r)));
}

}  // namespace
}  // namespace ilux

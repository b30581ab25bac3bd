#include "ilux/precond/jacobi.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "ilux/tests/precond/mlilu/level_checks.hpp"

namespace ilux {
namespace {

using namespace test::precond;

TEST(Jacobi, DividesByTheDiagonalAndPassesZerosOn)
{
    Jacobi M(dense(4, {4, 1, 0, 0, 1, 0, 1, 0, 0, 1, -8, 1, 0, 0, 3, 0}));
    EXPECT_EQ(M.zeros(), 2);
    EXPECT_EQ(M.size(), 4);
    EXPECT_EQ(applied(M, {2, 3, 4, 5}), (Vector{0.5, 3, -0.5, 5}));
    EXPECT_EQ(applied(M, {2, 3, 4, 5}, true), (Vector{0.5, 3, -0.5, 5}));
}

TEST(Jacobi, OfAnyAwkwardSize)
{
    for (Index n : awkward_sizes) {
        const auto   A = test::random_dominant(n, 3, n);
        Jacobi       M(A);
        const Vector r = test::random_vector(n, 1), z = applied(M, r);
        EXPECT_EQ(M.zeros(), 0);
        for (Index i = 0; i < n; ++i) EXPECT_NEAR(z[i] * A.at(i, i), r[i], 1e-15);
    }
}

TEST(Jacobi, GivesTheSameBitsForAnyNumberOfThreadsAndAllocatesNothing)
{
    const Index  n = 20'000;
    Jacobi       M(test::random_dominant(n, 1, 1));
    const Vector r = test::random_vector(n, 2), one = applied(M, r);
    for (int threads : {2, 3, 8}) EXPECT_TRUE(test::identical(applied(M, r, false, threads), one));
    Cpu                           be(1);
    Vector                        z(r.size());
    const test::AllocationCounter counter;
    M.apply(be, r, z);
    M.apply_adjoint(be, r, z);
    EXPECT_EQ(counter.count(), 0);
}

/// By the way of every M that has no better one.
TEST(Jacobi, SolvesColumnsOneAfterAnother)
{
    Jacobi M(dense(2, {4, 0, 0, 2}));
    Cpu    be;
    Vector Z(6), nothing, two(2), three(3), four(4);
    M.apply_columns(be, Vector{4, 2, 8, 6, 0, 1}, Z);
    EXPECT_EQ(Z, (Vector{1, 1, 2, 3, 0, 0.5}));
    EXPECT_THROW(M.apply_columns(be, three, three), InvalidInput);
    EXPECT_THROW(M.apply_columns(be, four, two), InvalidInput);
    Jacobi none(test::random_dominant(0, 1, 1));
    EXPECT_NO_THROW(none.apply_columns(be, nothing, nothing));
    EXPECT_THROW(none.apply_columns(be, two, two), InvalidInput);
}

TEST(Jacobi, RefusesARectangularMatrix)
{
    test::expect_refusal([] { Jacobi M(test::random_matrix(3, 4, 2, 1)); }, {"square", "3 x 4"});
}

}  // namespace
}  // namespace ilux

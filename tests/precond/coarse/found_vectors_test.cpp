// Coarse spaces whose vectors are found: what they are for, few steps that hardly grow with the mesh.

#include "ilux/precond/coarse/found_vectors.hpp"

#include <gtest/gtest.h>

#include "ilux/krylov/krylov.hpp"
#include "ilux/precond/mlilu/mlilu.hpp"
#include "ilux/tests/precond/coarse_steps/coarse_checks.hpp"

namespace ilux {
namespace {

using namespace test::coarse;

MlIluOptions plain_rounds()
{
    MlIluOptions options{.setup = MlIluSetup::rounds};
    options.schur_drop_tol = 0.02;
    options.compensation = Compensation::off;
    return options;
}

FoundSpace<Cpu, double> space_of(const CsrMatrix<double>& A, const CoarseOptions& options, const MlIlu<>& M,
                                 int threads = 1, const StopToken& stop = {})
{
    Cpu                    be(threads);
    const MatrixOperator<> product(A);
    return found_space<Cpu, double>({be, be, stop}, {A, A, product, std::make_unique<MlIluPreconditioner<>>(M)},
                                    options);
}

struct Solved {
    FoundSpace<Cpu, double> space;
    Index                   steps = 0;
};

/// A random b, to 1e-8: GMRES(30), for a positive A CG.
Solved solved_with(const CsrMatrix<double>& A, int threads, const CoarseOptions& options)
{
    Cpu        be(threads);
    const auto mlilu = MlIlu<>::build(be, A, options.M);
    Solved     made{.space = space_of(A, options, mlilu, threads)};
    if (!made.space.level) return made;
    const MatrixOperator<> op(A);
    TwoLevel<Cpu>          M2({.A = op, .M = std::make_unique<MlIluPreconditioner<>>(mlilu)});
    M2.set(be, made.space.level);
    const KrylovOptions  krylov{.rtol = 1e-8, .restart = 30};
    const Method         method = options.positive ? Method::cg : Method::gmres;
    KrylovWorkspace<Cpu> ws(method, A.rows(), krylov);
    const auto           b = test::random_vector(A.rows(), 1);
    std::vector<double>  x(b.size());
    const auto           report = solve<Cpu>(be, method, op, M2, b, x, ws, krylov);
    EXPECT_EQ(report.outcome, Outcome::converged) << report.detail;
    made.steps = report.steps;
    return made;
}

Solved solved(const CsrMatrix<double>& A, int threads = 2, CoarseOptions options = {}, double drop_tol = 0.02)
{
    options.M.setup = MlIluSetup::rounds;
    options.M.schur_drop_tol = drop_tol;
    options.M.compensation = Compensation::off;
    return solved_with(A, threads, options);
}

TEST(FoundVectors, ElasticityTakesFewStepsAndNoMoreOnAFinerMesh)
{
    const auto coarse = solved(gallery::elasticity2d({.n = 50})), fine = solved(gallery::elasticity2d({.n = 100}));
    EXPECT_LE(coarse.steps, 30);
    EXPECT_LE(fine.steps, 1.25 * coarse.steps + 2);
    EXPECT_EQ(fine.space.vectors.given, 2);
    EXPECT_EQ(fine.space.vectors.found, 0);  // translations are enough
    EXPECT_NE(fine.space.text(1).find("vectors: 2 constants"), std::string::npos) << fine.space.text(1);
}

TEST(FoundVectors, ConvectionDiffusionIn3DTakesFewSteps)
{
    const auto coarse = solved(gallery::convdiff3d({.n = 16})), fine = solved(gallery::convdiff3d({.n = 32}));
    EXPECT_LE(fine.steps, 12);
    EXPECT_LE(fine.steps, coarse.steps + 4);
}

TEST(FoundVectors, AFlowGoesByItsKindsAlone)
{
    CoarseOptions waiting;
    waiting.M.matching = MatchingChoice::wait;
    const auto coarse = solved(gallery::stokes2d({.n = 32}), 2, waiting);
    const auto fine = solved(gallery::stokes2d({.n = 128}), 2, waiting);
    EXPECT_LE(coarse.steps, 20);
    EXPECT_LE(fine.steps, 26);
    EXPECT_EQ(fine.space.level->levels(), 2);
    EXPECT_EQ(fine.space.vectors.given, 3);
    EXPECT_EQ(fine.space.vectors.found, 0);
    EXPECT_LE(solved(gallery::stokes2d({.n = 32})).steps, 35);  // by a matching
}

TEST(FoundVectors, AreTheSameOnAnyNumberOfThreads)
{
    const auto A = gallery::elasticity2d({.n = 40});
    const auto one = solved(A, 1), several = solved(A, 4);
    EXPECT_TRUE(test::identical(one.space.vectors.all.values, several.space.vectors.all.values));
    EXPECT_EQ(one.steps, several.steps);
}

TEST(FoundVectors, GivenOnesTakeThePlaceOfConstants)
{
    const auto          A = gallery::poisson2d(30, 30);
    Cpu                 be(1);
    const auto          M = MlIlu<>::build(be, A, plain_rounds());
    std::vector<double> given(2 * static_cast<std::size_t>(A.rows()), 1.);
    for (Index i = 0; i < A.rows(); ++i) given[2 * i + 1] = i % 30;
    CoarseOptions options{.most_found = 0, .M = plain_rounds()};
    options.M.near_null = std::make_shared<const std::vector<double>>(given);
    const auto space = space_of(A, options, M);
    EXPECT_EQ(space.vectors.given, 2);
    for (Index i = 0; i < A.rows(); ++i) {
        EXPECT_EQ(column(space.vectors.all, 0)[i], 1);
        EXPECT_EQ(column(space.vectors.all, 1)[i], given[2 * i + 1] / 16);  // scaled by a power of two
    }
    EXPECT_EQ(space.steps, 0);
}

/// Instead of a constant, a vector that is of no use.
TEST(FoundVectors, WhatIsMissingIsFound)
{
    const auto          A = gallery::poisson2d(100, 100);
    CoarseOptions       options{.unknowns = 60};
    std::vector<double> useless(static_cast<std::size_t>(A.rows()));
    for (std::size_t i = 0; i < useless.size(); ++i) useless[i] = (i + i / 100) % 2 == 0 ? 1 : -1;
    options.M.near_null = std::make_shared<const std::vector<double>>(useless);
    const auto with = solved(A, 2, options, 0.9);
    options.most_found = 0;
    const auto without = solved(A, 2, options, 0.9);
    EXPECT_GE(with.space.vectors.found, 1);
    EXPECT_EQ(without.space.vectors.found, 0);
    EXPECT_LE(1.5 * with.steps, without.steps);
}

/// Lumped rounds.
Solved solved_by_cg(const CsrMatrix<double>& A, CoarseOptions options, int threads = 2)
{
    options.positive = options.lumped = true;
    options.M = {.setup = MlIluSetup::rounds, .compensation = Compensation::lumped};
    options.M.schur_drop_tol = 0.02;
    return solved_with(A, threads, options);
}

/// Aggregates are so large that translations do not suffice.
TEST(FoundVectors, RotationsOfASolidAreFound)
{
    const auto    A = gallery::elasticity3d({.n = 14});
    CoarseOptions options{.unknowns = 300};
    const auto    with = solved_by_cg(A, options);
    options.most_found = 0;
    const auto without = solved_by_cg(A, options);
    EXPECT_GE(with.space.vectors.found, 3);
    EXPECT_EQ(without.space.vectors.found, 0);
    EXPECT_LE(1.5 * with.steps, without.steps);
}

TEST(FoundVectors, OfAPositiveMatrixAreTheSameOnAnyNumberOfThreads)
{
    const auto    A = gallery::elasticity3d({.n = 12});
    CoarseOptions options{.unknowns = 300};
    const auto    one = solved_by_cg(A, options, 1), several = solved_by_cg(A, options, 4);
    EXPECT_GE(one.space.vectors.found, 1);
    EXPECT_TRUE(test::identical(one.space.vectors.all.values, several.space.vectors.all.values));
    EXPECT_EQ(one.steps, several.steps);
}

/// Finite elements in a hierarchical basis, here a constant in other units: steps with M take it near the null space.
TEST(FoundVectors, ConstantsThatAreFarFromTheNullSpaceAreSmoothed)
{
    auto                A = gallery::poisson2d(60, 60);
    std::vector<double> unit(static_cast<std::size_t>(A.rows()));
    for (std::size_t i = 0; i < unit.size(); ++i) unit[i] = i % 2 == 0 ? 1 : 4;
    for (Index i = 0; i < A.rows(); ++i)
        for (Offset p = A.row_ptr()[i]; p < A.row_ptr()[i + 1]; ++p) A.val()[p] *= unit[i] * unit[A.col()[p]];
    const auto space = solved_by_cg(A, {}).space;
    EXPECT_TRUE(space.smoothed);
    EXPECT_FALSE(solved_by_cg(gallery::poisson2d(300, 300), {}).space.smoothed);
    const auto  t = column(space.vectors.all, 0);
    const Index middle = 30 * 60 + 30;
    EXPECT_NEAR(t[middle + 1] / t[middle], 0.25, 0.05);  // 1 / unit is the constant
}

/// A boundary is near every unknown of a small cube: a constant is smoothed there, and stays of one sign.
TEST(FoundVectors, AConstantBesideABoundaryStaysOfOneSign)
{
    const auto cube = solved_by_cg(gallery::poisson3d(24, 24, 24), {});
    EXPECT_TRUE(cube.space.smoothed);
    EXPECT_LE(cube.steps, 13);
    for (const double value : column(cube.space.vectors.all, 0)) ASSERT_GT(value, 0);
}

/// Half of a plate is held fast, and its vectors are 0 there: whole aggregates have none. The other half takes the
/// steps that it takes alone, or few more.
TEST(FoundVectors, UnknownsThatAreHeldFastMayHaveNoVector)
{
    const auto A = half_held_fast();
    for (const int count : {1, 2}) {
        CoarseOptions options{.positive = true, .lumped = true};
        options.M = {.setup = MlIluSetup::rounds, .compensation = Compensation::lumped};
        options.M.schur_drop_tol = 0.02;
        options.M.near_null = std::make_shared<const std::vector<double>>(vectors_of_the_free_half(count));
        const auto made = solved_with(A, 2, options);
        EXPECT_LE(made.steps, 14) << count;
        ASSERT_TRUE(made.space.level);
        EXPECT_LT(made.space.level->A.rows(), count * A.rows() / 8);
    }
}

/// What steps leave of Helmholtz's equation never ends: more vectors are wanted than there is room for.
TEST(FoundVectors, TakeNoMoreThanHalfOfTheUnknowns)
{
    const auto A = gallery::helmholtz2d({.n = 60});
    Cpu        be(1);
    const auto space = space_of(A, {.most_found = 16, .M = plain_rounds()}, MlIlu<>::build(be, A, plain_rounds()), 2);
    ASSERT_TRUE(space.level);
    EXPECT_GE(space.vectors.found, 1);
    EXPECT_LE(space.level->A.rows(), A.rows() / 2);
}

TEST(FoundVectors, EndsWhereItIsToldTo)
{
    const auto A = gallery::poisson2d(30, 30);
    Cpu        be(1);
    const auto M = MlIlu<>::build(be, A, plain_rounds());
    EXPECT_THROW((void)space_of(A, {.M = plain_rounds()}, M, 1, StopToken().within(0)), OutOfTime);
}

}  // namespace
}  // namespace ilux

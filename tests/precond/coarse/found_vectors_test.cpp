// Coarse spaces whose vectors are found: what they are for, few steps that hardly grow with the mesh.

#include "ilux/precond/coarse/found_vectors.hpp"

#include <gtest/gtest.h>

#include "ilux/krylov/krylov.hpp"
#include "ilux/tests/precond/coarse/coarse_checks.hpp"

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

struct Solved {
    FoundSpace<double> space;
    Index              steps = 0;
};

/// GMRES(30) to 1e-8, for a random b.
Solved solved(const CsrMatrix<double>& A, int threads = 2)
{
    Cpu                   be(threads);
    const CoarseOptions   options{.M = plain_rounds()};
    MlIluPreconditioner<> M(MlIlu<>::build(be, A, options.M));
    Solved                made{.space = found_space<double>(be, A, M, options, false, {})};
    if (!made.space.level) return made;
    const MatrixOperator<> op(A);
    TwoLevel<>             M2(op, M, made.space.level, false);
    const KrylovOptions    krylov{.rtol = 1e-8, .restart = 30};
    GmresWorkspace<Cpu>    ws(A.rows(), krylov);
    const auto             b = test::random_vector(A.rows(), 1);
    std::vector<double>    x(b.size());
    const auto             report = gmres<Cpu>(be, op, M2, b, x, ws, krylov);
    EXPECT_EQ(report.outcome, Outcome::converged) << report.detail;
    made.steps = report.steps;
    return made;
}

TEST(FoundVectors, ElasticityTakesFewStepsAndNoMoreOnAFinerMesh)
{
    const auto coarse = solved(gallery::elasticity2d({.n = 50})), fine = solved(gallery::elasticity2d({.n = 100}));
    EXPECT_LE(coarse.steps, 20);
    EXPECT_LE(fine.steps, 1.25 * coarse.steps + 2);
    EXPECT_EQ(fine.space.given, 2);
    EXPECT_GE(fine.space.found, 1);  // a rotation, among others
    EXPECT_NE(fine.space.text(1).find("vectors: 2 given"), std::string::npos) << fine.space.text(1);
}

TEST(FoundVectors, ConvectionDiffusionIn3DTakesFewSteps)
{
    const auto coarse = solved(gallery::convdiff3d({.n = 16})), fine = solved(gallery::convdiff3d({.n = 32}));
    EXPECT_LE(fine.steps, 12);
    EXPECT_LE(fine.steps, coarse.steps + 4);
}

TEST(FoundVectors, AFlowGoesByItsKindsAlone)
{
    const auto flow = solved(gallery::stokes2d({.n = 32}));
    EXPECT_LE(flow.steps, 35);
    EXPECT_EQ(flow.space.given, 3);
    EXPECT_EQ(flow.space.found, 0);
}

TEST(FoundVectors, AreTheSameOnAnyNumberOfThreads)
{
    const auto A = gallery::elasticity2d({.n = 40});
    const auto one = solved(A, 1), several = solved(A, 4);
    EXPECT_TRUE(test::identical(one.space.vectors.values, several.space.vectors.values));
    EXPECT_EQ(one.steps, several.steps);
}

TEST(FoundVectors, GivenOnesTakeThePlaceOfConstants)
{
    const auto            A = gallery::poisson2d(30, 30);
    Cpu                   be(1);
    MlIluPreconditioner<> M(MlIlu<>::build(be, A, plain_rounds()));
    std::vector<double>   given(2 * static_cast<std::size_t>(A.rows()), 1.);
    for (Index i = 0; i < A.rows(); ++i) given[2 * i + 1] = i % 30;
    CoarseOptions options{.most_found = 0, .M = plain_rounds()};
    options.M.near_null = std::make_shared<const std::vector<double>>(given);
    const auto space = found_space<double>(be, A, M, options, false, {});
    EXPECT_EQ(space.given, 2);
    for (Index i = 0; i < A.rows(); ++i) {
        EXPECT_EQ(space.vectors(i, 0), 1);
        EXPECT_EQ(space.vectors(i, 1), given[2 * i + 1] / 16);  // scaled by a power of two
    }
    EXPECT_EQ(space.steps, 0);
}

TEST(FoundVectors, EndsWhereItIsToldTo)
{
    const auto            A = gallery::poisson2d(30, 30);
    Cpu                   be(1);
    MlIluPreconditioner<> M(MlIlu<>::build(be, A, plain_rounds()));
    EXPECT_THROW((void)found_space<double>(be, A, M, {.M = plain_rounds()}, false, StopToken().within(0)), OutOfTime);
}

}  // namespace
}  // namespace ilux

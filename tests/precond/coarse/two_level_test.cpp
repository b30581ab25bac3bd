// The coarse correction as a projection, and M₂: exact identities, without regard to how good they are.

#include "ilux/precond/coarse/two_level.hpp"

#include <gtest/gtest.h>

#include "ilux/precond/mlilu/mlilu.hpp"
#include "ilux/tests/precond/coarse_steps/coarse_checks.hpp"

namespace ilux {
namespace {

using namespace test::coarse;

template <class S>
std::shared_ptr<const CoarseLevel<Cpu, S>> level_of(const CsrMatrix<S>& A, const CoarseOptions& options = {})
{
    Cpu        be(2);
    const auto nodes = groups_of(be, nodes_of<S>(A));
    const auto parts = aggregates<Cpu, S>(be, A, nodes, options.unknowns);
    return coarse_level<Cpu, S>({be, be, {}}, A, parts, constants<S>(be, A, nodes_of<S>(A), false), options);
}

/// M and a coarse space.
template <class S>
std::unique_ptr<TwoLevel<Cpu, S>> two_level(const LinearOperator<Cpu, S>& A, const MlIlu<S>& M,
                                            std::shared_ptr<const CoarseLevel<Cpu, S>> level)
{
    Cpu  be(1);
    auto made = std::make_unique<TwoLevel<Cpu, S>>(
        typename TwoLevel<Cpu, S>::Parts{.A = A, .M = std::make_unique<MlIluPreconditioner<S>>(M), .adjoinable = true});
    made->set(be, std::move(level));
    return made;
}

/// The level of a positive A, whatever A is. @param lumped  M stands on both sides, else the coarse space
template <class S>
std::shared_ptr<const CoarseLevel<Cpu, S>> of_positive(CoarseLevel<Cpu, S> level, bool lumped)
{
    level.positive = true;
    level.lumped = lumped;
    return std::make_shared<const CoarseLevel<Cpu, S>>(std::move(level));
}

template <class S>
class TwoLevelOf : public testing::Test {};
using Numbers = testing::Types<double, Complex>;
TYPED_TEST_SUITE(TwoLevelOf, Numbers);

/// Q A P = P where the coarse matrix is solved for exactly.
TYPED_TEST(TwoLevelOf, AnExactCoarseSpaceIsAProjection)
{
    using S = TypeParam;
    for (const auto& real : {gallery::convdiff2d({.n = 30}), gallery::elasticity2d({.n = 20})}) {
        const auto A = in_numbers_of<S>(real);
        const auto level = level_of<S>(A);
        ASSERT_TRUE(level);
        EXPECT_FALSE(level->next);
        Cpu                      be(1);
        CoarseCorrection<Cpu, S> Q(be, level, true);
        const auto               Px = times<S>(level->P, random_numbers<S>(level->A.rows(), 1));
        EXPECT_LE(far(applied<S>(Q, times<S>(A, Px)), Px), 1e-9);
        expect_adjoint<S>(Q, A.rows());
    }
}

TYPED_TEST(TwoLevelOf, HasItsAdjoint)
{
    using S = TypeParam;
    const auto              A = in_numbers_of<S>(gallery::convdiff2d({.n = 40}));
    const MatrixOperator<S> op(A, true);
    Cpu                     be(1);
    const auto              mlilu = MlIlu<S>::build(be, A, {.setup = MlIluSetup::rounds});
    for (const Index exact : {1500, 20}) {
        const auto level = level_of<S>(A, {.most_exact = exact});
        EXPECT_EQ(level->levels() > 1, exact == 20);
        for (const auto& one : {level, of_positive(*level, true), of_positive(*level, false)}) {
            auto M2 = two_level<S>(op, mlilu, one);
            expect_adjoint<S>(*M2, A.rows());
        }
    }
}

/// I − M₂⁻¹ A = (I − M⁻¹ A)(I − Q A), and the same with one of both on either side: an M that lumps by longer steps.
TYPED_TEST(TwoLevelOf, LeavesOfAnErrorWhatItsPartsLeave)
{
    using S = TypeParam;
    const auto               A = in_numbers_of<S>(gallery::convdiff2d({.n = 25}));
    const MatrixOperator<S>  op(A);
    Cpu                      be(1);
    const auto               mlilu = MlIlu<S>::build(be, A, {.setup = MlIluSetup::rounds});
    const auto               level = level_of<S>(A);
    CoarseCorrection<Cpu, S> Q(be, level, false);
    MlIluPreconditioner<S>   M(mlilu);
    auto                     M2 = two_level<S>(op, mlilu, level);
    auto                     outer_M = two_level<S>(op, mlilu, of_positive(*level, true));
    auto                     outer_Q = two_level<S>(op, mlilu, of_positive(*level, false));
    const auto               left = [&](Preconditioner<Cpu, S>& one, std::vector<S> x, double step = 1) {
        const auto z = applied<S>(one, times<S>(A, x));
        for (std::size_t i = 0; i < x.size(); ++i) x[i] -= step * z[i];
        return x;
    };
    const auto x = random_numbers<S>(A.rows(), 1);
    EXPECT_LE(far(left(*M2, x), left(M, left(Q, x))), 1e-10);
    EXPECT_LE(far(left(*outer_M, x), left(M, left(Q, left(M, x, 1.6)), 1.6)), 1e-10);
    EXPECT_LE(far(left(*outer_Q, x), left(Q, left(M, left(Q, x)))), 1e-10);
}

void expect_positive(Preconditioner<Cpu>& M2)
{
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
        const auto   r = random_numbers<double>(M2.size(), seed), s = random_numbers<double>(M2.size(), seed + 50);
        const double rs = inner(r, applied<double>(M2, s)), sr = inner(s, applied<double>(M2, r));
        EXPECT_NEAR(rs, sr, 1e-9 * std::abs(inner(r, applied<double>(M2, r))));
        EXPECT_GT(inner(r, applied<double>(M2, r)), 0);
    }
}

/// Lumped or compensated: M⁻¹A has eigenvalues above 2 where it compensates. With a coarse matrix that is solved for
/// exactly, and with one that has an M and a coarse space of its own.
TEST(TwoLevel, OfAPositiveMatrixIsPositiveDefinite)
{
    Cpu be(2);
    for (const auto& A : {gallery::poisson2d(40, 40), gallery::elasticity2d({.n = 24})}) {
        const MatrixOperator<> op(A);
        for (const auto compensation : {Compensation::lumped, Compensation::on}) {
            MlIluOptions options{.setup = MlIluSetup::rounds};
            options.schur_drop_tol = 0.1;
            options.compensation = compensation;
            options.definite = true;
            const auto M = MlIlu<>::build(be, A, options);
            EXPECT_EQ(is_lumped(M.report()), compensation == Compensation::lumped);
            for (const Index exact : {1500, 20}) {
                const auto level = level_of<double>(A, {.most_exact = exact,
                                                        .M = options,
                                                        .positive = true,
                                                        .lumped = is_lumped(M.report())});
                EXPECT_EQ(level->levels() > 1, exact == 20);
                EXPECT_EQ(level->M.lumped, exact == 20);
                expect_positive(*two_level<double>(op, M, level));
            }
        }
    }
}

/// The coarse matrix has an M that multiplies some errors by −4: the next coarse space stands on both sides of it.
TEST(TwoLevel, OfACoarseMatrixThatIsNotLumpedIsPositiveDefinite)
{
    const auto             A = gallery::poisson2d(60, 60);
    const MatrixOperator<> op(A);
    Cpu                    be(2);
    MlIluOptions           options{.setup = MlIluSetup::rounds};
    options.compensation = Compensation::lumped;
    const auto M = MlIlu<>::build(be, A, options);
    auto       level = *level_of<double>(A, {.most_exact = 100, .M = options, .positive = true, .lumped = true});
    ASSERT_TRUE(level.next);
    CsrMatrix<> smaller = level.A;
    for (double& a : smaller.val()) a /= 5;
    const auto M_of_smaller = std::make_shared<const MlIlu<>>(MlIlu<>::build(be, smaller, {.drop_tol = 0}));
    level.M.make = [M_of_smaller](Cpu&, bool) { return std::make_unique<MlIluPreconditioner<>>(*M_of_smaller); };
    level.M.lumped = false;
    expect_positive(*two_level<double>(op, M, std::make_shared<const CoarseLevel<Cpu, double>>(std::move(level))));
}

TEST(TwoLevel, NothingThatHangsTogetherHasNoCoarseSpace)
{
    for (const Index n : {0, 1, 33}) EXPECT_EQ(level_of<double>(CsrMatrix<double>::identity(n)), nullptr);
}

}  // namespace
}  // namespace ilux

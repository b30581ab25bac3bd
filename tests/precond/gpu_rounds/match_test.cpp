// Levels behind a matching on a GPU, against the host's rounds and against identities.

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <string>

#include "ilux/gallery/circuit.hpp"
#include "ilux/gallery/gallery.hpp"
#include "ilux/gallery/special.hpp"
#include "ilux/tests/precond/gpu_rounds/gpu_rounds_complex_fixture.hpp"
#include "ilux/tests/precond/gpu_rounds/gpu_rounds_fixture.hpp"

namespace ilux {
namespace {

using namespace test::precond;
using test::Complex;
using test::EntryList;

std::vector<Index> shuffled_columns(Index n)
{
    std::vector<Index> q(n);
    std::iota(q.begin(), q.end(), Index{0});
    std::ranges::shuffle(q, std::mt19937(5));
    return q;
}

/// Matrices whose diagonals are small, or not there at all.
std::vector<Named> to_be_matched()
{
    const auto shuffled = [](const CsrMatrix<>& A) { return permute<double>(A, {}, shuffled_columns(A.rows())); };
    return {{"convdiff3d, columns shuffled", shuffled(gallery::convdiff3d({.n = 14}))},
            {"dominant, columns shuffled", shuffled(gallery::random_dominant({.n = 2000}))},
            {"stokes2d", gallery::stokes2d({.n = 24})},
            {"mna_random", gallery::mna_random({.n = 1500, .decades = 4})}};
}

class MatchedRounds : public GpuRoundsTest {
protected:
    static MlIluOptions options()
    {
        MlIluOptions options = with_small_end();
        options.compensation = Compensation::off;
        return options;
    }
};

TEST_F(MatchedRounds, AreThoseOfTheHost)
{
    int twins = 0;
    for (const auto& [name, A] : to_be_matched()) {
        const auto rounds = build(A, options());
        ASSERT_TRUE(rounds.made()) << name << ": " << rounds.why_not();
        EXPECT_EQ(rounds.report().structural_rank, A.rows());
        EXPECT_TRUE(rounds.plan().matched);
        const auto host = MlIlu<>::build(cpu, A, options());
        if (test::mentions(rounds.report().decisions, "the rest is inverted")) continue;  // the host goes on by Crout
        ++twins;
        expect_twins(rounds.report(), host.report(), name);
        const Vector          r = test::random_vector(A.rows(), 5);
        MlIluPreconditioner<> M(host);
        EXPECT_LE(distance_of(applied(rounds, r), test::precond::applied(M, r)), 1e-6) << name;
    }
    EXPECT_GE(twins, 3);
}

TEST_F(MatchedRounds, AreExactWithoutDropping)
{
    for (const auto& [name, A] : to_be_matched()) {
        MlIluOptions with = options();
        with.schur_drop_tol = 0;
        const auto rounds = build(A, with);
        ASSERT_TRUE(rounds.made()) << name << ": " << rounds.why_not();
        const Vector x = test::random_vector(A.rows(), 3);
        Vector       b(x.size());
        spmv(cpu, 1, A, x, 0, b);
        EXPECT_LE(distance_of(applied(rounds, b), x), 1e-7) << name;
    }
}

TEST_F(MatchedRounds, SolveWithTheAdjointToo)
{
    for (const auto& [name, A] : to_be_matched()) {
        const auto   rounds = build(A, options());
        const Vector r = test::random_vector(A.rows(), 3), s = test::random_vector(A.rows(), 4);
        const Vector z = applied(rounds, r), y = applied_transposed(rounds, s);
        const double left = std::inner_product(z.begin(), z.end(), s.begin(), 0.),
                     right = std::inner_product(y.begin(), y.end(), r.begin(), 0.);
        EXPECT_NEAR(left, right, 1e-9 * (std::abs(left) + std::abs(right))) << name;
    }
}

TEST_F(MatchedRounds, RepeatTheirBitsAndAreFoundAnewForOtherNumbers)
{
    for (const auto& [name, A] : to_be_matched()) {
        const auto   former = build(A, options());
        const Vector r = test::random_vector(A.rows(), 3), z = applied(former, r);
        for (int k = 0; k < 100; ++k) EXPECT_TRUE(test::identical(applied(build(A, options()), r), z)) << name;
        EXPECT_TRUE(test::identical(applied(rebuilt(A, former, options()), r), z)) << name;
        EXPECT_FALSE(rebuilt(A, former, options()).report().replayed);
    }
}

TEST_F(MatchedRounds, TakeTheirOwnTestVectorsAlong)
{
    const auto q = shuffled_columns(14 * 14 * 14);
    const auto A = permute<double>(gallery::convdiff3d({.n = 14}), {}, q);
    for (Index count : {1, 2}) {
        Vector t = test::random_vector(A.rows() * count, 7);
        for (double& value : t) value += 3;
        MlIluOptions with = options();
        with.compensation = Compensation::on;
        with.weak_coupling = 0;
        with.near_null = std::make_shared<const Vector>(t);
        const auto rounds = build(A, with);
        ASSERT_TRUE(rounds.made()) << rounds.why_not();
        expect_twins(rounds.report(), MlIlu<>::build(cpu, A, with).report(), "vectors: " + std::to_string(count));
    }
}

TEST_F(MatchedRounds, LeaveWhatIsStructurallySingularToTheHost)
{
    EntryList   entries;
    const Index n = 600;
    for (Index i = 0; i < n; ++i) entries.add(i, (i + 1) % (n - 1), 2);  // the last column is empty
    const auto rounds = build(entries.matrix(n, n), options());
    EXPECT_FALSE(rounds.made());
    EXPECT_NE(rounds.why_not().find("structurally singular"), std::string::npos) << rounds.why_not();
}

class ComplexMatchedRounds : public GpuRoundsComplex {};

TEST_F(ComplexMatchedRounds, AreThoseOfTheHost)
{
    const auto   mesh = gallery::helmholtz2d_open({.n = 40});
    const auto   A = permute<Complex>(mesh, {}, shuffled_columns(mesh.rows()));
    MlIluOptions options = with_small_end();
    options.damping.beta = 0;
    const auto rounds = build(A, options);
    ASSERT_TRUE(rounds.made()) << rounds.why_not();
    expect_twins(rounds.report(), MlIlu<Complex>::build(cpu, A, options).report(), "helmholtz2d_open");
}

}  // namespace
}  // namespace ilux

// Levels behind a matching on a GPU, against the host's rounds and against identities.

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <string>

#include "ilux/gallery/circuit.hpp"
#include "ilux/gallery/gallery.hpp"
#include "ilux/gallery/special.hpp"
#include "ilux/precond/mlilu/preprocess.hpp"
#include "ilux/tests/precond/gpu_rounds/gpu_rounds_complex_fixture.hpp"
#include "ilux/tests/precond/gpu_rounds/gpu_rounds_fixture.hpp"

namespace ilux {
namespace {

using namespace test::precond;
using test::Complex;
using test::ComplexVector;
using test::EntryList;
using test::random_complex_vector;

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
            {"mna_random", gallery::mna_random({.n = 1500, .decades = 4})},
            {"rlc_mesh", gallery::rlc_mesh({.n = 12})}};
}

/// Levels after the first that the host's matching has moved columns of.
Index levels_moved_later(const MlIlu<>& host)
{
    const auto plan = host.rounds_plan();
    Index      moved = 0;
    for (std::size_t l = 1; plan && l < plan->levels.size(); ++l)
        moved += plan->levels[l].matched() && moves_rows(plan->levels[l].col_of_row);
    return moved;
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
    for (const bool scaling : {true, false}) {
        MlIluOptions with = options();
        with.scaling = scaling;
        int   twins = 0;
        Index moved_later = 0;
        for (const auto& [name, A] : to_be_matched()) {
            const auto rounds = build(A, with);
            const auto host = MlIlu<>::build(cpu, A, with);
            if (!scaling && !rounds.made()) {  // large values want scale factors: too few pivots, there as here
                EXPECT_TRUE(test::mentions(host.report().decisions, "crout from level")) << name << rounds.why_not();
                continue;
            }
            ASSERT_TRUE(rounds.made()) << name << ": " << rounds.why_not();
            EXPECT_EQ(rounds.report().structural_rank, A.rows());
            EXPECT_TRUE(rounds.plan().matched);
            if (test::mentions(rounds.report().decisions, "the rest is inverted")) continue;  // the host: by Crout
            ++twins;
            moved_later += levels_moved_later(host);
            expect_twins(rounds.report(), host.report(), name + (scaling ? "" : ", not scaled"));
            const Vector          r = test::random_vector(A.rows(), 5);
            MlIluPreconditioner<> M(host);
            EXPECT_LE(distance_of(applied(rounds, r), test::precond::applied(M, r)), 1e-6) << name;
        }
        EXPECT_GE(twins, scaling ? 3 : 1);
        EXPECT_GE(moved_later, scaling ? 1 : 0);
    }
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
        const auto rounds = build(A, options());
        ASSERT_TRUE(rounds.made()) << name;
        const Vector r = test::random_vector(A.rows(), 3), s = test::random_vector(A.rows(), 4);
        const Vector z = applied(rounds, r), y = applied_transposed(rounds, s);
        const double left = std::inner_product(z.begin(), z.end(), s.begin(), 0.),
                     right = std::inner_product(y.begin(), y.end(), r.begin(), 0.);
        EXPECT_NEAR(left, right, 1e-9 * (std::abs(left) + std::abs(right))) << name;
    }
}

TEST_F(MatchedRounds, RepeatTheirBits)
{
    for (const auto& [name, A] : to_be_matched()) {
        const auto   first = build(A, options());
        const Vector r = test::random_vector(A.rows(), 3), z = applied(first, r);
        for (int k = 0; k < 100; ++k) EXPECT_TRUE(test::identical(applied(build(A, options()), r), z)) << name;
    }
}

TEST_F(MatchedRounds, AreFoundAnewForOtherNumbers)
{
    for (auto& [name, A] : to_be_matched()) {
        const auto former = build(A, options());
        for (Offset p = 0; p < A.nnz(); ++p) A.val()[p] *= 1 + 0.01 * static_cast<double>(p % 7);
        const auto   again = rebuilt(A, former, options());
        const Vector r = test::random_vector(A.rows(), 3);
        EXPECT_FALSE(again.report().replayed) << name;
        EXPECT_TRUE(test::mentions(again.report().decisions, "a matching, which is found anew")) << name;
        EXPECT_TRUE(test::identical(applied(again, r), applied(build(A, options()), r))) << name;
    }
}

TEST_F(MatchedRounds, DoNotFollowAPlanWithoutAMatching)
{
    auto         A = gallery::convdiff3d({.n = 14});
    const auto   former = build(A, options());
    const Vector r = test::random_vector(A.rows(), 3);
    for (Index i = 100; i < 120; ++i)
        for (Offset p = A.row_ptr()[i]; p < A.row_ptr()[i + 1]; ++p)
            if (A.col()[p] == i) A.val()[p] *= 0.01;
    const auto again = rebuilt(A, former, options());
    EXPECT_TRUE(test::mentions(again.report().decisions, "level 1 wants a matching"));
    EXPECT_TRUE(test::identical(applied(again, r), applied(build(A, options()), r)));
}

TEST_F(MatchedRounds, SolveSeveralColumnsAndInSinglePrecision)
{
    const auto           A = to_be_matched().front().A;
    const std::size_t    n = static_cast<std::size_t>(A.rows()), columns = 9;
    const auto           rounds = build(A, options());
    const auto           M = rounds.preconditioner(gpu());
    const Vector         R = test::random_vector(A.rows() * static_cast<Index>(columns), 3);
    DeviceBuffer<double> dR(R.size()), dZ(R.size());
    std::vector<double>  Z(R.size());
    upload<double>(gpu(), R, dR);
    M->apply_columns(gpu(), dR, dZ);
    download<double>(gpu(), dZ, std::span(Z));
    for (std::size_t c = 0; c < columns; ++c) {
        const Vector r(R.begin() + c * n, R.begin() + (c + 1) * n), z(Z.begin() + c * n, Z.begin() + (c + 1) * n);
        EXPECT_LE(distance_of(z, applied(rounds, r)), 1e-12) << c;
    }
    const auto in_single = build(A, options(), true);
    EXPECT_TRUE(in_single.in_single());
    const Vector r(R.begin(), R.begin() + n);
    EXPECT_LE(distance_of(applied(in_single, r), applied(rounds, r)), 1e-4);
}

TEST_F(MatchedRounds, EndCleanlyWithoutMemory)
{
    const auto A = to_be_matched().front().A;
    EXPECT_GT(refusals_survived([&] { (void)build(A, options()); }), 20);
}

TEST_F(MatchedRounds, AreChosenForMatricesThatAreNotDominant)
{
    MlIluOptions automatic = options();
    automatic.setup = MlIluSetup::automatic;
    for (const auto& [name, A] : to_be_matched()) {
        const auto rounds = build(A, automatic);
        ASSERT_TRUE(rounds.made()) << name;
        EXPECT_GT(rounds.rounds(), 0) << name;
        EXPECT_TRUE(test::mentions(rounds.report().decisions, "setup=auto: rounds")) << name;
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

class ComplexMatchedRounds : public GpuRoundsComplex {
protected:
    static ComplexMatrix matrix()
    {
        const auto mesh = gallery::helmholtz2d_open({.n = 40});
        return permute<Complex>(mesh, {}, shuffled_columns(mesh.rows()));
    }
    static MlIluOptions undamped()
    {
        MlIluOptions options = with_small_end();
        options.damping.beta = 0;
        return options;
    }
};

TEST_F(ComplexMatchedRounds, AreThoseOfTheHost)
{
    const auto A = matrix();
    const auto rounds = build(A, undamped());
    ASSERT_TRUE(rounds.made()) << rounds.why_not();
    expect_twins(rounds.report(), MlIlu<Complex>::build(cpu, A, undamped()).report(), "helmholtz2d_open");
}

TEST_F(ComplexMatchedRounds, AreExactWithoutDroppingWithTheAdjointToo)
{
    const auto A = matrix();
    auto       options = undamped();
    options.schur_drop_tol = 0;
    for (const bool in_single : {false, true}) {
        const auto rounds = build(A, options, in_single);
        ASSERT_TRUE(rounds.made()) << rounds.why_not();
        const auto   x = random_complex_vector(A.rows(), 5);
        const double tolerance = in_single ? 1e-2 : 1e-9;
        EXPECT_LE(distance_of(applied(rounds, product(A, x)), x), tolerance);
        EXPECT_LE(distance_of(applied(rounds, product(adjoint(A), x), true), x), tolerance);
    }
}

TEST_F(ComplexMatchedRounds, AreScaledForSinglePrecisionBySideOfTheirNumbers)
{
    using OneSingle = std::complex<float>;
    const auto A = matrix();
    const auto rounds = build(A, undamped(), true);
    const auto r = random_complex_vector(A.rows(), 5);
    Vector     row(r.size()), col(r.size());
    for (std::size_t i = 0; i < r.size(); ++i) row[i] = i % 3 ? 1 : 4, col[i] = i % 5 ? 1 : 8;
    const auto M = rounds.preconditioner_in_single(gpu(), {row, col}, true);
    for (const bool adjoint : {false, true}) {  // z = C⁻¹ M⁻¹ R⁻¹ r
        const Vector &         by = adjoint ? col : row, &after = adjoint ? row : col;
        std::vector<OneSingle> scaled(r.size());
        for (std::size_t i = 0; i < r.size(); ++i) scaled[i] = OneSingle(r[i]) * static_cast<float>(by[i]);
        const auto    z = applied<OneSingle>(*M, scaled, adjoint);
        ComplexVector found(z.size());
        for (std::size_t i = 0; i < z.size(); ++i) found[i] = Complex(z[i]) * after[i];
        EXPECT_LE(distance_of(found, applied(rounds, r, adjoint)), 1e-4) << adjoint;
    }
}

}  // namespace
}  // namespace ilux

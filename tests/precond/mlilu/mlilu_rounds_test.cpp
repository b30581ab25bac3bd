// The multilevel ILU made in rounds: what it chooses, how it ends, and that its steps do not grow with the mesh.

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "ilux/base/matrix/spmv.hpp"
#include "ilux/gallery/gallery.hpp"
#include "ilux/precond/mlilu/mlilu.hpp"
#include "ilux/tests/precond/mlilu/mlilu_checks.hpp"
#include "ilux/tests/support/stop_at.hpp"

namespace ilux {
namespace {

using namespace test::precond;

using test::identical;

Index steps(const CsrMatrix<>& A, const MlIluOptions& options) { return steps_with(build(A, options, 2), A); }

TEST(MlIluRounds, TakeHardlyMoreStepsOnAFinerMesh)
{
    const auto grow = [](const CsrMatrix<>& coarse, const CsrMatrix<>& fine) {
        EXPECT_LE(steps(fine, in_rounds), 1.7 * steps(coarse, in_rounds));
    };
    grow(gallery::poisson2d(60, 60), gallery::poisson2d(240, 240));
    grow(gallery::convdiff2d({.n = 60}), gallery::convdiff2d({.n = 240}));
    grow(gallery::convdiff3d({.n = 12}), gallery::convdiff3d({.n = 30}));
    EXPECT_LE(2 * steps(gallery::poisson2d(240, 240), in_rounds),
              3 * steps(gallery::poisson2d(240, 240), {.setup = MlIluSetup::crout}));
}

/// Where rounds find no pivot, Crout's sweep goes on by a matching, of the matrix as it came.
TEST(MlIluRounds, ThatWaitInVainLeaveItToAMatching)
{
    test::EntryList entries;
    const auto      B = gallery::convdiff2d({.n = 30});
    for (Index i = 0; i < B.rows(); ++i)
        for (Offset p = B.row_ptr()[i]; p < B.row_ptr()[i + 1]; ++p) {
            entries.add(i, B.rows() + B.col()[p], 3 * B.val()[p]);
            entries.add(B.rows() + B.col()[p], i, 3 * B.val()[p]);
        }
    const auto   A = entries.matrix(2 * B.rows(), 2 * B.rows());
    MlIluOptions options = in_rounds;
    options.matching = MatchingChoice::wait;
    const auto made = build(A, options, 2);
    EXPECT_TRUE(any_mentions(made.report(), "crout from level 1 on"));
    EXPECT_LE(steps_with(made, A), 30);
}

TEST(MlIluRounds, SayWhereNobodyHasToWait)
{
    MlIluOptions options = in_rounds;
    options.matching = MatchingChoice::wait;
    EXPECT_TRUE(
        any_mentions(build(gallery::convdiff2d({.n = 20}), options, 1).report(), "matching=wait has no effect"));
    EXPECT_TRUE(any_mentions(build(gallery::poisson2d(20, 20), options, 1).report(), "matching=wait has no effect"));
    EXPECT_FALSE(any_mentions(build(gallery::stokes2d({.n = 20}), options, 1).report(), "matching=wait has no effect"));
    options.setup = MlIluSetup::crout;
    EXPECT_TRUE(any_mentions(build(gallery::stokes2d({.n = 20}), options, 1).report(), "matching=wait has no effect"));
}

TEST(MlIluRounds, AreChosenWhereRowsAreDominant)
{
    const auto mesh = build(gallery::convdiff2d({.n = 40})).report();
    EXPECT_GT(rounds_of(mesh), 0);
    EXPECT_TRUE(any_mentions(mesh, "setup=auto: rounds, 100 % of the rows"));
    EXPECT_TRUE(any_mentions(mesh, "compensation=auto: on"));
    const auto saddle = build(gallery::stokes2d({.n = 10})).report();
    EXPECT_EQ(rounds_of(saddle), 0);
    EXPECT_TRUE(any_mentions(saddle, "setup=auto: crout"));
    const auto asked = build(gallery::stokes2d({.n = 10}), in_rounds).report();
    EXPECT_GT(rounds_of(asked), 0);
    EXPECT_TRUE(any_mentions(asked, "compensation=auto: off"));
    EXPECT_EQ(rounds_of(build(gallery::convdiff2d({.n = 40}), {.setup = MlIluSetup::crout}).report()), 0);
    const MlIluOptions save{.off_diagonal = OffDiagonal::save};
    const auto         saved = build(gallery::convdiff2d({.n = 40}), save).report();  // rounds keep
    EXPECT_EQ(rounds_of(saved), 0);
    EXPECT_TRUE(any_mentions(saved, "setup=auto: crout, 100 % of the rows are diagonally dominant, but off_diagonal"));
}

/// Bit for bit.
bool same_M(const MlIlu<>& one, const MlIlu<>& other)
{
    Cpu        cpu(2);
    const auto r = test::random_vector(one.factors().n, 9);
    Vector     z(r.size()), z_other(r.size());
    MlIluPreconditioner(one).apply(cpu, r, z);
    MlIluPreconditioner(other).apply(cpu, r, z_other);
    return identical(z, z_other);
}

TEST(MlIluRounds, DropByTau)
{
    // τ_S is a tenth of τ, unless it is given.
    for (const auto& A : {gallery::poisson2d(50, 40), gallery::convdiff2d({.n = 40})}) {
        const auto fill = [&](const MlIluOptions& options) { return build(A, options).report().fill; };
        double     before = 0;
        for (const double tau : {0.3, 1e-1, 1e-2, 1e-3, 1e-5}) {
            const double now = fill({.drop_tol = tau});
            EXPECT_GT(now, before) << tau;
            before = now;
            EXPECT_TRUE(same_M(build(A, {.drop_tol = tau}), build(A, {.drop_tol = tau, .schur_drop_tol = tau / 10})));
        }
        EXPECT_TRUE(same_M(build(A), build(A, {.drop_tol = 1e-2, .schur_drop_tol = 1e-3})));
    }
}

TEST(MlIluRounds, GiveWayToOptionsThatAreOfCroutsSweep)
{
    const auto A = gallery::convdiff2d({.n = 40});
    ASSERT_GT(rounds_of(build(A).report()), 0);
    for (const auto& [options, word] :
         std::vector<std::pair<MlIluOptions, const char*>>{{{.ordering = Ordering::rcm}, "but ordering=rcm"},
                                                           {{.estimator = Estimator::look_ahead},
                                                            "but estimator=look_ahead"}}) {
        const auto report = build(A, options).report();
        EXPECT_EQ(rounds_of(report), 0) << word;
        EXPECT_TRUE(any_mentions(report, word)) << word;
    }
}

TEST(MlIluOptions, TellOfThemselvesWhereTheyHaveNoEffect)
{
    const auto A = gallery::convdiff2d({.n = 40});
    const auto tells = [&](MlIluOptions options, MlIluSetup setup, const char* word) {
        options.setup = setup;
        const auto said = build(A, options).report();
        EXPECT_TRUE(any_mentions(said, std::string(word) + " has no effect")) << word << ' ' << field_text(setup);
        // And what is said is so: without the option M is the same.
        EXPECT_TRUE(same_M(build(A, options), build(A, {.setup = setup})));
    };
    const auto rounds = MlIluSetup::rounds, crout = MlIluSetup::crout;
    tells({.ordering = Ordering::rcm}, rounds, "ordering=rcm");
    tells({.estimator = Estimator::look_ahead}, rounds, "estimator=look_ahead");
    tells({.off_diagonal = OffDiagonal::save}, rounds, "off_diagonal=save");
    tells({.drop_tol = 0.1, .schur_drop_tol = 1e-3}, rounds, "drop_tol=0.1");
    tells({.dense_order = 3}, rounds, "dense_order=3");
    tells({.compensation = Compensation::on}, crout, "compensation=on");
    tells({.weak_coupling = 0.1}, crout, "weak_coupling=0.1");
    const MlIluOptions plain{.setup = rounds, .compensation = Compensation::off};
    MlIluOptions       weak = plain;
    weak.weak_coupling = 0.1;
    EXPECT_TRUE(any_mentions(build(A, weak).report(), "weak_coupling=0.1 has no effect"));
    EXPECT_TRUE(same_M(build(A, weak), build(A, plain)));
    EXPECT_FALSE(any_mentions(build(A, {.setup = rounds}).report(), "no effect"));
    EXPECT_FALSE(any_mentions(build(A, {.setup = crout}).report(), "no effect"));
}

TEST(MlIluRounds, AreNotChosenWhereEveryRowSeesEveryOther)
{
    Dense full{60, 60, test::random_vector(60 * 60, 1)};
    for (Index i = 0; i < 60; ++i) full(i, i) = 100;
    const auto dense = build(to_csr(full)).report();
    EXPECT_EQ(rounds_of(dense), 0);
    EXPECT_TRUE(any_mentions(dense, "100 % of the rows are diagonally dominant, but the matrix is nearly dense"));
    EXPECT_GT(rounds_of(build(to_csr(full), in_rounds).report()), 0);
}

TEST(MlIluRounds, AreNeitherChosenNorCompensatedWhereAMatchingMovesRows)
{
    const auto         mesh = gallery::convdiff2d({.n = 40});
    std::vector<Index> swapped(mesh.rows());
    std::iota(swapped.begin(), swapped.end(), Index{0});
    std::swap(swapped[3], swapped[900]);
    const auto moved = permute<double>(mesh, swapped, {});  // as dominant as before, once it is matched
    const auto chosen = build(moved).report();
    EXPECT_EQ(rounds_of(chosen), 0);
    EXPECT_TRUE(any_mentions(chosen, "setup=auto: crout, 100 % of the rows are diagonally dominant, after a matching"));
    const auto asked = build(moved, in_rounds).report();
    EXPECT_GT(rounds_of(asked), 0);
    EXPECT_TRUE(any_mentions(asked, "compensation=auto: off"));
    MlIluOptions matched;
    matched.matching = MatchingChoice::on;  // it moves nothing
    EXPECT_GT(rounds_of(build(mesh, matched).report()), 0);
}

TEST(MlIluRounds, AreNotChosenWhereCoefficientsJumpAtEveryTurn)
{
    const auto tiles = [](Index blocks) { return gallery::jump2d({.n = 60, .blocks = blocks, .decades = 8}); };
    EXPECT_GT(rounds_of(build(tiles(3)).report()), 0);
    const auto every = build(tiles(30)).report();
    EXPECT_EQ(rounds_of(every), 0);
    EXPECT_TRUE(
        any_mentions(every, "setup=auto: crout, 100 % of the rows are diagonally dominant, but coefficients jump"));
}

TEST(MlIluRounds, CutNoTileOffWhereCoefficientsJump)
{
    // A tile whose ties were compensated for would be singular by itself, so that steps grew with the jumps, or ended.
    for (const double decades : {2., 4., 8.})
        EXPECT_LE(steps(gallery::jump2d({.n = 60, .blocks = 4, .decades = decades}), in_rounds),
                  2 * steps(gallery::poisson2d(60, 60), in_rounds))
            << decades;
}

TEST(MlIluRounds, AreExactForAConstantUnknownWhereTheyCompensate)
{
    auto A = gallery::convdiff2d({.n = 40});
    for (bool scaled : {false, true}) {
        if (scaled) scale_rows_cols(A, sizes(A.rows(), 20, 1), {});
        MlIluPreconditioner M(build(A, in_rounds));
        Cpu                 be(1);
        Vector              b(A.rows());
        spmv(be, 1, A, Vector(A.rows(), 1.), 0, b);
        EXPECT_LE(test::relative_difference(applied(M, b), Vector(A.rows(), 1.)), 1e-9);
    }
}

TEST(MlIluRounds, LeaveToCroutWhatTheyCannotEliminate)
{
    const auto   A = test::to_csr({4, 4, {0, 1, 2, 3, 1, 0, 1, 2, 2, 3, 0, 1, 1, 1, 1, 0}});
    MlIluOptions options = in_rounds;
    options.matching = MatchingChoice::off;
    options.dense_order = 0;
    const auto mlilu = build(A, options);
    EXPECT_TRUE(any_mentions(mlilu.report(), "crout from level 1 on: rounds found 0 pivots in 4 rows"));
    MlIluPreconditioner M(mlilu);
    const Vector        b = test::random_vector(4, 1);
    EXPECT_LE(test::backward_error(A, applied(M, b), b), 1e-13);
}

TEST(MlIluRounds, AreNoWorseForATestVectorThatOverflows)
{
    auto   A = gallery::convdiff2d({.n = 20});  // columns of 1e-200 and 1e200 in turn
    Vector scale(A.rows());
    for (Index i = 0; i < A.rows(); ++i) scale[i] = i % 2 == 0 ? 1e-200 : 1e200;
    scale_rows_cols(A, {}, scale);
    MlIluOptions options = in_rounds;
    options.compensation = Compensation::on;
    MlIluPreconditioner M(build(A, options));
    const Vector        z = applied(M, test::random_vector(A.rows(), 1));
    EXPECT_TRUE(std::ranges::all_of(z, [](double value) { return std::isfinite(value); }));
}

TEST(MlIluRounds, TellTheSecondsOfTheirPhases)
{
    const auto         A = gallery::convdiff3d({.n = 16});
    const auto         rounds = build(A, in_rounds).report(), crout = build(A, {.setup = MlIluSetup::crout}).report();
    const RoundSeconds parts = rounds.seconds_rounds;
    for (const double part : {parts.sets, parts.eliminate, parts.assemble, parts.tail}) EXPECT_GT(part, 0);
    EXPECT_LE(parts.sets + parts.eliminate + parts.assemble + parts.tail, rounds.seconds_factor);
    EXPECT_EQ(crout.seconds_rounds.sets + crout.seconds_rounds.eliminate + crout.seconds_rounds.assemble, 0);
    EXPECT_LE(crout.seconds_rounds.tail, crout.seconds_factor);
}

TEST(MlIluRounds, KeepToADepthBound)
{
    for (Index bound : {2, 6}) {
        const auto report =
            build(gallery::convdiff3d({.n = 16}), {.setup = MlIluSetup::rounds, .depth_bound = {bound}}).report();
        for (const auto& level : report.levels) EXPECT_LE(std::max(level.rounds, level.depth_L), bound);
    }
}

TEST(MlIluRounds, GiveTheSameBitsForAnyNumberOfThreads)
{
    for (const auto& A : {gallery::convdiff3d({.n = 20}), gallery::poisson2d(130, 120), random_regular(700, 4, 1)}) {
        MlIluPreconditioner M(build(A, in_rounds));
        const Vector        r = test::random_vector(A.rows(), 1), z = applied(M, r), zt = applied(M, r, true);
        for (int threads : {2, 3, 8}) {
            MlIluPreconditioner N(build(A, in_rounds, threads));
            EXPECT_TRUE(identical(applied(N, r, false, threads), z)) << threads << " threads";
            EXPECT_TRUE(identical(applied(N, r, true, threads), zt)) << threads << " threads";
        }
    }
}

TEST(MlIluRounds, SaySoWhenAnyAllocationFails)
{
    Cpu be(1);
    for (const auto& A : {gallery::poisson2d(6, 5), random_regular(20, 3, 1)}) {
        MlIluOptions options = in_rounds;
        options.dense_order = 4;
        EXPECT_GT(test::fail_each_allocation([&] { MlIluPreconditioner M(MlIlu<>::build(be, A, options)); }), 20);
    }
}

TEST(MlIluRounds, AreStoppedWhereverTheTokenIsAsked)
{
    const auto A = gallery::convdiff3d({.n = 18});
    for (int threads : {1, 3}) {
        Cpu              be(threads);
        std::atomic<int> asked;
        MlIlu<>::build(be, A, in_rounds, {}, test::stop_at(0, asked));
        EXPECT_GT(asked, 10);
        for (int last = 1; last < 10; ++last)
            EXPECT_THROW(MlIlu<>::build(be, A, in_rounds, {}, test::stop_at(last, asked)), Cancelled) << last;
    }
}

TEST(MlIluRounds, KeepToAMemoryLimit)
{
    for (const auto& A : {gallery::poisson3d(14, 14, 14), gallery::convdiff2d({.n = 60})}) {
        const auto free = build(A, in_rounds).report().bytes;
        for (std::size_t percent : {90, 60, 45}) {
            MlIluOptions options = in_rounds;
            options.memory_limit = {free * percent / 100};
            if (options.memory_limit.value < 120 * A.rows()) continue;  // permutations and row pointers alone
            const auto limited = build(A, options);
            EXPECT_LE(limited.report().bytes, options.memory_limit.value) << percent << " %";
            EXPECT_TRUE(any_mentions(limited.report(), "memory limit")) << percent << " %";
            MlIluPreconditioner M(limited);
            const Vector        z = applied(M, test::random_vector(A.rows(), 1));
            EXPECT_TRUE(std::ranges::all_of(z, [](double value) { return std::isfinite(value); }));
        }
    }
}

TEST(MlIluRounds, SurviveWhatOverflows)
{
    constexpr double d = 1e295, a = 1e308;
    for (const auto& A : {dense(3, {d, 0, a, 0, d, a, a, a, 1}), dense(3, {d, 0, a, 0, -d, a, a, a, 1})}) {
        MlIluOptions options = in_rounds;
        options.growth_bound = 0;
        options.matching = MatchingChoice::off;
        options.scaling = false;
        options.dense_order = 0;
        EXPECT_GT(build(A, options).report().overflowed, 0);
        EXPECT_EQ(build(A, in_rounds).report().overflowed, 0);  // scaled
    }
}

TEST(MlIluRounds, TellWhetherAllOfThemAreLumped)
{
    Cpu          be(1);
    MlIluOptions options{.setup = MlIluSetup::rounds};
    options.compensation = Compensation::lumped;
    const auto told = [&](const CsrMatrix<>& A) { return is_lumped(MlIlu<>::build(be, A, options).report()); };
    const auto grid = gallery::poisson2d(20, 20);
    EXPECT_TRUE(told(grid));
    EXPECT_FALSE(told(gallery::convdiff2d({.n = 20})));  // not symmetric
    auto negative = grid;
    for (double& a : negative.val()) a = -a;
    EXPECT_FALSE(told(negative));
    options.compensation = Compensation::on;
    EXPECT_FALSE(told(grid));
    options.compensation = Compensation::lumped;
    options.setup = MlIluSetup::crout;
    EXPECT_FALSE(told(grid));
    MlIluReport report;
    report.compensation = Compensation::lumped;
    EXPECT_FALSE(is_lumped(report));
    report.levels.resize(2);
    report.levels.front().rounds = 3;
    EXPECT_FALSE(is_lumped(report));  // Crout's sweep, or a diagonal alone, comes behind the rounds
    report.dense = true;
    EXPECT_TRUE(is_lumped(report));
    report.levels.erase(report.levels.begin());
    EXPECT_FALSE(is_lumped(report));  // M is exact
}

}  // namespace
}  // namespace ilux

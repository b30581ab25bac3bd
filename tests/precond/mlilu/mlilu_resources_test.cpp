#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include "ilux/gallery/gallery.hpp"
#include "ilux/precond/mlilu/mlilu_levels.hpp"
#include "ilux/tests/precond/mlilu/level_checks.hpp"
#include "ilux/tests/support/checks.hpp"
#include "ilux/tests/support/stop_at.hpp"

namespace ilux {
namespace {

using namespace test::precond;

using test::identical;

void expect_same_bits(const MlIluFactors<>& one, const MlIluFactors<>& two)
{
    ASSERT_EQ(one.levels.size(), two.levels.size());
    for (std::size_t l = 0; l < one.levels.size(); ++l) {
        const auto &a = one.levels[l], &b = two.levels[l];
        EXPECT_EQ(a.p, b.p);
        EXPECT_EQ(a.q, b.q);
        EXPECT_TRUE(identical(a.row_scale, b.row_scale) && identical(a.col_scale, b.col_scale));
        EXPECT_TRUE(identical(a.L_B, b.L_B) && identical(a.U_B, b.U_B));
        EXPECT_TRUE(identical(a.d_inv, b.d_inv));
        EXPECT_TRUE(identical(a.lower, b.lower) && identical(a.upper, b.upper));
    }
    EXPECT_EQ(one.dense.size(), two.dense.size());
    EXPECT_EQ(one.report.stored, two.report.stored);
    EXPECT_EQ(one.report.decisions, two.report.decisions);
}

/// One that crosses every threshold of the threaded loops, and smaller ones of other kinds.
std::vector<CsrMatrix<>> matrices()
{
    return {gallery::poisson2d(130, 130),
            gallery::convdiff2d({.n = 40, .peclet = 500, .scheme = gallery::Scheme::central}),
            random_regular(700, 4, 1), gallery::stokes2d({.n = 8}), test::random_spd(300, 4, 2)};
}

TEST(MlIlu, HoldsEveryMatrixOnceForAllItsCopies)
{
    const auto mlilu =
        build(gallery::poisson2d(15, 15),
              {.drop_tol = 0, .setup = MlIluSetup::crout, .inverse_bound = 1, .ordering = Ordering::none});
    const auto copy = mlilu;
    const auto plans = copy.host_plans();
    EXPECT_EQ(plans.data(), mlilu.host_plans().data());
    ASSERT_EQ(plans.size(), mlilu.factors().levels.size());
    ASSERT_GT(plans.size(), 1u);
    for (std::size_t l = 0; l < plans.size(); ++l) {
        EXPECT_EQ(&plans[l].L_B.matrix(), &mlilu.factors().levels[l].L_B);
        EXPECT_EQ(&plans[l].U_B.matrix(), &mlilu.factors().levels[l].U_B);
    }
}

TEST(MlIlu, GivesTheSameBitsForAnyNumberOfThreadsAndEveryTime)
{
    for (const auto& A : matrices()) {  // a small bound postpones a good deal, so that there is a Schur complement
        const MlIluOptions  options{.setup = MlIluSetup::crout, .inverse_bound = 3};
        const auto          one = build(A, options, 1);
        MlIluPreconditioner M(one);
        const Vector        r = test::random_vector(A.rows(), 1), z = applied(M, r), zt = applied(M, r, true);
        for (int threads : {1, 2, 3, 8}) {
            const auto          again = build(A, options, threads);
            MlIluPreconditioner N(again);
            expect_same_bits(again.factors(), one.factors());
            EXPECT_TRUE(identical(applied(N, r, false, threads), z)) << threads << " threads, n = " << A.rows();
            EXPECT_TRUE(identical(applied(N, r, true, threads), zt)) << threads << " threads, n = " << A.rows();
        }
    }
}

TEST(MlIlu, AllocatesNothingWhileSolving)
{
    for (OffDiagonal off_diagonal : {OffDiagonal::keep, OffDiagonal::save}) {
        MlIluPreconditioner M(build(random_regular(300, 4, 1), {.inverse_bound = 2, .off_diagonal = off_diagonal}));
        Cpu                 be(1);
        const Vector        r = test::random_vector(300, 2);
        Vector              z(300);
        const test::AllocationCounter counter;
        M.apply(be, r, z);
        M.apply_adjoint(be, r, z);
        EXPECT_EQ(counter.count(), 0);
    }
}

TEST(MlIlu, SolvesSeveralColumnsAsEachAlone)
{
    for (const auto& A :
         {random_regular(300, 4, 1), gallery::poisson2d(24, 20), with_empty_lines(random_regular(33, 3, 2))})
        for (int threads : {1, 2, 4}) {
            MlIluPreconditioner M(build(A));
            Cpu                 be(threads);
            const Index         n = A.rows();
            for (Index columns : {0, 1, 2, 5}) {
                const Vector R = test::random_vector(n * columns, 2);
                Vector       Z(R.size(), std::nan("")), expected;
                M.apply_columns(be, R, Z);
                for (Index c = 0; c < columns; ++c) {
                    const Vector z = applied(M, Vector(R.begin() + c * n, R.begin() + (c + 1) * n));
                    expected.insert(expected.end(), z.begin(), z.end());
                }
                EXPECT_TRUE(identical(Z, expected)) << columns << " columns, " << threads << " threads";
            }
            Vector part(n + 1), other(2 * n);
            EXPECT_THROW(M.apply_columns(be, part, part), InvalidInput);
            EXPECT_THROW(M.apply_columns(be, other, part), InvalidInput);
        }
}

TEST(MlIlu, ServesSeveralThreadsEachWithItsOwnPreconditioner)
{
    const auto          mlilu = build(random_regular(500, 4, 1), {.inverse_bound = 2});
    MlIluPreconditioner M(mlilu);
    const Vector        r = test::random_vector(500, 2), z = applied(M, r);
    std::vector<Vector> found(4);
    {
        std::vector<std::jthread> threads;
        for (auto& x : found)
            threads.emplace_back([&x, &r, copy = mlilu] {
                MlIluPreconditioner N(copy);
                for (int repeat = 0; repeat < 20; ++repeat) x = applied(N, r);
            });
    }
    for (const auto& x : found) EXPECT_TRUE(identical(x, z));
}

TEST(MlIlu, SaysSoWhenAnyAllocationFails)
{
    const auto A = random_regular(12, 3, 1);
    Cpu        be(1);
    for (OffDiagonal off_diagonal : {OffDiagonal::keep, OffDiagonal::save}) {
        const MlIluOptions options{.inverse_bound = 2, .off_diagonal = off_diagonal, .dense_order = 4};
        EXPECT_GT(test::fail_each_allocation([&] { MlIluPreconditioner M(MlIlu<>::build(be, A, options)); }), 20);
    }
}

TEST(MlIlu, RefusesOptionsOutsideTheirRange)
{
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    const auto       A = CsrMatrix<>::identity(3);
    test::expect_refusal<InvalidOption>([&] { build(A, {.drop_tol = -1}); }, {"drop_tol", "-1"});
    test::expect_refusal<InvalidOption>([&] { build(A, {.drop_tol = nan}); }, {"drop_tol", "nan"});
    test::expect_refusal<InvalidOption>([&] { build(A, {.schur_drop_tol = 2}); }, {"schur_drop_tol", "2"});
    test::expect_refusal<InvalidOption>([&] { build(A, {.inverse_bound = 0.5}); }, {"inverse_bound", "0.5"});
    test::expect_refusal<InvalidOption>([&] { build(A, {.growth_bound = -1}); }, {"growth_bound", "-1"});
    test::expect_refusal<InvalidOption>([&] { build(A, {.dense_order = -1}); }, {"dense_order", "-1"});
}

TEST(MlIlu, ReadsAndWritesItsDepthBound)
{
    MlIluOptions options;
    EXPECT_EQ(options.depth_bound.rows, DepthBound::automatic);
    for (const auto& [text, rows] : {std::pair{"none", 0}, {"1", 1}, {"64", 64}, {"auto", -1}}) {
        set_field(options, "depth_bound", text);
        EXPECT_EQ(options.depth_bound.rows, rows);
        EXPECT_EQ(field_text(options.depth_bound), text);
    }
    for (const char* text : {"", "0", "-1", "-2", "1.5", "8x", "off", "99999999999"})
        test::expect_refusal<InvalidOption>([&] { set_field(options, "depth_bound", text); },
                                            {"depth_bound=" + std::string(text), "auto, none"});
}

TEST(MlIlu, KeepsChainsWithinTheDepthBoundOnEveryLevel)
{
    for (const auto& A : {gallery::poisson2d(40, 40), gallery::convdiff2d({.n = 40, .peclet = 300}),
                          gallery::stokes2d({.n = 8}), test::random_spd(300, 2, 2)}) {
        EXPECT_GT(build(A, {.setup = MlIluSetup::crout}).report().levels[0].depth_U, 8);
        for (Index bound : {4, 8, 16}) {
            const auto  mlilu = build(A, {.setup = MlIluSetup::crout, .depth_bound = {bound}});
            const auto& report = mlilu.report();
            Index       allowed = bound, deepest = 0;
            for (const auto& decision : report.decisions) {  // "... raised to 32 from level 2 on ..."
                const auto at = decision.find("raised to ");
                if (at != std::string::npos) allowed = std::max(allowed, Index(std::stoi(decision.substr(at + 10))));
            }
            for (const auto& level : mlilu.factors().levels)
                deepest = std::max({deepest, dependency_depth(level.L_B, Triangle::lower),
                                    dependency_depth(level.U_B, Triangle::upper)});
            EXPECT_LE(deepest, allowed);
            EXPECT_LE(allowed, 4 * bound);
            MlIluPreconditioner M(mlilu);
            const Vector        z = applied(M, test::random_vector(A.rows(), 1));
            EXPECT_TRUE(std::ranges::all_of(z, [](double value) { return std::isfinite(value); }));
        }
    }
}

TEST(MlIlu, DoublesADepthBoundThatPostponesAlmostAllAndSaysSo)
{
    Vector full(100 * 100, 1.);  // as many rows are accepted as the bound says
    for (Index i = 0; i < 100; ++i) full[i * 101] = 200;
    const auto A = dense(100, full);
    for (auto [bound, raised] : {std::pair<Index, Index>{8, 32}, {30, 30}, {1, 32}}) {
        const auto report = build(A, {.drop_tol = 0,
                                      .schur_drop_tol = 0,
                                      .setup = MlIluSetup::crout,
                                      .inverse_bound = 1e300,
                                      .growth_bound = 0,
                                      .matching = MatchingChoice::off,
                                      .depth_bound = {bound}})
                                .report();
        EXPECT_EQ(report.levels[0].accepted, raised);
        EXPECT_EQ(report.levels[0].depth_L, raised);
        EXPECT_EQ(test::mentions(report.decisions, "precond.depth_bound " + std::to_string(bound) + " raised to 32"),
                  raised != bound);
    }
}

TEST(MlIlu, DoublesAnInverseBoundThatPostponesAlmostAll)
{
    // 111 I − e eᵀ: the k-th row of |L⁻¹| sums up to about 110 / (110 − k), so κ = 1.2 would accept 18 rows of 100.
    Vector full(100 * 100, -1.);
    for (Index i = 0; i < 100; ++i) full[i * 101] = 110;
    const auto accepted = [&](double kappa) {
        const auto report = build(dense(100, full), {.drop_tol = 0,
                                                     .schur_drop_tol = 0,
                                                     .setup = MlIluSetup::crout,
                                                     .inverse_bound = kappa,
                                                     .growth_bound = 0,
                                                     .matching = MatchingChoice::off,
                                                     .dense_order = 1})
                                .report();
        std::vector<Index> of_levels;
        for (const auto& level : report.levels) of_levels.push_back(level.accepted);
        return of_levels;
    };
    EXPECT_EQ(accepted(1.2), accepted(2.4));
    EXPECT_NE(accepted(2.4), accepted(1.67));
}

TEST(MlIlu, SaysThatTheNextLevelOverflowedAndThrowsNothing)
{
    // With d = 1e295 and a = 1e308 an accepted pivot subtracts a²/d = 1e321 from the last row, which κ postpones.
    constexpr double d = 1e295, a = 1e308;
    const auto       infinite = dense(3, {d, 0, a, 0, d, a, a, a, 1});
    const auto       undefined = dense(3, {d, 0, a, 0, -d, a, a, a, 1});  // Inf - Inf
    const auto       unsymmetric = dense(3, {d, 0, a, 0, d, -a, a, a, 1});
    for (const auto& A : {infinite, undefined, unsymmetric})
        for (OffDiagonal off_diagonal : {OffDiagonal::automatic, OffDiagonal::keep, OffDiagonal::save}) {
            const auto mlilu = build(A, {.growth_bound = 0,
                                         .matching = MatchingChoice::off,
                                         .ordering = Ordering::none,
                                         .off_diagonal = off_diagonal,
                                         .scaling = false});
            EXPECT_EQ(mlilu.report().levels[0].accepted, 2);
            EXPECT_EQ(mlilu.report().overflowed, 2);
            EXPECT_FALSE(mlilu.report().dense);
            EXPECT_TRUE(test::mentions(mlilu.report().decisions, "the numbers of level 2 overflowed"));
        }
    for (const auto& A : {infinite, undefined, unsymmetric}) EXPECT_EQ(build(A).report().overflowed, 0);  // scaled
}

TEST(MlIlu, RefusesARectangularMatrix)
{
    test::expect_refusal([] { build(test::random_matrix(3, 4, 2, 1)); }, {"square", "3 x 4"});
}

TEST(MlIlu, ReportsWhatItBuilt)
{
    const auto  A = random_regular(200, 4, 3);
    const auto  mlilu = build(A, {.inverse_bound = 2});
    const auto& report = mlilu.report();
    Index       n = A.rows();
    for (const auto& level : report.levels) {
        EXPECT_EQ(level.n, n);
        EXPECT_EQ(level.accepted + level.postponed, n);
        n = level.postponed;
        EXPECT_LE(level.depth_L, level.accepted);
        EXPECT_GE(std::min(level.inverse_L, level.inverse_U), &level == &report.levels.back() && report.dense ? 0 : 1);
    }
    EXPECT_EQ(n, 0);
    EXPECT_EQ(report.structural_rank, 200);
    EXPECT_EQ(report.deficiency, 0);
    EXPECT_FALSE(report.decisions.empty());  // why it matched
    EXPECT_DOUBLE_EQ(report.fill, static_cast<double>(report.stored) / static_cast<double>(A.nnz()));
    EXPECT_GT(report.bytes, static_cast<std::size_t>(report.stored) * sizeof(double));
}

TEST(MlIlu, TellsAMonitorHowFarItIs)
{
    Cpu                   be(1);
    std::vector<Progress> told;
    MlIlu<>::build(be, gallery::poisson2d(60, 60), {.inverse_bound = 2}, [&](const Progress& p) { told.push_back(p); });
    ASSERT_FALSE(told.empty());
    for (std::size_t i = 0; i < told.size(); ++i) {
        EXPECT_EQ(told[i].phase, Progress::Phase::setup);
        EXPECT_GE(told[i].level, i > 0 ? told[i - 1].level : 1);
        EXPECT_TRUE(0 <= told[i].done && told[i].done <= told[i].total);
    }
    EXPECT_EQ(told.front().total, 3600);
    EXPECT_GE(told.back().level, 2);
}

TEST(MlIlu, IsStoppedWhereverTheTokenIsAsked)
{
    const auto A = gallery::poisson2d(60, 60);
    for (int threads : {1, 3}) {
        Cpu              be(threads);
        std::atomic<int> asked;
        MlIlu<>::build(be, A, {.inverse_bound = 2}, {}, test::stop_at(0, asked));
        EXPECT_GT(asked, 20);
        for (int last = 1; last < 20; ++last) {
            EXPECT_THROW(MlIlu<>::build(be, A, {.inverse_bound = 2}, {}, test::stop_at(last, asked)), Cancelled)
                << last;
            EXPECT_EQ(asked, last);
        }
    }
}

TEST(MlIlu, FillsItsMemoryLimitNeverExceedsItAndSaysSo)
{
    for (const auto& A : {gallery::poisson3d(11, 11, 11), gallery::convdiff2d({.n = 40}), random_regular(700, 4, 1),
                          test::random_spd(300, 4, 2)})
        for (OffDiagonal off_diagonal : {OffDiagonal::automatic, OffDiagonal::keep, OffDiagonal::save})
            for (double kappa : {2., 1e10}) {
                MlIluOptions options{.drop_tol = 1e-8,
                                     .setup = MlIluSetup::crout,
                                     .inverse_bound = kappa,
                                     .off_diagonal = off_diagonal};
                const auto   free = build(A, options);
                EXPECT_FALSE(test::mentions(free.report().decisions, "memory limit"));
                for (std::size_t percent : {70, 50, 40}) {
                    options.memory_limit = {free.report().bytes * percent / 100};
                    if (options.memory_limit.value < 120 * A.rows()) continue;  // permutations and row pointers alone
                    const auto        limited = build(A, options);
                    const std::string where = "n = " + std::to_string(A.rows()) + ", " + std::to_string(percent) +
                                              " %, " + field_text(off_diagonal) + ", bound " + field_text(kappa);
                    EXPECT_LE(limited.report().bytes, options.memory_limit.value) << where;
                    EXPECT_GE(limited.report().bytes, 0.85 * options.memory_limit.value) << where;
                    EXPECT_TRUE(test::mentions(limited.report().decisions, "memory limit")) << where;
                    MlIluPreconditioner M(limited);
                    const Vector        z = applied(M, test::random_vector(A.rows(), 1));
                    EXPECT_TRUE(std::ranges::all_of(z, [](double value) { return std::isfinite(value); })) << where;
                }
            }
}

TEST(MlIlu, KeepsToItsMemoryLimitAlsoWhereTheLastLevelLacksRank)
{
    for (const auto& [name, A] : singular_matrices(60, 1)) {
        const auto free = build(A, {.drop_tol = 0, .schur_drop_tol = 0, .dense_order = 60});
        ASSERT_GT(free.report().deficiency, 0) << name;
        for (std::size_t percent : {100, 99, 90, 80, 60}) {
            MlIluOptions options{.drop_tol = 0, .schur_drop_tol = 0, .dense_order = 60};
            options.memory_limit = {std::max(free.report().bytes * percent / 100, std::size_t{150} * 60)};
            EXPECT_LE(build(A, options).report().bytes, options.memory_limit.value) << name << " " << percent << " %";
        }
    }
}

TEST(MlIlu, GoesWithoutALastLevelThatOutgrowsItsMemoryLimitForLackOfRank)
{
    // No pivot is on the diagonal, so all of A is the last level; its Q and R take twice what a regular one takes.
    constexpr Index n = 60;
    Vector          ring(n * n, 0.);
    for (Index i = 0; i < n; ++i) ring[i * n + (i + 1) % n] = ring[i * n + (i + n - 1) % n] = 1;
    MlIluOptions options{.matching = MatchingChoice::off, .ordering = Ordering::none};
    const auto   free = build(dense(n, ring), options);
    ASSERT_EQ(free.report().deficiency, 2);
    ASSERT_TRUE(free.report().dense);
    options.memory_limit = {DenseLevel<>::bytes(n) + 9000};
    const auto limited = build(dense(n, ring), options);
    ASSERT_LT(options.memory_limit.value, free.report().bytes);
    EXPECT_FALSE(limited.report().dense);
    EXPECT_EQ(limited.factors().dense.size(), 0);
    EXPECT_LE(limited.report().bytes, options.memory_limit.value);
}

TEST(MlIlu, CountsTheBytesOfEveryArrayOfItsFactors)
{
    for (OffDiagonal off_diagonal : {OffDiagonal::keep, OffDiagonal::save}) {
        const auto  A = random_regular(300, 4, 1);
        const auto  mlilu = build(A, {.inverse_bound = 2, .off_diagonal = off_diagonal});
        const auto& factors = mlilu.factors();
        std::size_t arrays = 0;
        const auto  matrix = [](const CsrMatrix<>& M) {
            return M.row_ptr().size_bytes() + M.col().size_bytes() + M.val().size_bytes();
        };
        for (const auto& level : factors.levels) {
            arrays += matrix(level.L_B) + matrix(level.U_B) + matrix(level.lower) + matrix(level.upper);
            arrays += (level.p.size() + level.q.size()) * sizeof(Index);
            arrays += (level.row_scale.size() + level.col_scale.size() + level.d_inv.size()) * sizeof(double);
            for (Index depth : {dependency_depth(level.L_B, Triangle::lower),
                                dependency_depth(level.U_B, Triangle::upper)})  // order, work before, ends of levels
                arrays += level.nB * (sizeof(Index) + sizeof(Offset)) + depth * sizeof(Index);
        }
        const std::size_t stages = 200 * factors.levels.size();
        EXPECT_GE(mlilu.report().bytes, arrays + factors.dense.bytes());
        EXPECT_LE(mlilu.report().bytes, arrays + factors.dense.bytes() + stages);
    }
}

TEST(MlIlu, GivesUpOnlyWhereNothingFits)
{
    EXPECT_THROW(build(gallery::poisson2d(20, 20), {.memory_limit = {100}}), OutOfMemory);
    EXPECT_NO_THROW(build(gallery::poisson2d(20, 20), {.memory_limit = {1 << 30}}));
}

}  // namespace
}  // namespace ilux

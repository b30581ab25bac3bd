// LinearSolver with many systems of one pattern at once, held to solving them one at a time.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "ilux/direct/batch/gpu_batch_solver.hpp"
#include "ilux/gallery/gallery.hpp"
#include "ilux/solver/linear_solver.hpp"
#include "ilux/tests/solver/solving.hpp"
#include "ilux/tests/support/checks.hpp"
#include "ilux/tests/support/stop_at.hpp"

namespace ilux {
namespace {

using namespace ilux::test;
using Vector = std::vector<double>;

/// Members near one matrix, with right-hand sides.
struct Members {
    CsrMatrix<double> A;
    Index             count;
    Vector            values, B, X;

    Members(CsrMatrix<double> of, Index members, double spread = 1e-2) : A(std::move(of)), count(members)
    {
        for (Index m = 0; m < count; ++m) {
            const auto change = random_vector(static_cast<Index>(A.nnz()), 100 + m);
            for (std::size_t p = 0; p < change.size(); ++p) values.push_back(A.val()[p] * (1 + spread * change[p]));
        }
        B = random_vector(count * A.rows(), 7);
        X.assign(B.size(), 0.0);
    }
    std::span<double> values_of(Index m)
    {
        const std::size_t nnz = A.val().size();
        return std::span(values).subspan(m * nnz, nnz);
    }
    std::span<double> b_of(Index m) { return std::span(B).subspan(std::size_t(m) * A.rows(), A.rows()); }
    std::span<double> x_of(Index m) { return std::span(X).subspan(std::size_t(m) * A.rows(), A.rows()); }
    void              set(Index m, const Vector& to) { std::ranges::copy(to, values_of(m).begin()); }
    BatchReport       solve_by(LinearSolver<>& solver) { return solver.solve_batch(count, values, B, X); }
};

std::string told(const BatchReport& report) { return testing::PrintToString(all_decisions(report)); }

const BatchCounts::Kind* kind_of(const BatchReport& report, Alone alone)
{
    const auto kind = std::ranges::find(report.counts.kinds, alone, &BatchCounts::Kind::alone);
    return kind == report.counts.kinds.end() ? nullptr : &*kind;
}

struct Where {
    const char*  name;
    DeviceChoice device;
    int          threads;
};

class EveryBatch : public testing::TestWithParam<Where> {
protected:
    void SetUp() override
    {
        if (gpu()) ILUX_SKIP_WITHOUT_GPU();
    }
    static bool   gpu() { return GetParam().device == DeviceChoice::gpu; }
    SolverOptions options(SolverOptions given = {.mode = SolverMode::direct}) const
    {
        given.device = GetParam().device;
        given.threads = GetParam().threads;
        return given;
    }
    /// Pivots that nothing hides: those of [1 1; 1 2] are stale for [1e-16 1; 1 2.5].
    SolverOptions plain() const
    {
        SolverOptions given = options();
        given.lu.matching = LuMatching::off;
        given.lu.scaling = LuScaling::none;
        given.lu.ordering = LuOrdering::none;
        return given;
    }
    static LinearSolver<> factored(const SolverOptions& options, const Members& members)
    {
        LinearSolver solver(options);
        solver.analyse(members.A, 100);
        EXPECT_TRUE(solver.factor().ready());
        Vector x(members.A.rows());
        (void)solver.solve(random_vector(members.A.rows(), 9), x);
        return solver;
    }
    /// The same outcomes, warnings and standards as one at a time, and on the host the same bits while pivots are the
    /// same.
    static BatchReport expect_as_one_at_a_time(const SolverOptions& options, Members& members)
    {
        LinearSolver together = factored(options, members), alone = factored(options, members);
        BatchReport  report = members.solve_by(together);
        bool         same_pivots = true;
        EXPECT_EQ(report.members.size(), std::size_t(members.count));
        for (Index m = 0; m < members.count; ++m) {
            SCOPED_TRACE("member " + std::to_string(m) + " of " + std::to_string(members.count));
            const SolverReport& one = report.members[m];
            Vector              x(members.A.rows(), 0.0);
            const SolverReport  wanted = alone.refactor_and_solve(members.values_of(m), members.b_of(m), x);
            EXPECT_EQ(one.outcome(), wanted.outcome()) << one.why() << " | " << wanted.why();
            EXPECT_EQ(one.result().warning.empty(), wanted.result().warning.empty());
            same_pivots = same_pivots && wanted.result().action == SolverAction::refactor;
            if (!wanted.converged()) continue;
            const Accuracy& accuracy = one.result().accuracy;
            EXPECT_LE(accuracy.rowwise, 1e-12);
            EXPECT_LE(one.relative_residual(), options.krylov.rtol);
            EXPECT_FALSE(std::isnan(accuracy.worst_error));
            EXPECT_LE(backward_error(members.A.with_values(members.values_of(m)), members.x_of(m), members.b_of(m)),
                      4 * members.A.rows() * eps);
            if (!gpu() && same_pivots) {
                EXPECT_TRUE(identical(members.x_of(m), x));
            }
        }
        if (report.converged()) {
            EXPECT_EQ(together.state(), SolverState::factored);
        }
        return report;
    }
};
INSTANTIATE_TEST_SUITE_P(Cpu, EveryBatch,
                         testing::Values(Where{"one_thread", DeviceChoice::cpu, 1},
                                         Where{"four_threads", DeviceChoice::cpu, 4}),
                         [](const auto& info) { return std::string(info.param.name); });
INSTANTIATE_TEST_SUITE_P(Gpu, EveryBatch, testing::Values(Where{"gpu", DeviceChoice::gpu, 2}),
                         [](const auto& info) { return std::string(info.param.name); });

TEST_P(EveryBatch, SolvesAsOneAtATimeAcrossWarpBoundaries)
{
    for (const Index count : {1, 31, 32, 33}) {
        Members           members(gallery::build("rlc_mesh:n=8"), count);
        const BatchReport report = expect_as_one_at_a_time(options(), members);
        EXPECT_TRUE(report.converged()) << told(report);
        EXPECT_EQ(report.counts.at_once, count == 1 ? 0 : count) << told(report);
        for (const SolverReport& one : report.members) {
            EXPECT_EQ(one.result().action, count == 1 ? SolverAction::refactor : SolverAction::batch);
            EXPECT_TRUE(one.result().x.size() == 0);
        }
    }
    Members           members(gallery::build("convdiff2d:n=20"), 5);
    const BatchReport report = expect_as_one_at_a_time(options(), members);
    EXPECT_EQ(report.counts.at_once, 5) << told(report);
    EXPECT_GT(report.seconds_factor, 0);
    EXPECT_GT(report.seconds_solve, 0);
    EXPECT_GE(report.seconds, report.seconds_factor);
    EXPECT_EQ(told(report).find("made ready on the GPU in") != std::string::npos,
              GetParam().device == DeviceChoice::gpu)
        << told(report);
}

TEST_P(EveryBatch, OfNoMembersDoesNothing)
{
    Members           members(gallery::build("poisson2d:n=4"), 0);
    LinearSolver      solver = factored(options(), members);
    const BatchReport report = members.solve_by(solver);
    EXPECT_TRUE(report.converged());
    EXPECT_TRUE(report.members.empty());
    EXPECT_TRUE(all_decisions(report).empty());
}

TEST_P(EveryBatch, SolvesAMemberWithStalePivotsByOthers)
{
    Members members(to_csr({2, 2, {1, 1, 1, 2}}), 6);
    members.set(3, {1e-16, 1, 1, 2.5});
    const BatchReport report = expect_as_one_at_a_time(plain(), members);
    EXPECT_EQ(report.counts.at_once, 5) << told(report);
    const auto* stale = kind_of(report, Alone::stale);
    ASSERT_NE(stale, nullptr) << told(report);
    EXPECT_EQ(stale->count, 1);
    EXPECT_EQ(stale->first, 3);
    EXPECT_EQ(report.members[3].result().action, SolverAction::repivot);
    EXPECT_NE(told(report).find("1 member solved alone, as the former pivots are stale; it is member 3"),
              std::string::npos)
        << told(report);
}

TEST_P(EveryBatch, ASingularMemberHarmsItselfOnly)
{
    Members members(to_csr({2, 2, {1, 1, 1, 2}}), 5);
    members.set(0, {1, 1, 1, 1});
    members.set(4, {0, 0, 0, 0});
    const BatchReport report = expect_as_one_at_a_time(plain(), members);
    EXPECT_EQ(report.outcome(), Outcome::singular);
    EXPECT_EQ(report.counts.at_once, 3) << told(report);
    ASSERT_NE(kind_of(report, Alone::failed), nullptr) << told(report);
    EXPECT_EQ(kind_of(report, Alone::failed)->count, 2);
    EXPECT_EQ(kind_of(report, Alone::failed)->first, 0);
}

TEST_P(EveryBatch, WarnsOfAMemberThatMayBeSingularAsAloneItWould)
{
    // A ring of three conductances that nothing grounds: the last pivot is 0, or what rounding leaves of it.
    Index seen = 0;
    for (const double g : {3., 5., 7., 9., 11., 13.}) {
        Members members(to_csr({3, 3, {1 + g, -1, -g, -1, 11, -10, -g, -10, 11 + g}}), 4);
        members.set(2, {1 + g, -1, -g, -1, 11, -10, -g, -10, 10 + g});
        std::ranges::copy(Vector{1, 0, -1}, members.b_of(2).begin());
        const BatchReport report = expect_as_one_at_a_time(plain(), members);
        const auto*       near = kind_of(report, Alone::near_singular);
        EXPECT_NE(near == nullptr, kind_of(report, Alone::failed) == nullptr) << told(report);
        if (near == nullptr) continue;
        ++seen;
        EXPECT_EQ(near->first, 2);
        LinearSolver unsolved(plain());
        unsolved.analyse(members.A, 4);
        EXPECT_TRUE(unsolved.factor().ready());
        EXPECT_NE(members.solve_by(unsolved).members[2].result().warning, "");
    }
    EXPECT_GT(seen, 0);
}

TEST_P(EveryBatch, AnXThatIsNotGoodEnoughIsTheConcernOfItsMember)
{
    SolverOptions given = options({.mode = SolverMode::direct, .retry = false});
    given.krylov.stop = StopTest::error;
    given.krylov.etol = 1e-30;
    Members           members(gallery::build("convdiff2d:n=8"), 3);
    const BatchReport report = expect_as_one_at_a_time(given, members);
    EXPECT_EQ(report.outcome(), Outcome::stagnated);
    EXPECT_EQ(report.counts.at_once, 0) << told(report);
    ASSERT_NE(kind_of(report, Alone::inaccurate), nullptr) << told(report);
    EXPECT_EQ(kind_of(report, Alone::inaccurate)->count, 3);
}

TEST_P(EveryBatch, TakesThePivotsOfTheFirstStaleMemberWhereMostAreStale)
{
    Members members(to_csr({2, 2, {1, 1, 1, 2}}), 6);
    for (Index m = 0; m < 6; ++m) members.set(m, {1e-16, 1, 1, 2.5 + m});
    LinearSolver      solver = factored(plain(), members);
    const BatchReport first = members.solve_by(solver), second = members.solve_by(solver);
    EXPECT_TRUE(first.converged() && second.converged());
    EXPECT_EQ(first.counts.at_once, 0) << told(first);
    EXPECT_EQ(first.members[0].result().action, SolverAction::repivot);
    EXPECT_EQ(second.counts.at_once, 6) << told(second);
}

TEST_P(EveryBatch, RefusesAMemberThatIsNotFiniteByItsNumber)
{
    Members      members(gallery::build("poisson2d:n=4"), 4);
    LinearSolver solver = factored(options(), members);
    for (const double bad : {nan, infinity}) {
        Members spoilt = members;
        spoilt.values_of(2)[5] = bad;
        expect_refusal([&] { (void)spoilt.solve_by(solver); }, {"member 2 (counted from 0)", "row"});
        spoilt = members;
        spoilt.b_of(3)[0] = bad;
        expect_refusal([&] { (void)spoilt.solve_by(solver); }, {"member 3 (counted from 0)", "b is not finite"});
        EXPECT_EQ(spoilt.X, members.X);
    }
    expect_refusal([&] { (void)solver.solve_batch(3, members.values, members.B, members.X); }, {"3 members"});
    expect_refusal([&] { (void)solver.solve_batch(-1, {}, {}, {}); }, {"-1 members"});
    EXPECT_TRUE(members.solve_by(solver).converged());
}

TEST_P(EveryBatch, LeavesTheLastValuesAsTheyWere)
{
    Members      members(gallery::build("convdiff2d:n=10"), 4, 0.3);
    LinearSolver solver = factored(options(), members);
    EXPECT_EQ(members.solve_by(solver).counts.at_once, 4);
    const auto b = random_vector(members.A.rows(), 3);
    Vector     x(b.size());
    EXPECT_TRUE(solver.solve(b, x).converged());
    EXPECT_LE(backward_error(members.A, x, b), 4 * members.A.rows() * eps);
}

TEST_P(EveryBatch, TheFirstMemberFactorsWhereThereAreNoFactors)
{
    Members      members(gallery::build("convdiff2d:n=10"), 4);
    LinearSolver solver(options());
    solver.analyse(members.A, 4);
    const BatchReport report = members.solve_by(solver);
    EXPECT_TRUE(report.converged());
    EXPECT_EQ(report.members[0].result().action, SolverAction::factor);
    for (const int m : {1, 2, 3}) EXPECT_EQ(report.members[m].result().action, SolverAction::batch);
}

TEST_P(EveryBatch, GoesOneByOneWithAnIteration)
{
    Members           members(gallery::build("convdiff2d:n=10"), 3);
    LinearSolver      solver = factored(options({.mode = SolverMode::iterative}), members);
    const BatchReport report = members.solve_by(solver);
    EXPECT_TRUE(report.converged());
    EXPECT_EQ(report.counts.at_once, 0);
    EXPECT_NE(told(report).find("batch: 3 members one after another"), std::string::npos) << told(report);
    for (Index m = 0; m < 3; ++m)
        EXPECT_LE(residual_of(members.A.with_values(members.values_of(m)), members.x_of(m), members.b_of(m)), 1e-8);
}

TEST_P(EveryBatch, EndsWhereItIsToldToAndServesAgain)
{
    Members      members(gallery::build("convdiff2d:n=10"), 3);
    LinearSolver solver = factored(options(), members);
    solver.stop_by(at_once());
    const BatchReport report = members.solve_by(solver);
    for (const SolverReport& one : report.members) EXPECT_EQ(one.outcome(), Outcome::cancelled);
    EXPECT_EQ(report.counts.at_once, 0);
    solver.stop_by({});
    EXPECT_TRUE(members.solve_by(solver).converged());
}

TEST_P(EveryBatch, TellsItsListenerOfEveryMember)
{
    Members      members(gallery::build("convdiff2d:n=10"), 5);
    LinearSolver solver = factored(options(), members);
    int          heard = 0;
    solver.listen({}, [&](const Attempt& one) { heard += one.action == SolverAction::batch && one.converged(); });
    (void)members.solve_by(solver);
    EXPECT_EQ(heard, 5);
}

TEST_P(EveryBatch, NeedsAnAnalysis)
{
    LinearSolver solver(options());
    expect_refusal([&] { (void)solver.solve_batch(0, {}, {}, {}); }, {"solve_batch: no matrix was analysed yet"});
}

TEST(LinearSolverBatch, GoesOneByOneWhereMemoryHasNoRoomForAnotherMember)
{
    Members             members(gallery::build("convdiff2d:n=20"), 4);
    SolverOptions       given = serial({.mode = SolverMode::direct});
    LinearSolver        solver(given);
    const auto          b = random_vector(members.A.rows(), 1);
    std::vector<double> x(b.size());
    solver.analyse(members.A, 4);
    EXPECT_TRUE(solver.refactor_and_solve(members.A.val(), b, x).converged());
    EXPECT_TRUE(solver.refactor_and_solve(members.A.val(), b, x).converged());
    given.memory_limit = {solver.lu()->status().bytes + 100};
    LinearSolver limited(given);
    limited.analyse(members.A, 4);
    EXPECT_TRUE(limited.refactor_and_solve(members.A.val(), b, x).converged());
    EXPECT_TRUE(limited.refactor_and_solve(members.A.val(), b, x).converged());
    const BatchReport report = members.solve_by(limited);
    EXPECT_TRUE(report.converged());
    EXPECT_EQ(report.counts.at_once, 0);
    EXPECT_NE(told(report).find("one system after another: factors of a member"), std::string::npos) << told(report);
}

class GpuLinearSolverBatch : public testing::Test {
protected:
    void SetUp() override { ILUX_SKIP_WITHOUT_GPU(); }
};

TEST_F(GpuLinearSolverBatch, WorksInPiecesWhereTheDeviceHasNoRoomForAll)
{
    Members       members(gallery::build("rlc_mesh:n=20"), 75);
    SolverOptions given{.mode = SolverMode::direct, .device = DeviceChoice::gpu};
    Gpu           gpu;
    std::size_t   of_lu = 0, of_32 = 0;
    {
        LinearSolver solver(given);
        solver.analyse(members.A, 100);
        ASSERT_TRUE(solver.factor().ready());
        const LuFactors<>& factors = solver.lu()->factors();
        of_lu = solver.lu()->status().device_bytes;
        of_32 = make_gpu_batch_solver(gpu, factors.symbolic, factors.pattern, 32, std::size_t{1} << 40)->bytes();
    }
    given.device_memory = {of_lu + of_32 + of_32 / 8};
    LinearSolver solver(given);
    solver.analyse(members.A, 100);
    ASSERT_TRUE(solver.factor().ready());
    const BatchReport report = members.solve_by(solver);
    EXPECT_TRUE(report.converged()) << told(report);
    EXPECT_EQ(report.counts.at_once, 75) << told(report);
    EXPECT_EQ(report.counts.together, 32) << told(report);
    EXPECT_NE(told(report).find("32 systems at a time, as memory has no room for 75"), std::string::npos)
        << told(report);
    for (Index m = 0; m < members.count; ++m)
        EXPECT_LE(backward_error(members.A.with_values(members.values_of(m)), members.x_of(m), members.b_of(m)),
                  4 * members.A.rows() * eps);

    given.device_memory = {of_lu + of_32 / 2};
    LinearSolver tight(given);
    tight.analyse(members.A, 100);
    ASSERT_TRUE(tight.factor().ready());
    const BatchReport one_by_one = members.solve_by(tight);
    EXPECT_TRUE(one_by_one.converged());
    EXPECT_EQ(one_by_one.counts.at_once, 0);
    EXPECT_NE(told(one_by_one).find("batch: one system after another"), std::string::npos) << told(one_by_one);
}

TEST_F(GpuLinearSolverBatch, IsOfDotProductsAlone)
{
    Members       members(gallery::build("rlc_mesh:n=8"), 4);
    SolverOptions given{.mode = SolverMode::direct, .device = DeviceChoice::gpu};
    given.lu.refactor = RefactorMethod::left;
    LinearSolver solver(given);
    solver.analyse(members.A, 100);
    ASSERT_TRUE(solver.factor().ready());
    const BatchReport report = members.solve_by(solver);
    EXPECT_TRUE(report.converged());
    EXPECT_EQ(report.counts.at_once, 0);
    EXPECT_NE(told(report).find("method left refactors one system at a time"), std::string::npos) << told(report);
}

}  // namespace
}  // namespace ilux

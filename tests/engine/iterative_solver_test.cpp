#include "ilux/engine/iterative_solver.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "ilux/gallery/gallery.hpp"
#include "ilux/tests/solver/failed_attempts.hpp"

namespace ilux {
namespace {

using namespace test;

TEST(IterativeSolver, KeepsAPreconditionerForTheNextSystemWhereAsked)
{
    const auto                A = gallery::poisson2d(10, 10);
    const std::vector<double> b(100, 1.0);
    for (const PrecondKind kind : {PrecondKind::mlilu, PrecondKind::ilu0, PrecondKind::jacobi, PrecondKind::none}) {
        SolverOptions options;
        options.precond.kind = kind;
        IterativeSolver solver({.cpu = Cpu(1)}, options);
        const auto      attempt = [&](bool keep, std::vector<double> guess) {
            Attempt tried;
            tried.plan = plan_for(options);
            tried.x.of<double>() = std::move(guess);
            if (keep) solver.keep(A, tried);
            else EXPECT_TRUE(solver.factor(A, {}, {}, tried));
            std::vector<double>   x(b.size());
            SystemVectors<double> given(b, x);
            solver.solve(static_cast<const CsrView<double>&>(A), given, options.krylov, {}, {}, tried);
            return tried;
        };
        const std::vector<double> zeros(100, 0.0);
        const Attempt             first = attempt(false, zeros);
        const Attempt             second =
            attempt(true, zeros);  // the same system by the same preconditioner: the same steps and bits
        EXPECT_EQ(second.report.outcome, Outcome::converged);
        EXPECT_EQ(second.seconds_factor, 0);
        EXPECT_EQ(second.report.steps, first.report.steps);
        EXPECT_EQ(second.x.of<double>(), first.x.of<double>());
        EXPECT_EQ(attempt(true, first.x.of<double>()).report.steps, 0);
    }
}

TEST(IterativeSolver, ReplaysTheRoundsOfAnMByTheSameOptionsOnly)
{
    const auto      A = gallery::poisson2d(40, 40);
    IterativeSolver solver({.cpu = Cpu(1)}, {});
    const auto      replayed = [&](const MlIluOptions& mlilu = {}) {
        Attempt tried;
        tried.plan = plan_for({});
        tried.plan.precond.mlilu = mlilu;
        EXPECT_TRUE(solver.factor(A, {}, {}, tried));
        return tried.mlilu->replayed;
    };
    EXPECT_FALSE(replayed());
    EXPECT_TRUE(replayed());
    EXPECT_TRUE(replayed());  // those of a replay, too
    EXPECT_FALSE(replayed({.schur_drop_tol = 1e-4}));
    EXPECT_TRUE(replayed({.schur_drop_tol = 1e-4}));
    EXPECT_FALSE(replayed({.setup = MlIluSetup::crout}));
    EXPECT_FALSE(replayed());  // the sweep has none
    solver.forget_rounds();
    EXPECT_FALSE(replayed());
    solver.release();
    EXPECT_FALSE(replayed());
}

TEST(IterativeSolver, SaysWhatHasNoEffectOnTheCpu)
{
    const auto decisions = [](const SolverOptions& options, Machine machine) {
        IterativeSolver solver(std::move(machine), options);
        Attempt         tried;
        tried.plan = plan_for(options);
        tried.x.of<double>().assign(100, 0.0);
        EXPECT_TRUE(solver.factor(gallery::poisson2d(10, 10), {}, {}, tried));
        return testing::PrintToString(tried.decisions);
    };
    const std::string silent = decisions({}, {.cpu = Cpu(1)});
    EXPECT_EQ(silent.find("no effect"), std::string::npos) << silent;
    SolverOptions options;
    options.precond.precision = Precision::in_single;
    options.krylov.ortho = Orthogonalization::mgso_host;
    const std::string told =
        decisions(options, {.cpu = Cpu(1), .engine = GpuSpTrsvEngine::syncfree, .memory_limit = {1 << 20}});
    for (const char* option :
         {"precond.precision=single", "device_memory=1M", "sptrsv.engine=syncfree", "krylov.ortho=mgso_host"})
        EXPECT_NE(told.find(option), std::string::npos) << option << " in " << told;
}

TEST(IterativeSolver, GivesUpAFactorizationThatOutlastsTheTimeLimit)
{
    const auto      A = gallery::poisson2d(60, 60);
    IterativeSolver solver({.cpu = Cpu(1)}, {});
    Attempt         tried;
    tried.plan = plan_for({});
    EXPECT_FALSE(solver.factor(A, {}, StopToken().within(0), tried));
    EXPECT_EQ(tried.report.outcome, Outcome::time_limit);
    EXPECT_EQ(tried.report.steps, 0);
    EXPECT_FALSE(tried.mlilu);
    EXPECT_NE(tried.failure.find("level 1 before the first of 3600 columns"), std::string::npos) << tried.failure;
    std::string why_not;
    EXPECT_FALSE(next_plan({}, std::vector{tried}, 1, why_not));
    EXPECT_NE(why_not.find("time limit"), std::string::npos);
    Attempt again;
    again.plan = plan_for({});
    EXPECT_TRUE(solver.factor(A, {}, StopToken().within(1e9), again));
}

}  // namespace
}  // namespace ilux

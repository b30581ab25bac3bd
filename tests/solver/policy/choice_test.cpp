// The rules by which mode auto chooses and changes its strategy, on figures made up.

#include "ilux/solver/policy/choice.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "ilux/gallery/gallery.hpp"
#include "ilux/solver/linear_solver.hpp"
#include "ilux/engine/machine/forecast.hpp"
#include "ilux/solver/policy/retry.hpp"
#include "ilux/solver/policy/strategy_history.hpp"
#include "ilux/engine/analysis_limits.hpp"

namespace ilux {
namespace {

Attempt failed_attempt(bool direct, Outcome outcome, double seconds = 1)
{
    Attempt tried;
    tried.plan.method = direct ? MethodChoice::lu : MethodChoice::gmres;
    tried.x.of<double>().assign(20'000, 0.0);
    tried.report.outcome = outcome;
    tried.report.relative_residual = 1e-3;
    tried.seconds = seconds;
    if (!direct) tried.mlilu.emplace();
    return tried;
}

/// For the sake of the other strategy.
Attempt given_up(bool direct)
{
    Attempt tried = failed_attempt(direct, Outcome::time_limit);
    tried.given_up = true;
    return tried;
}

std::optional<Plan> next(const std::vector<Attempt>& tried, double lu_seconds, bool possible = true, double elapsed = 2)
{
    OtherStrategies ways{.direct_possible = possible, .lu = lu_seconds, .first_iterative = {}};
    std::string     why_not;
    const auto      plan = next_plan_of_either_strategy({}, ways, tried, elapsed, why_not);
    EXPECT_EQ(!plan, !why_not.empty());
    return plan;
}

TEST(EitherWay, AfterAnIterationIsTheCheaperOfLuAndATighterPreconditioner)
{
    const std::vector tried{failed_attempt(false, Outcome::stagnated)};
    EXPECT_TRUE(next(tried, 1)->direct());
    const auto tighter = next(tried, 100);
    EXPECT_FALSE(tighter->direct());
    EXPECT_LT(tighter->precond.mlilu.drop_tol, 5e-3);
    EXPECT_FALSE(next(tried, 1, false)->direct());
}

TEST(EitherWay, AfterRoundsThatWereChosenIsTheCheaperOfLuAndCrout)
{
    std::vector tried{failed_attempt(false, Outcome::stagnated)};
    tried[0].mlilu->levels.push_back({.n = 20'000, .rounds = 9});
    const auto lu = next(tried, 1);
    EXPECT_TRUE(lu->direct());
    EXPECT_EQ(lu->change, "LU, about 1 s; precond.setup crout, about 3 s");
    const auto crout = next(tried, 100);
    EXPECT_FALSE(crout->direct());
    EXPECT_EQ(crout->precond.mlilu.setup, MlIluSetup::crout);
    EXPECT_EQ(crout->precond.mlilu.drop_tol, MlIluOptions().drop_tol);
    tried.push_back(failed_attempt(false, Outcome::stagnated));
    tried.back().plan = *crout;
    EXPECT_TRUE(next(tried, 1)->direct());
    tried.push_back(failed_attempt(true, Outcome::singular));  // back to the sweep, and now tighter
    const auto tighter = next(tried, 1);
    EXPECT_EQ(tighter->precond.mlilu.setup, MlIluSetup::crout);
    EXPECT_LT(tighter->precond.mlilu.drop_tol, MlIluOptions().drop_tol);
}

TEST(EitherWay, IsLuWhereNoTighterPreconditionerIsLeft)
{
    for (const Outcome outcome : {Outcome::out_of_memory, Outcome::time_limit})
        EXPECT_TRUE(next({failed_attempt(false, outcome)}, 100)->direct());
    std::vector<Attempt> tried{failed_attempt(false, Outcome::stagnated)};
    std::optional<Plan>  plan;
    for (int k = 0; k < 10 && (plan = next(tried, 100)) && !plan->direct(); ++k) {
        tried.push_back(failed_attempt(false, Outcome::stagnated));
        tried.back().plan = *plan;
    }
    ASSERT_TRUE(plan);
    EXPECT_TRUE(plan->direct());
    EXPECT_EQ(tried.size(), 4u);  // τ was divided three times
}

TEST(EitherWay, AfterAnLuIsOtherPivotsThenAnIteration)
{
    for (const Outcome outcome : {Outcome::singular, Outcome::out_of_memory, Outcome::time_limit})
        EXPECT_FALSE(next({failed_attempt(true, outcome)}, 1)->direct());
    std::vector<Attempt> tried{failed_attempt(true, Outcome::stagnated)};
    const auto           scaled = next(tried, 1);
    EXPECT_TRUE(scaled->direct());
    EXPECT_EQ(scaled->lu.scaling, LuScaling::matching);
}

TEST(EitherWay, ReturnsToTighterPreconditionersOnceLuHasFailed)
{
    const auto plan = next({failed_attempt(false, Outcome::stagnated), failed_attempt(true, Outcome::singular)}, 1);
    EXPECT_FALSE(plan->direct());
    EXPECT_LT(plan->precond.mlilu.drop_tol, 5e-3);
}

TEST(EitherWay, GivesAnLuAllTheTimeThatIsLeftInTheEnd)
{
    const auto plan = next({given_up(true), failed_attempt(false, Outcome::out_of_memory)}, 1);
    EXPECT_TRUE(plan->direct());
    EXPECT_FALSE(
        next({given_up(true), failed_attempt(false, Outcome::out_of_memory), failed_attempt(true, Outcome::time_limit)},
             1));
}

TEST(EitherWay, GivesAnIterationAllTheTimeThatIsLeftInTheEnd)
{
    std::vector<Attempt> tried{given_up(false)};
    tried.front().plan.precond.mlilu.drop_tol = 1e-9;
    EXPECT_TRUE(next(tried, 1)->direct());
    tried.push_back(failed_attempt(true, Outcome::singular));
    const auto plan = next(tried, 1);
    ASSERT_TRUE(plan);
    EXPECT_FALSE(plan->direct());
    EXPECT_EQ(plan->precond.mlilu.drop_tol, 1e-9);  // the same again, and not a tighter one
    tried.push_back(failed_attempt(false, Outcome::out_of_memory));
    EXPECT_FALSE(next(tried, 1));
}

TEST(EitherWay, TriesNothingTighterWhereNoStepIsAllowed)
{
    std::string why_not;
    EXPECT_FALSE(
        next_plan({.krylov = {.max_steps = 0}}, std::vector{failed_attempt(false, Outcome::max_steps)}, 1, why_not));
    EXPECT_NE(why_not.find("max_steps=0"), std::string::npos);
}

TEST(EitherWay, EndsWithTheTime)
{
    EXPECT_FALSE(next({failed_attempt(false, Outcome::stagnated)}, 1, true, 120));
    EXPECT_FALSE(next({failed_attempt(true, Outcome::time_limit)}, 1, true, 121));
}

TEST(WhyHopeless, IsARankThatIsMissingOrInverseFactorsWithoutBounds)
{
    MlIluReport report;
    report.levels.push_back({.n = 10, .accepted = 8, .postponed = 2, .inverse_L = 5, .inverse_U = 4});
    EXPECT_EQ(why_hopeless(report), "");
    report.levels.push_back({.n = 2, .accepted = 2, .inverse_L = 3e7});
    const std::string why = why_hopeless(report);
    EXPECT_NE(why.find("3.0e+07"), std::string::npos) << why;
    EXPECT_NE(why.find("2 pivots postponed"), std::string::npos) << why;
    report.levels.pop_back();
    report.deficiency = 1;
    EXPECT_NE(why_hopeless(report).find("rank 1"), std::string::npos);
}

TEST(EitherWay, TriesAnIterationThatWasPutOffOnceLuHasFailed)
{
    Attempt waiting = failed_attempt(false, Outcome::breakdown);
    waiting.failure = "the preconditioner lacks rank 1";
    EXPECT_TRUE(next({waiting}, 1000)->direct());
    const auto plan = next({waiting, failed_attempt(true, Outcome::singular)}, 1000);
    EXPECT_FALSE(plan->direct());
    EXPECT_EQ(plan->precond.mlilu.drop_tol, MlIluOptions().drop_tol);
}

TEST(Pause, GrowsWithEachFailureInARow)
{
    Pause      pause;
    const auto systems = [&] {
        int waited = 0;
        while (!pause.try_next()) ++waited;
        return waited;
    };
    EXPECT_EQ(systems(), 0);
    for (const int expected : {1, 2, 4, 8}) {
        pause.after_failure();
        EXPECT_EQ(systems(), expected);
        EXPECT_EQ(systems(), 0);
    }
    pause.after_failure();
    for (int again = 0; again < 100; ++again) pause.after_failure();  // tried all the same, without asking
    EXPECT_EQ(systems(), 16);
    pause.after_failure();
    pause.after_success();
    EXPECT_EQ(systems(), 0);
    pause.after_failure();
    EXPECT_EQ(systems(), 1);
}

/// As on one thread of the machine of the built-in rates.
Choice chosen(const CsrMatrix<double>& A, SolverOptions options = {}, const Ahead& ahead = 1)
{
    options.threads = 1;
    return choose_strategy(A, options, ahead, [] { return false; }, Rates(), {});
}

TEST(ChooseWay, MakesNoAnalysisWhereTheAnswerIsClear)
{
    const auto tiny = chosen(gallery::poisson2d(10, 10));
    EXPECT_TRUE(tiny.direct);
    EXPECT_FALSE(tiny.symbolic);
    const auto cube = chosen(gallery::build("poisson3d:n=48"));
    EXPECT_FALSE(cube.direct);
    EXPECT_FALSE(cube.symbolic);
    EXPECT_TRUE(cube.direct_possible);
    ASSERT_TRUE(cube.facts);
    EXPECT_TRUE(cube.facts->lu_estimated);
    const auto sheet = chosen(gallery::build("convdiff2d:n=60"));
    EXPECT_TRUE(sheet.direct);
    EXPECT_TRUE(sheet.symbolic);
}

TEST(ChooseWay, EndsAnAnalysisWhoseOrderHasTooManyFlops)
{
    SolverOptions jacobi;  // which is no multilevel ILU, and so expected to take little
    const auto    A = gallery::build("poisson3d:n=20");
    Rates         slow;
    slow.front_flop = slow.entry_flop = 1e-6;
    const auto choice = choose_strategy(A, jacobi, 1, [] { return false; }, slow, {});
    EXPECT_FALSE(choice.direct);
    EXPECT_FALSE(choice.symbolic);
    EXPECT_TRUE(choice.direct_possible);
    ASSERT_TRUE(choice.lu);
    EXPECT_GT(choice.lu->factor, 1);
}

TEST(ChooseWay, PrefersLuTheMoreSystemsAreToCome)
{
    const auto A = gallery::build("convdiff3d:n=12");
    const auto one = chosen(A), many = chosen(A, {}, 1000);
    ASSERT_TRUE(one.lu && many.lu);
    EXPECT_LT(many.lu->of(1000) / many.iterative.of(1000), one.lu->of(1) / one.iterative.of(1));
}

TEST(Choice, AnAnalysisThatTakesTooLongSpeaksForTheIteration)
{
    const auto A = gallery::build("convdiff2d:n=60");
    const auto choice = choose_strategy(
        A, {}, 1, [] { return false; }, Rates(), analysis_within({}, 0));
    EXPECT_FALSE(choice.direct);
    EXPECT_FALSE(choice.direct_possible);
    EXPECT_EQ(choice.symbolic, nullptr);
    ASSERT_EQ(choice.decisions.size(), 1u);
    EXPECT_NE(choice.decisions[0].find("iterative: the analysis for LU was given up"), std::string::npos)
        << choice.decisions[0];
}

/// Both are expected to take next to nothing, and an analysis has half a second.
TEST(Choice, AnAnalysisThatTurnsOutToBeTheMistakeLimitsNothing)
{
    Rates fast;
    for (double* rate : {&fast.entry_flop, &fast.front_flop, &fast.entry_number, &fast.front_number, &fast.front_check,
                         &fast.entry_check, &fast.order_arc, &fast.analysis_entry, &fast.front_solve})
        *rate *= 1e-12;
    for (double* rate : {&fast.rounds_entry, &fast.iteration_entry}) *rate *= 1e-6;
    const auto A = gallery::build("convdiff3d:n=90");
    const auto choice = choose_strategy(A, {.threads = 1}, 1, [] { return false; }, fast, {});
    EXPECT_FALSE(choice.direct);
    EXPECT_TRUE(choice.direct_possible);
    ASSERT_TRUE(choice.lu);
    EXPECT_EQ(choice.lu->analyse, INFINITY);
    EXPECT_FALSE(choice.facts);
    ASSERT_EQ(choice.decisions.size(), 1u);
    EXPECT_NE(choice.decisions[0].find("iterative: the analysis for LU was given up"), std::string::npos)
        << choice.decisions[0];
}

TEST(ChooseWay, ExpectsRoundsWhereRowsAreDominantAndRoundsMayBeChosen)
{
    const auto rounds = [](const CsrMatrix<>& A, const SolverOptions& options = {}) {
        const auto choice = chosen(A, options);
        EXPECT_TRUE(choice.facts);
        return choice.facts && choice.facts->iteration.rounds;
    };
    SolverOptions crout, jacobi;
    crout.precond.mlilu.setup = MlIluSetup::crout;
    jacobi.precond.kind = PrecondKind::jacobi;
    const auto A = gallery::build("poisson2d:n=50"), saddle = gallery::build("stokes2d:n=30");
    EXPECT_TRUE(rounds(A));
    EXPECT_FALSE(rounds(A, crout));
    EXPECT_FALSE(rounds(A, jacobi));
    EXPECT_FALSE(rounds(saddle));
}

/// (1 + 6 k) u_i − k Σ u_j on a grid: a step of the heat equation.
CsrMatrix<double> heat(Index n, double k)
{
    auto A = gallery::poisson3d(n, n, n);
    for (Index i = 0; i < A.rows(); ++i)
        for (Offset p = A.row_ptr()[i]; p < A.row_ptr()[i + 1]; ++p) A.val()[p] = A.col()[p] == i ? 1 + 6 * k : -k;
    return A;
}

TEST(ChooseWay, IsContentWithTheDiagonalWhereItOutweighsTheRest)
{
    const auto diffusive = chosen(heat(40, 1));
    ASSERT_TRUE(diffusive.by_diagonal);
    EXPECT_NEAR(diffusive.by_diagonal->coupling, 6. / 7, 1e-12);
    EXPECT_FALSE(diffusive.direct);
    EXPECT_TRUE(chosen(gallery::build("poisson3d:n=40")).by_diagonal);  // outweighed by nothing, but near its boundary
    EXPECT_FALSE(chosen(gallery::build("poisson2d:n=400")).by_diagonal);  // too many steps
    EXPECT_FALSE(chosen(gallery::build("convdiff3d:n=40")).by_diagonal);  // not for CG
    auto negative = gallery::build("poisson3d:n=40");
    for (double& value : negative.val()) value = -value;
    EXPECT_FALSE(chosen(negative).by_diagonal);  // GMRES would take it
    SolverOptions given;
    given.precond.mlilu.drop_tol = 1e-3;
    EXPECT_FALSE(chosen(heat(40, 1), given).by_diagonal);

    for (const double diagonal : {0., -7.}) {
        auto B = heat(40, 1);
        for (Offset p = B.row_ptr()[5]; p < B.row_ptr()[6]; ++p) B.val()[p] = B.col()[p] == 5 ? diagonal : 0;
        EXPECT_FALSE(chosen(B).by_diagonal) << diagonal;
    }

    const auto          A = heat(40, 1);
    LinearSolver        solver;
    std::vector<double> b(A.rows(), 1), x(A.rows());
    solver.analyse(A);
    ASSERT_TRUE(solver.factor().ready());
    const auto report = solver.solve(b, x);
    ASSERT_TRUE(report.converged());
    EXPECT_EQ(report.result().plan.precond.kind, PrecondKind::jacobi);
    EXPECT_LE(report.steps(), steps_by_the_diagonal({.coupling = 6. / 7}));
}

TEST(ChooseWay, AsksForAGpuOnlyWhereItMayDecide)
{
    const auto asked = [](const CsrMatrix<double>& A) {
        int  times = 0;
        auto has_gpu = [&times] { return ++times > 0; };
        (void)choose_strategy(A, {.threads = 2}, 1, has_gpu, Rates(), {});
        return times;
    };
    EXPECT_EQ(asked(gallery::build("helmholtz2d:n=100")), 0);  // no rounds, and few flops
    EXPECT_EQ(asked(gallery::build("convdiff2d:n=60")), 0);    // rounds, but few entries
    EXPECT_EQ(asked(gallery::build("convdiff2d:n=300")), 1);
}

TEST(ChooseWay, LooksAtAPreconditionerOfAPartBesideALongLu)
{
    Rates slow;
    slow.front_flop = 1e-8;
    const auto    A = gallery::build("elasticity2d:n=80");
    SolverOptions options{.threads = 1};
    options.precond.coarse = CoarseChoice::off;
    const auto choice = choose_strategy(A, options, 1, [] { return false; }, slow, {});
    ASSERT_TRUE(choice.facts);
    EXPECT_NE(choice.facts->iteration.fill, IterationFacts().fill);
    EXPECT_FALSE(choice.facts->iteration.hopeless);
    EXPECT_GT(choice.facts->iteration.fill, 1);
}

/// Where an analysis takes longer than the iteration none is begun, so that the seconds of this machine decide nothing.
TEST(ChooseWay, TakesACoarseSpaceForDisplacements)
{
    Rates slow;
    slow.analysis_entry = 1;
    const auto facts = [&](const char* name) {
        const auto choice = choose_strategy(gallery::build(name), {.threads = 1}, 1, [] { return false; }, slow, {});
        EXPECT_TRUE(choice.facts && !choice.direct && !choice.symbolic);
        return choice.facts->iteration;
    };
    const IterationFacts elastic = facts("elasticity2d:n=80");
    EXPECT_TRUE(elastic.coarse && elastic.rounds && elastic.hermitian);
    EXPECT_FALSE(facts("poisson3d:n=30").coarse);  // dominant: rounds that compensate
    const IterationFacts flow = facts("stokes2d:n=80");
    EXPECT_TRUE(flow.coarse && flow.rounds && !flow.hermitian && !flow.positive);  // a saddle point
    EXPECT_FALSE(facts("helmholtz2d:n=110,k=60").coarse);  // indefinite, with a diagonal everywhere
}

TEST(ChooseWay, SaysWhereRatesAreFrom)
{
    Rates rates;
    rates.origin = "of a calibration";
    const auto choice = choose_strategy(gallery::build("convdiff2d:n=60"), {}, 1, [] { return false; }, rates, {});
    ASSERT_FALSE(choice.decisions.empty());
    EXPECT_NE(choice.decisions[0].find("rates of a calibration"), std::string::npos) << choice.decisions[0];
}

TEST(NextPlanOfEitherStrategy, IsAnIterationWherePivotsWereLeftAndThenLuAgain)
{
    std::vector<Attempt> tried{failed_attempt(true, Outcome::stagnated)};
    tried.back().pivots_left = true;
    const auto first = next(tried, 1);
    ASSERT_TRUE(first);
    EXPECT_FALSE(first->direct());
    EXPECT_NE(first->change.find("before pivots among all rows"), std::string::npos);
    tried.push_back(failed_attempt(false, Outcome::out_of_memory));
    const auto second = next(tried, 1);
    ASSERT_TRUE(second);
    EXPECT_TRUE(second->direct());
    tried.back() = failed_attempt(false, Outcome::stagnated);
    EXPECT_TRUE(next(tried, 1)->direct());
    EXPECT_FALSE(next(tried, 100)->direct());  // a tighter preconditioner takes less than those pivots
}

TEST(Expect, TakesLuWhereAnIterationIsInDoubtThoughItWouldBeFaster)
{
    ChoiceFacts facts;
    facts.lu = {.entries = 2e6, .arcs = 2e6, .nnz = 5e7, .flops = 5e10};  // 4 s
    facts.iteration.entries = 2.5e6;
    const Rates    rates;
    const Expected sure = expect(facts, rates);
    EXPECT_FALSE(sure.take_lu);
    facts.iteration.heavy = 0.2;
    const Expected doubtful = expect(facts, rates);
    EXPECT_GT(doubtful.odds, sure.odds);
    EXPECT_EQ(doubtful.direct, sure.direct);
    const double iterative = doubtful.iterative.of(1);  // twice where it fails
    EXPECT_DOUBLE_EQ(doubtful.iteration, iterative + doubtful.odds * (iterative + doubtful.direct));
    EXPECT_TRUE(doubtful.take_lu);
}

}  // namespace
}  // namespace ilux

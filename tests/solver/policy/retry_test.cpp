#include "ilux/solver/policy/retry.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <limits>

#include "ilux/tests/solver/failed_attempts.hpp"

namespace ilux {
namespace {

using namespace test;

TEST(FirstPlan, IsCgOnlyForASymmetricMatrixWithPositiveDiagonal)
{
    EXPECT_EQ(plan_for({}, true, true).method, MethodChoice::cg);
    EXPECT_EQ(plan_for({}, true, false).method, MethodChoice::gmres);
    EXPECT_EQ(plan_for({}, false, true).method, MethodChoice::gmres);
    SolverOptions options;
    options.method = MethodChoice::bicg;
    EXPECT_EQ(plan_for(options, true, true).method, MethodChoice::bicg);
}

TEST(FirstPlan, SaysWhyItChose)
{
    std::vector<std::string> decisions;
    first_plan({}, false, {}, decisions);
    ASSERT_EQ(decisions.size(), 1u);
    EXPECT_NE(decisions[0].find("not symmetric"), std::string::npos);
}

TEST(FirstPlan, KeepsMAsTheMethodNeedsIt)
{
    const auto mlilu = [](MethodChoice method, SymmetryFacts facts, std::string expected = "") {
        SolverOptions            options{.method = method};
        std::vector<std::string> decisions;
        const Plan               plan = first_plan(options, false, facts, decisions);
        EXPECT_EQ(plan.method, method);
        EXPECT_EQ(decisions, expected.empty() ? std::vector<std::string>{} : std::vector{expected});
        return plan.precond.mlilu;
    };
    const SymmetryFacts indefinite{.hermitian = true, .symmetric = true},
        positive{.hermitian = true, .symmetric = true, .positive_diagonal = true},
        turned{.symmetric = true, .complex = true};
    EXPECT_TRUE(mlilu(MethodChoice::minres, positive).definite);
    EXPECT_TRUE(mlilu(MethodChoice::minres, indefinite).absolute);
    EXPECT_FALSE(mlilu(MethodChoice::minres, turned, "method minres as asked, although A is not Hermitian").absolute);
    for (const MethodChoice method : {MethodChoice::sqmr, MethodChoice::cocg}) {
        const std::string off = fmt::format("matching=off: method {} needs M symmetric", field_text(method));
        for (const auto& facts : {indefinite, positive, turned})
            EXPECT_EQ(mlilu(method, facts, off).matching, MatchingChoice::off);
        const auto unsymmetric =
            mlilu(method, {}, fmt::format("method {} as asked, although A is not symmetric", field_text(method)));
        EXPECT_EQ(unsymmetric.matching, MatchingChoice::automatic);
    }
    EXPECT_EQ(mlilu(MethodChoice::gmres, indefinite).matching, MatchingChoice::automatic);
}

TEST(FirstPlan, RefusesADampingThatTheMethodCannotHave)
{
    const SymmetryFacts hermitian{.hermitian = true, .symmetric = false, .positive_diagonal = true, .complex = true};
    for (const MethodChoice method : {MethodChoice::cg, MethodChoice::minres, MethodChoice::gmres}) {
        SolverOptions options{.method = method};
        options.precond.kind = PrecondKind::mlilu;
        options.precond.mlilu.damping = {0.1};
        std::vector<std::string> decisions;
        if (method == MethodChoice::gmres) EXPECT_NO_THROW(first_plan(options, false, hermitian, decisions));
        else EXPECT_THROW(first_plan(options, false, hermitian, decisions), InvalidOption);
    }
}

TEST(NextPlan, KeepsMAsTheMethodNeedsIt)
{
    const SymmetryFacts indefinite{.hermitian = true, .symmetric = true};
    for (const PrecondKind kind : {PrecondKind::ilu0, PrecondKind::jacobi, PrecondKind::mlilu})
        for (const MethodChoice method : {MethodChoice::minres, MethodChoice::sqmr}) {
            SolverOptions options{.method = method};
            options.precond.kind = kind;
            std::vector<std::string> decisions;
            std::string              why_not;
            std::vector<Attempt>     tried{failed(first_plan(options, false, indefinite, decisions))};
            while (auto plan = next_plan(options, tried, 1, why_not)) {
                EXPECT_EQ(plan->precond.mlilu.absolute, method == MethodChoice::minres) << plan->change;
                EXPECT_EQ(plan->precond.mlilu.matching == MatchingChoice::off, method == MethodChoice::sqmr);
                tried.push_back(failed(*plan));
                ASSERT_LE(tried.size(), 10U);
            }
            EXPECT_EQ(tried.back().plan.precond.mlilu.drop_tol, 0);  // complete factors came last
        }
}

TEST(NextPlan, TightensTheDropTolerancesFirstAndTheInverseBoundToo)
{
    std::string why_not;
    const auto  tried = failures({}, false, why_not);
    ASSERT_EQ(tried.size(), 5u);
    EXPECT_EQ(tried[4].plan.precond.mlilu.drop_tol, 0);  // last, complete factors, with the bound first asked for
    EXPECT_EQ(tried[4].plan.precond.mlilu.tau_S(), 0);
    EXPECT_EQ(tried[4].plan.precond.mlilu.inverse_bound, 5);
    const double drop[] = {1e-2, 1e-3, 1e-4, 1e-5}, schur[] = {1e-3, 1e-4, 1e-5, 1e-6}, bound[] = {5, 5, 10, 20};
    for (int k = 0; k < 4; ++k) {
        EXPECT_NEAR(tried[k].plan.precond.mlilu.drop_tol / drop[k], 1, 1e-12) << k;
        EXPECT_NEAR(tried[k].plan.precond.mlilu.tau_S() / schur[k], 1, 1e-12) << k;
        EXPECT_EQ(tried[k].plan.precond.mlilu.inverse_bound, bound[k]) << k;
    }
    EXPECT_FALSE(why_not.empty());
}

TEST(NextPlan, GivesUpCgForGmresBeforeItTightensAnything)
{
    std::string why_not;
    const auto  tried = failures({}, true, why_not);
    ASSERT_EQ(tried.size(), 6u);
    EXPECT_EQ(tried[0].plan.method, MethodChoice::cg);
    EXPECT_EQ(tried[1].plan.method, MethodChoice::gmres);
    EXPECT_EQ(tried[1].plan.precond.mlilu.drop_tol, tried[0].plan.precond.mlilu.drop_tol);
    for (std::size_t k = 0; k < tried.size(); ++k) EXPECT_EQ(tried[k].plan.precond.mlilu.definite, k == 0) << k;
    EXPECT_LT(tried[2].plan.precond.mlilu.drop_tol, tried[1].plan.precond.mlilu.drop_tol);
}

/// A try whose factors were made in rounds.
Attempt failed_in_rounds(const Plan& plan)
{
    Attempt tried = failed(plan);
    tried.mlilu->levels.push_back({.n = 9, .rounds = 3});
    return tried;
}

TEST(NextPlan, GoesFromRoundsThatWereChosenToCroutBeforeItTightensAnything)
{
    for (const MlIluSetup asked : {MlIluSetup::automatic, MlIluSetup::rounds}) {
        SolverOptions options;
        options.precond.mlilu.setup = asked;
        std::string   why_not;
        const Attempt tried = failed_in_rounds(plan_for(options));
        const auto    next = next_plan(options, std::span(&tried, 1), 0, why_not);
        ASSERT_TRUE(next);
        const bool chosen = asked == MlIluSetup::automatic;
        EXPECT_EQ(next->precond.mlilu.setup, chosen ? MlIluSetup::crout : MlIluSetup::rounds);
        EXPECT_EQ(next->precond.mlilu.drop_tol < 1e-2, !chosen);
        EXPECT_EQ(next->change == "precond.setup crout", chosen) << next->change;
    }
}

/// Steps of CG with a coarse space to no avail.
Attempt failed_with_coarse(bool chosen)
{
    Plan plan = plan_for({}, true, true);
    plan.precond.coarse = CoarseChoice::on;
    plan.coarse_chosen = chosen ? CoarseChosen::positive_diagonal : CoarseChosen::none;
    Attempt tried = failed(plan, Outcome::stagnated);
    tried.mlilu->levels.push_back({.n = n, .rounds = 9});
    return tried;
}

TEST(NextPlan, GivesUpACoarseSpaceThatWasChosenBeforeAnythingElse)
{
    std::string                why_not;
    const std::vector<Attempt> tried{failed_with_coarse(true)};
    const auto                 plan = next_plan({}, tried, 1, why_not);
    ASSERT_TRUE(plan) << why_not;
    EXPECT_EQ(plan->method, MethodChoice::cg);
    EXPECT_EQ(plan->precond.coarse, CoarseChoice::off);
    EXPECT_TRUE(plan->precond.mlilu.definite);
    EXPECT_EQ(plan->change, "precond.coarse off");
    std::vector<Attempt> twice = tried;
    twice.push_back(tried[0]);
    twice.back().plan = *plan;
    EXPECT_EQ(next_plan({}, twice, 1, why_not)->method, MethodChoice::gmres);
}

TEST(NextPlan, KeepsACoarseSpaceThatWasAskedFor)
{
    SolverOptions options{.method = MethodChoice::cg};
    options.precond.coarse = CoarseChoice::on;
    std::string                why_not;
    const std::vector<Attempt> tried{failed_with_coarse(false)};
    const auto                 plan = next_plan(options, tried, 1, why_not);
    ASSERT_TRUE(plan) << why_not;
    EXPECT_EQ(plan->precond.coarse, CoarseChoice::on);
}

TEST(NextPlan, LeavesACoarseSpaceThatTakesTooMuchMemory)
{
    std::string          why_not;
    std::vector<Attempt> tried{failed_with_coarse(true)};
    tried[0].report.outcome = Outcome::out_of_memory;
    const auto plan = next_plan({}, tried, 1, why_not);
    ASSERT_TRUE(plan) << why_not;
    EXPECT_EQ(plan->precond.coarse, CoarseChoice::off);
}

TEST(NextPlan, StaysWithCroutOnceRoundsHaveFailed)
{
    for (const bool symmetric : {false, true}) {  // first by CG where that is chosen
        std::vector<Attempt> tried{failed_in_rounds(plan_for({}, symmetric, symmetric))};
        std::string          why_not;
        while (const auto plan = next_plan({}, tried, 1.0, why_not)) {
            const bool crout = plan->precond.mlilu.setup == MlIluSetup::crout;
            tried.push_back(crout ? failed(*plan) : failed_in_rounds(*plan));
            ASSERT_LE(tried.size(), 10u);
        }
        ASSERT_EQ(tried.size(), symmetric ? 7u : 6u);
        const std::size_t first = symmetric ? 2 : 1;  // by Crout's sweep
        for (std::size_t k = 0; k < tried.size(); ++k) {
            EXPECT_EQ(tried[k].plan.precond.mlilu.setup, k < first ? MlIluSetup::automatic : MlIluSetup::crout) << k;
            EXPECT_EQ(tried[k].plan.precond.mlilu.drop_tol<1e-2, k> first) << k;
        }
        EXPECT_EQ(tried.back().plan.precond.mlilu.drop_tol, 0);  // complete factors come last, and are Crout's too
    }
}

TEST(NextPlan, GivesUpADampingThatWasChosenBeforeAnythingElse)
{
    for (const Damping asked : {Damping{}, Damping{0.25}}) {
        SolverOptions options;
        options.precond.mlilu.damping = asked;
        std::string why_not;
        Attempt     tried = failed_in_rounds(plan_for(options));
        tried.mlilu->damping = 0.25;
        const auto next = next_plan(options, std::span(&tried, 1), 0, why_not);
        ASSERT_TRUE(next);
        const bool chosen = asked == Damping{};
        EXPECT_EQ(next->change == "precond.damping off", chosen) << next->change;
        EXPECT_EQ(next->precond.mlilu.damping, chosen ? Damping{0} : asked);
        EXPECT_EQ(next->precond.mlilu.setup, chosen ? MlIluSetup::automatic : MlIluSetup::crout);
        Attempt    without = failed_in_rounds(*next);
        const auto third = next_plan(options, std::vector{tried, without}, 1, why_not);
        ASSERT_TRUE(third) << why_not;
        EXPECT_EQ(third->precond.mlilu.damping, next->precond.mlilu.damping) << third->change;
    }
}

TEST(NextPlan, GoesToCroutWhereRoundsFillTheirMemoryLimitAndNoFurther)
{
    std::string why_not;
    Attempt     rounds = failed_in_rounds(plan_for({}));
    rounds.mlilu->limited = true;
    const auto next = next_plan({}, std::span(&rounds, 1), 0, why_not);
    ASSERT_TRUE(next) << why_not;
    EXPECT_EQ(next->precond.mlilu.setup, MlIluSetup::crout);
    Attempt crout = failed(*next);
    crout.mlilu->limited = true;
    EXPECT_FALSE(next_plan({}, std::vector{rounds, crout}, 1, why_not));
    EXPECT_EQ(why_not, "the factors fill their memory limit already");
    SolverOptions asked;
    asked.precond.mlilu.setup = MlIluSetup::rounds;
    why_not.clear();
    EXPECT_FALSE(next_plan(asked, std::span(&rounds, 1), 0, why_not));
}

TEST(NextPlan, KeepsAMethodThatWasAskedFor)
{
    SolverOptions options;
    options.method = MethodChoice::cg;
    std::string why_not;
    for (const Attempt& tried : failures(options, true, why_not)) EXPECT_EQ(tried.plan.method, MethodChoice::cg);
}

TEST(NextPlan, ReplacesASimplePreconditionerByTheMultilevelIlu)
{
    for (PrecondKind kind : {PrecondKind::none, PrecondKind::jacobi, PrecondKind::ilu0}) {
        SolverOptions options;
        options.precond.kind = kind;
        std::string why_not;
        const auto  tried = failures(options, false, why_not);
        ASSERT_EQ(tried.size(), 6u);
        EXPECT_EQ(tried[1].plan.precond.kind, PrecondKind::mlilu);
        EXPECT_EQ(tried[1].plan.precond.mlilu.drop_tol, 1e-2);
    }
}

TEST(NextPlan, StopsWhereAnotherTryCannotHelp)
{
    const auto refused = [](SolverOptions options, Attempt tried, double elapsed) {
        std::string why_not;
        const bool  none = !next_plan(options, std::vector{std::move(tried)}, elapsed, why_not);
        EXPECT_EQ(none, !why_not.empty());
        return none;
    };
    const Plan first = plan_for({});
    EXPECT_FALSE(refused({}, failed(first), 1));
    EXPECT_TRUE(refused({.retry = false}, failed(first), 1));
    EXPECT_TRUE(refused({}, failed(first, Outcome::out_of_memory), 1));
    EXPECT_TRUE(refused({}, failed(first), 119.5));
    EXPECT_FALSE(refused({.time_limit = 0}, failed(first), 1e9));
    EXPECT_TRUE(refused({}, failed(first, Outcome::stagnated, 1e-16), 1));

    Plan thrice = first;
    thrice.precond.mlilu.drop_tol = 1e-5;
    Attempt large = failed(thrice);
    EXPECT_FALSE(refused({}, large, 1));
    large.x.of<double>().resize(20'000);  // too many rows for complete factors
    EXPECT_TRUE(refused({}, large, 1));
    Plan exact = first;
    exact.precond.mlilu.drop_tol = 0;
    EXPECT_TRUE(refused({}, failed(exact), 1));
}

/// A direct try that failed as `outcome`.
Attempt failed_direct(const Plan& plan, Outcome outcome)
{
    Attempt tried = failed(plan, outcome, 1e-17);
    tried.lu.emplace().symbolic.structural_rank = n;
    return tried;
}

/// All tries of a direct solution where each ends as `outcome`.
std::vector<Attempt> direct_attempts(const LuOptions& lu, Outcome outcome = Outcome::stagnated)
{
    SolverOptions options;
    options.method = MethodChoice::lu;
    options.lu = lu;
    std::string          why_not;
    std::vector<Attempt> tried{failed_direct(plan_for(options, true, true), outcome)};
    while (const auto plan = next_plan(options, tried, 1, why_not)) {
        EXPECT_EQ(plan->method, MethodChoice::lu);
        tried.push_back(failed_direct(*plan, outcome));
        if (tried.size() > 10) break;
    }
    EXPECT_FALSE(why_not.empty());
    return tried;
}

TEST(NextPlan, ScalesADirectSolutionByAMatchingThenTakesTheLargestPivots)
{
    const auto tried = direct_attempts({.scaling = LuScaling::none, .pivot_tol = 0.5});
    ASSERT_EQ(tried.size(), 3u);
    EXPECT_EQ(tried[0].plan.lu.pivot_tol, 0.5);
    EXPECT_EQ(tried[1].plan.lu.scaling, LuScaling::matching);
    EXPECT_EQ(tried[1].plan.lu.pivot_tol, 0.5);
    EXPECT_EQ(tried[1].plan.change, "lu.scaling matching");
    EXPECT_EQ(tried[2].plan.lu.scaling, LuScaling::none);
    EXPECT_EQ(tried[2].plan.lu.pivot_tol, 1);
    EXPECT_EQ(tried[2].plan.change, "lu.pivot_tol 1, lu.scaling none");
    EXPECT_EQ(direct_attempts({}, Outcome::singular).size(), 1u);
    EXPECT_EQ(direct_attempts({}, Outcome::out_of_memory).size(), 1u);
}

TEST(NextPlan, TriesNothingOfADirectSolutionTwice)
{
    EXPECT_EQ(direct_attempts({.scaling = LuScaling::matching, .pivot_tol = 1}).size(), 1u);
    const auto scaled = direct_attempts({.scaling = LuScaling::matching});
    ASSERT_EQ(scaled.size(), 2u);
    EXPECT_EQ(scaled[1].plan.lu.scaling, LuScaling::matching);
    EXPECT_EQ(scaled[1].plan.change, "lu.pivot_tol 1");
    const auto largest = direct_attempts({.pivot_tol = 1});
    ASSERT_EQ(largest.size(), 2u);
    EXPECT_EQ(largest[1].plan.change, "lu.scaling matching");
}

TEST(BestAttempt, IsTheConvergedOneElseTheSmallestFiniteResidual)
{
    const Plan           plan = plan_for({});
    const double         nan = std::numeric_limits<double>::quiet_NaN();
    std::vector<Attempt> tried{failed(plan, Outcome::max_steps, 1e-3), failed(plan, Outcome::not_finite, nan),
                               failed(plan, Outcome::stagnated, 1e-5), failed(plan, Outcome::diverged, 1e9)};
    EXPECT_EQ(best_attempt(tried), 2u);
    tried.push_back(failed(plan, Outcome::converged, 1e-4));
    EXPECT_EQ(best_attempt(tried), 4u);
    EXPECT_EQ(best_attempt(std::vector{failed(plan, Outcome::not_finite, nan)}), 0u);
}

TEST(BestAttempt, WhereNoneSolvedIsTheLastThatWasNotGivenUpForAnother)
{
    std::vector<Attempt> tried{failed(plan_for({}), Outcome::time_limit), failed(plan_for({}), Outcome::out_of_memory),
                               failed(plan_for({}), Outcome::singular)};
    for (Attempt& one : tried) one.failure = "no factors";
    tried[0].given_up = true;
    EXPECT_EQ(best_attempt(tried), 2u);
    tried[2].given_up = true;
    EXPECT_EQ(best_attempt(tried), 1u);
}

TEST(BestAttempt, IsNeverOneThatDidNotSolve)
{
    const Plan           plan = plan_for({});
    std::vector<Attempt> tried{failed(plan, Outcome::breakdown, 1), failed(plan, Outcome::max_steps, 7)};
    tried[0].failure = "zero pivot";
    EXPECT_EQ(best_attempt(tried), 1u);
}

}  // namespace
}  // namespace ilux

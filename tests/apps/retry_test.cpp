#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>

#include "ilux/apps/advice.hpp"
#include "ilux/apps/command.hpp"
#include "ilux/apps/progress.hpp"
#include "ilux/apps/report_json.hpp"
#include "ilux/gallery/gallery.hpp"
#include "ilux/solver/iterative_solver.hpp"
#include "ilux/solver/retry.hpp"
#include "ilux/tests/support/checks.hpp"

namespace ilux::app {
namespace {

constexpr Index n = 10;

/// A try that failed as `outcome` after one second.
Attempt failed(const Plan& plan, Outcome outcome = Outcome::max_steps, double residual = 1e-3)
{
    Attempt tried;
    tried.plan = plan;
    tried.x.assign(n, 0.0);
    tried.report.outcome = outcome;
    tried.report.relative_residual = residual;
    tried.report.backward_error = residual / 10;
    tried.seconds = 1;
    if (plan.precond.kind == PrecondKind::mlilu) {
        tried.mlilu.emplace();
        tried.mlilu->structural_rank = n;
    }
    return tried;
}

Plan plan_for(const SolverOptions& options, bool symmetric = false, bool positive = false)
{
    std::vector<std::string> decisions;
    return first_plan(options, options.method == MethodChoice::lu, symmetric, positive, decisions);
}

/// All tries when every one fails.
std::vector<Attempt> failures(const SolverOptions& options, bool symmetric, std::string& why_not)
{
    std::vector<Attempt> tried{failed(plan_for(options, symmetric, symmetric))};
    while (auto plan = next_plan(options, tried, 1.0 * tried.size(), why_not)) {
        EXPECT_FALSE(plan->change.empty());
        tried.push_back(failed(*plan));
        if (tried.size() > 10) break;
    }
    return tried;
}

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
    first_plan({}, false, false, false, decisions);
    ASSERT_EQ(decisions.size(), 1u);
    EXPECT_NE(decisions[0].find("not symmetric"), std::string::npos);
}

TEST(NextPlan, TightensTheDropTolerancesFirstAndTheInverseBoundToo)
{
    std::string why_not;
    const auto  tried = failures({}, false, why_not);
    ASSERT_EQ(tried.size(), 5u);
    EXPECT_EQ(tried[4].plan.precond.mlilu.drop_tol, 0);  // last, complete factors, with the bound first asked for
    EXPECT_EQ(tried[4].plan.precond.mlilu.schur_drop_tol, 0);
    EXPECT_EQ(tried[4].plan.precond.mlilu.inverse_bound, 5);
    const double drop[] = {1e-2, 1e-3, 1e-4, 1e-5}, schur[] = {1e-3, 1e-4, 1e-5, 1e-6}, bound[] = {5, 5, 10, 20};
    for (int k = 0; k < 4; ++k) {
        EXPECT_NEAR(tried[k].plan.precond.mlilu.drop_tol / drop[k], 1, 1e-12) << k;
        EXPECT_NEAR(tried[k].plan.precond.mlilu.schur_drop_tol / schur[k], 1, 1e-12) << k;
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
    large.x.resize(20'000);  // too many rows for complete factors
    EXPECT_TRUE(refused({}, large, 1));
    Plan exact = first;
    exact.precond.mlilu.drop_tol = 0;
    EXPECT_TRUE(refused({}, failed(exact), 1));
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

TEST(BestAttempt, IsNeverOneThatDidNotSolve)
{
    const Plan           plan = plan_for({});
    std::vector<Attempt> tried{failed(plan, Outcome::breakdown, 1), failed(plan, Outcome::max_steps, 7)};
    tried[0].failure = "zero pivot";
    EXPECT_EQ(best_attempt(tried), 1u);
}

Run run_of(const SolverOptions& options, std::vector<Attempt> tried)
{
    Run run;
    static_cast<SolverOptions&>(run.options) = options;
    run.attempts = std::move(tried);
    return run;
}

Run run_of(Attempt tried) { return run_of({}, std::vector{std::move(tried)}); }

TEST(RunOutcome, IsSingularOnlyForAFailureWithMissingRank)
{
    Attempt tried = failed(plan_for({}), Outcome::stagnated);
    EXPECT_EQ(run_of(tried).outcome(), Outcome::stagnated);
    tried.mlilu->deficiency = 1;
    EXPECT_EQ(run_of(tried).outcome(), Outcome::singular);
    tried.report.outcome = Outcome::converged;
    EXPECT_EQ(run_of(tried).outcome(), Outcome::converged);
    tried.report.outcome = Outcome::out_of_memory;
    EXPECT_EQ(run_of(tried).outcome(), Outcome::out_of_memory);
}

std::vector<std::string> advice_after(const Run& run)
{
    Problem problem;
    problem.A = CsrMatrix<double>::identity(n);
    return advice(run, problem);
}

bool suggests(const Run& run, std::string_view text)
{
    for (const std::string& line : advice_after(run))
        if (line.find(text) != std::string::npos) return true;
    return false;
}

/// PATH=VALUE of every option that a line names with its value.
std::vector<std::string> named_options(const std::string& line)
{
    std::vector<std::string> found;
    std::istringstream       words(line);
    for (std::string word, value; words >> word;) {
        if (word.starts_with("precond.") && word.find('=') != std::string::npos) found.push_back(word);
        for (const ShortName& name : short_names())
            if (word == name.flag && words >> value && std::isalnum(static_cast<unsigned char>(value[0])))
                found.push_back(std::string(name.path) + "=" + value.substr(0, value.find_first_of(",;")));
    }
    return found;
}

SolverOptions options_of(const Attempt& tried, const SolverOptions& given)
{
    SolverOptions options = given;
    options.method = tried.plan.method;
    options.precond = tried.plan.precond;
    return options;
}

/// Fails when a line names an option with a value that some try had already.
void expect_nothing_tried_in(const Run& run)
{
    for (const std::string& line : advice_after(run))
        for (const std::string& option : named_options(line))
            for (const Attempt& tried : run.attempts) {
                SolveOptions before;
                static_cast<SolverOptions&>(before) = options_of(tried, run.options);
                SolveOptions after = before;
                assign(after, option);
                const auto same = [](const FieldHelp& a, const FieldHelp& b) { return a.value == b.value; };
                EXPECT_FALSE(std::ranges::equal(describe(before), describe(after), same)) << line;
            }
}

TEST(Advice, FollowsFromWhatWasMeasured)
{
    SolverOptions options;
    options.precond.kind = PrecondKind::ilu0;
    Attempt zero_pivot = failed(plan_for(options), Outcome::breakdown);
    zero_pivot.zero_pivot = 4;
    EXPECT_TRUE(suggests(run_of(zero_pivot), "row 5"));
    EXPECT_TRUE(suggests(run_of(zero_pivot), "--precond mlilu"));

    Attempt restarting = failed(plan_for({}), Outcome::stagnated);
    restarting.report.steps = 90;
    EXPECT_TRUE(suggests(run_of(restarting), "--restart 120"));
    restarting.report.steps = 20;
    EXPECT_FALSE(suggests(run_of(restarting), "--restart"));

    Attempt postponing = failed(plan_for({}));
    postponing.mlilu->levels.push_back({.n = 100, .accepted = 60, .postponed = 40, .inverse_L = 4});
    EXPECT_TRUE(suggests(run_of(postponing), "40 %"));
    postponing.mlilu->levels[0].inverse_L = 1e5;
    EXPECT_TRUE(suggests(run_of(postponing), "1e+05"));

    Attempt deficient = failed(plan_for({}));
    deficient.mlilu->deficiency = 2;
    EXPECT_TRUE(suggests(run_of(deficient), "lacks rank 2"));
    EXPECT_TRUE(suggests(run_of(failed(plan_for({}), Outcome::stagnated, 1e-15)), "residual of rounding alone"));
    EXPECT_FALSE(suggests(run_of(failed(plan_for({}), Outcome::converged)), ""));
}

TEST(Advice, AfterADirectSolutionNamesNoPreconditioner)
{
    SolverOptions options;
    options.method = MethodChoice::lu;
    Attempt tried = failed(plan_for(options), Outcome::stagnated, 1e-17);
    tried.mlilu.reset();
    tried.lu.emplace().symbolic.structural_rank = n;
    for (const char* option : {"lu.scaling=matching", "lu.matching=on", "lu.pivot_tol=1"})
        EXPECT_TRUE(suggests(run_of(tried), option)) << option;
    Attempt scaled = tried;
    scaled.plan.lu = {.matching = LuMatching::on, .scaling = LuScaling::matching, .pivot_tol = 1};
    EXPECT_FALSE(suggests(run_of(scaled), "-p lu."));
    EXPECT_TRUE(suggests(run_of(tried), "--method gmres"));
    EXPECT_FALSE(suggests(run_of(tried), "precond"));
    tried.report.outcome = Outcome::singular;
    EXPECT_FALSE(suggests(run_of(tried), "ilux info"));
    tried.lu->symbolic.structural_rank = n - 1;
    EXPECT_TRUE(suggests(run_of(tried), "ilux info"));
    tried.report.outcome = Outcome::out_of_memory;
    EXPECT_FALSE(suggests(run_of(tried), "lu.memory_limit"));  // the machine has no more
    tried.plan.lu.memory_limit = {1000};
    EXPECT_TRUE(suggests(run_of(tried), "lu.memory_limit"));
    tried.report.outcome = Outcome::converged;
    EXPECT_FALSE(suggests(run_of(tried), ""));
}

TEST(Advice, NamesNothingThatAnyTryHasUsed)
{
    std::size_t named = 0;
    for (MethodChoice method : {MethodChoice::automatic, MethodChoice::cg, MethodChoice::gmres, MethodChoice::bicgstab})
        for (PrecondKind kind : {PrecondKind::mlilu, PrecondKind::ilu0, PrecondKind::none})
            for (double drop_tol : {0.0, 1e-2, 0.1, 1.0})
                for (Outcome outcome : {Outcome::max_steps, Outcome::breakdown, Outcome::stagnated}) {
                    SolverOptions options{.method = method};
                    options.precond.kind = kind;
                    options.precond.mlilu.drop_tol = drop_tol;
                    std::string why_not;
                    auto        run = run_of(options, failures(options, true, why_not));
                    for (Attempt& tried : run.attempts) {
                        tried.report.outcome = outcome;
                        tried.report.steps = 90;
                        if (tried.mlilu)
                            tried.mlilu->levels.push_back(
                                {.n = 100, .accepted = 60, .postponed = 40, .inverse_L = 50, .inverse_U = 4});
                    }
                    for (Outcome last : {outcome, Outcome::out_of_memory, Outcome::time_limit})
                        for (run.best = 0; run.best < run.attempts.size(); ++run.best) {
                            run.attempts.back().report.outcome = last;
                            expect_nothing_tried_in(run);
                            for (const std::string& line : advice_after(run)) named += named_options(line).size();
                        }
                }
    EXPECT_GT(named, 1000u);
}

TEST(Advice, AfterALaterTryFollowsFromAllOfThem)
{
    std::string why_not;
    auto run = run_of({}, failures({}, true, why_not));  // cg, gmres, τ 1e-3, 1e-4, 1e-5, 0; the first is the best
    EXPECT_FALSE(suggests(run, "--method gmres"));
    EXPECT_FALSE(suggests(run, "drop_tol="));  // nothing was dropped in the last
    run.attempts.pop_back();
    EXPECT_TRUE(suggests(run, "precond.drop_tol=1e-06"));
    run.attempts.back().report.outcome = Outcome::out_of_memory;
    EXPECT_FALSE(suggests(run, "drop_tol="));  // a closer one does not fit
    run.attempts.resize(1);
    EXPECT_TRUE(suggests(run, "--method gmres"));
}

TEST(Advice, AfterTheTimeLimitIsMoreTimeOrASparserPreconditioner)
{
    Attempt slow = failed(plan_for({}), Outcome::time_limit, 1);
    slow.failure = "given up";
    EXPECT_TRUE(suggests(run_of(slow), "--time-limit 1200"));
    EXPECT_TRUE(suggests(run_of(slow), "precond.drop_tol=0.1"));
    slow.plan.precond.mlilu.drop_tol = 0.5;
    EXPECT_FALSE(suggests(run_of(slow), "drop_tol"));
}

TEST(Advice, OutOfDeviceMemoryIsNotAnsweredByMoreForTheHostsFactors)
{
    Attempt full = failed(plan_for({}), Outcome::out_of_memory, 1);
    full.plan.precond.mlilu.memory_limit = {1'000'000};
    EXPECT_TRUE(suggests(run_of(full), "precond.memory_limit"));
    full.device_is_full = true;
    auto run = run_of(full);
    EXPECT_FALSE(suggests(run, "memory_limit"));
    EXPECT_FALSE(suggests(run, "device_memory"));  // all that is free was taken already
    EXPECT_TRUE(suggests(run, "precond.precision=single"));
    EXPECT_TRUE(suggests(run, "--device cpu"));
    run.options.device_memory = {1'000'000};
    EXPECT_TRUE(suggests(run, "device_memory"));
    run.attempts[0].plan.precond.precision = Precision::in_single;
    EXPECT_FALSE(suggests(run, "precision"));
}

TEST(IterativeSolver, GivesUpAFactorizationThatOutlastsTheTimeLimit)
{
    const auto      A = gallery::poisson2d(60, 60);
    IterativeSolver solver({.cpu = Cpu(1)}, {});
    Attempt         tried;
    tried.plan = plan_for({});
    EXPECT_FALSE(solver.factor(A, 0.0, {}, tried));
    EXPECT_EQ(tried.report.outcome, Outcome::time_limit);
    EXPECT_EQ(tried.report.steps, 0);
    EXPECT_FALSE(tried.mlilu);
    EXPECT_NE(tried.failure.find("level 1 at column 0 of 3600"), std::string::npos) << tried.failure;
    std::string why_not;
    EXPECT_FALSE(next_plan({}, std::vector{tried}, 1, why_not));
    EXPECT_NE(why_not.find("time limit"), std::string::npos);
    Attempt again;
    again.plan = plan_for({});
    EXPECT_TRUE(solver.factor(A, 1e9, {}, again));
}

TEST(RunOutcome, OfAGivenUpFactorizationIsTheTimeLimit)
{
    Attempt tried = failed(plan_for({}), Outcome::time_limit);
    tried.mlilu->deficiency = 1;
    EXPECT_EQ(run_of(tried).outcome(), Outcome::time_limit);
    EXPECT_EQ(exit_code(Outcome::time_limit), not_converged);
}

TEST(RunOutcome, IsNotSingularWhereTheStructuralRankIsUnknown)
{
    Attempt tried = failed(plan_for({}), Outcome::stagnated);
    tried.mlilu->structural_rank.reset();
    EXPECT_EQ(run_of(tried).outcome(), Outcome::stagnated);
    EXPECT_FALSE(suggests(run_of(tried), "structurally singular"));
    tried.mlilu->structural_rank = n - 1;
    EXPECT_EQ(run_of(tried).outcome(), Outcome::singular);
    EXPECT_TRUE(suggests(run_of(tried), "structurally singular"));
}

TEST(JsonReport, LeavesAnUnknownStructuralRankNull)
{
    Problem problem;
    problem.A = CsrMatrix<double>::identity(n);
    auto run = run_of(failed(plan_for({})));
    EXPECT_EQ(nlohmann::json::parse(json_report(run, problem))["mlilu"]["structural_rank"], n);
    run.attempts[0].mlilu->structural_rank.reset();
    EXPECT_TRUE(nlohmann::json::parse(json_report(run, problem))["mlilu"]["structural_rank"].is_null());
}

TEST(Advice, EstimatesTheStepsThatWereMissing)
{
    Attempt halfway = failed(plan_for({}), Outcome::max_steps, 1e-4);
    halfway.report.steps = 100;
    EXPECT_TRUE(suggests(run_of(halfway), "about 200 steps"));  // 10⁻⁴ after 100, so 10⁻⁸ after 200
}

TEST(ProgressText, TellsTheColumnDuringSetupAndTheRateDuringTheSolve)
{
    EXPECT_EQ(progress_text({.phase = Progress::Phase::setup, .level = 2, .done = 5, .total = 9}, {}),
              "level 2: column 5 of 9");
    const Progress before{.phase = Progress::Phase::solve, .done = 10, .total = 100, .residual = 1e-2};
    const Progress now{.phase = Progress::Phase::solve, .done = 12, .total = 100, .residual = 1e-4};
    EXPECT_EQ(progress_text(now, before), "step 12 of 100  residual 1.0e-04  ×0.1 a step");
    EXPECT_EQ(progress_text(before, before), "step 10 of 100  residual 1.0e-02");
}

}  // namespace
}  // namespace ilux::app

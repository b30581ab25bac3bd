#include "ilux/apps/report/advice.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <sstream>

#include "ilux/tests/apps/runs.hpp"
#include "ilux/tests/solver/failed_attempts.hpp"
#include "ilux/tests/support/checks.hpp"

namespace ilux::app {
namespace {

using namespace ilux::test;
using namespace app::test;

std::vector<std::string> advice_after(const Run& run)
{
    Problem<> problem;
    problem.take(CsrMatrix<double>::identity(n));
    return advice(run, problem);
}

bool suggests(const Run& run, std::string_view text) { return mentions(advice_after(run), text); }

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
    EXPECT_TRUE(suggests(run_of({.mode = SolverMode::direct}, {tried}), "-p mode=auto"));
    EXPECT_FALSE(suggests(run_of({.mode = SolverMode::direct}, {tried}), "--method"));
    EXPECT_FALSE(suggests(run_of(tried), "precond"));
    tried.report.outcome = Outcome::singular;
    EXPECT_FALSE(suggests(run_of(tried), "ilux info"));
    tried.lu->symbolic.structural_rank = n - 1;
    EXPECT_TRUE(suggests(run_of(tried), "ilux info"));
    tried.report.outcome = Outcome::out_of_memory;
    EXPECT_FALSE(suggests(run_of(tried), "memory_limit"));  // the machine has no more
    tried.plan.lu.memory_limit = {1000};
    EXPECT_TRUE(suggests(run_of(tried), "memory_limit"));
    tried.report.outcome = Outcome::converged;
    EXPECT_FALSE(suggests(run_of(tried), ""));
}

TEST(Advice, NamesNothingThatAnyTryHasUsed)
{
    std::size_t named = 0, point = 0;
    for (MethodChoice method : {MethodChoice::automatic, MethodChoice::cg, MethodChoice::gmres, MethodChoice::bicgstab})
        for (PrecondKind kind : {PrecondKind::mlilu, PrecondKind::ilu0, PrecondKind::none})
            for (double drop_tol : {0.0, 1e-2, 0.1, 1.0})
                for (Outcome outcome : {Outcome::max_steps, Outcome::breakdown, Outcome::stagnated}) {
                    if (point++ % thinning != 0) continue;
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
    EXPECT_GT(named, 1000u / thinning);
}

TEST(Advice, AfterALaterTryFollowsFromAllOfThem)
{
    std::string why_not;
    auto run = run_of({}, failures({}, true, why_not));  // cg, gmres, τ 1e-3, 1e-4, 1e-5, 0; the first is the best
    EXPECT_FALSE(suggests(run, "--method gmres"));
    EXPECT_FALSE(suggests(run, "drop_tol="));  // nothing was dropped in the last
    run.attempts.pop_back();
    EXPECT_TRUE(suggests(run, "precond.drop_tol=1e-06 -p precond.schur_drop_tol=1e-07"));
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
    EXPECT_TRUE(suggests(run_of(slow), "precond.drop_tol=0.1 -p precond.schur_drop_tol=0.01"));
    slow.plan.precond.mlilu.drop_tol = 0.5;
    EXPECT_FALSE(suggests(run_of(slow), "drop_tol"));
}

TEST(Advice, OutOfDeviceMemoryIsNotAnsweredByMoreForTheHostsFactors)
{
    Attempt full = failed(plan_for({}), Outcome::out_of_memory, 1);
    full.plan.precond.mlilu.memory_limit = {1'000'000};
    EXPECT_TRUE(suggests(run_of(full), "memory_limit"));
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

TEST(Advice, EstimatesTheStepsThatWereMissing)
{
    Attempt halfway = failed(plan_for({}), Outcome::max_steps, 1e-4);
    halfway.report.steps = 100;
    EXPECT_TRUE(suggests(run_of(halfway), "about 200 steps"));  // 10⁻⁴ after 100, so 10⁻⁸ after 200
}

TEST(Advice, NamesAStructuralRankOnlyWhereItIsKnown)
{
    Attempt tried = failed(plan_for({}), Outcome::stagnated);
    tried.mlilu->structural_rank.reset();
    EXPECT_FALSE(suggests(run_of(tried), "structurally singular"));
    tried.mlilu->structural_rank = n - 1;
    EXPECT_TRUE(suggests(run_of(tried), "structurally singular"));
}

}  // namespace
}  // namespace ilux::app

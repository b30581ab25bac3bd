// What a series does with new values, on measurements made up.

#include "ilux/solver/policy/series_policy.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace ilux {
namespace {

constexpr double inf = std::numeric_limits<double>::infinity();

TEST(SeriesPolicy, BeginsAnewWhereTheLastValuesOrTheLastBFailed)
{
    const struct {
        SolverState            state;
        std::optional<Outcome> last;
        bool                   anew;
    } table[] = {
        {SolverState::empty, {}, false},
        {SolverState::analysed, {}, false},
        {SolverState::factored, {}, false},
        {SolverState::factored, Outcome::converged, false},
        {SolverState::factored, Outcome::stagnated, true},
        {SolverState::factored, Outcome::time_limit, true},
        {SolverState::failed, {}, true},
        {SolverState::failed, Outcome::singular, true},
        {SolverState::dropped, Outcome::max_steps, true},
        {SolverState::dropped, Outcome::converged, true},
        {SolverState::broken_off, {}, true},
    };
    for (const auto& row : table)
        EXPECT_EQ(begins_anew(row.state, row.last), row.anew)
            << static_cast<int>(row.state) << ' ' << (row.last ? name(*row.last) : "none");
}

TEST(ReasonToSwitch, IsWhatWasMeasured)
{
    StrategyRecord now, other;
    const Forecast cheap{.factor = 1, .renew = 0.05, .solve = 0.05};
    EXPECT_EQ(reason_to_switch(now, "direct", {"iterative", &other, cheap}, 100), "");  // nothing was measured
    now.add(5);
    now.add(1);
    EXPECT_TRUE(now.measured());
    EXPECT_EQ(now.seconds, 1);
    const std::string why = reason_to_switch(now, "direct", {"iterative", &other, cheap}, 100);
    EXPECT_NE(why.find("direct strategy took 1 s"), std::string::npos) << why;
    EXPECT_NE(why.find("100 systems"), std::string::npos) << why;
    EXPECT_EQ(reason_to_switch(now, "direct", {"iterative", &other, cheap}, 1), "");  // its setup does not pay
    EXPECT_EQ(reason_to_switch(now, "direct", {"iterative", &other, Forecast{.solve = 0.6}}, 100), "");
    other.add(3);
    other.add(0.6);
    EXPECT_NE(reason_to_switch(now, "direct", {"iterative", &other, cheap}, 10), "");  // measured beats forecast
    other.set_up = false;
    other.add(9);  // with its setup once more
    EXPECT_EQ(other.seconds, 0.6);
    other.add(1.6);
    EXPECT_EQ(reason_to_switch(now, "direct", {"iterative", &other, cheap}, 10), "");
    EXPECT_EQ(reason_to_switch(now, "direct", {"iterative", &now, std::nullopt}, 10), "");
}

TEST(ReasonToSwitch, IsNotOneSystemThatTheMachineInterrupted)
{
    const StrategyRecord none;
    const OtherStrategy  cheap{"iterative", &none, Forecast{.solve = 1e-6}};
    const double         usual = 1e-4, interrupted = 1;
    for (int which = 0; which < 9; ++which) {
        StrategyRecord now;
        for (int k = 0; k < 9; ++k) {
            now.add(k == which ? interrupted : usual);
            EXPECT_EQ(reason_to_switch(now, "direct", cheap, 1e6), "") << which << ' ' << k;
        }
    }
    StrategyRecord grown;
    for (int k = 0; k < 2; ++k) grown.add(usual);
    for (int k = 0; k < 40; ++k) grown.add(interrupted);
    EXPECT_NEAR(grown.seconds, interrupted, 1e-3);
    EXPECT_NE(reason_to_switch(grown, "direct", cheap, 1e6), "");
}

TEST(SeriesPolicy, CountsTheSystemThatHasBegunAmongThoseLeft)
{
    const struct {
        double promised, begun, left;
    } table[] = {{10, 1, 10}, {10, 4, 7}, {10, 10, 1}, {10, 30, 1}, {1, 1, 0}, {1, 2, 1}, {1, 8, 7}};
    for (const auto& row : table)
        EXPECT_EQ(systems_left(row.promised, row.begun), row.left) << row.promised << ' ' << row.begun;
}

TEST(SeriesPolicy, AFormerLuIsWorthTheStepsOfHalfARefactorization)
{
    const struct {
        FormerLu lu;
        Index    restart, steps;
    } table[] = {
        {{.refactor = 1, .solve = 0.05}, 30, 10},   {{.refactor = 1, .solve = 1e-9}, 30, 30},
        {{.refactor = 1, .solve = 1}, 30, 0},       {{.refactor = 1, .solve = 0}, 30, 0},  // never measured
        {{.refactor = 9e-4, .solve = 1e-6}, 30, 0}, {{.refactor = 1e-3, .solve = 1e-4}, 30, 5},
    };
    for (const auto& row : table)
        EXPECT_EQ(steps_worth(row.lu, row.restart), row.steps) << row.lu.refactor << ' ' << row.lu.solve;
}

TEST(SeriesPolicy, KeepsWhatServesNewValues)
{
    const FormerLu dear{.refactor = 1, .solve = 0.01}, cheap{.refactor = 1, .solve = 0.2};
    const struct {
        ValuesFacts facts;
        ValuesStep  step;
    } table[] = {
        {{.direct = true}, ValuesStep::refactor},
        {{.direct = true, .lu = dear}, ValuesStep::refactor},  // it rests, or mode is not auto
        {{.direct = true, .lu_may_serve = true, .lu = dear}, ValuesStep::keep_lu},
        {{.direct = true, .lu_may_serve = true, .lu = cheap}, ValuesStep::refactor},
        {{.direct = true, .lu_may_serve = true, .lu = dear, .restart = 4}, ValuesStep::refactor},
        {{.direct = true, .lu_may_serve = true, .lu = dear, .restart = 5}, ValuesStep::keep_lu},
        {{.direct = true, .has_preconditioner = true}, ValuesStep::refactor},
        {{.direct = false}, ValuesStep::refresh},
        {{.direct = false, .lu_may_serve = true, .lu = dear}, ValuesStep::refresh},
        {{.direct = false, .has_preconditioner = true}, ValuesStep::keep_preconditioner},
        {{.direct = false, .has_preconditioner = true, .why_refresh = "steps grew"}, ValuesStep::refresh},
        {{.direct = false, .why_refresh = "steps grew"}, ValuesStep::refresh},
    };
    for (std::size_t k = 0; k < std::size(table); ++k) EXPECT_EQ(step_for_values(table[k].facts), table[k].step) << k;
}

TEST(SeriesPolicy, APreconditionerIsKeptForSomeStepsMore)
{
    const struct {
        Index         first;
        RefreshLimits limits;
        Index         kept, with_kept;  // the latter of 100 steps
    } table[] = {
        {10, {2, 1000}, 20, 80},  {3, {2, 1000}, 8, 32},       {0, {2, 1000}, 5, 20},
        {30, {2, 1000}, 60, 100}, {10, {1, 1000}, 15, 60},     {0, {inf, 1000}, 1000, 100},
        {10, {inf, 50}, 50, 100}, {600, {2, 1000}, 1000, 100}, {10, {1e300, 9}, 9, 36},
    };
    for (const auto& row : table) {
        EXPECT_EQ(most_kept_steps(row.first, row.limits), row.kept) << row.first << ' ' << row.limits.refresh_factor;
        EXPECT_EQ(most_steps_with_kept(row.first, 100, row.limits), row.with_kept)
            << row.first << ' ' << row.limits.refresh_factor;
    }
}

TEST(SeriesPolicy, APreconditionerIsRefreshedForAReason)
{
    const struct {
        PreconditionerUse use;
        const char*       why;
    } table[] = {
        {{.outcome = Outcome::converged, .steps = 20, .first_steps = 10}, ""},
        {{.outcome = Outcome::converged, .steps = 21, .first_steps = 10}, "steps grew from 10 to 21"},
        {{.outcome = Outcome::converged, .steps = 1, .first_steps = 1, .lacks_rank = true},
         "the former one lacks rank"},
        {{.outcome = Outcome::stagnated, .steps = 1, .first_steps = 1}, "the system before: stagnated"},
        {{.outcome = Outcome::stagnated, .steps = 99, .first_steps = 1, .lacks_rank = true},
         "the system before: stagnated"},
    };
    for (const auto& row : table) EXPECT_EQ(reason_to_refresh(row.use, {2, 1000}), row.why);
    EXPECT_EQ(reason_to_refresh({.steps = 900, .first_steps = 1}, {inf, 1000}), "");
}

TEST(SeriesPolicy, AFailureWithSomethingFormerIsTriedAgainWithFactorsOfItsOwn)
{
    const struct {
        FormerUse use;
        bool      again;
    } table[] = {
        {{Outcome::max_steps, true, false, 1}, true},    {{Outcome::stagnated, true, false, inf}, true},
        {{Outcome::converged, true, false, 1}, false},   {{Outcome::max_steps, false, false, 1}, false},
        {{Outcome::time_limit, true, true, 1}, false},   {{Outcome::max_steps, true, false, 0}, false},
        {{Outcome::time_limit, true, false, -1}, false},
    };
    for (std::size_t k = 0; k < std::size(table); ++k) EXPECT_EQ(needs_own_factors(table[k].use), table[k].again) << k;
}

}  // namespace
}  // namespace ilux

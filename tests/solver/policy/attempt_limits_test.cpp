// What a try may take while the other strategy may do better, on figures made up.

#include "ilux/solver/policy/attempt_limits.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

namespace ilux {
namespace {

constexpr double never = std::numeric_limits<double>::infinity();

/// LU is expected to take 2 s, an iteration 1 s.
class AttemptLimits : public testing::Test {
protected:
    AttemptLimits()
    {
        choice.lu = Forecast{.analyse = 1, .factor = 1};
        choice.iterative = {.factor = 0.5, .solve = 0.5};
    }
    static Attempt by(bool direct)
    {
        Attempt tried;
        tried.plan.method = direct ? MethodChoice::lu : MethodChoice::gmres;
        return tried;
    }
    AttemptFacts facts(double seconds_left = never) const { return {options, rates, choice, tried, seconds_left}; }

    SolverOptions        options;
    Rates                rates;
    Choice               choice;
    std::vector<Attempt> tried;
};

TEST_F(AttemptLimits, AreOpenToTheOtherStrategyOnlyWhereItIsUntriedAndKnown)
{
    EXPECT_TRUE(other_strategy_open(facts(), true));
    EXPECT_TRUE(other_strategy_open(facts(), false));
    tried = {by(true)};
    EXPECT_TRUE(other_strategy_open(facts(), true));
    EXPECT_FALSE(other_strategy_open(facts(), false));
    tried = {};
    choice.direct_possible = false;
    EXPECT_FALSE(other_strategy_open(facts(), false));
    choice.direct_possible = true;
    options.retry = false;
    EXPECT_FALSE(other_strategy_open(facts(), false));
    options.retry = true;
    options.method = MethodChoice::gmres;
    EXPECT_FALSE(other_strategy_open(facts(), false));
    options.method = MethodChoice::automatic;
    choice.lu.reset();
    EXPECT_FALSE(other_strategy_open(facts(), true));
}

TEST_F(AttemptLimits, HalfOfTheTimeIsTheOthersWhereThatIsEnough)
{
    const struct {
        bool   direct;
        double left, share;
    } table[] = {{true, 10, 5},  {true, 4, 3},  {true, 2, 2},     {true, 1.9, 1.9},
                 {false, 10, 5}, {false, 4, 2}, {false, 3.9, 3.9}};
    for (const auto& row : table) EXPECT_EQ(share_of_time(facts(row.left), row.direct), row.share) << row.left;
}

TEST_F(AttemptLimits, AFactorizationEndsWhereItIsAMistake)
{
    const struct {
        bool   direct;
        double left, seconds;
    } table[] = {
        {true, never, 8},                                     // four times LU's forecast
        {true, 9, 8},                                         // the iteration fits into the rest
        {true, 8.9, 4.45}, {false, never, 2},                 // as long as LU takes, and twice what was expected
        {false, 4, 2},     {false, 3.9, 3.9}, {false, 1, 1},  // LU would not fit into half of it
    };
    for (const auto& row : table) EXPECT_EQ(seconds_to_factor(facts(row.left), row.direct), row.seconds) << row.left;
    choice.lu = Forecast{.factor = 6};
    EXPECT_EQ(seconds_to_factor(facts(), false), 3);  // half of LU
    choice.lu = Forecast{.factor = 3};
    EXPECT_EQ(seconds_to_factor(facts(), false), 2);
    choice.lu = Forecast{.factor = 1e-3};
    choice.iterative = {.factor = 1e-3};
    EXPECT_EQ(seconds_to_factor(facts(), true), 0.1);  // forecasts say little of less
}

TEST_F(AttemptLimits, OtherPivotsWaitWhereAnIterationIsOpenAndFaster)
{
    EXPECT_TRUE(may_take_other_pivots(facts()));  // nothing is known of their flops
    choice.facts.emplace();
    choice.facts->lu.flops = 1e10;  // 4.5 s by entries
    EXPECT_FALSE(may_take_other_pivots(facts()));
    choice.facts->lu.flops = 1e9;
    EXPECT_TRUE(may_take_other_pivots(facts()));
    choice.facts->lu.flops = 1e10;
    tried = {by(false)};
    EXPECT_TRUE(may_take_other_pivots(facts()));
    tried = {};
    options.method = MethodChoice::lu;
    EXPECT_TRUE(may_take_other_pivots(facts()));
}

TEST_F(AttemptLimits, AnIterationBeforeOtherPivotsMayTakeWhatTheseTake)
{
    choice.facts.emplace();
    choice.facts->lu.flops = 1e10;  // 4.5 s by entries
    choice.facts->iteration.heavy = 0;
    tried = {by(true)};
    tried.back().pivots_left = true;
    EXPECT_TRUE(other_strategy_open(facts(), false));
    EXPECT_NEAR(seconds_of_lu(facts()), 4.5, 0.1);
    EXPECT_EQ(seconds_to_factor(facts(), false), seconds_of_lu(facts()));
    tried.push_back(by(false));
    EXPECT_FALSE(other_strategy_open(facts(), true));  // nothing is left but these pivots
}

TEST_F(AttemptLimits, AnIterationThatIsNextToSureMayTakeTwiceAsLong)
{
    choice.facts.emplace();
    choice.facts->iteration.heavy = 0;
    EXPECT_EQ(seconds_to_factor(facts(), false), 2);
    EXPECT_EQ(most_steps(facts(), 1, 1'000'000, false), 285);
    choice.facts->iteration.rounds = true;
    EXPECT_EQ(seconds_to_factor(facts(), false), 4);
    EXPECT_EQ(most_steps(facts(), 1, 1'000'000, false), 571);
    choice.lu = Forecast{.factor = 5};
    EXPECT_EQ(seconds_to_factor(facts(), false), 10);
}

TEST_F(AttemptLimits, AnIterationHasTwoRestartsAtLeast)
{
    options.krylov.max_steps = 1000;
    options.krylov.restart = 30;
    EXPECT_EQ(most_steps(facts(), 1, 1, false), 1000);
    EXPECT_EQ(most_steps(facts(), 9, 1'000'000'000, false), 60);
    EXPECT_EQ(most_steps(facts(), 1, 1'000'000, false), 285);  // 2 s of 7 ms a step
    EXPECT_EQ(most_steps(facts(), 1, 1'000'000, true), 1000);  // where a step takes 0.1 ms
    options.krylov.restart = std::numeric_limits<Index>::max();
    EXPECT_EQ(most_steps(facts(), 1, 1'000'000, false), 1000);
    tried = {by(true)};
    EXPECT_EQ(most_steps(facts(), 9, 1'000'000'000, false), 1000);
}

TEST_F(AttemptLimits, OnlyWhatEndedBeforeTheTimeLimitWasGivenUp)
{
    const struct {
        Outcome outcome;
        double  left;
        bool    given_up;
    } table[] = {{Outcome::time_limit, 1, true}, {Outcome::time_limit, 0, false}, {Outcome::singular, 1, false}};
    for (const auto& row : table) {
        Attempt one = by(true);
        one.fail(row.outcome, "late");
        note_given_up(facts(row.left), one);
        EXPECT_EQ(one.given_up, row.given_up);
        EXPECT_EQ(one.failure, row.given_up ? "late, as an iteration is expected to take 1 s" : "late");
    }
}

TEST_F(AttemptLimits, AHopelessPreconditionerWaitsForLu)
{
    Attempt made = by(false);
    EXPECT_EQ(why_put_off(facts(), made), "");
    made.mlilu.emplace();
    EXPECT_EQ(why_put_off(facts(), made), "");
    made.mlilu->deficiency = 1;
    EXPECT_NE(why_put_off(facts(), made).find("lacks rank 1"), std::string::npos);
    tried = {by(true)};
    EXPECT_EQ(why_put_off(facts(), made), "");
}

}  // namespace
}  // namespace ilux

#include "ilux/direct/refactor_cpu/team_choice.hpp"

#include <gtest/gtest.h>

namespace ilux::detail {
namespace {

/// How many of `runs` the team makes, where it takes `team` seconds and one thread `alone`.
int runs_of_team(TeamChoice& choice, int runs, double team, double alone)
{
    int count = 0;
    for (int i = 0; i < runs; ++i) {
        if (choice.wants_team()) {
            ++count;
            choice.team_took(team);
        } else {
            choice.one_took(alone);
        }
    }
    return count;
}

TEST(TeamChoice, KeepsATeamThatIsFaster)
{
    TeamChoice choice(1.0);
    EXPECT_EQ(runs_of_team(choice, 1000, 0.8, 1.0), 1000);
}

TEST(TeamChoice, TriesASlowTeamLessAndLessOften)
{
    TeamChoice choice(1.0);
    EXPECT_EQ(runs_of_team(choice, 3, 50.0, 1.0), 3);
    EXPECT_FALSE(choice.wants_team());
    EXPECT_LE(runs_of_team(choice, 10000, 50.0, 1.0), 20);
    EXPECT_GE(runs_of_team(choice, 10000, 50.0, 1.0), 5);
}

TEST(TeamChoice, OneSlowRunAmongOthersIsForgiven)
{
    TeamChoice choice(1.0);
    for (int i = 0; i < 100; ++i) {
        ASSERT_TRUE(choice.wants_team());
        choice.team_took(50.0);
        ASSERT_EQ(runs_of_team(choice, 3, 0.8, 1.0), 3);
    }
}

TEST(TeamChoice, ReturnsToTheTeamOnceItIsFaster)
{
    TeamChoice choice(1.0);
    runs_of_team(choice, 100, 50.0, 1.0);
    EXPECT_GE(runs_of_team(choice, 2000, 0.8, 1.0), 1700);
}

TEST(TeamChoice, MeasuresWhereTheModelExpectedTooMuch)
{
    TeamChoice choice(0.1);  // one thread really takes 1
    EXPECT_GE(runs_of_team(choice, 1000, 0.8, 1.0), 990);
}

}  // namespace
}  // namespace ilux::detail

#include "ilux/apps/program/child.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace ilux {
namespace {

TEST(RunSelf, PassesOnEveryLineAndTellsHowItEnded)
{
    std::vector<std::string> lines;  // this very program, asked for its tests
    EXPECT_EQ(app::run_self({"--gtest_list_tests"}, 60, [&](std::string_view line) { lines.emplace_back(line); }), "");
    EXPECT_NE(std::ranges::find(lines, "RunSelf."), lines.end());
}

}  // namespace
}  // namespace ilux

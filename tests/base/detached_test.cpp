// Oracles: who ran the work, by thread; how long the caller was kept, against work that ends only once it is abandoned.

#include "ilux/base/detached.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "ilux/base/error.hpp"
#include "ilux/tests/support/stop_at.hpp"

namespace ilux {
namespace {

const auto own_thread = [](const Abandoned&) { return std::this_thread::get_id(); };

TEST(RunDetached, WithNothingToStopItTheCallerWorks)
{
    EXPECT_EQ(run_detached(own_thread, {}), std::this_thread::get_id());
}

TEST(RunDetached, OtherwiseAnotherThreadDoesAndHandsOverItsResult)
{
    EXPECT_NE(run_detached(own_thread, test::never()), std::this_thread::get_id());
    const auto made = run_detached([](const Abandoned&) { return std::vector<int>{1, 2, 3}; }, test::never());
    EXPECT_EQ(made, (std::vector<int>{1, 2, 3}));
}

TEST(RunDetached, WhatTheWorkThrowsReachesTheCaller)
{
    const auto fails = [](const Abandoned&) -> int { throw OutOfMemory("none left"); };
    EXPECT_THROW(run_detached(fails, {}), OutOfMemory);
    EXPECT_THROW(run_detached(fails, test::never()), OutOfMemory);
}

TEST(RunDetached, ATokenEndsTheWaitAndTellsTheWork)
{
    const auto ended = std::make_shared<std::promise<void>>();
    const auto endless = [ended](const Abandoned& abandoned) {
        while (!abandoned) std::this_thread::sleep_for(std::chrono::milliseconds(1));
        ended->set_value();
        return 0;
    };
    EXPECT_THROW(run_detached(endless, StopToken().within(0.02)), OutOfTime);
    EXPECT_EQ(ended->get_future().wait_for(std::chrono::seconds(60)), std::future_status::ready);
}

}  // namespace
}  // namespace ilux

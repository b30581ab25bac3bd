// Oracles: the reasons that were put into a token, one by one and together.

#include "ilux/base/stop_token.hpp"

#include <gtest/gtest.h>
#include <signal.h>

#include <limits>
#include <string>
#include <thread>

#include "ilux/tests/support/checks.hpp"
#include "ilux/tests/support/stop_at.hpp"

namespace ilux {
namespace {

constexpr double forever = 1e9;

TEST(StopToken, NeverStopsByDefault)
{
    const StopToken none;
    EXPECT_FALSE(none.possible());
    EXPECT_EQ(none.reason(), StopReason::none);
    EXPECT_NO_THROW(none.check());
    EXPECT_FALSE(none.within(std::numeric_limits<double>::infinity()).possible());
    EXPECT_FALSE(none.asking({}).possible());
}

TEST(StopToken, IsCancelledByItsSourceFromAnotherThread)
{
    StopSource      source;
    const StopToken stop = source.token(), limited = stop.within(forever);
    EXPECT_TRUE(stop.possible());
    EXPECT_FALSE(stop.stopped() || limited.stopped());
    std::thread([&] { source.request_stop(); }).join();
    EXPECT_EQ(stop.reason(), StopReason::cancelled);
    EXPECT_EQ(limited.reason(), StopReason::cancelled);
    EXPECT_THROW(limited.check(), Cancelled);
}

StopSource source_of_the_signal;

TEST(StopToken, IsCancelledByASignal)
{
    const StopToken  stop = source_of_the_signal.token();
    struct sigaction action {
    }, former{};
    action.sa_handler = [](int) { source_of_the_signal.request_stop(); };
    sigaction(SIGUSR1, &action, &former);
    EXPECT_FALSE(stop.stopped());
    raise(SIGUSR1);
    sigaction(SIGUSR1, &former, nullptr);
    EXPECT_TRUE(stop.stopped());
}

TEST(StopToken, OutlivesItsSource)
{
    StopToken stop;
    {
        StopSource source;
        stop = source.token();
    }
    EXPECT_FALSE(stop.stopped());
}

TEST(StopToken, EndsAtTheFirstOfItsLimitsAndSaysWhose)
{
    const StopToken stop = StopToken().within(0, "the inner one").within(forever, "the outer one");
    EXPECT_EQ(stop.reason(), StopReason::time_limit);
    test::expect_refusal<OutOfTime>([&] { stop.check(); }, {"the inner one"});
    EXPECT_EQ(StopToken().within(forever).reason(), StopReason::none);
    EXPECT_EQ(StopToken().within(-1).reason(), StopReason::time_limit);
}

TEST(StopToken, TellsCancellationBeforeATimeLimitWhereverItStands)
{
    StopSource source;
    source.request_stop();
    EXPECT_EQ(source.token().within(0).reason(), StopReason::cancelled);
    EXPECT_EQ(StopToken().within(0).asking([] { return true; }).reason(), StopReason::cancelled);
}

TEST(StopToken, KeepsToAnAnswer)
{
    std::atomic<int> asked;
    const StopToken  stop = test::stop_at(3, asked);
    EXPECT_FALSE(stop.stopped());
    EXPECT_FALSE(stop.stopped());
    for (int again = 0; again < 3; ++again) EXPECT_TRUE(stop.stopped());
    EXPECT_EQ(asked, 3);  // a caller who said yes is not asked again
}

TEST(Steps, AskEvery16384th)
{
    std::atomic<int> asked;
    const StopToken  stop = test::stop_at(2, asked);
    Steps            step(stop);
    for (int k = 0; k < 0x7fff; ++k) step();
    EXPECT_EQ(asked, 1);
    EXPECT_THROW(step(), Cancelled);
}

}  // namespace
}  // namespace ilux

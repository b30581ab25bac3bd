#include "ilux/direct/supernodal/task_graph.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>
#include <vector>

namespace ilux {
namespace {

/// A chain of each column of a square, and each task waits for its neighbour in the column before, too.
TaskGraph square(Index n)
{
    TaskGraph graph;
    for (Index t = 0; t < n * n; ++t) graph.add(1 + t % 3);
    for (Index i = 0; i < n; ++i)
        for (Index j = 0; j < n; ++j) {
            if (i > 0) graph.before((i - 1) * n + j, i * n + j);
            if (j > 0) graph.before(i * n + j - 1, i * n + j);
        }
    graph.finish();
    return graph;
}

TEST(TaskGraph, EachTaskRunsOnceAndAfterThoseItWaitsFor)
{
    constexpr Index n = 20;
    const TaskGraph graph = square(n);
    for (const int threads : {1, 2, 3, 8}) {
        Cpu                           be(threads);
        std::vector<std::atomic<int>> done(n * n);
        const StopReason              why = graph.run(be, threads, {}, [&](Index t, int thread) {
            EXPECT_LT(thread, threads);
            EXPECT_EQ(t < n ? 1 : done[t - n].load(), 1);
            EXPECT_EQ(t % n == 0 ? 1 : done[t - 1].load(), 1);
            ++done[t];
        });
        EXPECT_EQ(why, StopReason::none);
        for (const auto& one : done) EXPECT_EQ(one, 1);
    }
}

TEST(TaskGraph, KnowsItsLongestPath)
{
    TaskGraph graph;
    for (const double cost : {1.0, 5.0, 2.0, 10.0}) graph.add(cost);
    graph.before(0, 1);
    graph.before(0, 2);
    graph.before(1, 2);
    graph.finish();
    EXPECT_EQ(graph.longest_path(), 10);
    EXPECT_EQ(graph.cost(), 18);
}

TEST(TaskGraph, AnExceptionEndsTheRunAndComesOut)
{
    const TaskGraph graph = square(10);
    for (const int threads : {1, 2, 4}) {
        Cpu be(threads);
        EXPECT_THROW((void)graph.run(be, threads, {},
                                     [](Index t, int) {
                                         if (t == 37) throw std::runtime_error("37");
                                     }),
                     std::runtime_error);
    }
}

TEST(TaskGraph, StopsBetweenTasks)
{
    const TaskGraph graph = square(10);
    for (const int threads : {1, 2, 4}) {
        Cpu              be(threads);
        std::atomic<int> ran = 0;
        const auto       stop = StopToken().asking([&] { return ran >= 5; });
        EXPECT_EQ(graph.run(be, threads, stop, [&](Index, int) { ++ran; }), StopReason::cancelled);
        EXPECT_LT(ran, 100);
    }
}

TEST(TaskGraph, ThreadsThatSleepAreWokenByWhatBecomesReady)
{
    constexpr Index many = 40;
    TaskGraph       graph;
    for (int stage = 0; stage < 3; ++stage) {
        const Index slow = graph.add(1);  // the others have nothing to do meanwhile
        if (stage > 0)
            for (Index t = slow - many; t < slow; ++t) graph.before(t, slow);
        for (Index k = 0; k < many; ++k) {
            const Index task = graph.add(1);
            graph.before(slow, task);
            graph.before(slow, task);  // twice is as good as once
        }
    }
    graph.finish();
    for (const int threads : {2, 4, 7}) {
        Cpu                           be(threads);
        std::vector<std::atomic<int>> done(graph.tasks());
        EXPECT_EQ(graph.run(be, threads, {},
                            [&](Index t, int) {
                                if (t % (many + 1) == 0) std::this_thread::sleep_for(std::chrono::milliseconds(5));
                                else EXPECT_EQ(done[t / (many + 1) * (many + 1)].load(), 1);
                                ++done[t];
                            }),
                  StopReason::none);
        for (const auto& one : done) EXPECT_EQ(one, 1);
    }
}

TEST(TaskGraph, OfNothingIsDone)
{
    TaskGraph graph;
    graph.finish();
    Cpu be(4);
    EXPECT_EQ(graph.run(be, 4, {}, [](Index, int) { FAIL(); }), StopReason::none);
    EXPECT_EQ(graph.longest_path(), 0);
}

}  // namespace
}  // namespace ilux

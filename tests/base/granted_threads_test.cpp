// How many threads a parallel region may have, where that is not as many as it wants. Each death test is a program of
// its own, as what is asked depends on what this one did before.

#include "ilux/base/granted_threads.hpp"

#include <gtest/gtest.h>
#include <omp.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <string>
#include <thread>

#include "ilux/base/cpu.hpp"
#include "ilux/tests/support/checks.hpp"

namespace ilux {
namespace {

constexpr int wanted = 4;

int threads_of_a_region(const Cpu& be)
{
    int count = 0;
#pragma omp parallel num_threads(be.team()) reduction(+ : count)
    count += 1;
    return count;
}

void region_of_a_user()
{
#pragma omp parallel num_threads(2)
    omp_get_thread_num();
}

/// Exit code of a child that does this.
template <class Work>
int in_a_child(Work&& work)
{
    const pid_t child = fork();
    if (child == 0) {
        alarm(60);
        _exit(work());
    }
    int status = -1;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

class GrantedThreads : public testing::Test {
protected:
    void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};
using GrantedThreadsDeathTest = GrantedThreads;

TEST_F(GrantedThreads, AreAsManyAsWantedWhereNothingForbidsIt)
{
    const Cpu be(wanted);
    EXPECT_EQ(be.team(), wanted);
    EXPECT_EQ(be.team(false), 1);
    EXPECT_EQ(Cpu(1).team(), 1);
    EXPECT_EQ(Cpu(2).team(), 2);
    EXPECT_EQ(threads_of_a_region(be), wanted);
}

TEST_F(GrantedThreads, AreOneInsideAnotherRegion)
{
    const Cpu be(wanted);
    int       inner = 0;
#pragma omp parallel num_threads(2) reduction(max : inner)
    inner = be.team();
    EXPECT_EQ(inner, 1);
}

TEST_F(GrantedThreadsDeathTest, AreAllInAChildOfAProcessWithoutThreads)
{
    EXPECT_EXIT(_exit(in_a_child([] { return threads_of_a_region(Cpu(wanted)); })), testing::ExitedWithCode(wanted),
                "");
}

TEST_F(GrantedThreadsDeathTest, AreOneInAChildOfAProcessWithThreads)
{
    const auto ends_with_one = [](auto&& before) {
        before();
        _exit(in_a_child([] { return threads_of_a_region(Cpu(wanted)); }));
    };
    EXPECT_EXIT(ends_with_one([] { threads_of_a_region(Cpu(wanted)); }), testing::ExitedWithCode(1), "");
    EXPECT_EXIT(ends_with_one(region_of_a_user), testing::ExitedWithCode(1), "");
}

TEST_F(GrantedThreadsDeathTest, AreAllInANewThreadOfAChild)
{
    EXPECT_EXIT(
        {
            threads_of_a_region(Cpu(wanted));
            _exit(in_a_child([] {
                int count = 0;
                std::thread([&] { count = threads_of_a_region(Cpu(wanted)); }).join();
                return count;
            }));
        },
        testing::ExitedWithCode(wanted), "");
}

/// From now on this process may take so many bytes of addresses more than it has.
void limit_memory(rlim_t more)
{
    rlim_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    const rlim_t bytes = pages * static_cast<rlim_t>(sysconf(_SC_PAGESIZE)) + more;
    const rlimit limit{bytes, bytes};
    if (setrlimit(RLIMIT_AS, &limit) != 0) _exit(99);
}

TEST_F(GrantedThreadsDeathTest, AreFewerWhereTheSystemRefusesMore)
{
    if (!test::memory_may_be_limited) GTEST_SKIP()
    << "no limit on memory under this sanitizer";
    rlimit stack{};
    ASSERT_EQ(getrlimit(RLIMIT_STACK, &stack), 0);
    if (stack.rlim_cur > (rlim_t{1} << 26)) GTEST_SKIP()
    << "threads have no known size of stack here";
    const auto with = [&](rlim_t memory) {
        limit_memory(memory);
        _exit(threads_of_a_region(Cpu(wanted)));
    };
    constexpr rlim_t some = rlim_t{3} << 20;
    EXPECT_EXIT(with(some), testing::ExitedWithCode(1), "");
    EXPECT_EXIT(with(stack.rlim_cur + some), testing::ExitedWithCode(2), "");
    EXPECT_EXIT(with(0), testing::ExitedWithCode(1), "");
}

}  // namespace
}  // namespace ilux

// No exception passes the border to C.

#include "ilux/c_api/guard.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

#include "ilux/base/error.hpp"
#include "ilux/tests/c_api/c_system.hpp"
#include "ilux/tests/support/allocation_counter.hpp"

namespace ilux::c_api {
namespace {

using namespace ilux::test;

template <class Thrown>
std::pair<int, std::string> caught(const Thrown& thrown)
{
    Message   message;
    const int status = guarded(message, [&]() -> int { throw thrown; });
    return {status, message.text()};
}

TEST(Guard, EveryExceptionHasAStatusAndItsWords)
{
    EXPECT_EQ(caught(InvalidOption("a")), std::pair(ILUX_BAD_OPTION, std::string("a")));
    EXPECT_EQ(caught(InvalidInput("b")), std::pair(ILUX_BAD_INPUT, std::string("b")));
    EXPECT_EQ(caught(OutOfMemory("c")), std::pair(ILUX_OUT_OF_MEMORY, std::string("c")));
    EXPECT_EQ(caught(OutOfTime("d")), std::pair(ILUX_NOT_CONVERGED, std::string("d")));
    EXPECT_EQ(caught(Cancelled("e")), std::pair(ILUX_CANCELLED, std::string("e")));
    EXPECT_EQ(caught(DeviceError("f")), std::pair(ILUX_NO_DEVICE, std::string("f")));
    EXPECT_EQ(caught(std::bad_alloc()), std::pair(ILUX_OUT_OF_MEMORY, std::string("out of memory")));
    EXPECT_EQ(caught(std::runtime_error("g")), std::pair(ILUX_INTERNAL, std::string("g")));
    EXPECT_EQ(caught(7), std::pair(ILUX_INTERNAL, std::string("an unknown exception")));
}

TEST(Guard, ASuccessForgetsFormerWords)
{
    Message message;
    message.set("former");
    EXPECT_EQ(guarded(message, [] { return ILUX_OK; }), ILUX_OK);
    EXPECT_STREQ(message.text(), "");
}

TEST(Guard, ThreadsHaveWordsOfTheirOwn)
{
    message_of_thread().set("mine");
    std::thread([] { EXPECT_STREQ(message_of_thread().text(), ""); }).join();
    EXPECT_STREQ(message_of_thread().text(), "mine");
}

TEST(Guard, LackOfMemoryIsAStatusWhereverItHappens)
{
    auto                A = line<double>(12, true);
    const ilux_csr      csr = A.csr(32);
    std::vector<double> b(12, 1.0), x(12);
    const auto          solve = [&] {
        ilux_solver* solver = nullptr;
        int          status = ilux_create(ILUX_REAL, &solver);
        if (status == ILUX_OK) status = ilux_set(solver, "threads", "1");
        if (status == ILUX_OK) status = ilux_set(solver, "device", "cpu");
        if (status == ILUX_OK) status = ilux_set(solver, "method", "lu");
        if (status == ILUX_OK) status = ilux_analyse(solver, &csr, 1, 1);
        if (status == ILUX_OK) status = ilux_factor(solver, nullptr);
        if (status == ILUX_OK) status = ilux_solve(solver, ILUX_PLAIN, 1, b.data(), 12, x.data(), 12);
        ilux_destroy(solver);
        return status;
    };
    ASSERT_EQ(solve(), ILUX_OK);  // an OpenMP runtime that lacks memory while it starts waits for itself for ever
    long failed = 0, refused = 0;
    for (long k = 1; k < 20000; ++k) {
        int  status = 0;
        bool met = false;
        std::ranges::fill(x, 0.0);
        {
            const AllocationCounter counter(k);
            status = solve();
            met = counter.failed();
        }
        if (!met) break;
        const bool solved = status == ILUX_OK && c_residual<double>(A, ILUX_PLAIN, x, b) <= 1e-8;
        EXPECT_TRUE(solved || status == ILUX_OUT_OF_MEMORY) << k << ": " << status;
        refused += status == ILUX_OUT_OF_MEMORY;
        ++failed;
    }
    EXPECT_GT(failed, 20);
    EXPECT_GT(2 * refused, failed);  // few allocations can be done without
}

}  // namespace
}  // namespace ilux::c_api

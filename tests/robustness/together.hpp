#pragma once
// Two solvers on two host threads at once, against each alone.

#include <gtest/gtest.h>

#include <barrier>
#include <functional>
#include <thread>
#include <vector>

#include "ilux/tests/support/checks.hpp"

namespace ilux::test {

using Answers = std::vector<std::vector<double>>;
using Solver = std::function<Answers()>;  // run by one thread from beginning to end

/// Each alone, then both at once, several times.
inline void expect_same_answers_together(const Solver& one, const Solver& other, int repeats = 3)
{
    const Answers alone[] = {one(), other()};
    for (int repeat = 0; repeat < repeats; ++repeat) {
        Answers      together[2];
        std::barrier start(2);
        {
            const auto work = [&](int t) {
                start.arrive_and_wait();
                together[t] = (t == 0 ? one : other)();
            };
            const std::jthread first(work, 0), second(work, 1);
        }
        for (int t = 0; t < 2; ++t) {
            ASSERT_EQ(together[t].size(), alone[t].size());
            for (std::size_t k = 0; k < alone[t].size(); ++k)
                ASSERT_TRUE(identical(together[t][k], alone[t][k])) << "solver " << t << ", answer " << k;
        }
    }
}

}  // namespace ilux::test

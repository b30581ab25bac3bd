// The loop over tries, with steps that only pretend to factor and to solve.

#include "ilux/solver/policy/attempt_loop.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

#include "ilux/base/error.hpp"

namespace ilux {
namespace {

/// Plans 1, 2, … up to `plans`, told apart by `change`. Each of them factors and solves, or does not.
class Loop : public testing::Test {
protected:
    static Plan plan(int k)
    {
        Plan plan;
        plan.change = "plan " + std::to_string(k);
        return plan;
    }
    static int number(const Plan& plan) { return plan.change.back() - '0'; }

    /// A call of factor()'s kind that ends well.
    bool factored_call()
    {
        AttemptLoop::Call call(loop, AttemptLoop::Input::values);
        loop.begin_values();
        const bool factored = loop.factor(plan(1));
        call.done();
        return factored;
    }
    void solve()
    {
        loop.solve([this](Attempt& tried) {
            EXPECT_EQ(tried.x.size(), 1u);
            const bool solves = number(tried.plan) >= first_that_solves;
            tried.report.outcome = solves ? Outcome::converged : Outcome::max_steps;
            tried.x.of<double>() = {double(number(tried.plan))};
        });
    }
    std::vector<int> tried() const
    {
        std::vector<int> numbers;
        for (const Attempt& one : loop.tried()) numbers.push_back(number(one.plan));
        return numbers;
    }

    int         plans = 4, first_that_factors = 1, first_that_solves = 1;
    AttemptLoop loop{{.begin =
                          [](const Plan& plan) {
                              Attempt tried;
                              tried.plan = plan;
                              tried.forget_solution();
                              tried.seconds_factor = 1;
                              return tried;
                          },
                      .guess = [] { return std::vector<double>(1); },
                      .factor =
                          [this](Attempt& tried) {
                              if (number(tried.plan) >= first_that_factors) return true;
                              tried.fail(Outcome::breakdown, "no factors");
                              return false;
                          },
                      .next = [this](std::span<const Attempt> tried, std::string& why_not) -> std::optional<Plan> {
                          const int last = number(tried.back().plan);
                          if (last < plans) return plan(last + 1);
                          why_not = "no plan is left";
                          return std::nullopt;
                      }}};
};

using Numbers = std::vector<int>;

TEST_F(Loop, FallsBackUntilOnePlanFactors)
{
    const struct {
        int         first_that_factors;
        Numbers     tried;  // those that ended: the one with factors has not
        SolverState state;
    } table[] = {
        {1, {}, SolverState::factored},
        {3, {1, 2}, SolverState::factored},
        {4, {1, 2, 3}, SolverState::factored},
        {5, {1, 2, 3, 4}, SolverState::failed},
    };
    loop.analysed(true);
    for (const auto& row : table) {
        first_that_factors = row.first_that_factors;
        EXPECT_EQ(factored_call(), row.state == SolverState::factored);
        EXPECT_EQ(tried(), row.tried);
        EXPECT_EQ(loop.state(), row.state);
    }
}

TEST_F(Loop, FallsBackUntilOnePlanSolves)
{
    const struct {
        int         first_that_factors, first_that_solves;
        Numbers     tried;
        SolverState state;
    } table[] = {
        {1, 1, {1}, SolverState::factored},
        {1, 3, {1, 2, 3}, SolverState::factored},
        {2, 4, {1, 2, 3, 4}, SolverState::factored},
        {1, 9, {1, 2, 3, 4}, SolverState::factored},  // the last factors serve another b
        {9, 9, {1, 2, 3, 4}, SolverState::failed},
    };
    loop.analysed(true);
    for (const auto& row : table) {
        first_that_factors = row.first_that_factors;
        first_that_solves = row.first_that_solves;
        (void)factored_call();
        solve();
        EXPECT_EQ(tried(), row.tried);
        EXPECT_EQ(loop.state(), row.state);
    }
}

TEST_F(Loop, TellsEveryTryOnceAndWhyThereIsNoOther)
{
    loop.analysed(true);
    first_that_factors = 2;
    first_that_solves = 9;
    (void)factored_call();
    solve();
    const auto report = loop.tell(StopTest::residual);
    EXPECT_EQ(report.attempts.size(), 4u);
    EXPECT_EQ(report.stopped, "no plan is left");
    ASSERT_EQ(report.decisions.size(), 3u);
    EXPECT_EQ(report.decisions[0], "breakdown: no factors; trying plan 2");
    EXPECT_EQ(report.decisions[1], "max_steps after 0 steps: trying plan 3");
    EXPECT_TRUE(loop.tried().empty());
    EXPECT_EQ(report.attempts[1].seconds_factor, 1);
    EXPECT_EQ(loop.current().seconds_factor, 0);  // told
}

TEST_F(Loop, FactorsThatOthersWereToReplaceAreDropped)
{
    loop.analysed(true);
    first_that_solves = 9;
    (void)factored_call();
    first_that_factors = 9;  // from plan 2 on
    solve();
    EXPECT_EQ(tried(), (Numbers{1, 2, 3, 4}));
    EXPECT_EQ(loop.state(), SolverState::dropped);
}

TEST_F(Loop, ForgetsTheTriesOfACallThatAnExceptionBrokeOff)
{
    first_that_factors = 3;
    first_that_solves = 9;
    loop.analysed(true);
    (void)factored_call();
    EXPECT_EQ(tried(), (Numbers{1, 2}));
    int ended = 0, enough = 1;
    loop.listen([&](const Attempt&) {
        if (++ended == enough) throw std::runtime_error("enough");
    });
    const auto broken_off = [&](AttemptLoop::Input input, const auto& work) {
        ended = 0;
        AttemptLoop::Call call(loop, input);
        work();
        call.done();
    };
    // A b: the tries before it stay as long as there are factors.
    EXPECT_THROW(broken_off(AttemptLoop::Input::rhs, [&] { solve(); }), std::runtime_error);
    EXPECT_EQ(tried(), (Numbers{1, 2}));
    EXPECT_EQ(loop.state(), SolverState::factored);
    enough = 2;
    first_that_factors = 9;  // the factors of plan 3 are gone when those of plan 4 fail
    EXPECT_THROW(broken_off(AttemptLoop::Input::rhs, [&] { solve(); }), std::runtime_error);
    EXPECT_EQ(tried(), Numbers{});
    EXPECT_EQ(loop.state(), SolverState::dropped);
    // New values: nothing stays.
    const auto new_values = [&] {
        loop.begin_values();
        (void)loop.factor(plan(1));
    };
    EXPECT_THROW(broken_off(AttemptLoop::Input::values, new_values), std::runtime_error);
    EXPECT_EQ(tried(), Numbers{});
    EXPECT_EQ(loop.state(), SolverState::broken_off);
    const auto failed_untold = [&] {
        enough = 9;
        new_values();
        EXPECT_EQ(loop.state(), SolverState::failed);
        throw std::runtime_error("before anybody heard of it");
    };
    EXPECT_THROW(broken_off(AttemptLoop::Input::values, failed_untold), std::runtime_error);
    EXPECT_EQ(loop.state(), SolverState::broken_off);
}

TEST_F(Loop, NotesEachDecisionOnceAndRemarksOfASingleSystem)
{
    for (const bool single : {true, false}) {
        loop.analysed(single);
        Attempt tried;
        tried.decisions = {"device cpu", "device cpu"};
        tried.remark = "the residual stays";
        loop.end(tried);
        loop.end(tried);
        const auto decisions = loop.tell(StopTest::residual).decisions;
        EXPECT_EQ(decisions.size(), single ? 3u : 1u);
        EXPECT_EQ(decisions[0], "device cpu");
    }
}

TEST(RunGuarded, MakesLackOfMemoryOrTimeOrCancellationAnOutcome)
{
    const struct {
        std::function<void(Attempt&)> work;
        Outcome                       outcome;
        std::string                   failure;
    } table[] = {
        {[](Attempt& one) { one.report.outcome = Outcome::converged; }, Outcome::converged, ""},
        {[](Attempt&) { throw OutOfMemory("9 bytes"); }, Outcome::out_of_memory, "9 bytes"},
        {[](Attempt&) { throw std::bad_alloc(); }, Outcome::out_of_memory, "the machine's memory is exhausted"},
        {[](Attempt&) { throw OutOfTime("1 s"); }, Outcome::time_limit, "1 s"},
        {[](Attempt&) { throw Cancelled("asked to"); }, Outcome::cancelled, "asked to"},
    };
    for (const auto& row : table) {
        Attempt tried;
        run_guarded(tried, row.work);
        EXPECT_EQ(tried.report.outcome, row.outcome);
        EXPECT_EQ(tried.failure, row.failure);
        EXPECT_GE(tried.seconds, 0);
    }
    Attempt tried;
    EXPECT_THROW(run_guarded(tried, [](Attempt&) { throw DeviceError("lost"); }), DeviceError);
}

}  // namespace
}  // namespace ilux

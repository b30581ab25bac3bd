// What may be called in which state, and what it leaves: the rules, and a LinearSolver held to them.

#include "ilux/solver/policy/solver_state.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <stdexcept>
#include <string>
#include <variant>

#include "ilux/tests/solver/ilu0_first.hpp"

namespace ilux {
namespace {

using namespace ilux::test;
using enum SolverState;

constexpr SolverState all[] = {empty, analysed, factored, failed, dropped, broken_off};

const char* text(SolverState state)
{
    switch (state) {
        case empty:
            return "empty";
        case analysed:
            return "analysed";
        case factored:
            return "factored";
        case failed:
            return "failed";
        case dropped:
            return "dropped";
        case broken_off:
            return "broken_off";
    }
    return "unknown";
}

TEST(SolverState, FollowsEveryEventAsItsTableSays)
{
    const struct {
        SolverEvent event;
        SolverState next[5];  // after analysed, factored, failed, dropped, broken_off
    } table[] = {
        {SolverEvent::analysis, {analysed, analysed, analysed, analysed, analysed}},
        {SolverEvent::new_values, {analysed, broken_off, broken_off, broken_off, broken_off}},
        {SolverEvent::attempt_failed, {broken_off, broken_off, failed, dropped, broken_off}},
        {SolverEvent::attempt_factored, {factored, factored, factored, factored, factored}},
        {SolverEvent::out_of_plans, {failed, factored, failed, dropped, failed}},
        {SolverEvent::drop, {analysed, dropped, failed, dropped, broken_off}},
    };
    for (const auto& row : table)
        for (int k = 0; k < 5; ++k)
            EXPECT_EQ(next_state(all[k + 1], row.event), row.next[k])
                << text(all[k + 1]) << ", event " << static_cast<int>(row.event);
    EXPECT_EQ(next_state(empty, SolverEvent::analysis), analysed);
}

constexpr const char* nothing_factored = "solve: nothing was factored yet; call factor() first";
constexpr const char* broken =
    "solve: an exception broke the last factorization off, and there are no factors: factor() again";

TEST(SolverState, SaysWhyACallIsNotAllowed)
{
    for (const SolverState state : all) {
        EXPECT_EQ(objection(state, SolverCall::analyse), "");
        for (const SolverCall call : {SolverCall::factor, SolverCall::refactor, SolverCall::refactor_and_solve,
                                      SolverCall::solve_batch, SolverCall::device}) {
            EXPECT_EQ(objection(state, call).empty(), state != empty) << text(state);
        }
    }
    EXPECT_EQ(objection(empty, SolverCall::factor), "factor: no matrix was analysed yet; call analyse(A) first");
    EXPECT_EQ(objection(empty, SolverCall::refactor), "refactor: no matrix was analysed yet; call analyse(A) first");
    EXPECT_EQ(objection(empty, SolverCall::refactor_and_solve),
              "refactor_and_solve: no matrix was analysed yet; call analyse(A) first");
    EXPECT_EQ(objection(empty, SolverCall::device), "device: no matrix was analysed yet; call analyse(A) first");
    EXPECT_EQ(objection(empty, SolverCall::solve), nothing_factored);
    EXPECT_EQ(objection(analysed, SolverCall::solve), nothing_factored);
    EXPECT_EQ(objection(broken_off, SolverCall::solve), broken);
    for (const SolverState state : {factored, failed, dropped})
        EXPECT_EQ(objection(state, SolverCall::solve), "") << text(state);
    EXPECT_THROW(require_allowed(empty, SolverCall::factor), InvalidInput);
    EXPECT_NO_THROW(require_allowed(factored, SolverCall::solve));
}

/// A solver in any state, and every public call.
class SolverStates : public Ilu0First {
protected:
    /// Takes three steps at most, and has no memory for a multilevel ILU: `easy` is solved for, b is not.
    LinearSolver<> in(SolverState state)
    {
        SolverOptions options{.mode = SolverMode::iterative};
        LinearSolver  solver = state == empty ? LinearSolver(serial(options)) : analysed(too_few_steps, too_few);
        switch (state) {
            case empty:
            case SolverState::analysed:
                break;
            case factored:
                EXPECT_TRUE(solver.factor().ready());
                break;
            case failed:
                EXPECT_FALSE(solver.factor(bad).ready());
                break;
            case dropped:
                EXPECT_TRUE(solver.factor().ready());
                EXPECT_FALSE(solver.solve(b, x).converged());
                break;
            case broken_off:
                solver.listen({}, throw_enough);  // once ILU(0) has failed
                EXPECT_THROW(solver.factor(bad), std::runtime_error);
                solver.listen({});
                break;
        }
        EXPECT_EQ(text(solver.state()), std::string(text(state)));
        return solver;
    }

    struct Row {
        const char*                          call;
        std::function<void(LinearSolver<>&)> run;
        /// From each state: the one that is left, or a text that is thrown while the state stays.
        std::variant<SolverState, const char*> then[6];
    };
    void expect(const Row& row)
    {
        for (std::size_t k = 0; k < std::size(all); ++k) {
            SCOPED_TRACE(std::string(row.call) + " when " + text(all[k]));
            LinearSolver solver = in(all[k]);
            const auto*  thrown = std::get_if<const char*>(&row.then[k]);
            std::string  what;
            try {
                row.run(solver);
            } catch (const InvalidInput& error) {
                what = error.what();
            } catch (const std::runtime_error& error) {
                what = error.what();
                EXPECT_EQ(what, "enough");
                what.clear();
            }
            EXPECT_EQ(what, thrown ? *thrown : "");
            EXPECT_STREQ(text(solver.state()), text(thrown ? all[k] : std::get<SolverState>(row.then[k])));
        }
    }
};

TEST_F(SolverStates, EveryCallWorksOrSaysWhyNot)
{
    constexpr auto no_factor = "factor: no matrix was analysed yet; call analyse(A) first";
    constexpr auto no_refactor = "refactor: no matrix was analysed yet; call analyse(A) first";
    constexpr auto no_step = "refactor_and_solve: no matrix was analysed yet; call analyse(A) first";
    constexpr auto no_batch = "solve_batch: no matrix was analysed yet; call analyse(A) first";
    const Row      rows[] = {
             {"analyse",
              [&](auto& s) { s.analyse(A, 4); },
              {SolverState::analysed, SolverState::analysed, SolverState::analysed, SolverState::analysed,
               SolverState::analysed, SolverState::analysed}},
             {"factor(values)",
              [&](auto& s) { (void)s.factor(A.val()); },
              {no_factor, factored, factored, factored, factored, factored}},
             {"factor(bad)", [&](auto& s) { (void)s.factor(bad); }, {no_factor, failed, failed, failed, failed, failed}},
             {"refactor(values)",
              [&](auto& s) { (void)s.refactor(A.val()); },
              {no_refactor, factored, factored, factored, factored, factored}},
             {"refactor(A)",
              [&](auto& s) { (void)s.refactor(A); },
              {no_refactor, factored, factored, factored, factored, factored}},
             {"solve",
              [&](auto& s) { (void)s.solve(easy, x); },
              {nothing_factored, nothing_factored, factored, failed, factored, broken}},
             {"solve(b)",
              [&](auto& s) { (void)s.solve(b, x); },
              {nothing_factored, nothing_factored, dropped, failed, dropped, broken}},
             {"refactor_and_solve",
              [&](auto& s) { (void)s.refactor_and_solve(A.val(), easy, x); },
              {no_step, factored, factored, factored, factored, factored}},
             {"refactor_and_solve(b)",
              [&](auto& s) { (void)s.refactor_and_solve(A.val(), b, x); },
              {no_step, dropped, dropped, dropped, dropped, dropped}},
             {"solve_batch",
              [&](auto& s) { (void)s.solve_batch(1, A.val(), easy, x); },
              {no_batch, factored, factored, factored, factored, factored}},
             {"solve_batch of none",
              [&](auto& s) { (void)s.solve_batch(0, {}, {}, {}); },
              {no_batch, SolverState::analysed, factored, failed, dropped, broken_off}},
             {"device",
              [](auto& s) { (void)s.device(); },
              {"device: no matrix was analysed yet; call analyse(A) first", SolverState::analysed, factored, failed, dropped,
               broken_off}},
             {"queries",
              [](auto& s) {
             (void)s.matrix();
             EXPECT_EQ(s.lu(), nullptr);
             EXPECT_EQ(s.preconditioner() != nullptr, s.state() == factored);
             s.listen({});
         },
              {empty, SolverState::analysed, factored, failed, dropped, broken_off}},
    };
    for (const Row& row : rows) expect(row);
}

TEST_F(SolverStates, AnExceptionLeavesWhatTheTableSays)
{
    const CsrMatrix<double> wide = CsrMatrix<double>::from_arrays(1, 2, {0, 1}, {1}, {1});
    const auto              thrower = [](auto& s) { s.listen({}, throw_enough); };
    const Row               rows[] = {
                      {"a wide matrix",
                       [&](auto& s) { EXPECT_THROW(s.analyse(wide), InvalidInput); },
                       {empty, SolverState::analysed, factored, failed, dropped, broken_off}},
                      {"too few values",
                       [&](auto& s) { EXPECT_THROW((void)s.factor(b), InvalidInput); },
                       {empty, SolverState::analysed, factored, failed, dropped, broken_off}},
                      {"a short b",
                       [&](auto& s) { EXPECT_THROW((void)s.solve({}, x), InvalidInput); },
                       {empty, SolverState::analysed, factored, failed, dropped, broken_off}},
                      {"new values broken off",
                       [&](auto& s) {
             if (s.state() != empty) thrower(s);
             EXPECT_ANY_THROW((void)s.factor(bad));
         },
                       {empty, broken_off, broken_off, broken_off, broken_off, broken_off}},
                      {"a solution broken off",
                       [&](auto& s) {
             s.listen({.on_progress = [](const Progress&) { throw_enough(0); }});
             if (s.state() == empty) return;
             EXPECT_THROW((void)s.refactor_and_solve(A.val(), b, x), std::runtime_error);
         },
                       {empty, factored, factored, factored, factored, factored}},  // ILU(0) tells of no progress
    };
    for (const Row& row : rows) expect(row);
    for (const SolverState state : {factored, dropped}) {
        LinearSolver solver = in(state);
        thrower(solver);
        EXPECT_THROW((void)solver.solve(b, x), std::runtime_error);
        EXPECT_STREQ(text(solver.state()), text(factored));  // those of the first plan
        int tries = 0;
        solver.listen({}, [&](const Attempt&) {
            if (++tries == 2) throw std::runtime_error("enough");
        });
        EXPECT_THROW((void)solver.solve(b, x), std::runtime_error);
        EXPECT_STREQ(text(solver.state()), text(dropped));
    }
}

TEST_F(SolverStates, ValuesBrokenOffBeforeAnyTryHasEndedLeaveTheAnalysis)
{
    LinearSolver solver(serial({.method = MethodChoice::gmres}));
    solver.analyse(A, 4);
    solver.listen(impatient());
    EXPECT_THROW(solver.factor(), std::runtime_error);
    EXPECT_STREQ(text(solver.state()), text(SolverState::analysed));
    solver.listen({});
    EXPECT_TRUE(solver.factor().ready());
    solver.listen(impatient());
    EXPECT_THROW(solver.factor(), std::runtime_error);
    EXPECT_STREQ(text(solver.state()), text(broken_off));
}

}  // namespace
}  // namespace ilux

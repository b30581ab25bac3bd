// When an iteration ends early. Oracles: the residual, recomputed here.

#include "ilux/krylov/stopping.hpp"

#include <chrono>
#include <span>
#include <thread>

#include "ilux/tests/krylov/variants.hpp"
#include "ilux/tests/support/stop_at.hpp"

namespace ilux {
namespace {

using namespace test::krylov;

class StoppedKrylov : public Variants {};
INSTANTIATE_TEST_SUITE_P(Methods, StoppedKrylov,
                         testing::Combine(testing::Values(Where::cpu), testing::ValuesIn(variants)), name_of);
INSTANTIATE_TEST_SUITE_P(Gpu, StoppedKrylov, testing::Combine(testing::Values(Where::gpu), testing::ValuesIn(variants)),
                         name_of);

TEST_P(StoppedKrylov, EndsSoonAfterItsTimeLimit)
{
    using std::chrono::milliseconds;
    const auto A = test::random_spd(60, 3, 5);
    const auto b = test::random_vector(60, 2);
    Given      M(60, [](long call, std::span<const double> r, std::span<double> z) {
        if (call == 3) std::this_thread::sleep_for(milliseconds(30));
        std::ranges::copy(r, z.begin());
    });
    const auto s = run(A, M, b, Vector(60), options(1e-14), StopToken().within(0.02));
    EXPECT_EQ(s.report.outcome, Outcome::time_limit);
    EXPECT_LE(s.report.steps, 6);
    EXPECT_LE(s.report.relative_residual, 1);
    EXPECT_NEAR(s.report.relative_residual, true_residual(A, s.x, b), 1e-13);
}

TEST_P(StoppedKrylov, TakesNoStepWhereItsTimeIsOver)
{
    const auto A = test::random_spd(9, 2, 1);
    const auto b = test::random_vector(9, 2);
    const auto opt = options(1e-8);
    const auto over = StopToken().within(0);
    const auto s = run(A, b, opt, over);
    EXPECT_EQ(s.report.outcome, Outcome::time_limit);
    EXPECT_EQ(s.report.steps, 0);
    Identity<Cpu> I(2);
    EXPECT_EQ(run(dense(2, {2, 1, 1, 3}), I, Vector{4, 7}, Vector{1, 2}, opt, over).report.outcome, Outcome::converged);
}

TEST_P(StoppedKrylov, StopsAfterAnyStepWithTheBestIterateSoFar)
{
    const auto A = test::random_spd(60, 3, 5);
    const auto b = test::random_vector(60, 2);
    double     former = 1;
    for (int last = 1; last < 6; ++last) {
        std::atomic<int> asked;
        const auto       s = run(A, b, options(1e-14), test::stop_at(last, asked));
        EXPECT_EQ(s.report.outcome, Outcome::cancelled);
        EXPECT_LE(s.report.steps, 2 * last);
        EXPECT_NEAR(s.report.relative_residual, true_residual(A, s.x, b), 1e-13);
        EXPECT_LE(s.report.relative_residual, former * (1 + 1e-12)) << last;
        former = s.report.relative_residual;
    }
    EXPECT_LT(former, 1);
}

}  // namespace
}  // namespace ilux

// Rounds of complex matrices on a GPU by the pivots of an earlier matrix.

#include <gtest/gtest.h>

#include <string>

#include "ilux/tests/precond/gpu_rounds/gpu_rounds_complex_fixture.hpp"

namespace ilux::test {
namespace {

using namespace precond;

class GpuRoundsComplexReplay : public GpuRoundsComplex {};

TEST_F(GpuRoundsComplexReplay, OfTheSameNumbersGivesTheSameBits)
{
    int made = 0;
    for (const auto& [name, A] : complex_matrices())
        for (bool in_single : {false, true}) {
            const auto first = build(A, unmatched(), in_single);
            if (!first.made()) continue;
            ++made;
            const auto r = random_complex_vector(A.rows(), 4);
            const auto again = rebuilt(A, first, unmatched(), in_single);
            ASSERT_TRUE(again.made()) << name << ": " << again.why_not();
            EXPECT_TRUE(again.report().replayed) << name << ": " << testing::PrintToString(again.report().decisions);
            EXPECT_EQ(again.report().stored, first.report().stored) << name;
            EXPECT_EQ(again.in_single(), in_single) << name;
            EXPECT_TRUE(same_bits(applied(again, r), applied(first, r))) << name;
        }
    EXPECT_GE(made, 14);
}

/// Other frequencies of one circuit: both machines replay rounds that are alike, and cut alike.
TEST_F(GpuRoundsComplexReplay, OfAnotherFrequencyDoesAsTheHost)
{
    const auto A = gallery::ac_mesh({.n = 40});
    const auto first = build(A, unmatched());
    ASSERT_TRUE(first.made()) << first.why_not();
    const auto plan = MlIlu<Complex>::build(cpu, A, unmatched()).rounds_plan().value();
    int        replayed = 0;
    for (double f : {0.9e9, 1.1e9, 1.5e9, 2e9}) {
        const auto B = gallery::ac_mesh({.n = 40, .f = f});
        const auto host = MlIlu<Complex>::rebuild(cpu, B, unmatched(), plan);
        const auto M = rebuilt(B, first, unmatched());
        ASSERT_TRUE(M.made()) << f << ": " << M.why_not();
        EXPECT_EQ(M.report().replayed, host.report().replayed)
            << f << testing::PrintToString(M.report().decisions) << testing::PrintToString(host.report().decisions);
        expect_twins(M.report(), host.report(), "f = " + std::to_string(f));
        replayed += M.report().replayed;
        if (!M.report().replayed || !host.report().replayed) continue;
        for (std::size_t level = 0; level < host.report().levels.size(); ++level) {
            const double cut = host.report().levels[level].cut;
            EXPECT_NEAR(M.report().levels[level].cut, cut, 1e-6 + 0.02 * cut) << level;
        }
    }
    EXPECT_GE(replayed, 2);
}

TEST_F(GpuRoundsComplexReplay, RefusesAPivotThatVanishes)
{
    const auto A = turned(gallery::convdiff2d({.n = 40}), 2);
    auto       B = A;
    for (Index i = 0; i < A.rows(); i += 7)
        for (Offset p = A.row_ptr()[i]; p < A.row_ptr()[i + 1]; ++p)
            if (A.col()[p] == i) B.val()[p] *= 1e-3;
    const auto options = unmatched(Compensation::on);
    const auto M = rebuilt(B, build(A, options), options);
    EXPECT_FALSE(M.report().replayed);
    ASSERT_TRUE(M.made()) << M.why_not();
    EXPECT_EQ(M.report().stored, build(B, options).report().stored);
}

TEST_F(GpuRoundsComplexReplay, EndsCleanlyWithoutMemory)
{
    const auto A = gallery::ac_mesh({.n = 30});
    const auto former = build(A, unmatched());
    ASSERT_TRUE(former.made()) << former.why_not();
    EXPECT_GT(refusals_survived([&] { (void)rebuilt(A, former, unmatched()); }), 10);
}

}  // namespace
}  // namespace ilux::test

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "ilux/tests/ortho/processes.hpp"
#include "ilux/tests/support/checks.hpp"

namespace ilux {
namespace {

using namespace test::ortho;

using test::eps;
using test::infinity;
using test::nan;

/// max |QᵀQ − I|
double orthogonality_error(const Vector& Q, std::size_t n, std::size_t k)
{
    double worst = 0;
    for (std::size_t i = 0; i < k; ++i)
        for (std::size_t j = 0; j < k; ++j) {
            long double sum = 0;
            for (std::size_t l = 0; l < n; ++l) sum += static_cast<long double>(Q[i * n + l]) * Q[j * n + l];
            worst = std::max(worst, static_cast<double>(std::abs(sum - (i == j))));
        }
    return worst;
}

/// max |A − Q R|
double decomposition_error(const Qr& qr, const Vector& A, std::size_t n, std::size_t k)
{
    double worst = 0;
    for (std::size_t j = 0; j < k; ++j)
        for (std::size_t l = 0; l < n; ++l) {
            long double sum = -A[j * n + l];
            for (std::size_t i = 0; i <= j; ++i) sum += static_cast<long double>(qr.Q[i * n + l]) * qr.R[j * k + i];
            worst = std::max(worst, static_cast<double>(std::abs(sum)));
        }
    return worst;
}

class EveryGramSchmidt : public testing::TestWithParam<Process> {
protected:
    void SetUp() override
    {
        if (GetParam().on_gpu) ILUX_SKIP_WITHOUT_GPU();
    }
};
std::string name_of(const testing::TestParamInfo<Process>& info) { return info.param.name; }
INSTANTIATE_TEST_SUITE_P(Processes, EveryGramSchmidt, testing::ValuesIn(on_cpu), name_of);
INSTANTIATE_TEST_SUITE_P(Gpu, EveryGramSchmidt, testing::ValuesIn(on_gpu), name_of);

TEST_P(EveryGramSchmidt, MatchesAHandComputedStep)
{
    const Vector V = {1, 0, 0, 0, 1, 0};
    Vector       w = {2, -3, -4}, h(3);
    EXPECT_EQ(extend(GetParam(), V, w, h), Extension::extended);
    EXPECT_EQ(h, (Vector{2, -3, 4}));
    EXPECT_EQ(w, (Vector{0, 0, -1}));
}

TEST_P(EveryGramSchmidt, DecomposesRandomVectorsOfAwkwardLengths)
{
    for (std::size_t n : {1, 2, 31, 32, 33, 1000}) {
        const std::size_t k = std::min<std::size_t>(n, 20);
        const Vector      A = test::random_vector(static_cast<Index>(n * k), n);
        const Qr          qr = orthonormalize(GetParam(), A, n, k);
        EXPECT_EQ(qr.outcome, std::vector<Extension>(k, Extension::extended));
        // Square random blocks have condition numbers of some hundreds, which modified Gram-Schmidt multiplies in.
        EXPECT_LE(orthogonality_error(qr.Q, n, k), 1e5 * eps) << "n = " << n;
        EXPECT_LE(decomposition_error(qr, A, n, k), 64 * eps) << "n = " << n;
    }
}

TEST_P(EveryGramSchmidt, StaysOrthogonalForTheNearlyDependentVectorsOfLaeuchli)
{
    const std::size_t n = 11, k = 10;
    for (double delta : {1e-4, 1e-7, 1e-9, 1e-12}) {  // κ = O(1/δ): the columns (1, 0, …, δ, …, 0)
        Vector A(n * k);
        for (std::size_t j = 0; j < k; ++j) {
            A[j * n] = 1;
            A[j * n + j + 1] = delta;
        }
        const Qr qr = orthonormalize(GetParam(), A, n, k);
        EXPECT_LE(orthogonality_error(qr.Q, n, k), 100 * eps) << "delta = " << delta;
        EXPECT_LE(decomposition_error(qr, A, n, k), 16 * eps) << "delta = " << delta;
    }
}

TEST_P(EveryGramSchmidt, SaysThatNothingIsLeftOfAVectorInTheSpan)
{
    const Vector V = {0.6, 0.8, 0, 0, 0, 1};
    Vector       h(3);
    Vector       zero(3), dependent = {1.2, 1.6, 5}, dependent_tiny = {1.2e-200, 1.6e-200, 5e-200};
    EXPECT_EQ(extend(GetParam(), V, zero, h), Extension::nothing_left);
    EXPECT_EQ(h[2], 0);
    for (Vector* w : {&dependent, &dependent_tiny}) {
        const double size = (*w)[2];
        EXPECT_EQ(extend(GetParam(), V, *w, h), Extension::nothing_left);
        EXPECT_NEAR(h[0] / size, 0.4, 4 * eps);
        EXPECT_NEAR(h[1] / size, 1, 4 * eps);
        EXPECT_EQ(h[2], 0);
    }
    Vector none, h0(1);
    EXPECT_EQ(extend(GetParam(), {}, none, h0), Extension::nothing_left);
}

TEST_P(EveryGramSchmidt, SaysThatAVectorIsNotFinite)
{
    const Vector V = {1, 0, 0};
    for (double bad : {nan, infinity, -infinity})
        for (int place : {0, 1}) {
            Vector w = {1, 1, 1}, h(2);
            w[place] = bad;
            EXPECT_EQ(extend(GetParam(), V, w, h), Extension::not_finite);
        }
}

TEST_P(EveryGramSchmidt, SurvivesLengthsWhoseSquaresOverflowOrUnderflow)
{
    const Vector V = {1, 0, 0};
    for (double size : {1e-250, 1e250}) {
        Vector w = {3 * size, 4 * size, 0}, h(2);
        EXPECT_EQ(extend(GetParam(), V, w, h), Extension::extended);
        EXPECT_NEAR(h[0] / size, 3, 8 * eps);
        EXPECT_NEAR(h[1] / size, 4, 8 * eps);
        EXPECT_NEAR(w[1], 1, 4 * eps);
    }
}

TEST(GramSchmidt, GivesTheSameBitsForAnyNumberOfThreads)
{
    const std::size_t n = 40000, k = 4;
    const Vector      A = test::random_vector(n * k, 3);
    for (const Process& process : on_cpu) {
        const Qr one = orthonormalize(process, A, n, k, 1), three = orthonormalize(process, A, n, k, 3);
        EXPECT_TRUE(test::identical(one.Q, three.Q)) << process.name;
        EXPECT_TRUE(test::identical(one.R, three.R)) << process.name;
    }
}

void expect_the_threshold_to_decide(bool on_gpu, Kind kind)
{
    // v = e1; w has squared cosine 0.5 with it, and rounding leaves e1ᵀw = 0 exactly either way: what differs is the
    // number of reductions. A V that is not quite unit makes the second pass visible: (1 − s²)w₁ remains, then (1 −
    // s²)²w₁.
    const double s = 0.5;
    const Vector V = {s, 0};
    Vector       once = {1, 1}, twice = {1, 1}, h(2);
    const auto   process = [&](double threshold) { return Process{"", kind, threshold, on_gpu}; };
    ASSERT_EQ(extend(process(0.2), V, once, h), Extension::extended);  // (s·1)²/2 = 0.125 < 0.2
    EXPECT_EQ(h[0], s);
    EXPECT_NEAR(once[0] / once[1], 0.75, 2 * eps);
    ASSERT_EQ(extend(process(0.1), V, twice, h), Extension::extended);  // 0.125 > 0.1
    EXPECT_EQ(h[0], s + s * 0.75);
    EXPECT_NEAR(twice[0] / twice[1], 0.5625, 2 * eps);
}

TEST(Mgso, RepeatsAProjectionOnlyAboveTheThreshold) { expect_the_threshold_to_decide(false, Kind::mgso); }
TEST(GpuMgso, RepeatsAProjectionOnlyAboveTheThreshold)
{
    ILUX_SKIP_WITHOUT_GPU();
    expect_the_threshold_to_decide(true, Kind::mgso);
    expect_the_threshold_to_decide(true, Kind::mgso_hybrid);
}

void expect_orthogonality_for_hilbert(bool on_gpu)
{
    // Columns of the 12 x 12 Hilbert matrix, condition 1e16.
    const std::size_t n = 12, k = 10;
    Vector            A(n * k);
    for (std::size_t j = 0; j < k; ++j)
        for (std::size_t l = 0; l < n; ++l) A[j * n + l] = 1. / static_cast<double>(j + l + 1);
    const Qr twice = orthonormalize({"", Kind::cgs2, 0, on_gpu}, A, n, k);
    EXPECT_EQ(twice.outcome, std::vector<Extension>(k, Extension::extended));
    EXPECT_LE(orthogonality_error(twice.Q, n, k), 64 * eps);
}

TEST(Cgs2, StaysOrthogonalWhereOnePassOfMgsLosesDigits) { expect_orthogonality_for_hilbert(false); }
TEST(GpuCgs2, StaysOrthogonalWhereOnePassOfMgsLosesDigits)
{
    ILUX_SKIP_WITHOUT_GPU();
    expect_orthogonality_for_hilbert(true);
}

}  // namespace
}  // namespace ilux

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "ilux/base/cpu.hpp"
#include "ilux/ortho/cgs2.hpp"
#include "ilux/ortho/mgso.hpp"
#include "ilux/tests/support/checks.hpp"

namespace ilux {
namespace {

using test::eps;
using Vector = std::vector<double>;
constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double inf = std::numeric_limits<double>::infinity();

enum class Process { mgso, mgso_always_twice, cgs2 };

Extension extend(Process process, Cpu& be, std::span<const double> V, std::span<double> w, std::span<double> h)
{
    if (process == Process::mgso) return mgso(be, V, w, h);
    if (process == Process::mgso_always_twice) return mgso(be, V, w, h, 0.);
    Vector scratch(h.size());
    return cgs2(be, V, w, h, scratch);
}

/// Orthonormalizes the k vectors of A in place and keeps the coefficients: A = Q R, R k×k by columns.
struct Qr {
    Vector                 Q, R;
    std::vector<Extension> outcome;
};
Qr orthonormalize(Process process, const Vector& A, std::size_t n, std::size_t k, int threads = 1)
{
    Cpu be(threads);
    Qr  qr{A, Vector(k * k), {}};
    for (std::size_t j = 0; j < k; ++j) {
        Vector     h(j + 1);
        const auto Q = std::span(qr.Q);
        qr.outcome.push_back(extend(process, be, Q.first(j * n), Q.subspan(j * n, n), h));
        std::copy(h.begin(), h.end(), qr.R.begin() + j * k);
    }
    return qr;
}

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

const char* const process_names[] = {"Mgso", "MgsoAlwaysTwice", "Cgs2"};

class EveryGramSchmidt : public testing::TestWithParam<Process> {};
INSTANTIATE_TEST_SUITE_P(Processes, EveryGramSchmidt,
                         testing::Values(Process::mgso, Process::mgso_always_twice, Process::cgs2),
                         [](const auto& info) { return std::string(process_names[static_cast<int>(info.param)]); });

TEST_P(EveryGramSchmidt, MatchesAHandComputedStep)
{
    Cpu          be(1);
    const Vector V = {1, 0, 0, 0, 1, 0};
    Vector       w = {2, -3, -4}, h(3);
    EXPECT_EQ(extend(GetParam(), be, V, w, h), Extension::extended);
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
    Cpu          be(1);
    const Vector V = {0.6, 0.8, 0, 0, 0, 1};
    Vector       h(3);
    Vector       zero(3), dependent = {1.2, 1.6, 5}, dependent_tiny = {1.2e-200, 1.6e-200, 5e-200};
    EXPECT_EQ(extend(GetParam(), be, V, zero, h), Extension::nothing_left);
    EXPECT_EQ(h[2], 0);
    for (Vector* w : {&dependent, &dependent_tiny}) {
        const double size = (*w)[2];
        EXPECT_EQ(extend(GetParam(), be, V, *w, h), Extension::nothing_left);
        EXPECT_NEAR(h[0] / size, 0.4, 4 * eps);
        EXPECT_NEAR(h[1] / size, 1, 4 * eps);
        EXPECT_EQ(h[2], 0);
    }
    Vector none, h0(1);
    EXPECT_EQ(extend(GetParam(), be, {}, none, h0), Extension::nothing_left);
}

TEST_P(EveryGramSchmidt, SaysThatAVectorIsNotFinite)
{
    Cpu          be(1);
    const Vector V = {1, 0, 0};
    for (double bad : {nan, inf, -inf})
        for (int place : {0, 1}) {
            Vector w = {1, 1, 1}, h(2);
            w[place] = bad;
            EXPECT_EQ(extend(GetParam(), be, V, w, h), Extension::not_finite);
        }
}

TEST_P(EveryGramSchmidt, SurvivesLengthsWhoseSquaresOverflowOrUnderflow)
{
    Cpu          be(1);
    const Vector V = {1, 0, 0};
    for (double size : {1e-250, 1e250}) {
        Vector w = {3 * size, 4 * size, 0}, h(2);
        EXPECT_EQ(extend(GetParam(), be, V, w, h), Extension::extended);
        EXPECT_NEAR(h[0] / size, 3, 8 * eps);
        EXPECT_NEAR(h[1] / size, 4, 8 * eps);
        EXPECT_NEAR(w[1], 1, 4 * eps);
    }
}

TEST_P(EveryGramSchmidt, GivesTheSameBitsForAnyNumberOfThreads)
{
    const std::size_t n = 40000, k = 4;
    const Vector      A = test::random_vector(n * k, 3);
    const Qr          one = orthonormalize(GetParam(), A, n, k, 1), three = orthonormalize(GetParam(), A, n, k, 3);
    EXPECT_TRUE(test::identical(one.Q, three.Q));
    EXPECT_TRUE(test::identical(one.R, three.R));
}

TEST(Mgso, RepeatsAProjectionOnlyAboveTheThreshold)
{
    // v = e1; w has squared cosine 0.5 with it, and rounding leaves e1ᵀw = 0 exactly either way: what differs is the
    // number of reductions. A V that is not quite unit makes the second pass visible: (1 − s²)w₁ remains, then (1 − s²)²w₁.
    Cpu          be(1);
    const double s = 0.5;
    const Vector V = {s, 0};
    Vector       once = {1, 1}, twice = {1, 1}, h(2);
    ASSERT_EQ(mgso(be, V, once, h, 0.2), Extension::extended);  // (s·1)²/2 = 0.125 < 0.2
    EXPECT_EQ(h[0], s);
    EXPECT_NEAR(once[0] / once[1], 0.75, 2 * eps);
    ASSERT_EQ(mgso(be, V, twice, h, 0.1), Extension::extended);  // 0.125 > 0.1
    EXPECT_EQ(h[0], s + s * 0.75);
    EXPECT_NEAR(twice[0] / twice[1], 0.5625, 2 * eps);
}

TEST(Cgs2, StaysOrthogonalWhereOnePassOfMgsLosesDigits)
{
    // Columns of the 12 x 12 Hilbert matrix, condition 1e16.
    const std::size_t n = 12, k = 10;
    Vector            A(n * k);
    for (std::size_t j = 0; j < k; ++j)
        for (std::size_t l = 0; l < n; ++l) A[j * n + l] = 1. / static_cast<double>(j + l + 1);
    const Qr twice = orthonormalize(Process::cgs2, A, n, k);
    EXPECT_EQ(twice.outcome, std::vector<Extension>(k, Extension::extended));
    EXPECT_LE(orthogonality_error(twice.Q, n, k), 64 * eps);
}

}  // namespace
}  // namespace ilux

// Gram-Schmidt on complex vectors: what conjugates, and that Q is unitary.

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "ilux/ortho/cgs2.hpp"
#include "ilux/ortho/mgso.hpp"
#include "ilux/tests/support/real_form.hpp"

namespace ilux::test {
namespace {

using ComplexStep = Extension (*)(std::span<const Complex> V, std::span<Complex> w, std::span<Complex> h);

Extension complex_mgso(std::span<const Complex> V, std::span<Complex> w, std::span<Complex> h)
{
    Cpu be(1);
    return mgso<Complex>(be, V, w, h);
}

Extension complex_mgso_twice(std::span<const Complex> V, std::span<Complex> w, std::span<Complex> h)
{
    Cpu be(1);
    return mgso_hybrid<Cpu, Complex>(be, V, w, h, 0);
}

Extension complex_cgs2(std::span<const Complex> V, std::span<Complex> w, std::span<Complex> h)
{
    Cpu           be(1);
    ComplexVector scratch(h.size());
    return cgs2<Complex>(be, V, w, h, scratch);
}

const std::pair<const char*, ComplexStep> complex_processes[] = {{"Mgso", complex_mgso},
                                                                 {"MgsoTwice", complex_mgso_twice},
                                                                 {"Cgs2", complex_cgs2}};

class EveryComplexGramSchmidt : public testing::TestWithParam<std::pair<const char*, ComplexStep>> {};
INSTANTIATE_TEST_SUITE_P(Processes, EveryComplexGramSchmidt, testing::ValuesIn(complex_processes),
                         [](const auto& info) { return std::string(info.param.first); });

TEST_P(EveryComplexGramSchmidt, MatchesAHandComputedStep)
{
    const ComplexVector V{{0, 1}, 0, 0};
    ComplexVector       w{2, {0, 3}, 4}, h(2);
    EXPECT_EQ(GetParam().second(V, w, h), Extension::extended);
    EXPECT_EQ(h, (ComplexVector{{0, -2}, 5}));  // v₁ᴴ w = −i · 2; without the conjugate 4 e₁ would be left
    EXPECT_EQ(w[0], Complex(0));
    EXPECT_LE(std::abs(w[1] - Complex(0, 0.6)), 2 * eps);
    EXPECT_LE(std::abs(w[2] - Complex(0.8)), 2 * eps);
}

TEST_P(EveryComplexGramSchmidt, DecomposesRandomVectorsIntoUnitaryAndTriangular)
{
    const std::size_t   n = 50, k = 20;
    const ComplexVector A = random_complex_vector(static_cast<Index>(n * k), 1);
    ComplexVector       Q = A, R(k * k);
    for (std::size_t j = 0; j < k; ++j) {
        ComplexVector h(j + 1);
        const auto    q = std::span(Q);
        ASSERT_EQ(GetParam().second(q.first(j * n), q.subspan(j * n, n), h), Extension::extended);
        EXPECT_EQ(h[j].imag(), 0);
        std::ranges::copy(h, R.begin() + static_cast<std::ptrdiff_t>(j * k));
    }
    double unitary = 0, decomposed = 0;
    for (std::size_t j = 0; j < k; ++j) {
        for (std::size_t i = 0; i < k; ++i) {
            Complex sum = i == j ? -1 : 0;
            for (std::size_t l = 0; l < n; ++l) sum += std::conj(Q[i * n + l]) * Q[j * n + l];
            unitary = std::max(unitary, std::abs(sum));
        }
        for (std::size_t l = 0; l < n; ++l) {
            Complex sum = -A[j * n + l];
            for (std::size_t i = 0; i <= j; ++i) sum += Q[i * n + l] * R[j * k + i];
            decomposed = std::max(decomposed, std::abs(sum));
        }
    }
    EXPECT_LE(unitary, 1000 * eps);
    EXPECT_LE(decomposed, 100 * eps);
}

TEST_P(EveryComplexGramSchmidt, SaysWhatIsLeft)
{
    const ComplexVector V{{0, 0.6}, {0.8, 0}};
    ComplexVector       dependent{Complex(2, 1) * V[0], Complex(2, 1) * V[1]}, bad{{1, nan}, 1}, h(2);
    EXPECT_EQ(GetParam().second(V, dependent, h), Extension::nothing_left);
    EXPECT_LE(std::abs(h[0] - Complex(2, 1)), 8 * eps);
    EXPECT_EQ(h[1], Complex(0));
    EXPECT_EQ(GetParam().second(V, bad, h), Extension::not_finite);
}

}  // namespace
}  // namespace ilux::test

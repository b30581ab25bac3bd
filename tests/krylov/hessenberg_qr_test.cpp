#include "ilux/krylov/hessenberg_qr.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "ilux/tests/support/checks.hpp"

namespace ilux {
namespace {

using test::Dense;
using test::eps;
using Vector = std::vector<double>;

/// A random (k+1)×k upper Hessenberg matrix with a diagonal that keeps it well conditioned.
Dense random_hessenberg(Index k, std::uint64_t seed)
{
    test::Random random(seed);
    Dense        H{k + 1, k, Vector((k + std::size_t{1}) * k)};
    for (Index j = 0; j < k; ++j)
        for (Index i = 0; i <= j + 1; ++i) H(i, j) = random.uniform() + (i == j ? 4 : 0);
    return H;
}

void feed(HessenbergQr<>& qr, const Dense& H)
{
    for (Index j = 0; j < H.cols; ++j) {
        const auto h = qr.next_column();
        ASSERT_EQ(h.size(), static_cast<std::size_t>(j) + 2);
        for (Index i = 0; i <= j + 1; ++i) h[i] = H(i, j);
        ASSERT_TRUE(qr.append());
    }
}

double distance(const Dense& H, const Vector& y, double beta)
{
    Vector r = test::multiply(H, y);
    double sum = 0;
    for (std::size_t i = 0; i < r.size(); ++i) sum = std::hypot(sum, (i == 0 ? beta : 0) - r[i]);
    return sum;
}

TEST(HessenbergQr, SolvesAHandComputedColumn)
{
    // min ‖(5, 0) − (3, 4) y‖: y = 15/25, residual 5·4/5.
    HessenbergQr qr(1);
    qr.start(5);
    const auto h = qr.next_column();
    h[0] = 3;
    h[1] = 4;
    EXPECT_EQ(qr.residual(), 5);
    EXPECT_TRUE(qr.append());
    EXPECT_NEAR(qr.residual(), 4, 8 * eps);
    EXPECT_NEAR(qr.solve()[0], 0.6, 2 * eps);
}

TEST(HessenbergQr, AgreesWithTheNormalEquations)
{
    for (Index k : {1, 2, 5, 31, 32, 33}) {
        const Dense  H = random_hessenberg(k, k);
        HessenbergQr qr(k);
        for (double beta : {1., 3e5}) {  // the second start forgets the first
            qr.start(beta);
            feed(qr, H);
            const Vector y(qr.solve().begin(), qr.solve().end());
            const Dense  Ht = test::transposed(H);
            Vector       rhs(k);
            for (Index i = 0; i < k; ++i) rhs[i] = beta * H(0, i);
            const Vector expected = test::dense_solve(test::multiply(Ht, H), rhs);
            EXPECT_LE(test::relative_difference(y, expected), 1e5 * eps) << "k = " << k;
            EXPECT_NEAR(qr.residual(), distance(H, y, beta), 100 * k * eps * beta) << "k = " << k;
        }
    }
}

TEST(HessenbergQr, ResidualNeverGrows)
{
    const Dense  H = random_hessenberg(20, 7);
    HessenbergQr qr(20);
    qr.start(1);
    double before = 1;
    for (Index j = 0; j < 20; ++j) {
        const auto h = qr.next_column();
        for (Index i = 0; i <= j + 1; ++i) h[i] = H(i, j);
        qr.append();
        EXPECT_LE(qr.residual(), before);
        before = qr.residual();
    }
}

TEST(HessenbergQr, ForgetsAColumnThatLeavesRSingular)
{
    HessenbergQr qr(3);
    qr.start(2);
    auto h = qr.next_column();
    h[0] = h[1] = 0;
    EXPECT_FALSE(qr.append());
    EXPECT_EQ(qr.columns(), 0);
    EXPECT_EQ(qr.residual(), 2);
    EXPECT_TRUE(qr.solve().empty());
    h = qr.next_column();
    h[0] = 1;
    h[1] = 1;
    EXPECT_TRUE(qr.append());
    h = qr.next_column();  // twice the first column, with nothing below
    h[0] = 2;
    h[1] = 2;
    h[2] = 0;
    EXPECT_FALSE(qr.append());
    EXPECT_EQ(qr.columns(), 1);
    EXPECT_NEAR(qr.solve()[0], 1, 4 * eps);
}

}  // namespace
}  // namespace ilux

#include "ilux/direct/supernodal/dense_product.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <limits>
#include <random>
#include <vector>

#include "ilux/direct/factor/elimination_step.hpp"
#include "ilux/direct/supernodal/blas.hpp"
#include "ilux/tests/direct/both_scalars.hpp"

namespace ilux::test {
namespace {

/// By columns, with rows beyond those of the matrix that nobody may touch.
template <class S>
struct Block {
    Block(Index rows, Index columns, unsigned seed) : ld(rows + seed % 5), val(static_cast<std::size_t>(ld) * columns)
    {
        std::mt19937                     random(seed);
        std::uniform_real_distribution<> uniform(-1, 1);
        for (S& x : val)
            if constexpr (is_complex<S>) x = {uniform(random), uniform(random)};
            else x = uniform(random);
    }
    S&       at(Index i, Index j) { return val[i + static_cast<std::size_t>(j) * ld]; }
    const S& at(Index i, Index j) const { return val[i + static_cast<std::size_t>(j) * ld]; }

    Index          ld;
    std::vector<S> val;
};

template <class S>
void subtract_slowly(Index m, Index n, Index k, const Block<S>& A, const Block<S>& B, Block<S>& C)
{
    for (Index j = 0; j < n; ++j)
        for (Index i = 0; i < m; ++i)
            for (Index p = 0; p < k; ++p) C.at(i, j) = minus_product(C.at(i, j), A.at(i, p), B.at(p, j));
}

template <class S>
void solve_slowly(Index m, Index n, const Block<S>& L, Block<S>& B)
{
    for (Index j = 0; j < n; ++j)
        for (Index p = 0; p < m; ++p)
            for (Index i = p + 1; i < m; ++i) B.at(i, j) = minus_product(B.at(i, j), L.at(i, p), B.at(p, j));
}

constexpr Index sizes[] = {0, 1, 2, 7, 8, 9, 16, 17, 23, 24, 25, 31, 32, 33, 49};
constexpr Index widths[] = {0, 1, 2, 3, 4, 7, 8, 13};

template <class S>
void expect_exact_products(const detail::DenseKernels<S>& kernels)
{
    for (const Index m : sizes)
        for (const Index n : widths)
            for (const Index k : {0, 1, 3, 4, 5, 32}) {
                const Block<S> A(m, k, 1 + m), B(k, n, 2 + n);
                Block<S>       C(m, n, 3 + k), slow = C;
                kernels.subtract_product(m, n, k, A.val.data(), A.ld, B.val.data(), B.ld, C.val.data(), C.ld);
                subtract_slowly(m, n, k, A, B, slow);
                ASSERT_TRUE(same_numbers(C.val, slow.val)) << m << " " << n << " " << k;
            }
}

template <class S>
void expect_exact_triangles(const detail::DenseKernels<S>& kernels)
{
    for (const Index m : sizes)
        for (const Index n : widths) {
            Block<S> L(m, m, 1 + m);
            for (Index j = 0; j < m; ++j)
                for (Index i = 0; i <= j; ++i) L.at(i, j) = std::numeric_limits<double>::quiet_NaN();  // not read
            Block<S> B(m, n, 2 + n), slow = B;
            kernels.solve_unit_lower(m, n, L.val.data(), L.ld, B.val.data(), B.ld);
            solve_slowly(m, n, L, slow);
            ASSERT_TRUE(same_numbers(B.val, slow.val)) << m << " " << n;
        }
}

TEST(DenseProduct, OfEveryKernelTakesProductsOneByOneInTheirOrder)
{
    expect_exact_products(detail::portable_dense_kernels<double>());
    expect_exact_products(detail::dense_kernels<double>());
    expect_exact_products(detail::portable_dense_kernels<Complex>());
    expect_exact_products(detail::dense_kernels<Complex>());
}

TEST(UnitLower, OfEveryKernelTakesProductsOneByOneInTheirOrder)
{
    expect_exact_triangles(detail::portable_dense_kernels<double>());
    expect_exact_triangles(detail::dense_kernels<double>());
    expect_exact_triangles(detail::portable_dense_kernels<Complex>());
    expect_exact_triangles(detail::dense_kernels<Complex>());
}

TEST(UnitLower, KeepsWhatInfinityMakesOfRowsBelowAndNothingElse)
{
    constexpr Index     m = 20;
    const Block<double> L(m, m, 5);
    Block<double>       B(m, 9, 6);
    B.at(11, 4) = std::numeric_limits<double>::infinity();
    const Block<double> before = B;
    solve_unit_lower(m, 9, L.val.data(), L.ld, B.val.data(), B.ld);
    for (Index j = 0; j < 9; ++j)
        for (Index i = 0; i < m; ++i) EXPECT_EQ(std::isfinite(B.at(i, j)), j != 4 || i < 11) << i << " " << j;
}

/// Sizes beyond those of the kernels: BLAS, and halves of a triangle.
template <class S>
void expect_large_ones(Index m, Index n, Index k)
{
    const double bound = 4 * k * std::numeric_limits<double>::epsilon();  // of sums of k products of numbers within √2
    const Block<S> A(m, k, 1), B(k, n, 2);
    Block<S>       C(m, n, 3), slow = C;
    subtract_product(m, n, k, A.val.data(), A.ld, B.val.data(), B.ld, C.val.data(), C.ld);
    subtract_slowly(m, n, k, A, B, slow);
    for (std::size_t i = 0; i < C.val.size(); ++i) ASSERT_LE(std::abs(C.val[i] - slow.val[i]), bound * k) << i;

    Block<S> L(k, k, 4), X(k, n, 5);
    for (S& l : L.val) l /= k;
    Block<S> x = X;
    solve_unit_lower(k, n, L.val.data(), L.ld, X.val.data(), X.ld);
    solve_slowly(k, n, L, x);
    for (std::size_t i = 0; i < X.val.size(); ++i) ASSERT_LE(std::abs(X.val[i] - x.val[i]), bound) << i;
}

TEST(DenseProduct, OfLargeBlocksAgreesWithTheSlowOne)
{
    if (const std::string why = blas::why_none(); !why.empty()) GTEST_SKIP()
    << why;
    expect_large_ones<double>(300, 260, 210);
    expect_large_ones<double>(70, 9, 129);
    expect_large_ones<Complex>(90, 40, 70);
}

}  // namespace
}  // namespace ilux::test

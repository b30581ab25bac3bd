// Errors that a preconditioner is slow at, of matrices whose eigenvectors are known.

#include "ilux/precond/coarse/slow_error.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "ilux/precond/jacobi.hpp"
#include "ilux/tests/precond/coarse_steps/coarse_checks.hpp"

namespace ilux {
namespace {

using namespace test::coarse;

template <class S = double>
CsrMatrix<S> diagonal(const std::vector<double>& values)
{
    std::vector<Index> at(values.size());
    for (std::size_t i = 0; i < at.size(); ++i) at[i] = static_cast<Index>(i);
    const std::vector<S> numbers(values.begin(), values.end());
    return CsrMatrix<S>::from_triplets(static_cast<Index>(at.size()), static_cast<Index>(at.size()), at, at, numbers);
}

/// Eigenvalues between 0.3 and 1, but for some small ones.
std::vector<double> spectrum(Index n, Index slow, double small)
{
    std::vector<double> values(n);
    for (Index i = 0; i < n; ++i) values[i] = i < slow ? small * (1 + i) : 0.3 + 0.7 * i / n;
    return values;
}

template <class S>
class SlowErrorOf : public testing::Test {};
using Numbers = testing::Types<double, Complex>;
TYPED_TEST_SUITE(SlowErrorOf, Numbers);

TYPED_TEST(SlowErrorOf, CgLeavesTheSmallEigenvectors)
{
    using S = TypeParam;
    const Index             n = 500, slow = 5;
    const auto              A = diagonal<S>(spectrum(n, slow, 1e-4));
    const MatrixOperator<S> product(A);
    Identity<Cpu, S>        M(n);
    Cpu                     be(2);
    auto                    x = random_numbers<S>(n, 1);
    const SlowError         error = left_by_cg<Cpu, S>(be, product, M, x);
    EXPECT_TRUE(error.found);
    EXPECT_GT(error.left, 0.98);
    double of_slow = 0;
    for (Index i = 0; i < slow; ++i) of_slow = std::hypot(of_slow, std::abs(x[i]));
    EXPECT_NEAR(of_slow, 1, 0.01);  // x has length 1
}

TYPED_TEST(SlowErrorOf, CgEndsEarlyWhereTheErrorGoesFast)
{
    using S = TypeParam;
    const auto              A = diagonal<S>(spectrum(500, 0, 0));
    const MatrixOperator<S> product(A);
    Identity<Cpu, S>        M(A.rows());
    Cpu                     be(1);
    auto                    x = random_numbers<S>(A.rows(), 1);
    const SlowError         error = left_by_cg<Cpu, S>(be, product, M, x);
    EXPECT_FALSE(error.found);
    EXPECT_EQ(error.steps, 12);
}

TYPED_TEST(SlowErrorOf, StepsLeaveTheSmallEigenvectorsOfAnyMatrix)
{
    using S = TypeParam;
    for (const double small : {1e-3, 0.5}) {
        const auto              A = diagonal<S>(spectrum(300, 3, small));
        const MatrixOperator<S> product(A);
        Identity<Cpu, S>        M(A.rows());
        Cpu                     be(1);
        auto                    x = random_numbers<S>(A.rows(), 1);
        const SlowError         error = left_by_steps<Cpu, S>(be, product, M, x);
        EXPECT_EQ(error.found, small < 0.1) << small;
        EXPECT_EQ(error.steps, 12);
    }
}

TEST(SlowError, OfVerySmallSystemsIsNone)
{
    for (const Index n : {0, 1, 2}) {
        const auto             A = diagonal(std::vector<double>(static_cast<std::size_t>(n), 2.));
        const MatrixOperator<> product(A);
        Jacobi<double>         M(A, Cpu(1));
        Cpu                    be(1);
        std::vector<double>    x(static_cast<std::size_t>(n), 1.);
        EXPECT_FALSE((left_by_cg<Cpu, double>(be, product, M, x).found)) << n;
        std::ranges::fill(x, 1);
        EXPECT_FALSE((left_by_steps<Cpu, double>(be, product, M, x).found)) << n;
    }
}

/// A zero error, an indefinite matrix: no vector, and no endless loop.
TEST(SlowError, IsNoneWhereCgHasNoMeaning)
{
    Cpu                    be(1);
    const auto             A = diagonal({1, -1, 2, -2, 0.5});
    const MatrixOperator<> product(A);
    Identity<Cpu, double>  M(A.rows());
    std::vector<double>    zero(5, 0.), x{1, 1, 1, 1, 1};
    EXPECT_FALSE((left_by_cg<Cpu, double>(be, product, M, zero).found));
    EXPECT_FALSE((left_by_cg<Cpu, double>(be, product, M, x).found));
}

}  // namespace
}  // namespace ilux

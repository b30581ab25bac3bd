#include "ilux/base/matrix/spmv.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cmath>
#include <limits>

#include "ilux/tests/support/checks.hpp"

namespace ilux::test {
namespace {

/// Elementwise |x − y| ≤ tol.
void expect_near(std::span<const double> x, std::span<const double> y, double tol)
{
    ASSERT_EQ(x.size(), y.size());
    for (std::size_t i = 0; i < x.size(); ++i) EXPECT_NEAR(x[i], y[i], tol) << "at " << i;
}

TEST(Spmv, MultipliesByHand)
{
    // [1 2 0; 0 0 0; 0 3 4] · (1, 10, 100)
    const auto                A = CsrMatrix<double>::from_arrays(3, 3, {0, 2, 2, 4}, {0, 1, 1, 2}, {1, 2, 3, 4});
    const std::vector<double> x{1, 10, 100};
    std::vector<double>       y{5, 6, 7};
    Cpu                       be(1);
    spmv<double>(be, 1, A, x, 0, y);
    EXPECT_EQ(y, (std::vector<double>{21, 0, 430}));
    spmv<double>(be, 2, A, x, -1, y);
    EXPECT_EQ(y, (std::vector<double>{21, 0, 430}));
    spmv_transpose<double>(be, 1, A, x, 0, y);
    EXPECT_EQ(y, (std::vector<double>{1, 302, 400}));
    spmv_transpose<double>(be, 1, A, x, 2, y);
    EXPECT_EQ(y, (std::vector<double>{3, 906, 1200}));
}

TEST(Spmv, OverwritesNanWhenBIsZero)
{
    const auto                A = CsrMatrix<double>::identity(3);
    const std::vector<double> x{1, 2, 3};
    std::vector<double>       y(3, std::numeric_limits<double>::quiet_NaN()), z = y;
    Cpu                       be(2);
    spmv<double>(be, 1, A, x, 0, y);
    spmv_transpose<double>(be, 1, A, x, 0, z);
    EXPECT_EQ(y, x);
    EXPECT_EQ(z, x);
}

TEST(Spmv, AgreesWithTheDenseProductForEveryShape)
{
    EXPECT_TRUE(rc::check("y = a A x + b y", [] {
        const auto rows = *rc::gen::element<Index>(0, 1, 2, 31, 32, 33),
                   cols = *rc::gen::element<Index>(0, 1, 2, 31, 32, 33);
        const auto A = random_matrix(rows, cols, *rc::gen::inRange<Index>(0, 8), *rc::gen::arbitrary<std::uint64_t>());
        const auto x = random_vector(cols, 1), y0 = random_vector(rows, 2);
        const double a = 0.5, b = *rc::gen::element(0., 1., -2.);
        Cpu          be(2);
        auto         y = y0;
        spmv<double>(be, a, A, x, b, y);
        const auto Ax = multiply(to_dense(A), x);
        for (Index i = 0; i < rows; ++i) RC_ASSERT(std::abs(y[i] - (a * Ax[i] + b * y0[i])) <= 100 * eps);
        auto z = x;
        spmv_transpose<double>(be, a, A, y0, b, z);
        const auto Aty = multiply(transposed(to_dense(A)), y0);
        for (Index j = 0; j < cols; ++j) RC_ASSERT(std::abs(z[j] - (a * Aty[j] + b * x[j])) <= 1000 * eps);
    }));
}

TEST(Spmv, IsAdjointToItsTranspose)
{
    EXPECT_TRUE(rc::check("(A x, y) = (x, Aᵀ y)", [] {
        const auto          rows = *rc::gen::inRange<Index>(0, 300), cols = *rc::gen::inRange<Index>(0, 300);
        const auto          A = random_matrix(rows, cols, 5, *rc::gen::arbitrary<std::uint64_t>());
        const auto          x = random_vector(cols, 3), y = random_vector(rows, 4);
        Cpu                 be(1);
        std::vector<double> Ax(rows), Aty(cols), Aty_by_rows(cols);
        spmv<double>(be, 1, A, x, 0, Ax);
        spmv_transpose<double>(be, 1, A, y, 0, Aty);
        spmv<double>(be, 1, transpose(A), y, 0, Aty_by_rows);
        const double bound = 10 * eps * (norm2(be, A.val()) * norm2(be, x) * norm2(be, y) + 1);
        RC_ASSERT(std::abs(dot(be, Ax, y) - dot(be, x, Aty)) <= bound);
        RC_ASSERT(std::abs(dot(be, Ax, y) - dot(be, x, Aty_by_rows)) <= bound);
    }));
}

TEST(Spmv, GivesTheSameBitsForAnyNumberOfThreads)
{
    // Rows of very unequal length, empty ones at both ends and in the middle: the parts of the threads meet anywhere.
    const Index         n = 3000;
    Random              random(5);
    std::vector<Index>  row, col;
    std::vector<double> val;
    for (Index i = 100; i < n - 100; ++i) {
        const Index length = i == 1500 ? 20'000 : i % 7 == 0 ? 0 : random.below(40);
        for (Index k = 0; k < length; ++k)
            row.push_back(i), col.push_back(random.below(n)), val.push_back(random.uniform());
    }
    const auto A = CsrMatrix<double>::from_triplets(n, n, row, col, val);
    ASSERT_GT(A.nnz(), 32768) << "below this one thread does all";
    const auto          x = random_vector(n, 6);
    Cpu                 one(1);
    std::vector<double> expected(n);
    spmv<double>(one, 1, A, x, 0, expected);
    expect_near(expected, multiply(to_dense(A), x), 1e-10);
    for (int threads : {2, 3, 8}) {
        Cpu                 be(threads);
        std::vector<double> y(n, 9);
        spmv<double>(be, 1, A, x, 0, y);
        EXPECT_TRUE(identical(y, expected)) << threads << " threads";
    }
}

TEST(Spmv, TakesSinglePrecisionValues)
{
    const std::vector<Index>  row{0, 0, 1}, col{0, 1, 1};
    const std::vector<float>  val{0.5F, 2, 0.25F};
    const auto                A = CsrMatrix<float>::from_triplets(2, 2, row, col, val);
    const std::vector<double> x{1e10, 1};
    std::vector<double>       y(2);
    Cpu                       be(1);
    spmv<float>(be, 1, A, x, 0, y);
    EXPECT_EQ(y, (std::vector<double>{5e9 + 2, 0.25}));
    spmv_transpose<float>(be, 1, A, x, 0, y);
    EXPECT_EQ(y, (std::vector<double>{5e9, 2e10 + 0.25}));
}

TEST(Spmv, AllocatesNothing)
{
    const auto           A = random_matrix(3000, 3000, 20, 1);
    const auto           x = random_vector(3000, 2);
    std::vector<double>  y(3000);
    Cpu                  be(2);
    const MatrixOperator op(A, true);
    op.apply(be, x, y);  // OpenMP makes its threads here
    const AllocationCounter counter;
    op.apply(be, x, y);
    op.apply_adjoint(be, x, y);
    spmv_transpose<double>(be, 1, A, x, 1, y);
    EXPECT_EQ(counter.count(), 0);
}

TEST(MatrixOperator, AppliesAAndItsTransposeEitherWay)
{
    const auto A = random_matrix(33, 33, 4, 1);
    const auto x = random_vector(33, 2);
    Cpu        be(1);
    for (bool transposable : {false, true}) {
        const MatrixOperator op(A, transposable);
        std::vector<double>  y(33), z(33);
        op.apply(be, x, y);
        op.apply_adjoint(be, x, z);
        expect_near(y, multiply(to_dense(A), x), 1e-14);
        expect_near(z, multiply(transposed(to_dense(A)), x), 1e-14);
        EXPECT_EQ(op.size(), 33);
    }
}

TEST(MatrixOperator, RefusesARectangularMatrixNamingItsShape)
{
    const auto A = random_matrix(3, 4, 1, 1);
    expect_refusal([&] { MatrixOperator op(A); }, {"3 x 4"});
}

TEST(Residual, IsBMinusAx)
{
    const auto                A = CsrMatrix<double>::from_arrays(2, 2, {0, 1, 2}, {0, 1}, {2, 3});
    const MatrixOperator      op(A);
    const std::vector<double> x{1, 1}, b{5, 7};
    std::vector<double>       r(2);
    Cpu                       be(1);
    EXPECT_EQ(residual<Cpu>(be, op, x, b, r), 5);
    EXPECT_EQ(r, (std::vector<double>{3, 4}));
}

TEST(RowScaledOperator, MultipliesRowsAndTransposes)
{
    const auto                   A = CsrMatrix<double>::from_arrays(2, 2, {0, 2, 3}, {0, 1, 1}, {1, 2, 3});
    const MatrixOperator         op(A);
    const std::vector<double>    d{2, 0.5}, inverse{0.5, 2}, x{1, 10};
    const RowScaledOperator<Cpu> scaled(op, d);
    Identity<Cpu>                identity(2);
    RowScaledPreconditioner<Cpu> M(identity, inverse);
    std::vector<double>          y(2);
    Cpu                          be(1);
    scaled.apply(be, x, y);
    EXPECT_EQ(y, (std::vector<double>{42, 15}));  // (2 (1 + 20), ½ · 30)
    scaled.apply_adjoint(be, x, y);
    EXPECT_EQ(y, (std::vector<double>{2, 19}));  // (1 · 2, 2 · 2 + 3 · 5)
    M.apply(be, x, y);
    EXPECT_EQ(y, (std::vector<double>{0.5, 20}));
    M.apply_adjoint(be, x, y);
    EXPECT_EQ(y, (std::vector<double>{0.5, 20}));
    EXPECT_EQ(scaled.size(), 2);
    EXPECT_EQ(M.size(), 2);
}

}  // namespace
}  // namespace ilux::test

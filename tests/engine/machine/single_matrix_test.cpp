// A in single precision: what scaling does to numbers that do not fit.

#include "ilux/engine/machine/single_matrix.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "ilux/gallery/gallery.hpp"
#include "ilux/tests/support/real_form.hpp"

namespace ilux {
namespace {

/// Rows and columns of A times powers of two, of exponents up to `most` in size.
CsrMatrix<> badly_scaled(CsrMatrix<> A, int most, bool symmetric)
{
    const auto by = [&](Index i, int seed) {
        return std::ldexp(1., static_cast<int>((static_cast<long>(i) * 7919 + seed) % (2 * most + 1)) - most);
    };
    for (Index i = 0; i < A.rows(); ++i)
        for (Offset p = A.row_ptr()[i]; p < A.row_ptr()[i + 1]; ++p)
            A.val()[p] *= by(i, 1) * by(A.col()[p], symmetric ? 1 : 5);
    return A;
}

template <class S>
void expect_scaled(const CsrMatrix<S>& A)
{
    Cpu                 be(1);
    const auto          single = single_matrix<S>(be, A);
    const auto          scales = single.scales();
    std::vector<double> of_row(A.rows()), of_column(A.cols());
    for (Index i = 0; i < A.rows(); ++i)
        for (Offset p = A.row_ptr()[i]; p < A.row_ptr()[i + 1]; ++p) {
            const Index j = A.col()[p];
            const auto  value = single.A.val()[p];
            EXPECT_EQ(value, single_of<S>(scaled_entry(scales.of_row(i), A.val()[p], scales.of_col(j))));
            of_row[i] = std::max<double>(of_row[i], std::abs(value));
            of_column[j] = std::max<double>(of_column[j], std::abs(value));
        }
    for (const double size : of_row) EXPECT_TRUE(size > 0.1 && size < 10) << size;
    for (const double size : of_column) EXPECT_TRUE(size > 0.1 && size < 10) << size;
}

TEST(SingleMatrix, BringsRowsAndColumnsNearOne)
{
    for (const int most : {20, 100, 330})
        expect_scaled<double>(badly_scaled(gallery::convdiff2d({.n = 7}), most, false));
    expect_scaled<test::Complex>(test::turned(badly_scaled(gallery::convdiff2d({.n = 7}), 100, false), 2));
}

TEST(SingleMatrix, LeavesWhatFitsAsItIs)
{
    Cpu        be(1);
    const auto A = gallery::convdiff2d({.n = 7});
    const auto single = single_matrix<double>(be, A);
    EXPECT_TRUE(single.row_scale.empty() && single.col_scale.empty());
    for (Offset p = 0; p < A.nnz(); ++p) EXPECT_EQ(single.A.val()[p], static_cast<float>(A.val()[p]));
}

TEST(SingleMatrix, TakesTheSizesOfRowsFromRowsAlone)
{
    Cpu  be(1);
    auto A = gallery::convdiff2d({.n = 7});
    for (Index i = 0; i < A.rows(); ++i)
        for (Offset p = A.row_ptr()[i]; p < A.row_ptr()[i + 1]; ++p) A.val()[p] *= std::ldexp(1., i % 3 * 200 - 200);
    const auto single = single_matrix<double>(be, A);
    ASSERT_FALSE(single.col_scale.empty());
    for (const double scale : single.col_scale) EXPECT_TRUE(scale >= 0.25 && scale <= 4) << scale;
}

TEST(SingleMatrix, KeepsSymmetry)
{
    Cpu        be(1);
    const auto A = badly_scaled(gallery::poisson2d(9, 9), 200, true);
    ASSERT_TRUE(is_symmetric(A));
    const auto single = single_matrix<double>(be, A);
    EXPECT_FALSE(single.row_scale.empty());
    EXPECT_EQ(single.row_scale, single.col_scale);
    EXPECT_TRUE(is_symmetric(single.A));
}

TEST(SingleMatrix, TakesZerosAndAwkwardSizes)
{
    Cpu be(1);
    for (const Index n : {0, 1, 31, 32, 33}) EXPECT_EQ(single_matrix<double>(be, CsrMatrix<>::identity(n)).A.rows(), n);
    auto A = CsrMatrix<>::identity(4);
    A.val()[1] = 0;
    A.val()[2] = 1e300;
    A.val()[3] = 5e-324;
    const auto single = single_matrix<double>(be, A);
    EXPECT_EQ(single.A.val()[1], 0);
    for (const int p : {0, 2, 3}) EXPECT_TRUE(std::isnormal(single.A.val()[p])) << p;
}

}  // namespace
}  // namespace ilux

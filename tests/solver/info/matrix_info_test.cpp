#include "ilux/solver/info/matrix_info.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <complex>

namespace ilux {
namespace {

using namespace std::complex_literals;
using Complex = std::complex<double>;

/// An n×n matrix from its rows; zeros are not stored.
template <Scalar S>
CsrMatrix<S> square(Index n, const std::vector<S>& rows)
{
    std::vector<Index> row, col;
    std::vector<S>     val;
    for (Index k = 0; k < n * n; ++k)
        if (rows[k] != S(0)) {
            row.push_back(k / n);
            col.push_back(k % n);
            val.push_back(rows[k]);
        }
    return CsrMatrix<S>::from_triplets(n, n, row, col, val);
}

template <Scalar S>
MatrixInfo seen(const CsrMatrix<S>& A, bool factored = false)
{
    return examine<S>(A, factored);
}

TEST(MatrixInfo, TellsHermitianSymmetricAndSkewMatricesApart)
{
    struct Case {
        MatrixInfo info;
        bool       complex, symmetric, hermitian, skew;
    };
    const Case cases[] = {
        {seen(square<double>(2, {1, 2, 2, 3})), false, true, true, false},
        {seen(square<double>(2, {0, 2, -2, 0})), false, false, false, true},
        {seen(square<double>(2, {1, 2, -2, 0})), false, false, false, false},
        {seen(square<Complex>(2, {1, 2. + 1i, 2. + 1i, 3i})), true, true, false, false},
        {seen(square<Complex>(2, {1, 2. + 1i, 2. - 1i, 3})), true, false, true, false},
        {seen(square<Complex>(2, {1i, 2. + 1i, 2. - 1i, 3})), true, false, false, false},
        {seen(square<Complex>(2, {0, 2. + 1i, -2. - 1i, 0})), true, false, false, true},
        {seen(square<Complex>(2, {1, 2, 2, 3})), true, true, true, false},
        {seen(square<Complex>(2, {0, 0, 0, 0})), true, true, true, false},  // A = −Aᵀ, too, but that says nothing
    };
    for (const Case& one : cases) {
        EXPECT_EQ(one.info.complex, one.complex);
        EXPECT_EQ(one.info.symmetric, one.symmetric);
        EXPECT_EQ(one.info.hermitian, one.hermitian);
        EXPECT_EQ(one.info.skew_symmetric, one.skew);
        EXPECT_TRUE(one.info.pattern_symmetric);
    }
}

TEST(MatrixInfo, MeasuresComplexValuesByTheirModulus)
{
    // |3 + 4i| = 5, though its parts add up to 7: rows 1 and 2 are dominant, row 3 is not.
    const auto info = seen(square<Complex>(3, {5, 3. + 4i, 0,        //
                                               0, 3. + 4i, -5,       //
                                               1, 3. - 4i, 0.1i}));  //
    EXPECT_EQ(info.diagonal.dominant, 2);
    EXPECT_EQ(info.diagonal.largest_in_row, 2);
    EXPECT_DOUBLE_EQ(info.largest, 5);
    EXPECT_DOUBLE_EQ(info.smallest, 0.1);
    EXPECT_EQ(info.imaginary, 4);
    EXPECT_EQ(info.stored_zeros, 0);
    EXPECT_EQ(info.depth_lower, 2);
    EXPECT_EQ(info.lower_bandwidth, 2);
    EXPECT_EQ(info.upper_bandwidth, 1);
    ASSERT_TRUE(info.matching);
    EXPECT_EQ(info.matching->rank, 3);
}

TEST(MatrixInfo, MatchesComplexEntriesByTheirSize)
{
    const auto info = seen(square<Complex>(2, {1e-3, 2i, 3. - 1i, 1e-3i}));
    EXPECT_EQ(info.matching->moved, 2);
    EXPECT_EQ(info.matching->dominant, 2);
    EXPECT_EQ(info.diagonal.dominant, 0);
}

TEST(MatrixInfo, OfAComplexMultipleIsThatOfTheRealMatrix)
{
    const Index          n = 12;
    std::vector<double>  real(n * n, 0);
    std::vector<Complex> complex(n * n, 0);
    for (Index i = 0; i < n; ++i)
        for (const Index j : {i - 4, i - 1, i, i + 1, i + 4})
            if (j >= 0 && j < n) real[i * n + j] = i == j ? 6. + i : -1. - 0.125 * j;
    for (Index k = 0; k < n * n; ++k) complex[k] = real[k] * (0.6 + 0.8i);
    const auto a = seen(square(n, real), true), b = seen(square(n, complex), true);
    EXPECT_EQ(b.diagonal.dominant, a.diagonal.dominant);
    EXPECT_EQ(b.depth_lower, a.depth_lower);
    EXPECT_EQ(b.matching->moved, a.matching->moved);
    ASSERT_TRUE(a.lu && b.lu && a.levels && b.levels);
    EXPECT_EQ(b.lu->report.nnz, a.lu->report.nnz);
    EXPECT_EQ(b.levels->left, a.levels->left);
    EXPECT_EQ(b.levels->exact, a.levels->exact);
    EXPECT_EQ(b.levels->sizes, a.levels->sizes);
    EXPECT_NEAR(b.largest, a.largest, 1e-14 * a.largest);
}

TEST(MatrixInfo, OfSingularEmptyAndRectangularComplexMatricesHasNoFactors)
{
    const auto singular = seen(square<Complex>(3, {1i, 0, 0, 2, 0, 0, 0, 1, 1}), true);
    EXPECT_EQ(singular.matching->rank, 2);
    EXPECT_EQ(singular.lu, nullptr);
    EXPECT_EQ(singular.diagonal.missing, 1);
    const auto defect = seen(square<Complex>(2, {1i, 1, -1, 1i}), true);  // row 2 is i times row 1
    EXPECT_FALSE(defect.levels);
    EXPECT_NE(defect.no_levels.find("singular"), std::string::npos) << defect.no_levels;
    const auto empty = seen(CsrMatrix<Complex>::identity(0));
    EXPECT_EQ(empty.lengths.longest, 0);
    EXPECT_EQ(empty.matching->rank, 0);
    const std::vector<Index>   row{0}, col{2};
    const std::vector<Complex> val{1i};
    const auto                 wide = seen(CsrMatrix<Complex>::from_triplets(1, 3, row, col, val));
    EXPECT_FALSE(wide.matching);
    EXPECT_EQ(wide.upper_bandwidth, 2);
    EXPECT_EQ(wide.imaginary, 1);
}

TEST(MatrixInfo, ForeseesTheMemoryOfComplexValues)
{
    const auto of = [](const MatrixInfo& info, std::string_view what) {
        const auto all = estimates(info);
        const auto found = std::ranges::find(all, what, &MemoryEstimate::what);
        return found == all.end() ? -1. : found->bytes;
    };
    const auto real = seen(CsrMatrix<double>::identity(100)), complex = seen(CsrMatrix<Complex>::identity(100));
    EXPECT_EQ(of(real, "ilu0"), 100 * (8 + 4) + 100 * 8);
    EXPECT_EQ(of(complex, "ilu0"), 100 * (16 + 4) + 100 * 8);
    EXPECT_EQ(of(complex, "gmres_basis"), 2 * of(real, "gmres_basis"));
    EXPECT_EQ(of(complex, "matrix") - of(real, "matrix"), 800);
    EXPECT_GT(of(complex, "lu"), of(real, "lu"));
    const char* const gpu = "gpu_gmres_mlilu_fill_3";  // identities: 4 (values + 4) nnz + (restart + 15) values n
    EXPECT_EQ(of(complex, gpu) - of(real, gpu), 4 * 8 * 100 + 8 * 100 * (KrylovOptions().restart + 15));
}

}  // namespace
}  // namespace ilux

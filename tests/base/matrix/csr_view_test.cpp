// Matrices in arrays of the caller's.

#include "ilux/base/matrix/csr_view.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "ilux/base/matrix/csr.hpp"
#include "ilux/base/matrix/spmv.hpp"
#include "ilux/tests/support/checks.hpp"

namespace ilux::test {
namespace {

/// [4 0 1; 0 0 0; 2 3 0] in arrays of its own.
struct Arrays {
    std::vector<Offset> row_ptr{0, 2, 2, 4};
    std::vector<Index>  col{0, 2, 0, 1};
    std::vector<double> val{4, 1, 2, 3};

    CsrView<double> view() const { return {3, 3, row_ptr, col, val}; }
};

TEST(CsrView, LooksAtTheCallersArrays)
{
    Arrays                  a;
    const AllocationCounter counter;
    const CsrView<double>   A = a.view();
    EXPECT_EQ(counter.count(), 0);
    EXPECT_EQ(A.row_ptr().data(), a.row_ptr.data());
    EXPECT_EQ(A.col().data(), a.col.data());
    EXPECT_EQ(A.val().data(), a.val.data());
    a.val[3] = 5;
    EXPECT_EQ(A.at(2, 1), 5);
    EXPECT_EQ(A.at(1, 1), 0);
    EXPECT_EQ(A.nnz(), 4);
}

TEST(CsrView, MultipliesAsTheMatrixItIs)
{
    const Arrays              a;
    const std::vector<double> x{1, 10, 100};
    std::vector<double>       y(3);
    Cpu                       be(1);
    spmv(be, 1., a.view(), x, 0., y);
    EXPECT_EQ(y, (std::vector<double>{104, 0, 32}));
    EXPECT_EQ(to_dense(transpose(a.view())).a, (std::vector<double>{4, 0, 2, 0, 0, 3, 1, 0, 0}));
}

TEST(CsrView, RefusesWhatIsNoMatrixNamingThePlace)
{
    const auto refused = [](Arrays a, const std::vector<std::string>& words) {
        expect_refusal([&] { (void)a.view(); }, words);
    };
    refused({.row_ptr = {0, 2, 2}}, {"row_ptr has 3", "4"});
    refused({.row_ptr = {0, 2, 1, 4}}, {"decreases after row 1"});
    refused({.row_ptr = {0, 5, 5, 4}}, {"row_ptr of row 0 passes the 4"});
    refused({.row_ptr = {1, 2, 2, 4}}, {"from 1 to 4"});
    refused({.row_ptr = {0, 2, 2, 3}}, {"0 to 3", "0 to 4"});
    refused({.col = {0, 2, 0}}, {"3 columns", "4 values"});
    refused({.col = {0, 3, 0, 1}}, {"entry 1", "column 3", "3 x 3"});
    refused({.col = {-1, 2, 0, 1}}, {"entry 0", "column -1"});
    refused({.col = {2, 0, 0, 1}}, {"row 0", "column 0 follows 2", "from_arrays"});
    refused({.col = {0, 2, 1, 1}}, {"row 2", "column 1 follows 1"});
    refused({.val = {4, nan, 2, 3}}, {"entry 1", "row 0, column 2"});
    expect_refusal([] { CsrView<double>(-1, 1, {}, {}, {}); }, {"-1 x 1"});
}

TEST(CsrView, OfNothingIsEmpty)
{
    const CsrView<double> none;
    EXPECT_EQ(none.rows(), 0);
    EXPECT_EQ(none.nnz(), 0);
    EXPECT_EQ(none.row_ptr().size(), 1u);
    const std::vector<Offset> row_ptr(34, 0);
    EXPECT_EQ(CsrView<double>(33, 5, row_ptr, {}, {}).nnz(), 0);
}

TEST(CsrView, TakesOtherValuesForItsPattern)
{
    const Arrays              a;
    const std::vector<double> val{5, 6, 7, 8};
    const auto                B = a.view().with_values(val);
    EXPECT_EQ(to_dense(B).a, (std::vector<double>{5, 0, 6, 0, 0, 0, 7, 8, 0}));
    EXPECT_EQ(B.col().data(), a.col.data());
}

TEST(CsrMatrix, IsAViewOfItsOwnArrays)
{
    const Arrays            a;
    CsrMatrix<double>       A(a.view());
    const CsrView<double>   seen = A;
    const CsrMatrix<double> copy = A;
    A.val()[0] = 9;
    EXPECT_EQ(seen.at(0, 0), 9);
    EXPECT_EQ(copy.at(0, 0), 4) << "a copy has arrays of its own";
    EXPECT_EQ(a.val[0], 4);

    const CsrMatrix<double> moved = std::move(A);
    EXPECT_EQ(seen.val().data(), moved.val().data()) << "arrays stay where they are";
    EXPECT_EQ(A.nnz(), 0);  // NOLINT(bugprone-use-after-move): what a move leaves is promised
    EXPECT_EQ(A.rows(), 0);
    A = copy;
    EXPECT_TRUE(identical(A, copy));
    CsrMatrix<double>& same = A;
    A = std::move(same);
    EXPECT_TRUE(identical(A, copy)) << "moved to itself";
}

TEST(WidenedCsr, CopiesItsRowPointersAlone)
{
    const Arrays                      a;
    std::optional<WidenedCsr<double>> copy;
    {
        const std::vector<std::int32_t> row_ptr(a.row_ptr.begin(), a.row_ptr.end());
        const WidenedCsr<double>        A(3, 3, row_ptr, a.col, a.val);
        EXPECT_EQ(A.col().data(), a.col.data());
        EXPECT_EQ(A.val().data(), a.val.data());
        copy = A;
    }
    EXPECT_TRUE(identical(*copy, CsrMatrix<double>(a.view())));
    expect_refusal(
        [&] {
            WidenedCsr<double>(3, 3, std::vector<std::int32_t>{0, -2, 2, 4}, a.col, a.val);
        },
        {"decreases after row 0"});
}

}  // namespace
}  // namespace ilux::test

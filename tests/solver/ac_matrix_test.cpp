#include "ilux/solver/ac_matrix.hpp"

#include <gtest/gtest.h>

#include <numbers>
#include <set>

#include "ilux/tests/support/checks.hpp"
#include "ilux/tests/support/entry_list.hpp"

namespace ilux {
namespace {

using namespace ilux::test;
using Complex = std::complex<double>;

std::set<std::pair<Index, Index>> places(const CsrView<double>& A)
{
    std::set<std::pair<Index, Index>> all;
    for (Index i = 0; i < A.rows(); ++i)
        for (Offset p = A.row_ptr()[i]; p < A.row_ptr()[i + 1]; ++p) all.emplace(i, A.col()[p]);
    return all;
}

/// Place by place: those of a set that either matrix has, and there the sum.
void expect_union(const CsrView<double>& G, const CsrView<double>& C, double f)
{
    AcMatrix matrix(G, C);
    matrix.set_frequency(f);
    const auto& A = matrix.A();
    auto        all = places(G);
    all.merge(places(C));
    ASSERT_EQ(A.nnz(), std::ssize(all));
    ASSERT_EQ(A.rows(), G.rows());
    auto expected = all.begin();
    for (Index i = 0; i < A.rows(); ++i)
        for (Offset p = A.row_ptr()[i]; p < A.row_ptr()[i + 1]; ++p, ++expected) {
            ASSERT_EQ(*expected, std::pair(i, A.col()[p]));
            EXPECT_EQ(A.val()[p].real(), G.at(i, A.col()[p]));
            EXPECT_DOUBLE_EQ(A.val()[p].imag(), 2 * std::numbers::pi * f * C.at(i, A.col()[p]));
        }
}

TEST(AcMatrix, HasTheEntriesOfEither)
{
    for (const Index n : {0, 1, 2, 7, 40})
        for (const Index per_row : {0, 1, 3})
            for (const double f : {0., 1., 3.5e6}) {
                expect_union(random_matrix(n, n, per_row, 1), random_matrix(n, n, 3, 2), f);
                expect_union(random_matrix(n, n, 2, 3), random_matrix(n, n, per_row, 4), f);
                expect_union(random_matrix(n, n, per_row, 5), random_matrix(n, n, per_row, 5), f);  // one pattern
            }
}

TEST(AcMatrix, KeepsZerosThatAreStored)
{
    EntryList g, c;
    g.add(0, 0, 0);
    c.add(0, 1, 0);
    c.add(1, 1, 2);
    AcMatrix matrix(g.matrix(2, 2), c.matrix(2, 2));
    EXPECT_EQ(matrix.A().nnz(), 3);
    matrix.set_frequency(1);
    EXPECT_EQ(matrix.A().at(1, 1), Complex(0, 4 * std::numbers::pi));
}

TEST(AcMatrix, ForgetsTheFrequencyBeforeAndStaysInItsArrays)
{
    AcMatrix    matrix(random_matrix(9, 9, 3, 1), random_matrix(9, 9, 3, 2));
    const auto* values = matrix.A().val().data();
    const auto  before = [&] { return std::vector<Complex>(matrix.A().val().begin(), matrix.A().val().end()); };
    const auto  at_zero = before();
    matrix.set_frequency(1e3);
    const auto there = before();
    matrix.set_frequency(7e9);
    matrix.set_frequency(1e3);
    EXPECT_EQ(before(), there);
    matrix.set_frequency(0);
    EXPECT_EQ(before(), at_zero);
    EXPECT_EQ(matrix.A().val().data(), values);
}

TEST(AcMatrix, RefusesWhatDoesNotFit)
{
    const auto A = random_matrix(3, 3, 2, 1);
    expect_refusal([&] { AcMatrix(A, random_matrix(4, 4, 2, 1)); }, {"G is 3 × 3", "C is 4 × 4"});
    expect_refusal([&] { AcMatrix(random_matrix(3, 4, 2, 1), A); }, {"G is 3 × 4", "square"});
    expect_refusal([&] { AcMatrix(A, random_matrix(3, 2, 2, 1)); }, {"C is 3 × 2", "square"});
}

TEST(AcMatrix, RefusesAFrequencyWithoutAMatrixAndStaysAsItWas)
{
    EntryList g, c;
    g.add(0, 0, 1);
    g.add(1, 1, 1);
    c.add(1, 0, 1e300);
    AcMatrix matrix(g.matrix(2, 2), c.matrix(2, 2));
    matrix.set_frequency(1);
    const Complex entry = matrix.A().at(1, 0);
    for (const double f : {-1., infinity, nan}) expect_refusal([&] { matrix.set_frequency(f); }, {"Hz", "0 or more"});
    expect_refusal([&] { matrix.set_frequency(1e9); }, {"overflows at 1e+09 Hz", "row 2, column 1"});
    EXPECT_EQ(matrix.A().at(1, 0), entry);
}

}  // namespace
}  // namespace ilux

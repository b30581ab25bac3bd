// Matrix Market files of complex values.

#include <gtest/gtest.h>

#include <complex>
#include <string>

#include "ilux/base/io/matrix_file.hpp"
#include "ilux/base/io/matrix_market.hpp"
#include "ilux/tests/support/checks.hpp"

namespace ilux {
namespace {

using test::expect_refusal;
using test::TempFolder;
using Complex = std::complex<double>;

const std::string head = "%%MatrixMarket matrix ";

CsrMatrix<Complex> parsed(const std::string& text) { return parse_matrix<Complex>(text, "t.mtx"); }

TEST(MatrixMarketComplex, ReadsTwoNumbersAnEntry)
{
    const auto A = parsed(head + "coordinate complex general\n2 3 3\n1 3 1 -2\n2 1 1.5D+1 +0\n1 1 0 1e-3\n");
    EXPECT_EQ(A.nnz(), 3);
    EXPECT_EQ(A.at(0, 2), Complex(1, -2));
    EXPECT_EQ(A.at(1, 0), Complex(15, 0));
    EXPECT_EQ(A.at(0, 0), Complex(0, 1e-3));
    const auto column = parsed(head + "array complex general\n3 1\n1 2\n0 0\n-0 3\n");
    EXPECT_EQ(column.at(0, 0), Complex(1, 2));
    EXPECT_EQ(column.at(2, 0), Complex(0, 3));
    EXPECT_EQ(column.nnz(), 2);
}

TEST(MatrixMarketComplex, MirrorsByEverySymmetry)
{
    const std::string below = "2 2 2\n1 1 5 0\n2 1 1 2\n";
    EXPECT_EQ(parsed(head + "coordinate complex symmetric\n" + below).at(0, 1), Complex(1, 2));
    EXPECT_EQ(parsed(head + "coordinate complex hermitian\n" + below).at(0, 1), Complex(1, -2));
    EXPECT_EQ(parsed(head + "coordinate complex skew-symmetric\n2 2 1\n2 1 1 2\n").at(0, 1), Complex(-1, -2));
    EXPECT_EQ(parsed(head + "array complex hermitian\n2 2\n3 0\n1 1\n4 0\n").at(0, 1), Complex(1, -1));
}

TEST(MatrixMarketComplex, TakesRealValuesToo)
{
    EXPECT_EQ(parsed(head + "coordinate real general\n1 1 1\n1 1 3\n").at(0, 0), Complex(3));
    EXPECT_EQ(parsed(head + "coordinate pattern symmetric\n2 2 1\n2 1\n").at(0, 1), Complex(1));
}

TEST(MatrixMarketComplex, NamesFileLineAndWordInEveryRefusal)
{
    const auto refused = [](const std::string& text, const std::vector<std::string>& words) {
        expect_refusal([&] { (void)parsed(text); }, words);
    };
    const std::string general = head + "coordinate complex general\n";
    refused(general + "1 1 1\n1 1 3.25\n", {"t.mtx:3:", "expected a number", "the end of the line"});
    refused(general + "1 1 1\n1 1 3 x\n", {"t.mtx:3:", "expected a number", "'x'"});
    refused(general + "1 1 1\n1 1 3 4 5\n", {"t.mtx:3:", "the end of the line", "'5'"});
    refused(general + "1 1 1\n1 1 0 nan\n", {"t.mtx:3:", "finite", "'nan'"});
    refused(general + "1 1 1\n1 1 inf 0\n", {"t.mtx:3:", "finite", "'inf'"});
    refused(general + "2 2 2\n1 1 0 0\n", {"t.mtx:2:", "truncated"});
    refused(general + "1 1 1\n1 1 1.5e308 1.5e308\n", {"t.mtx:3:", "1.5e+308+1.5e+308i", "overflows"});
    refused(head + "array complex hermitian\n2 2\n4 0\n\n1 1\n3 5\n", {"t.mtx:6:", "real number", "5 at row 2"});
    refused(head + "coordinate complex hermitian\n1 1 1\n1 1 1 2\n", {"t.mtx:3:", "real number", "hermitian", "2"});
    refused(head + "coordinate complex skew-symmetric\n1 1 1\n1 1 0 2\n", {"t.mtx:3:", "skew-symmetric", "2"});
}

TEST(MatrixMarketComplex, ComesBackBitForBit)
{
    const Complex z(0.1, -1e-300), d(3, 0);
    const auto    hermitian = CsrMatrix<Complex>::from_arrays(2, 2, {0, 2, 4}, {0, 1, 0, 1}, {d, z, conj(z), -d});
    EXPECT_EQ(matrix_text(hermitian, {.symmetry = Symmetry::hermitian}),
              head + "coordinate complex hermitian\n2 2 3\n1 1 3 0\n2 1 0.1 1e-300\n2 2 -3 -0\n");
    EXPECT_EQ(matrix_text(parsed(matrix_text(hermitian))), matrix_text(hermitian));  // shortest digits: the same bits
    EXPECT_EQ(parsed(matrix_text(hermitian, {.symmetry = Symmetry::hermitian})).at(0, 1), z);
    expect_refusal([&] { (void)matrix_text(hermitian, {.symmetry = Symmetry::symmetric}); }, {"not symmetric"});

    const auto skew = CsrMatrix<Complex>::from_arrays(2, 2, {0, 1, 2}, {1, 0}, {-z, z});
    const auto written = matrix_text(skew, {.symmetry = Symmetry::skew_symmetric});
    EXPECT_EQ(written, head + "coordinate complex skew-symmetric\n2 2 1\n2 1 0.1 -1e-300\n");
    EXPECT_EQ(matrix_text(parsed(written)), matrix_text(skew));
    expect_refusal([&] { (void)matrix_text(hermitian, {.symmetry = Symmetry::skew_symmetric}); },
                   {"not skew-symmetric"});

    const TempFolder           folder;
    const std::vector<Complex> x{z, d, {0, 7}};
    write_vector(folder.file("x.mtx"), x);
    EXPECT_EQ(read_vector<Complex>(folder.file("x.mtx")), x);
    EXPECT_THROW((void)read_vector(folder.file("x.mtx")), InvalidInput);
}

TEST(MatrixMarketComplex, IsReadAsTheFileSays)
{
    const TempFolder folder;
    const auto       real = folder.write("real.mtx", head + "coordinate real general\n1 1 1\n1 1 2\n");
    const auto       complex =
        folder.write("complex.mtx", "\xef\xbb\xbf %%MATRIXMARKET matrix coordinate Complex general\r1 1 1\r1 1 2 3\r");
    EXPECT_EQ(std::get<CsrMatrix<double>>(read_any_matrix(real)).at(0, 0), 2);
    EXPECT_EQ(std::get<CsrMatrix<Complex>>(read_any_matrix(complex)).at(0, 0), Complex(2, 3));
    expect_refusal([&] { (void)read_any_matrix(folder.write("none.mtx", "complex")); },
                   {"none.mtx:1:", "%%MatrixMarket"});
}

}  // namespace
}  // namespace ilux

#pragma once
// Small files that other programs wrote (make_files), and what they hold.

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <complex>
#include <string>

#include "ilux/base/io/matrix_file.hpp"
#include "ilux/tests/support/checks.hpp"

namespace ilux::test {

using Complex = std::complex<double>;

inline std::string foreign_file(const std::string& name) { return std::string(ILUX_FOREIGN_FILES) + "/" + name; }

/// The value of a complex file is 1 + 2i times that of a real one.
template <Scalar T>
T of_real(double x)
{
    if constexpr (is_complex<T>) return {x, 2 * x};
    else return x;
}

template <Scalar T>
void expect_dense(const AnyMatrix& any, const std::vector<std::vector<double>>& dense, const std::string& name)
{
    ASSERT_TRUE(std::holds_alternative<CsrMatrix<T>>(any)) << name;
    const auto& A = std::get<CsrMatrix<T>>(any);
    ASSERT_EQ(A.rows(), std::ssize(dense)) << name;
    ASSERT_EQ(A.cols(), std::ssize(dense[0])) << name;
    Offset nnz = 0;
    for (Index i = 0; i < A.rows(); ++i)
        for (Index j = 0; j < A.cols(); ++j) {
            EXPECT_EQ(A.at(i, j), of_real<T>(dense[i][j])) << name << " at " << i << ", " << j;
            nnz += dense[i][j] != 0;
        }
    EXPECT_TRUE(A.nnz() == nnz || A.nnz() == Offset{A.rows()} * A.cols()) << name;  // PETSc stores zeros, too
}

template <Scalar T>
void expect_A(const AnyMatrix& any, const std::string& name)
{
    expect_dense<T>(any, {{4, 0, -1.5, 0}, {0, 3, 0, 1e-3}, {2, 0, 5, 0}, {0, -7, 0, 6.25}}, name);
}

template <Scalar T>
void expect_B(const AnyMatrix& any, const std::string& name)
{
    expect_dense<T>(any, {{1, 5}, {2, 6}, {0, 7}, {4, -8}}, name);
}

/// Every beginning of the bytes is refused, or read where nothing but the end of a text is missing; with any byte
/// changed they are refused or read. Other exceptions fail the test.
inline void expect_bytes_survive(const std::string& bytes, const std::string& name)
{
    const auto tried = [&](const std::string& damaged) {
        for (const FilePart part : {FilePart::matrix, FilePart::right_sides}) try {
                const auto  any = parse_any_matrix(damaged, name, {.threads = 1, .part = part});
                const auto* A = std::get_if<CsrMatrix<double>>(&any);
                EXPECT_EQ(A != nullptr ? broken_invariant(*A) : "", "") << name;
            } catch (const InvalidInput& why) {
                EXPECT_TRUE(std::string(why.what()).starts_with(name)) << why.what();
            }
    };
    for (std::size_t size = 0; size < bytes.size(); ++size) tried(bytes.substr(0, size));
    for (std::size_t p = 0; p < bytes.size(); ++p)
        for (const int change : {0x01, 0x80, 0xff}) {
            std::string damaged = bytes;
            damaged[p] = static_cast<char>(damaged[p] ^ change);
            tried(damaged);
        }
}

inline void expect_survives_damage(const std::string& name)
{
    expect_bytes_survive(read_bytes(foreign_file(name)), name);
}

}  // namespace ilux::test

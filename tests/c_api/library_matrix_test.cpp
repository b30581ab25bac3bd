// Model problems and files by the C interface.

#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>

#include "ilux/tests/c_api/c_system.hpp"

namespace ilux {
namespace {

using namespace ilux::test;

TEST(CMatrix, AModelProblemIsSolved)
{
    for (const char* spec : {"convdiff2d:n=20", "helmholtz2d_open:n=16"}) {
        ilux_matrix* matrix = nullptr;
        ASSERT_EQ(ilux_gallery(spec, &matrix), ILUX_OK) << ilux_last_error();
        ilux_csr csr{};
        ASSERT_EQ(ilux_matrix_csr(matrix, &csr), ILUX_OK);
        const int           values = ilux_matrix_values(matrix);
        const auto          solver = c_solver(values);
        std::vector<double> b(static_cast<std::size_t>(csr.n * (values == ILUX_COMPLEX ? 2 : 1)), 1.0), x(b.size());
        ASSERT_EQ(ilux_analyse(solver.get(), &csr, 1, 1), ILUX_OK);
        ASSERT_EQ(ilux_factor(solver.get(), nullptr), ILUX_OK);
        EXPECT_EQ(ilux_solve(solver.get(), ILUX_PLAIN, 1, b.data(), csr.n, x.data(), csr.n), ILUX_OK)
            << ilux_message(solver.get());
        ilux_matrix_free(matrix);
    }
}

TEST(CMatrix, AFileIsRead)
{
    const std::string path = testing::TempDir() + "c_api_matrix.mtx";
    std::ofstream(path) << "%%MatrixMarket matrix coordinate real general\n2 2 3\n1 1 4\n1 2 -1\n2 2 3\n";
    ilux_matrix* matrix = nullptr;
    ASSERT_EQ(ilux_read(path.c_str(), &matrix), ILUX_OK) << ilux_last_error();
    ilux_csr csr{};
    ASSERT_EQ(ilux_matrix_csr(matrix, &csr), ILUX_OK);
    EXPECT_EQ(csr.n, 2);
    EXPECT_EQ(csr.row_ptr_bits, 64);
    EXPECT_EQ(static_cast<const std::int64_t*>(csr.row_ptr)[2], 3);
    EXPECT_EQ(csr.col[1], 1);
    EXPECT_EQ(static_cast<const double*>(csr.values)[2], 3);
    ilux_matrix_free(matrix);
    std::ofstream(path) << "%%MatrixMarket matrix coordinate real general\n2 3 1\n1 3 4\n";
    ASSERT_EQ(ilux_read(path.c_str(), &matrix), ILUX_OK);
    EXPECT_EQ(ilux_matrix_csr(matrix, &csr), ILUX_BAD_INPUT);
    EXPECT_STREQ(ilux_last_error(), "the matrix is not square");
    ilux_matrix_free(matrix);
    std::remove(path.c_str());
}

TEST(CMatrix, WhatIsNotThereIsTold)
{
    ilux_matrix* matrix = nullptr;
    EXPECT_EQ(ilux_read("/nowhere/A.mtx", &matrix), ILUX_BAD_INPUT);
    EXPECT_EQ(matrix, nullptr);
    EXPECT_STRNE(ilux_last_error(), "");
    EXPECT_NE(ilux_gallery("convdif2d", &matrix), ILUX_OK);
    EXPECT_NE(std::string(ilux_last_error()).find("convdiff2d"), std::string::npos) << ilux_last_error();
    EXPECT_EQ(ilux_gallery(nullptr, &matrix), ILUX_BAD_INPUT);
    EXPECT_EQ(ilux_read("A.mtx", nullptr), ILUX_BAD_INPUT);
    EXPECT_EQ(ilux_matrix_csr(nullptr, nullptr), ILUX_BAD_INPUT);
    ilux_matrix_free(nullptr);
}

}  // namespace
}  // namespace ilux

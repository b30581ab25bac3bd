// Which arrays of a caller are borrowed, which are copied, and which are no matrix.

#include "ilux/c_api/caller_csr.hpp"

#include <gtest/gtest.h>

#include "ilux/tests/c_api/c_system.hpp"

namespace ilux::c_api {
namespace {

using namespace ilux::test;

Gpu& no_gpu() { throw DeviceError("there is none"); }

TEST(CallerCsr, BorrowsWhatItCan)
{
    auto                    A = line<double>(10);
    const CallerCsr<double> of_64(A.csr(64), no_gpu), of_32(A.csr(32), no_gpu);
    EXPECT_EQ(of_64.view().row_ptr().data(), A.ptr.data());
    EXPECT_EQ(of_64.view().col().data(), A.col.data());
    EXPECT_EQ(of_64.view().val().data(), A.val.data());
    EXPECT_NE(static_cast<const void*>(of_32.view().row_ptr().data()), A.ptr32.data());
    EXPECT_EQ(of_32.view().col().data(), A.col.data());
    EXPECT_EQ(of_32.view().val().data(), A.val.data());
}

TEST(CallerCsr, SortsAndAddsWithoutTouchingTheCallers)
{
    auto              A = line<double>(10, true);
    const auto        before = A;
    CallerCsr<double> matrix(A.csr(), no_gpu);
    const auto        plain = line<double>(10);
    EXPECT_EQ(std::vector<Index>(matrix.view().col().begin(), matrix.view().col().end()), plain.col);
    for (std::size_t p = 0; p < plain.val.size(); ++p) EXPECT_DOUBLE_EQ(matrix.view().val()[p], plain.val[p]);
    EXPECT_EQ(A.col, before.col);
    EXPECT_EQ(A.val, before.val);
    EXPECT_EQ(matrix.entries(), A.val.size());
    for (double& value : A.val) value *= 2;
    const auto renewed = matrix.in_order(A.val.data(), no_gpu);
    for (std::size_t p = 0; p < plain.val.size(); ++p) EXPECT_DOUBLE_EQ(renewed[p], 2 * plain.val[p]);
    const CallerCsr<double> moved = std::move(matrix);
    EXPECT_EQ(moved.view().at(3, 3), 2.5);
}

TEST(CallerCsr, WhatIsNoMatrixIsRefused)
{
    const auto refused = [](auto&& change) {
        auto A = line<double>(5);
        auto csr = A.csr();
        change(A, csr);
        EXPECT_THROW((void)CallerCsr<double>(csr, no_gpu), InvalidInput);
    };
    refused([](auto&, auto& csr) { csr.n = -1; });
    refused([](auto&, auto& csr) { csr.n = std::int64_t(1) << 31; });
    refused([](auto&, auto& csr) { csr.row_ptr_bits = 16; });
    refused([](auto&, auto& csr) { csr.row_ptr_bits = 0; });
    refused([](auto&, auto& csr) { csr.memory = 7; });
    refused([](auto&, auto& csr) { csr.row_ptr = nullptr; });
    refused([](auto&, auto& csr) { csr.col = nullptr; });
    refused([](auto&, auto& csr) { csr.values = nullptr; });
    refused([](auto& A, auto&) { A.ptr[0] = 1; });
    refused([](auto& A, auto&) { A.ptr[2] = 100; });
    refused([](auto& A, auto&) { A.ptr[2] = -3; });
    refused([](auto& A, auto&) { A.ptr.back() = -1; });
    refused([](auto& A, auto&) { A.col[3] = 5; });
    refused([](auto& A, auto&) { A.col[3] = -1; });
    refused([](auto& A, auto&) { A.val[3] = NAN; });
    auto A = line<double>(5);
    auto csr = A.csr();
    csr.memory = ILUX_DEVICE;
    EXPECT_THROW((void)CallerCsr<double>(csr, no_gpu), DeviceError);
}

}  // namespace
}  // namespace ilux::c_api

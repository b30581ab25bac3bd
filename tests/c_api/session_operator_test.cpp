// Operators and preconditioners that are functions of a C program.

#include <gtest/gtest.h>

#include <cstring>

#include "ilux/tests/c_api/c_system.hpp"

namespace ilux {
namespace {

using namespace ilux::test;

template <class S>
class COperator : public testing::Test {};
using Values = testing::Types<double, std::complex<double>>;
TYPED_TEST_SUITE(COperator, Values);

/// y ← op(A) x
template <class S>
int times(void* user, int op, const void* x, void* y)
{
    const auto& A = *static_cast<const CSystem<S>*>(user);
    const auto* from = static_cast<const S*>(x);
    auto*       to = static_cast<S*>(y);
    std::fill_n(to, A.n, S(0));
    for (std::int64_t i = 0; i < A.n; ++i)
        for (std::int64_t p = A.ptr[i]; p < A.ptr[i + 1]; ++p) {
            S a = A.val[p];
            if (op == ILUX_PLAIN) to[i] += a * from[A.col[p]];
            else {
                if constexpr (!std::is_same_v<S, double>) a = std::conj(a);
                to[A.col[p]] += a * from[i];
            }
        }
    return 0;
}

TYPED_TEST(COperator, SolvesWithTheCallersProducts)
{
    using S = TypeParam;
    for (const std::int64_t n : {0, 1, 31, 32, 33})
        for (const char* method : {"auto", "gmres", "bicg", "bicgstab"}) {
            auto           A = line<S>(n);
            const auto     solver = c_solver(values_of<S>, {{"method", method}});
            const auto     b = right_hand_side<S>(n);
            std::vector<S> x(b.size());
            ASSERT_EQ(ilux_solve_operator(solver.get(), n, times<S>, &A, nullptr, nullptr, b.data(), x.data()), ILUX_OK)
                << ilux_message(solver.get());
            if (n > 0) {
                EXPECT_LE(c_residual<S>(A, ILUX_PLAIN, x, b), 1.01e-8);
            }
        }
}

TYPED_TEST(COperator, ThePreconditionerOfANearMatrixServes)
{
    using S = TypeParam;
    constexpr std::int64_t n = 500;
    auto                   A = line<S>(n), near = line<S>(n);
    for (std::size_t p = 0; p < near.val.size(); ++p) near.val[p] *= 1 + 1e-3 * double(p % 3);
    const auto     of_near = c_solver(values_of<S>, {{"method", "lu"}});
    const ilux_csr csr = near.csr();
    ASSERT_EQ(ilux_analyse(of_near.get(), &csr, 1, 1), ILUX_OK);
    ASSERT_EQ(ilux_factor(of_near.get(), nullptr), ILUX_OK);
    for (const char* method : {"gmres", "bicg"}) {
        const auto     solver = c_solver(values_of<S>, {{"method", method}});
        const auto     b = right_hand_side<S>(n);
        std::vector<S> x(b.size());
        ASSERT_EQ(ilux_solve_operator(solver.get(), n, times<S>, &A, ilux_apply_preconditioner, of_near.get(), b.data(),
                                      x.data()),
                  ILUX_OK)
            << ilux_message(solver.get());
        EXPECT_LE(c_residual<S>(A, ILUX_PLAIN, x, b), 1.01e-8);
        ilux_result result{};
        result.size = sizeof result;
        ASSERT_EQ(ilux_result_of(solver.get(), 0, &result), ILUX_OK);
        EXPECT_LE(result.steps, 6);
        EXPECT_TRUE(std::isnan(result.worst_error));  // A's entries are not known
        EXPECT_EQ(result.direct, 0);
    }
}

TEST(COperator, APreconditionerOfAnotherOrderIsRefused)
{
    auto                A = line<double>(64), larger = line<double>(100);
    const auto          of_larger = c_solver(ILUX_REAL), solver = c_solver(ILUX_REAL), complex = c_solver(ILUX_COMPLEX);
    const ilux_csr      csr = larger.csr();
    const auto          b = right_hand_side<double>(64);
    std::vector<double> x(64);
    const auto          solve = [&](ilux_solver* other) {
        return ilux_solve_operator(solver.get(), 64, times<double>, &A, ilux_apply_preconditioner, other, b.data(),
                                            x.data());
    };
    EXPECT_EQ(solve(nullptr), ILUX_BAD_INPUT);
    EXPECT_EQ(solve(of_larger.get()), ILUX_BAD_INPUT);
    ASSERT_EQ(ilux_analyse(of_larger.get(), &csr, 1, 1), ILUX_OK);
    ASSERT_EQ(ilux_factor(of_larger.get(), nullptr), ILUX_OK);
    EXPECT_EQ(solve(of_larger.get()), ILUX_BAD_INPUT);
    EXPECT_NE(std::strstr(ilux_message(solver.get()), "100"), nullptr) << ilux_message(solver.get());
    auto           of_complex = line<std::complex<double>>(64);
    const ilux_csr complex_csr = of_complex.csr();
    ASSERT_EQ(ilux_analyse(complex.get(), &complex_csr, 1, 1), ILUX_OK);
    EXPECT_EQ(solve(complex.get()), ILUX_BAD_INPUT);
}

int fails(void*, int, const void*, void*) { return 42; }

TEST(COperator, WhatFailsIsToldWithItsNumber)
{
    auto                A = line<double>(5);
    const auto          solver = c_solver(ILUX_REAL);
    const auto          b = right_hand_side<double>(5);
    std::vector<double> x(5);
    EXPECT_EQ(ilux_solve_operator(solver.get(), 5, fails, nullptr, nullptr, nullptr, b.data(), x.data()),
              ILUX_BAD_INPUT);
    EXPECT_STREQ(ilux_message(solver.get()), "the operator returned 42");
    EXPECT_EQ(ilux_solve_operator(solver.get(), 5, times<double>, &A, fails, nullptr, b.data(), x.data()),
              ILUX_BAD_INPUT);
    EXPECT_STREQ(ilux_message(solver.get()), "the preconditioner returned 42");
    EXPECT_EQ(ilux_solve_operator(solver.get(), 5, nullptr, &A, nullptr, nullptr, b.data(), x.data()), ILUX_BAD_INPUT);
    EXPECT_EQ(ilux_solve_operator(solver.get(), -1, times<double>, &A, nullptr, nullptr, b.data(), x.data()),
              ILUX_BAD_INPUT);
    EXPECT_EQ(ilux_solve_operator(solver.get(), 5, times<double>, &A, nullptr, nullptr, nullptr, x.data()),
              ILUX_BAD_INPUT);
    ASSERT_EQ(ilux_set(solver.get(), "method", "lu"), ILUX_OK);
    EXPECT_EQ(ilux_solve_operator(solver.get(), 5, times<double>, &A, nullptr, nullptr, b.data(), x.data()),
              ILUX_BAD_OPTION);
    EXPECT_NE(std::strstr(ilux_message(solver.get()), "operator"), nullptr);
}

}  // namespace
}  // namespace ilux

#include "ilux/direct/factor/lu_triangles.hpp"

#include <gtest/gtest.h>

#include "ilux/base/error.hpp"
#include "ilux/direct/supernodal/front_plan.hpp"
#include "ilux/tests/direct/factor_checks.hpp"

namespace ilux::test {
namespace {

/// The product of the triangles, dense; expects L to be lower with a diagonal of ones, U upper, rows ascending.
Dense product_of(const LuTriangles<double>& T, Index n)
{
    Dense L{n, n, std::vector<double>(static_cast<std::size_t>(n) * n)}, U = L, LU = L;
    for (Index k = 0; k < n; ++k) {
        for (Offset p = T.l_ptr[k]; p < T.l_ptr[k + 1]; ++p) {
            EXPECT_GE(T.l_row[p], p == T.l_ptr[k] ? k : T.l_row[p - 1] + 1);
            L(T.l_row[p], k) = T.l_val[p];
        }
        EXPECT_EQ(L(k, k), 1);
        for (Offset p = T.u_ptr[k]; p < T.u_ptr[k + 1]; ++p) {
            EXPECT_GE(T.u_row[p], p == T.u_ptr[k] ? 0 : T.u_row[p - 1] + 1);
            EXPECT_LE(T.u_row[p], k);
            U(T.u_row[p], k) = T.u_val[p];
        }
    }
    for (Index i = 0; i < n; ++i)
        for (Index j = 0; j < n; ++j)
            for (Index k = 0; k < n; ++k) LU(i, j) += L(i, k) * U(k, j);
    return LU;
}

TEST(LuTriangles, MultiplyToThePermutedMatrixWithoutItsScales)
{
    Random random(3);
    for (const Index n : {0, 1, 2, 5, 12}) {
        HandAnalysis by;
        Dense        A{n, n, std::vector<double>(static_cast<std::size_t>(n) * n)};
        for (Index i = 0; i < n; ++i) {
            for (Index j = 0; j < n; ++j) A(i, j) = random.uniform(0, 1) < 0.5 ? random.uniform(1, 2) : 0;
            A((i + 3) % n, n - 1 - i) = 4 + n;
            by.row_perm.push_back((i + 3) % n);
            by.col_perm.push_back(n - 1 - i);
            by.row_scale.push_back(std::ldexp(1., i % 5 - 2));
            by.col_scale.push_back(std::ldexp(1., 3 - i % 4));
        }
        const auto  factors = factor(A, by);
        const auto  LU = product_of(triangles_of(factors), n);
        const auto& P = *factors.pattern;
        for (Index i = 0; i < n; ++i)
            for (Index j = 0; j < n; ++j)
                EXPECT_NEAR(LU(i, j), A(P.row_perm[i], P.col_perm[j]), 1e-12) << n << ": " << i << ", " << j;
    }
}

TEST(LuTriangles, AreRefusedWhereTheFactorsAreNoSuchMatrices)
{
    EXPECT_THROW((void)triangles_of(factor(Dense{2, 2, {1, 2, 0, 3}}, {.block_ptr = {0, 1, 2}})), InvalidInput);
    auto fronts = factor(Dense{1, 1, {2}});
    EXPECT_EQ(triangles_of(fronts).u_val, std::vector<double>{2});
    fronts.fronts = std::make_shared<FrontPlan>();
    EXPECT_THROW((void)triangles_of(fronts), InvalidInput);
}

}  // namespace
}  // namespace ilux::test

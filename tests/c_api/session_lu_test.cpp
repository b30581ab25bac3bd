// What a C program may look at: the iterate of a solve under way, and the triangles of an LU.

#include <gtest/gtest.h>

#include <cmath>

#include "ilux/tests/c_api/c_system.hpp"

namespace ilux {
namespace {

using namespace ilux::test;

template <class S>
class CTriangles : public testing::Test {};
using Values = testing::Types<double, std::complex<double>>;
TYPED_TEST_SUITE(CTriangles, Values);

template <class S>
void make_factors(const CSolver& solver, CSystem<S>& A)
{
    const ilux_csr csr = A.csr();
    ASSERT_EQ(ilux_analyse(solver.get(), &csr, 1, 1), ILUX_OK) << ilux_message(solver.get());
    ASSERT_EQ(ilux_factor(solver.get(), nullptr), ILUX_OK) << ilux_message(solver.get());
}

/// Takes the iterate in every step, and counts where there is none.
struct Iterates {
    ilux_solver*        solver;
    std::vector<double> last;
    int                 taken = 0, refused = 0;
};

int take_iterate(void* user, int phase, std::int64_t, std::int64_t, double)
{
    auto& all = *static_cast<Iterates*>(user);
    ++(ilux_iterate(all.solver, all.last.data()) == ILUX_OK ? all.taken : all.refused);
    EXPECT_TRUE(phase == 1 || all.taken == 0);
    return 0;
}

TEST(CIterate, IsToldToTheListenerAlone)
{
    auto       A = line<double>(300);
    const auto b = right_hand_side<double>(300);
    const auto solver = c_solver(ILUX_REAL, {{"method", "bicg"}, {"precond.kind", "jacobi"}});
    Iterates   all{solver.get(), std::vector<double>(300)};
    ASSERT_EQ(ilux_listen(solver.get(), take_iterate, &all), ILUX_OK);
    make_factors(solver, A);
    EXPECT_EQ(ilux_iterate(solver.get(), all.last.data()), ILUX_BAD_INPUT);
    EXPECT_STRNE(ilux_last_error(), "");
    all.taken = 0;
    std::vector<double> x(b.size());
    ASSERT_EQ(ilux_solve(solver.get(), ILUX_PLAIN, 1, b.data(), 300, x.data(), 300), ILUX_OK);
    EXPECT_GT(all.taken, 2);
    EXPECT_EQ(ilux_iterate(nullptr, all.last.data()), ILUX_BAD_INPUT);
    EXPECT_EQ(ilux_iterate(solver.get(), all.last.data()), ILUX_BAD_INPUT);
}

TYPED_TEST(CTriangles, MultiplyToThePermutedMatrix)
{
    using S = TypeParam;
    constexpr std::int64_t n = 40;
    auto                   A = line<S>(n);
    A.val[A.ptr[7]] = A.val[A.ptr[8] - 1] = S(0);  // there are diagonal blocks, and F
    const auto solver = c_solver(values_of<S>, {{"method", "lu"}});
    ilux_lu    lu{};
    EXPECT_EQ(ilux_lu_of(solver.get(), &lu), ILUX_BAD_INPUT);
    make_factors(solver, A);
    std::vector<S> twice(A.val);
    for (S& value : twice) value *= 2;
    ASSERT_EQ(ilux_refactor(solver.get(), twice.data()), ILUX_OK);
    ASSERT_EQ(ilux_lu_of(solver.get(), &lu), ILUX_OK) << ilux_message(solver.get());
    std::vector<S> dense(n * n), product(n * n);
    for (std::int64_t i = 0; i < n; ++i)
        for (std::int64_t p = A.ptr[i]; p < A.ptr[i + 1]; ++p) dense[i * n + A.col[p]] += twice[p];
    const auto* const l = static_cast<const S*>(lu.l_values);
    const auto* const u = static_cast<const S*>(lu.u_values);
    for (std::int64_t j = 0; j < n; ++j)
        for (std::int64_t p = lu.u_col_ptr[j]; p < lu.u_col_ptr[j + 1]; ++p)
            for (std::int64_t q = lu.l_col_ptr[lu.u_row[p]]; q < lu.l_col_ptr[lu.u_row[p] + 1]; ++q)
                product[lu.l_row[q] * n + j] += l[q] * u[p];
    for (std::int64_t i = 0; i < n; ++i)
        for (std::int64_t j = 0; j < n; ++j)
            EXPECT_LE(std::abs(product[i * n + j] - dense[lu.row_perm[i] * n + lu.col_perm[j]]), 1e-13);
    EXPECT_EQ(ilux_lu_of(solver.get(), nullptr), ILUX_BAD_INPUT);
    EXPECT_EQ(ilux_lu_of(nullptr, &lu), ILUX_BAD_INPUT);
    const auto iterative = c_solver(values_of<S>, {{"method", "gmres"}});
    make_factors(iterative, A);
    EXPECT_EQ(ilux_lu_of(iterative.get(), &lu), ILUX_BAD_INPUT);
}

}  // namespace
}  // namespace ilux

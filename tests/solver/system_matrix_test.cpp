#include "ilux/solver/system_matrix.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "ilux/solver/linear_solver.hpp"
#include "ilux/tests/solver/solving.hpp"
#include "ilux/tests/support/checks.hpp"

namespace ilux {
namespace {

using namespace ilux::test;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// 4 1 0; 2 5 3; 0 1 6
CsrMatrix<double> three() { return to_csr({3, 3, {4, 1, 0, 2, 5, 3, 0, 1, 6}}); }

TEST(SystemMatrix, BorrowsAMatrixUntilOtherValuesCome)
{
    const Cpu      cpu(1);
    const auto     A = three();
    SystemMatrix<> system;
    system.begin(cpu, A);
    EXPECT_EQ(system.view().val().data(), A.val().data());
    EXPECT_DOUBLE_EQ(system.norm(), std::sqrt(16 + 1 + 4 + 25 + 9 + 1 + 36));
    std::vector<double> values(7, 2);
    system.take(cpu, values);
    values.assign(7, -1);
    EXPECT_TRUE(std::ranges::all_of(system.view().val(), [](double v) { return v == 2; }));
    EXPECT_EQ(system.view().col().data(), A.col().data());
    EXPECT_DOUBLE_EQ(system.norm(), std::sqrt(28));
}

TEST(SystemMatrix, HoldsAMatrixThatIsGivenAway)
{
    SystemMatrix<> system;
    system.begin(Cpu(1), system.hold(three()));
    EXPECT_EQ(system.view().at(1, 2), 3);
}

TEST(SystemMatrix, RefusesWhatIsNotSquareOrFiniteAndKeepsWhatItHas)
{
    const Cpu      cpu(1);
    SystemMatrix<> system;
    const auto     wide = to_csr({1, 2, {1, 2}});
    auto           broken = three();
    broken.val()[0] = nan;
    expect_refusal([&] { system.begin(cpu, wide); }, {"1 x 2", "square"});
    expect_refusal([&] { system.begin(cpu, broken); }, {"nan"});
    const auto A = three();
    system.begin(cpu, A);
    system.take(cpu, std::vector<double>(7, 2));
    expect_refusal([&] { system.take(cpu, std::vector<double>(6, 1)); }, {"6 values", "7 entries"});
    expect_refusal([&] { system.take(cpu, std::vector<double>{1, 2, 3, nan, 5, 6, 7}); }, {"nan"});
    EXPECT_EQ(system.view().at(1, 1), 2);
    EXPECT_DOUBLE_EQ(system.norm(), std::sqrt(28));
}

TEST(SystemMatrix, MakesTheAdjointOfTheLastValues)
{
    const Cpu cpu(1);
    using C = std::complex<double>;
    const std::vector<Offset> row_ptr{0, 2, 3};
    const std::vector<Index>  col{0, 1, 1};
    const std::vector<C>      first{C(1, 1), C(2, 3), 4}, second{5, C(0, -6), 7};
    const CsrView<C>          A(2, 2, row_ptr, col, first);
    SystemMatrix<C>           system;
    system.begin(cpu, A);
    EXPECT_EQ(system.matrix_for(Transpose::adjoint).solved().val()[1], C(2, -3));
    system.take(cpu, second);
    const MatrixOrAdjoint<C> adjoint = system.matrix_for(Transpose::adjoint);
    EXPECT_EQ(adjoint.solved().val()[1], C(0, 6));
    EXPECT_EQ(adjoint.factored().val()[1], C(0, -6));
    EXPECT_FALSE(system.matrix_for(Transpose::no).is_adjoint());
}

TEST(SystemMatrix, HasANormAboveZeroAlsoOfZerosAndWhereItOverflows)
{
    SystemMatrix<> system;
    const auto     A = three();
    system.begin(Cpu(1), A);
    system.take(Cpu(1), std::vector<double>(7, 0));
    EXPECT_GT(system.norm(), 0);
    system.take(Cpu(1), std::vector<double>(7, 1e308));
    EXPECT_TRUE(std::isfinite(system.norm()));
}

TEST(SystemMatrix, HasTheOnlyCopyOfTheValuesThatASolverMakes)
{
    LinearSolver        solver(serial({.method = MethodChoice::lu}));
    const auto          matrix = three();
    std::vector<double> values(matrix.val().begin(), matrix.val().end()), x(3);
    const auto          b = times_ones(matrix);
    solver.analyse(matrix, 4);
    ASSERT_TRUE(solver.factor().ready());
    for (int system = 1; system < 5; ++system) {
        for (double& one : values) one *= 2;
        ASSERT_TRUE(solver.refactor(values).ready());
        const std::vector<double> given = values;
        std::ranges::fill(values, -1);  // they are the caller's again
        EXPECT_EQ(solver.matrix().val().data(), solver.lu()->matrix().val.data());
        EXPECT_TRUE(std::ranges::equal(solver.matrix().val(), given));
        ASSERT_TRUE(solver.solve(b, x).converged());
        for (const double one : x) EXPECT_NEAR(one, std::ldexp(1.0, -system), 1e-12);
        values = given;
    }
}

}  // namespace
}  // namespace ilux

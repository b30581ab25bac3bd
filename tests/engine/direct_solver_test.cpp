// The direct strategy by itself: what it counts while factors come and go.

#include "ilux/engine/direct_solver.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <string_view>

#include "ilux/tests/direct/kronecker_sum.hpp"
#include "ilux/tests/solver/solving.hpp"
#include "ilux/tests/support/checks.hpp"

namespace ilux {
namespace {

using namespace ilux::test;

const StopToken any_time;

LuOptions as_given()
{
    LuOptions lu;
    lu.matching = LuMatching::off;
    lu.scaling = LuScaling::none;
    return lu;
}

/// Facts after A x = A·1 was solved by pivots kept or found.
LuFacts solved(DirectSolver<>& solver, const CsrMatrix<double>& A, std::vector<std::string>& decisions)
{
    Attempt tried;
    tried.x.of<double>().resize(A.rows());
    EXPECT_TRUE(solver.factor(A, false, any_time, tried)) << tried.why();
    const auto            b = times_ones(A);
    std::vector<double>   x(b.size());
    SystemVectors<double> given(b, x);
    const CsrView<double> view = A;
    solver.solve(
        view, Transpose::no, [&] { return MatrixOrAdjoint<double>(view); }, given, 1e-8, any_time, true, tried);
    EXPECT_TRUE(tried.converged()) << tried.why();
    EXPECT_EQ(tried.report.steps, tried.lu->refine_steps);
    decisions = tried.decisions;
    return *tried.lu;
}

TEST(DirectSolver, CountsRepivotsByFactorsGivenBack)
{
    const auto               definite = to_csr({2, 2, {1, 1, 1, 2}}), indefinite = to_csr({2, 2, {1e-16, 1, 1, 2.5}});
    std::vector<std::string> decisions;
    DirectSolver             solver({.cpu = Cpu(1)}, serial(), 9);
    solver.analyse(definite, as_given());
    EXPECT_EQ(solved(solver, definite, decisions).repivots, 0);
    EXPECT_EQ(solved(solver, indefinite, decisions).repivots, 1);
    solver.release();
    EXPECT_EQ(solved(solver, definite, decisions).repivots, 1);
    EXPECT_EQ(solved(solver, indefinite, decisions).repivots, 2);
    solver.analyse(definite, as_given());
    EXPECT_EQ(solved(solver, definite, decisions).repivots, 2);
}

/// SciPy's SuperLU orders these by columns, and is many times faster than pivots in an order that foresaw none of them.
TEST(DirectSolver, OrdersByColumnsWherePivotsFillMoreThanTheirOrderForesaw)
{
    const auto               A = kronecker_sum(100, 1e-8);
    std::vector<std::string> decisions;
    DirectSolver             solver({.cpu = Cpu(2)}, serial(), 1);
    solver.analyse(A, {});
    EXPECT_NE(solver.symbolic()->report.ordering, LuOrdering::colamd);
    const double  foreseen = solver.symbolic()->report.nnz;
    const LuFacts facts = solved(solver, A, decisions);
    EXPECT_EQ(solver.symbolic()->report.ordering, LuOrdering::colamd);
    EXPECT_LT(static_cast<double>(facts.nnz), 1.6 * foreseen);
    EXPECT_TRUE(std::ranges::any_of(decisions, [](const std::string& one) {
        return one.find("colamd expects") != std::string::npos;
    }));
    EXPECT_EQ(solved(solver, A, decisions).repivots, 0);  // the same pivots serve again
}

TEST(DirectSolver, TellsItsStepsOfRefinement)
{
    const auto               first = to_csr({2, 2, {1, 1, 1, 2}}), second = to_csr({2, 2, {1e-4, 1, 1, 2.7}});
    std::vector<std::string> decisions;
    DirectSolver             solver({.cpu = Cpu(1)}, serial(), 9);
    solver.analyse(first, as_given());
    EXPECT_EQ(solved(solver, first, decisions).refine_steps, 0);
    const LuFacts by_stale_pivots = solved(solver, second, decisions);
    EXPECT_EQ(by_stale_pivots.repivots, 0);
    EXPECT_GT(by_stale_pivots.refine_steps, 0);
}

TEST(DirectSolver, TakesOtherPivotsByTheSameAnalysis)
{
    const auto               A = to_csr({2, 2, {0.1, 1, 1, 1}});
    std::vector<std::string> decisions;
    DirectSolver             solver({.cpu = Cpu(1)}, serial(), 9);
    solver.analyse(A, as_given());
    (void)solved(solver, A, decisions);
    const auto symbolic = solver.lu().factors().symbolic;
    EXPECT_EQ(solver.lu().pivots().pattern->row_perm, (std::vector<Index>{0, 1}));

    LuOptions largest = as_given();
    largest.pivot_tol = 1;
    EXPECT_FALSE(solver.chooses_pivots_by(largest));
    solver.choose_pivots_by(largest);
    EXPECT_TRUE(solver.chooses_pivots_by(largest));
    EXPECT_FALSE(solver.factored());
    (void)solved(solver, A, decisions);
    EXPECT_EQ(solver.lu().pivots().pattern->row_perm, (std::vector<Index>{1, 0}));
    EXPECT_EQ(solver.lu().factors().symbolic, symbolic);

    solver.choose_pivots_by(largest);  // the same: nothing is dropped
    EXPECT_TRUE(solver.factored());
}

}  // namespace
}  // namespace ilux

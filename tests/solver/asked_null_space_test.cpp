// Singular systems whose null space is told: x is the shortest solution. Each x is known beforehand: A is built with a
// null space, x drawn and made orthogonal to it, b = A x, and what is added to b is orthogonal to the range of A.

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <fstream>
#include <string>

#include "ilux/base/error.hpp"
#include "ilux/gallery/gallery.hpp"
#include "ilux/solver/linear_solver.hpp"
#include "ilux/tests/solver/solving.hpp"
#include "ilux/tests/support/checks.hpp"

namespace ilux {
namespace {

using namespace ilux::test;
using Complex = std::complex<double>;

/// A matrix by its entries, duplicates summed.
template <class S>
struct Entries {
    std::vector<Index> row, col;
    std::vector<S>     val;

    void add(Index i, Index j, S value)
    {
        row.push_back(i);
        col.push_back(j);
        val.push_back(value);
    }
    CsrMatrix<S> matrix(Index n) const { return CsrMatrix<S>::from_triplets(n, n, row, col, val); }
};

/// Σ over the neighbours of an m × m grid that begins at `first`: rows sum to 0. @param wind  makes it unsymmetric,
/// column sums differ from 0
template <class S>
void add_grid(Entries<S>& A, Index first, Index m, double wind = 0)
{
    const auto tie = [&](Index i, Index j) {
        const double forth = 1 + wind, back = 1;
        A.add(i, i, forth);
        A.add(i, j, -forth);
        A.add(j, j, back);
        A.add(j, i, -back);
    };
    for (Index k = 0; k < m * m; ++k) {
        if (k % m + 1 < m) tie(first + k, first + k + 1);
        if (k + m < m * m) tie(first + k, first + k + m);
    }
}

template <class S>
std::vector<S> product(const CsrView<S>& A, std::span<const S> x)
{
    std::vector<S> b(x.size());
    for (Index i = 0; i < A.rows(); ++i)
        for (Offset p = A.row_ptr()[i]; p < A.row_ptr()[i + 1]; ++p) b[i] += A.val()[p] * x[A.col()[p]];
    return b;
}

/// Of mean 0 from `first` to `last`.
void take_mean_off(std::vector<double>& x, Index first, Index last)
{
    double sum = 0;
    for (Index i = first; i < last; ++i) sum += x[i];
    for (Index i = first; i < last; ++i) x[i] -= sum / (last - first);
}

template <class S>
double farthest(std::span<const S> x, std::span<const S> wanted)
{
    double off = 0;
    for (std::size_t i = 0; i < x.size(); ++i) off = std::max(off, std::abs(x[i] - wanted[i]));
    return off;
}

SolverOptions keeping_clear_of(const std::string& null_space)
{
    SolverOptions options = serial();
    options.krylov.null_space = null_space;
    return options;
}

bool tells(const SolverReport& report, const std::string& words) { return mentions(all_decisions(report), words); }

std::string warnings_of(const SolverReport& report) { return report.result().warning; }

constexpr Index side = 30, both = side * side + 20 * 20;

/// Two grids that nothing connects.
CsrMatrix<double> two_parts(double wind = 0)
{
    Entries<double> A;
    add_grid(A, 0, side, wind);
    add_grid(A, side * side, 20, wind);
    return A.matrix(both);
}

/// For two_parts().
std::vector<double> of_mean_0(std::uint64_t seed)
{
    std::vector<double> x = random_vector(both, seed);
    take_mean_off(x, 0, side * side);
    take_mean_off(x, side * side, both);
    return x;
}

TEST(LinearSolverNullSpace, ANeumannProblemHasItsShortestSolutionAndNobodyIsWarned)
{
    const CsrMatrix<double> A = gallery::build("singular:n=40");
    std::vector<double>     wanted = random_vector(A.rows(), 1), x(wanted.size());
    take_mean_off(wanted, 0, A.rows());
    LinearSolver<> solver(keeping_clear_of("constant"));
    solver.analyse(A);
    ASSERT_TRUE(solver.factor().ready());
    const SolverReport report = solver.solve(product<double>(A, wanted), x);
    EXPECT_TRUE(report.converged()) << report.why();
    EXPECT_EQ(warnings_of(report), "");
    EXPECT_LT(farthest<double>(x, wanted), 1e-6);
    EXPECT_TRUE(tells(report, "iterative: A takes the constant to 0"));
    EXPECT_FALSE(tells(report, "least-squares"));
    for (const Attempt& one : report.attempts) EXPECT_FALSE(one.plan.direct());
}

TEST(LinearSolverNullSpace, WhatBHasOfTheConstantsOfTwoPartsIsTakenOffAndTold)
{
    const CsrMatrix<double>   A = two_parts();
    const std::vector<double> wanted = of_mean_0(2);
    std::vector<double>       b = product<double>(A, wanted), x(b.size());
    for (Index i = 0; i < both; ++i) b[i] += i < side * side ? 3 : -40;
    for (const MethodChoice method : {MethodChoice::automatic, MethodChoice::gmres, MethodChoice::cg,
                                      MethodChoice::minres, MethodChoice::bicgstab, MethodChoice::bicg}) {
        SolverOptions options = keeping_clear_of("constant");
        options.method = method;
        options.krylov.rtol = 1e-10;
        LinearSolver<> solver(options);
        solver.analyse(A);
        ASSERT_TRUE(solver.factor().ready());
        const SolverReport report = solver.solve(b, x);
        EXPECT_TRUE(report.converged()) << field_text(method) << ": " << report.why();
        EXPECT_EQ(warnings_of(report).find("determined"), std::string::npos) << warnings_of(report);
        EXPECT_LT(farthest<double>(x, wanted), 1e-6) << field_text(method);
        EXPECT_TRUE(tells(report, "it was taken off: x is the least-squares solution")) << field_text(method);
        EXPECT_TRUE(report.taken_off > 0 && report.taken_off < 1) << report.taken_off;
        EXPECT_TRUE(tells(report, "the constants of 2 parts"));
    }
}

TEST(LinearSolverNullSpace, ABOfTheNullSpaceAloneHasX0)
{
    const CsrMatrix<double>   A = two_parts();
    const std::vector<double> b(both, 7.0);
    std::vector<double>       x(both, 1.0);
    LinearSolver<>            solver(keeping_clear_of("constant"));
    solver.analyse(A);
    ASSERT_TRUE(solver.factor().ready());
    EXPECT_TRUE(solver.solve(b, x).converged());
    EXPECT_EQ(x, std::vector<double>(both, 0.0));
}

TEST(LinearSolverNullSpace, APartThatIsRegularKeepsItsOwnSolution)
{
    Entries<double> entries;
    add_grid(entries, 0, side);
    add_grid(entries, side * side, 20);
    entries.add(both - 1, both - 1, 1);  // grounded
    const CsrMatrix<double> A = entries.matrix(both);
    std::vector<double>     wanted = random_vector(both, 3), x(wanted.size());
    take_mean_off(wanted, 0, side * side);
    std::vector<double> b = product<double>(A, wanted);
    for (Index i = 0; i < side * side; ++i) b[i] += 1;
    SolverOptions options = keeping_clear_of("constant");
    options.krylov.rtol = 1e-11;
    LinearSolver<> solver(options);
    solver.analyse(A);
    ASSERT_TRUE(solver.factor().ready());
    const SolverReport report = solver.solve(b, x);
    EXPECT_TRUE(report.converged()) << report.why();
    EXPECT_LT(farthest<double>(x, wanted), 1e-6);
}

TEST(LinearSolverNullSpace, AnUnsymmetricAKeepsItsBAndRefusesItsTranspose)
{
    const CsrMatrix<double>   A = two_parts(0.1);
    const std::vector<double> wanted = of_mean_0(4), b = product<double>(A, wanted);
    std::vector<double>       x(b.size());
    SolverOptions             options = keeping_clear_of("constant");
    options.krylov.rtol = 1e-11;
    LinearSolver<> solver(options);
    solver.analyse(A);
    ASSERT_TRUE(solver.factor().ready());
    const SolverReport report = solver.solve(b, x);
    EXPECT_TRUE(report.converged()) << report.why();
    EXPECT_EQ(warnings_of(report), "");
    EXPECT_LT(farthest<double>(x, wanted), 1e-6);
    EXPECT_TRUE(tells(report, "b is left as it is"));
    EXPECT_THROW((void)solver.solve(b, x, Transpose::yes), InvalidInput);
}

TEST(LinearSolverNullSpace, AGivenComplexVectorIsHeldToAlsoByTheTranspose)
{
    // Q L Qᴴ with phases Q: Hermitian, and the null vector is Q 1
    const CsrMatrix<double> L = gallery::build("singular:n=24");
    const Index             n = L.rows();
    std::vector<Complex>    q, val;
    for (Index i = 0; i < n; ++i) q.push_back(std::polar(1.0, 0.37 * i));
    for (Index i = 0; i < n; ++i)
        for (Offset p = L.row_ptr()[i]; p < L.row_ptr()[i + 1]; ++p)
            val.push_back(q[i] * L.val()[p] * std::conj(q[L.col()[p]]));
    const auto           A = CsrMatrix<Complex>::from_sorted(n, n, {L.row_ptr().begin(), L.row_ptr().end()},
                                                             {L.col().begin(), L.col().end()}, val);
    const auto           re = random_vector(n, 5), im = random_vector(n, 6);
    std::vector<Complex> wanted(q.size()), conjugated, x(q.size());
    Complex              of_q = 0;
    for (Index i = 0; i < n; ++i) wanted[i] = {re[i], im[i]};
    for (Index i = 0; i < n; ++i) of_q += std::conj(q[i]) * wanted[i];
    for (Index i = 0; i < n; ++i) wanted[i] -= of_q / double(n) * q[i];
    std::vector<Complex> b = product<Complex>(A, wanted), turned_b;
    for (Index i = 0; i < n; ++i) b[i] += Complex(0, 2) * q[i];
    for (Index i = 0; i < n; ++i) {
        conjugated.push_back(std::conj(wanted[i]));  // Aᵀ = Ā
        turned_b.push_back(std::conj(b[i]));
    }
    SolverOptions options = serial();
    options.krylov.rtol = 1e-10;
    LinearSolver<Complex> solver(options);
    solver.set_null_space(q);
    solver.analyse(A);
    ASSERT_TRUE(solver.factor().ready());
    const SolverReport report = solver.solve(b, x);
    EXPECT_TRUE(report.converged()) << report.why();
    EXPECT_EQ(warnings_of(report), "");
    EXPECT_LT(farthest<Complex>(x, wanted), 1e-6);
    const SolverReport turned = solver.solve(turned_b, x, Transpose::yes);
    EXPECT_TRUE(turned.converged()) << turned.why();
    EXPECT_LT(farthest<Complex>(x, conjugated), 1e-6);
}

TEST(LinearSolverNullSpace, AFileOfTwoVectorsServesAsTheConstantsDo)
{
    const CsrMatrix<double>   A = two_parts();
    const std::vector<double> wanted = of_mean_0(8);
    std::vector<double>       b = product<double>(A, wanted), x(b.size());
    for (Index i = 0; i < both; ++i) b[i] += i < side * side ? 0.5 : 2;
    const std::string path = testing::TempDir() + "null_space_two.mtx";
    std::ofstream     file(path);
    file << "%%MatrixMarket matrix array real general\n" << both << " 2\n";
    for (Index i = 0; i < both; ++i) file << "1\n";
    for (Index i = 0; i < both; ++i) file << (i < side * side ? 5 : 0) << "\n";  // neither orthogonal nor of length 1
    file.close();
    SolverOptions options = keeping_clear_of(path);
    options.krylov.rtol = 1e-10;
    LinearSolver<> solver(options);
    solver.analyse(A);
    ASSERT_TRUE(solver.factor().ready());
    const SolverReport report = solver.solve(b, x);
    EXPECT_TRUE(report.converged()) << report.why();
    EXPECT_LT(farthest<double>(x, wanted), 1e-6);
    EXPECT_TRUE(tells(report, "2 vectors"));

    LinearSolver<> other(keeping_clear_of(path));
    const auto     small = gallery::build("singular:n=5");
    other.analyse(small);
    EXPECT_THROW((void)other.factor(), InvalidInput);  // of another length
}

TEST(LinearSolverNullSpace, AVectorThatAHoldsIsRefusedWithItsRow)
{
    const CsrMatrix<double> A = two_parts();
    std::vector<double>     columns(both, 1.0);
    columns.resize(2 * both);
    for (Index i = 0; i < both; ++i) columns[both + i] = i == 6 ? 2 : 1;
    LinearSolver<> solver(serial());
    solver.set_null_space(columns, 2);
    solver.analyse(A);
    try {
        solver.factor();
        FAIL() << "a vector that A does not take to 0 was taken";
    } catch (const InvalidInput& error) {
        const std::string said = error.what();
        EXPECT_NE(said.find("A does not take vector 2 to 0: row "), std::string::npos) << said;
    }
    EXPECT_THROW(
        {
            LinearSolver<> of_regular(keeping_clear_of("constant"));
            const auto     P = gallery::build("poisson2d:n=10");
            of_regular.analyse(P);
            (void)of_regular.factor();
        },
        InvalidInput);
}

TEST(LinearSolverNullSpace, WhatElseIsOpenIsToldAsBefore)
{
    const CsrMatrix<double> A = two_parts();
    std::vector<double>     first(both), x(both);
    for (Index i = 0; i < side * side; ++i) first[i] = 1;
    LinearSolver<> solver(serial());
    solver.set_null_space(first);  // of one part of two
    solver.analyse(A);
    ASSERT_TRUE(solver.factor().ready());
    const SolverReport report = solver.solve(product<double>(A, of_mean_0(9)), x);
    EXPECT_NE(warnings_of(report) + report.why(), "");
}

TEST(LinearSolverNullSpace, NewNumbersAreCheckedAgain)
{
    const CsrMatrix<double>   A = two_parts();
    const std::vector<double> wanted = of_mean_0(10);
    std::vector<double>       twice(A.val().begin(), A.val().end()), x(both);
    for (double& one : twice) one *= 2;
    std::vector<double> spoilt = twice;
    spoilt[5] += 1;
    SolverOptions options = keeping_clear_of("constant");
    options.krylov.rtol = 1e-10;
    LinearSolver<> solver(options);
    solver.analyse(A, 3);
    ASSERT_TRUE(solver.factor().ready());
    const std::vector<double> b = product<double>(A, wanted);
    ASSERT_TRUE(solver.solve(b, x).converged());
    for (int k = 0; k < 2; ++k) {
        const SolverReport report = solver.refactor_and_solve(twice, b, x);
        EXPECT_TRUE(report.converged()) << report.why();
        for (double& one : x) one *= 2;
        EXPECT_LT(farthest<double>(x, wanted), 1e-6);
        // a part that is no longer singular is solved as it is; the other still has its constant
        const SolverReport after = solver.refactor_and_solve(spoilt, b, x);
        EXPECT_TRUE(after.converged()) << after.why();
        double sum = 0;
        for (Index i = side * side; i < both; ++i) sum += x[i];
        EXPECT_LT(std::abs(sum), 1e-6);
    }
}

TEST(LinearSolverNullSpace, AnLuIsRefused)
{
    SolverOptions options = keeping_clear_of("constant");
    options.method = MethodChoice::lu;
    EXPECT_THROW(LinearSolver<>{options}, InvalidOption);
    LinearSolver<> direct({.method = MethodChoice::lu});
    EXPECT_THROW(direct.set_null_space(std::vector<double>(3, 1.0)), InvalidOption);
    options.method = MethodChoice::gmres;
    options.krylov.precision = KrylovPrecision::mixed;
    EXPECT_THROW(LinearSolver<>{options}, InvalidOption);
}

}  // namespace
}  // namespace ilux

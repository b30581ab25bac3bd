// Solves one small system with what a user gets: a LinearSolver. README shows this program.

#include <cstdio>
#include <vector>

#include "ilux/gallery/gallery.hpp"
#include "ilux/solver/linear_solver.hpp"

int main()
{
    const ilux::CsrMatrix<double> A = ilux::gallery::build("convdiff3d:n=8");
    const std::vector<double>     b(A.rows(), 1.0);
    std::vector<double>           x(A.rows());

    ilux::LinearSolver solver({.krylov = {.rtol = 1e-10}});  // direct or iterative, as the facts say
    solver.analyse(A);
    solver.factor();                                       // solve() tells what became of it
    const ilux::SolverReport report = solver.solve(b, x);  // of a series: refactor(values), solve(b, x), and so on

    for (const std::string& decision : report.decisions) std::puts(decision.c_str());
    std::printf("%s, residual %.1e\n", name(report.outcome()).data(), report.relative_residual());
    return report.converged() ? 0 : 1;
}

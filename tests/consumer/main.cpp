// Solves one small system with what a user gets: GMRES preconditioned by a multilevel ILU. README shows this program.

#include <cstdio>
#include <vector>

#include "ilux/base/spmv.hpp"
#include "ilux/gallery/gallery.hpp"
#include "ilux/krylov/gmres.hpp"
#include "ilux/precond/mlilu.hpp"

int main()
{
    const ilux::CsrMatrix<double> A = ilux::gallery::build("convdiff3d:n=8");
    const std::vector<double>     b(A.rows(), 1.0);
    std::vector<double>           x(A.rows());

    ilux::Cpu                       cpu;
    ilux::MatrixOperator            op(A);
    ilux::MlIluPreconditioner       M(ilux::MlIlu::build(cpu, A, {.drop_tol = 1e-2}));
    ilux::KrylovOptions             options{.rtol = 1e-10};
    ilux::GmresWorkspace<ilux::Cpu> workspace(A.rows(), options);
    const ilux::SolveReport         report = ilux::gmres<ilux::Cpu>(cpu, op, M, b, x, workspace, options);

    std::printf("%s in %d steps\n", name(report.outcome).data(), report.steps);
    return report.outcome == ilux::Outcome::converged ? 0 : 1;
}

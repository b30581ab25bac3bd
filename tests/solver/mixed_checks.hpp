#pragma once
// What the tests of krylov.precision=mixed share, wherever it computes.

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "ilux/gallery/gallery.hpp"
#include "ilux/solver/linear_solver.hpp"
#include "ilux/tests/solver/solving.hpp"
#include "ilux/tests/support/checks.hpp"
#include "ilux/tests/support/real_form.hpp"

namespace ilux::test {

/// @param options  with the device
inline SolverOptions mixed(SolverOptions options, const std::string& method, const std::string& precond, double rtol)
{
    options.mode = SolverMode::iterative;
    parse_field("method", method, options.method);
    parse_field("precond.kind", precond, options.precond.kind);
    options.krylov.rtol = rtol;
    options.krylov.max_steps = 4000;
    options.krylov.precision = KrylovPrecision::mixed;
    return options;
}

/// The decision that names krylov.precision, or "".
inline std::string about_precision(const SolverReport& report)
{
    for (const auto& decision : report.result().decisions)
        if (decision.find("krylov.precision") != std::string::npos) return decision;
    return "";
}

template <class S>
SolverReport solve_once(const CsrMatrix<S>& A, const std::vector<S>& b, std::vector<S>& x, const SolverOptions& options)
{
    LinearSolver<S> solver(options);
    solver.analyse(A);
    solver.factor();
    x.assign(b.size(), S(NAN));
    return solver.solve(b, x);
}

/// @param options_of  (method, preconditioner)
template <class OptionsOf>
void expect_complex_tolerance(OptionsOf&& options_of)
{
    const auto A = turned(gallery::convdiff2d({.n = 18}), 3), H = turned_hermitian(gallery::poisson2d(18, 18), 4);
    const auto b = random_complex_vector(A.rows(), 7);
    const auto check = [&](const CsrMatrix<Complex>& of, const char* method, const char* precond) {
        ComplexVector x;
        const auto    report = solve_once<Complex>(of, b, x, options_of(method, precond));
        ASSERT_TRUE(report.converged()) << method << " " << precond << ": " << report.why();
        if (report.attempts.size() == 1) {  // a retry stays in double
            EXPECT_EQ(about_precision(report), "") << method << " " << precond;
        }
        EXPECT_LE(residual_of(real_form(of), real_form(x), real_form(b)), 1.001e-10) << method << " " << precond;
    };
    for (const char* method : {"gmres", "fgmres", "bicg", "bicgstab"})
        for (const char* precond : {"mlilu", "ilu0", "jacobi", "none"}) check(A, method, precond);
    for (const char* method : {"cg", "minres"})
        for (const char* precond : {"mlilu", "ilu0", "jacobi"}) check(H, method, precond);
}

}  // namespace ilux::test

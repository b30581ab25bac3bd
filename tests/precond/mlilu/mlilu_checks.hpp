#pragma once
// What the tests of whole setups in rounds share.

#include <algorithm>
#include <string>

#include "ilux/base/matrix/spmv.hpp"
#include "ilux/krylov/krylov.hpp"
#include "ilux/tests/precond/mlilu/level_checks.hpp"

namespace ilux::test::precond {

inline const MlIluOptions in_rounds{.setup = MlIluSetup::rounds};

inline bool any_mentions(const MlIluReport& report, const std::string& words)
{
    return std::ranges::any_of(report.decisions,
                               [&](const auto& text) { return text.find(words) != std::string::npos; });
}

inline Index rounds_of(const MlIluReport& report)
{
    Index rounds = 0;
    for (const auto& level : report.levels) rounds += level.rounds;
    return rounds;
}

/// To a residual of 1e-8, for a right-hand side that no preconditioner is made for.
inline Index steps_with(const MlIlu<>& factors, const CsrMatrix<>& A)
{
    Cpu                  be(2);
    const MatrixOperator op(A);
    MlIluPreconditioner  M(factors);
    const KrylovOptions  krylov{.rtol = 1e-8, .restart = 30};
    GmresWorkspace<Cpu>  ws(A.rows(), krylov);
    const Vector         b = random_vector(A.rows(), 1);
    Vector               x(b.size());
    const auto           report = gmres<Cpu>(be, op, M, b, x, ws, krylov);
    EXPECT_EQ(report.outcome, Outcome::converged);
    return report.steps;
}

}  // namespace ilux::test::precond

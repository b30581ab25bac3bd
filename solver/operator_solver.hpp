#pragma once
// Solves A x = b where A is known by its products alone, or where M is the caller's.

#include <functional>
#include <memory>
#include <span>

#include "ilux/base/operator.hpp"
#include "ilux/engine/report/solver_report.hpp"
#include "ilux/engine/iterative_solver.hpp"

namespace ilux {

/// A Krylov method on operators of the host: A of the caller's, and M of the caller's or none. There is one attempt, as
/// nobody here can make another M.
///
/// `converged` is said of a residual that was recomputed from A, b and x; in double precision, since A's entries are
/// not known. For the same reason nothing else is known of the error of x, and krylov.stop=residual is all that can be
/// asked for.
/// @tparam S  of A, b and x: double or std::complex<double>
template <Scalar S = double>
class OperatorSolver {
public:
    /// @param options  method (auto: GMRES), threads, time_limit, krylov and sequence.reuse_x are used
    /// @throws InvalidOption where they ask for what an operator does not allow: LU, a GPU, mixed precision, or
    /// another stopping test than the residual
    explicit OperatorSolver(const SolverOptions& options = {});

    /// @param A  its adjoint is called by BiCG alone
    /// @param M  of A's order, or null for M = I
    /// @param b, x  n; x is overwritten, and with sequence.reuse_x the guess
    /// @throws InvalidInput when lengths disagree or b is not finite; what A or M throw
    /// Memory: the vectors of the method, kept from call to call
    SolverReport solve(const LinearOperator<Cpu, S>& A, Preconditioner<Cpu, S>* M, std::span<const S> b,
                       std::span<S> x);

    /// Both calls do what those of LinearSolver do.
    void listen(TryListener listener) { listener_ = std::move(listener); }
    void heed(StopToken stop) { stop_ = std::move(stop); }

private:
    void iterate(const LinearOperator<Cpu, S>& A, Preconditioner<Cpu, S>& M, std::span<const S> b, Attempt& tried);

    SolverOptions                          options_;
    Machine                                machine_;
    TryListener                            listener_;
    StopToken                              stop_;
    std::optional<KrylovWorkspace<Cpu, S>> workspace_;
    Index                                  workspace_n_ = -1;
};

}  // namespace ilux

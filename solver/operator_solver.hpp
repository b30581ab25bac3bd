#pragma once
// Solves A x = b where A is known by its products alone, or where M is the caller's.

#include <memory>
#include <utility>

#include "ilux/base/gpu/array.hpp"
#include "ilux/base/matrix/operator.hpp"
#include "ilux/engine/iterative_solver.hpp"
#include "ilux/engine/report/solver_report.hpp"
#include "ilux/solver/linear_solver.hpp"

namespace ilux {

/// z ← M⁻¹ r by the factors that a LinearSolver has at hand: those of a matrix near an A of the caller's. A product may
/// allocate n numbers; where the solver works on the other device, r and z pass there and back.
template <Backend B, Scalar S = double>
class FactorsOf final : public Preconditioner<B, S> {
public:
    /// @param solver  factored; it must outlive this
    explicit FactorsOf(LinearSolver<S>& solver) : solver_(solver) {}
    Index size() const override { return solver_.matrix().rows(); }
    void  apply(B& be, ConstSpan<B, S> r, Span<B, S> z) override
    {
        solver_.precondition(array_of<const S>(be, r), array_of<S>(be, z));
    }
    void apply_adjoint(B& be, ConstSpan<B, S> r, Span<B, S> z) override
    {
        solver_.precondition(array_of<const S>(be, r), array_of<S>(be, z), Transpose::adjoint);
    }

private:
    LinearSolver<S>& solver_;
};

/// A Krylov method on an operator A of the caller's, and M of the caller's or none. There is one attempt, as nobody
/// here can make another M.
///
/// `converged` is said of a residual that was recomputed from A, b and x; in double precision, since A's entries are
/// not known. For the same reason nothing else is known of the error of x, and krylov.stop=residual is all that can be
/// asked for.
/// @tparam B  where A and M compute: Cpu, or Gpu, whose stream they are called on
/// @tparam S  of A, b and x: double or std::complex<double>
template <Backend B, Scalar S = double>
class OperatorSolver {
public:
    /// @param be  must outlive this
    /// @param options  method (auto: GMRES), time_limit, device_memory, krylov and sequence.reuse_x are used
    /// @throws InvalidOption where they ask for what an operator does not allow: LU, the other device, mixed precision,
    /// or another stopping test than the residual
    explicit OperatorSolver(B& be, const SolverOptions& options = {});

    ~OperatorSolver();
    OperatorSolver(OperatorSolver&&) noexcept;

    /// @param A  its adjoint is called by BiCG alone
    /// @param M  of A's order, or null for M = I
    /// @param b, x  n, where B computes; x is overwritten, and with sequence.reuse_x the guess. It stays as it was
    /// where there was no memory to begin, and where A or M threw what is no outcome
    /// @throws InvalidInput when lengths disagree or b is not finite; what A or M throw
    /// Memory: the vectors of the method and three more, kept from call to call
    SolverReport solve(const LinearOperator<B, S>& A, Preconditioner<B, S>* M, Array<const S> b, Array<S> x);

    /// Both calls do what those of LinearSolver do.
    void listen(AttemptListener listener) { listener_ = std::move(listener); }
    void stop_by(StopToken stop) { stop_ = std::move(stop); }

private:
    struct Vectors;
    /// The vectors for A's order. @throws OutOfMemory
    Vectors& vectors(Index n, Attempt& tried);
    void     iterate(const LinearOperator<B, S>& A, Preconditioner<B, S>& M, Attempt& tried);

    B&                       be_;
    SolverOptions            options_;
    AttemptListener          listener_;
    StopToken                stop_;
    std::unique_ptr<Vectors> vectors_;
};

}  // namespace ilux

#pragma once
// The matrix of a LinearSolver with its last values. Of solver/ alone.

#include <memory>
#include <optional>

#include "ilux/direct/lu/system_values.hpp"
#include "ilux/engine/iterative_solver.hpp"
#include "ilux/engine/matrix_or_adjoint.hpp"

namespace ilux {

/// A pattern that is borrowed or held, and the values given last. What of it the host has not got yet, as the values
/// came to a GPU, IterativeSolver::bring_values() brings.
template <Scalar S = double>
class SystemMatrix {
public:
    /// Borrows A. @throws InvalidInput unless it is square and finite
    void begin(const Cpu& cpu, const CsrView<S>& A);
    /// Holds a matrix that is given away. @return what to begin with
    CsrView<S> hold(CsrMatrix<S>&& A)
    {
        own_ = std::move(A);
        return own_;
    }

    /// Copies other values. @throws InvalidInput for another number of them, or NaN or Inf, and OutOfMemory; then
    /// nothing has changed
    void take(const Cpu& cpu, const Array<const S>& values);
    /// Values of a GPU for an iteration there, where they stay. @return false, and nothing is done, unless it takes
    /// them
    bool take_there(IterativeSolver<S>& iteration, const Array<const S>& values);

    const CsrView<S>&                       view() const { return A_; }
    const std::shared_ptr<SystemValues<S>>& values() const { return values_; }  ///< those that were copied
    /// ‖A‖_F as krylov.stop=backward_error takes it: a number above 0, also of zeros and where it overflows.
    double norm() const { return norm_; }
    /// The matrix of A x = b, or of Aᴴ x = b, which the first call for new values makes.
    MatrixOrAdjoint<S> matrix_for(Transpose transpose);

private:
    void now(double norm);

    CsrMatrix<S>                     own_;
    std::shared_ptr<SystemValues<S>> values_;
    CsrView<S>                       A_;
    double                           norm_ = 0;
    std::optional<CsrMatrix<S>>      adjoint_;
};

}  // namespace ilux

#pragma once
// An iteration of krylov.precision=mixed on the host: A, M and the basis in single precision, corrections of an x in double.

#include <memory>
#include <span>
#include <vector>

#include "ilux/base/spmv.hpp"
#include "ilux/krylov/refinement.hpp"
#include "ilux/solver/machine/gpu_system.hpp"
#include "ilux/solver/machine/single_matrix.hpp"
#include "ilux/solver/strategy/standard.hpp"

namespace ilux {

/// A x = b by refinement on the host; S is the scalar of A, b and x.
template <Scalar S = double>
class MixedHost {
    using Single = single_of<S>;

public:
    /// @param A  must outlive this  @param factors  of A, in double; none is M = I
    /// @throws InvalidInput where a number of M is out of the range of float
    MixedHost(Cpu& cpu, const CsrView<S>& A, const PrecondFactors<S>& factors, Method method,
              const KrylovOptions& krylov);
    MixedHost(MixedHost&&) = delete;  // the operator looks at the matrix

    /// Of vectors, and of A in single precision.
    std::size_t workspace_bytes() const { return workspace_.bytes() + matrix_.bytes(); }
    std::size_t factor_bytes() const { return factor_bytes_; }  ///< of M in single precision

    /// As ilux::solve.
    IterationReport solve(std::span<const S> b, std::span<S> x, const KrylovOptions& krylov,
                          const ProgressListener& on_progress, const StopToken& stop);
    /// For finish_iteration; all must outlive the calls.
    IterationCalls<S> calls(const StopToken& stop);

private:
    SingleSystem<Cpu, S> system() { return {op_, *M_, row_, column_}; }

    Cpu&                                         cpu_;
    SingleMatrix<S>                              matrix_;
    std::vector<S>                               row_, column_;  // its scales
    MatrixOperator<Single>                       op_;
    MatrixOperator<S>                            in_double_;
    std::size_t                                  factor_bytes_ = 0;
    std::unique_ptr<Preconditioner<Cpu, Single>> M_;
    RefinementWorkspace<Cpu, S>                  workspace_;
};

}  // namespace ilux

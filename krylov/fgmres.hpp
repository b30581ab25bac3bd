#pragma once
// Flexible GMRES: the preconditioner may be another one at every step.

#include "ilux/krylov/gmres.hpp"

namespace ilux {

/// A GMRES workspace and Z_m = [M₀⁻¹v₀ … ]: n·(2m + 3) values.
template <Backend B, Scalar S = double>
class FgmresWorkspace {
public:
    FgmresWorkspace(Index n, const KrylovOptions& opt);

    Index      size() const { return gmres.size(); }
    Span<B, S> Z() { return Z_; }  ///< n·m, a vector after another

    GmresWorkspace<B, S> gmres;

private:
    Buffer<B, S> Z_;
};

/// Solves A x = b by flexible restarted GMRES, preconditioned from the right by an M that may change between calls:
/// an inner iteration, say. Parameters, report and errors as gmres (whose opt.side is not looked at).
/// Step k costs one A, one M and 4(k+1)n flops; a cycle needs no further M. Method: [saad93], FGMRES.
template <Backend B, Scalar S>
IterationReport fgmres(B& be, const LinearOperator<B, S>& A, Preconditioner<B, S>& M, ConstSpan<B, NotDeduced<S>> b,
                       Span<B, NotDeduced<S>> x, FgmresWorkspace<B, S>& ws, const KrylovOptions& opt,
                       const ProgressListener& on_progress = {}, const StopToken& stop = {});

}  // namespace ilux

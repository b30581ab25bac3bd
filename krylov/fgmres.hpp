#pragma once
// Flexible GMRES: the preconditioner may be another one at every step.

#include "ilux/krylov/gmres.hpp"

namespace ilux {

/// A GMRES workspace and Z_m = [M₀⁻¹v₀ … ]: n·(2m + 3) values.
template <Backend B>
class FgmresWorkspace {
public:
    FgmresWorkspace(Index n, const KrylovOptions& opt);

    Index   size() const { return gmres.size(); }
    Span<B> Z() { return Z_; }  ///< n·m, a vector after another

    GmresWorkspace<B> gmres;

private:
    Buffer<B> Z_;
};

/// Solves A x = b by flexible restarted GMRES, preconditioned from the right by an M that may change between calls:
/// an inner iteration, say. Parameters, report and errors as gmres (whose opt.side is not looked at).
/// Step k costs one A, one M and 4(k+1)n flops; a cycle needs no further M. Method: [saad93], FGMRES.
template <Backend B>
IterationReport fgmres(B& be, const LinearOperator<B>& A, Preconditioner<B>& M, ConstSpan<B> b, Span<B> x,
                       FgmresWorkspace<B>& ws, const KrylovOptions& opt, const ProgressListener& on_progress = {},
                       const StopToken& stop = {});

}  // namespace ilux

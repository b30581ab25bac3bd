#pragma once
// A x = b in double by corrections from solves in single precision: the products with A and M that take the time are
// those of floats.

#include <optional>

#include "ilux/krylov/krylov.hpp"

namespace ilux {

/// R A C and a preconditioner of it in single precision, with diagonals R and C that make its entries fit.
template <Backend B, Scalar S = double>
struct SingleSystem {
    const LinearOperator<B, single_of<S>>& A;
    Preconditioner<B, single_of<S>>&       M;
    ConstSpan<B, S>                        row_scale = {}, col_scale = {};  ///< n real numbers, or none: all ones
};

/// 2 n values of S and 2 n of its float, and what `method` needs in float. Made once, used by one solve at a time.
template <Backend B, Scalar S = double>
class RefinementWorkspace {
    using Single = single_of<S>;

public:
    /// @throws InvalidInput, InvalidOption as KrylovWorkspace
    RefinementWorkspace(Method method, Index n, const KrylovOptions& opt);

    Method          method() const { return inner.method(); }
    Span<B, S>      r() { return r_; }
    Span<B, S>      best() { return best_; }
    Span<B, Single> r_single() { return r_single_; }
    Span<B, Single> d_single() { return d_single_; }
    std::size_t     bytes() const;

    KrylovWorkspace<B, Single> inner;

private:
    Buffer<B, S>      r_, best_;
    Buffer<B, Single> r_single_, d_single_;
};
template <Scalar S = double>
std::size_t refinement_bytes(Method method, Index n, const KrylovOptions& opt);  ///< of that workspace

/// Solves A x = b by iterative refinement: r ← b − A x in double, (R A C) d = R r in single precision by the method of
/// ws to a modest tolerance, x ← x + C d in double, and so on. Only a residual in double converges; opt is held to as
/// by gmres, max_steps and the report's steps are those of all inner solves, `restarts` counts corrections.
/// @param A       in double  @param single  the same in single precision
/// @param on_progress  told of the inner steps, as estimates of ‖b − A x‖₂ / ‖b‖₂, and of every residual in double, as
/// exact
/// @return stagnated, or the inner method's breakdown, when a correction no longer halves ‖R (b − A x)‖₂: A may be too
/// ill-conditioned for
///         single precision. Otherwise as gmres. Nothing is allocated. Method: [moler_67], [carson_higham_18].
template <Backend B, Scalar S>
IterationReport refine(B& be, const LinearOperator<B, S>& A, const SingleSystem<B, NotDeduced<S>>& single,
                       ConstSpan<B, NotDeduced<S>> b, Span<B, NotDeduced<S>> x, RefinementWorkspace<B, S>& ws,
                       const KrylovOptions& opt, const ProgressListener& on_progress = {}, const StopToken& stop = {});

/// z ← M⁻¹ r in double by the single precision one. NaN where r is not finite.
template <Backend B, Scalar S>
void precondition(B& be, const SingleSystem<B, NotDeduced<S>>& single, ConstSpan<B, NotDeduced<S>> r,
                  Span<B, NotDeduced<S>> z, RefinementWorkspace<B, S>& ws);

}  // namespace ilux

#pragma once
// Restarted GMRES, preconditioned from the right or from the left.

#include "ilux/base/progress.hpp"
#include "ilux/base/matrix/operator.hpp"
#include "ilux/krylov/hessenberg_qr.hpp"
#include "ilux/krylov/stopping.hpp"

namespace ilux {

/// What a cycle of GMRES(m) needs: n·(m + 3) values and the small QR. Made once, used by one solve at a time.
template <Backend B, Scalar S = double>
class GmresWorkspace {
public:
    /// m = min(opt.restart, n): no Krylov space is larger. @throws InvalidOption when opt is out of range
    GmresWorkspace(Index n, const KrylovOptions& opt);

    Index      size() const { return n_; }
    Index      restart() const { return m_; }
    Span<B, S> v(Index k) { return Span<B, S>(V_).subspan(static_cast<std::size_t>(k) * n_, n_); }  ///< 0 ≤ k ≤ m
    /// v_0 … v_{k−1}
    ConstSpan<B, S> basis(Index k) { return ConstSpan<B, S>(V_).first(static_cast<std::size_t>(k) * n_); }
    Span<B, S>      z() { return z_; }
    Span<B, S>      best() { return best_; }
    std::span<S>    scratch() { return scratch_; }  ///< m + 1, on the host
    /// n·(m+1) for Orthogonalization::mgso_host off the host, else none
    std::span<S> host_basis() { return host_V_; }

    HessenbergQr<S> qr;

private:
    Index          n_, m_;
    Buffer<B, S>   V_;  ///< n·(m+1), a vector after another
    Buffer<B, S>   z_, best_;
    std::vector<S> scratch_, host_V_;
};

/// Solves A x = b by restarted GMRES with z ← M⁻¹ r from the right (default) or the left (opt.side).
/// From the right the estimates are of ‖b − A x‖₂ itself. From the left they are of ‖M⁻¹(b − A x)‖₂, which a cycle
/// trusts half as far as the ratio of the two at its start suggests; either way only a recomputed b − A x converges.
/// @param A, M     n×n; M must be the same linear map throughout: otherwise use fgmres
/// @param b        n, not modified
/// @param x        n, guess in; out the iterate of the least ‖b − A x‖₂ among those recomputed, always finite if the
/// guess was
/// @param ws       made for n and opt.restart; nothing is allocated here
/// @param on_progress  told of every step, and of every recomputed residual
/// @param stop     asked after every step; then the best x so far is handed out
/// @return why it stopped, steps, true ‖b − A x‖₂ / ‖b‖₂; see Stopping for the rules
/// @throws InvalidInput when sizes disagree, InvalidOption when an option is out of range
/// Step k costs one A, one M and 4(k+1)n operations of S; a cycle of m steps one A, one or two M and 2mn more.
/// Method: [saad86], GMRES(m), and [saad03, 9.3.1 and 9.3.2]; names as there. Coefficients are v_iᴴw.
template <Backend B, Scalar S>
IterationReport gmres(B& be, const LinearOperator<B, S>& A, Preconditioner<B, S>& M, ConstSpan<B, NotDeduced<S>> b,
                      Span<B, NotDeduced<S>> x, GmresWorkspace<B, S>& ws, const KrylovOptions& opt,
                      const ProgressListener& on_progress = {}, const StopToken& stop = {});

namespace detail {

/// From the right A M⁻¹ u = b, from the left M⁻¹ A x = M⁻¹ b; flexible: from the right, keeping every z_k = M⁻¹ v_k.
enum class GmresKind { right, left, flexible };

/// The loop of gmres and fgmres. @param Z  n·m where the kind is flexible, else not looked at
template <Backend B, Scalar S>
IterationReport restarted_gmres(B& be, const LinearOperator<B, S>& A, Preconditioner<B, S>& M,
                                ConstSpan<B, NotDeduced<S>> b, Span<B, NotDeduced<S>> x, GmresWorkspace<B, S>& ws,
                                GmresKind kind, Span<B, NotDeduced<S>> Z, const KrylovOptions& opt,
                                const ProgressListener& on_progress, const StopToken& stop);

}  // namespace detail
}  // namespace ilux

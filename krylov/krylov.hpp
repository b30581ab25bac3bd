#pragma once
// The Krylov methods behind one name, for callers that choose at run time.

#include <variant>

#include "ilux/base/enum_names.hpp"
#include "ilux/krylov/bicg.hpp"
#include "ilux/krylov/bicgstab.hpp"
#include "ilux/krylov/cg.hpp"
#include "ilux/krylov/cocg.hpp"
#include "ilux/krylov/fgmres.hpp"
#include "ilux/krylov/gmres.hpp"
#include "ilux/krylov/minres.hpp"
#include "ilux/krylov/sqmr.hpp"

namespace ilux {

/// The Krylov methods.
enum class Method { gmres, fgmres, bicg, bicgstab, cg, minres, sqmr, cocg };

constexpr auto names(Method) { return words("gmres", "fgmres", "bicg", "bicgstab", "cg", "minres", "sqmr", "cocg"); }

/// Whether the method calls apply_adjoint of A and M.
constexpr bool needs_transpose(Method method) { return method == Method::bicg; }

/// Bytes of the vectors that a workspace holds where its backend computes.
template <Scalar S = double>
std::size_t workspace_bytes(Method method, Index n, const KrylovOptions& opt);

/// The workspace of any one method, made once for its method, n, and the restart length in opt.
template <Backend B, Scalar S = double>
class KrylovWorkspace {
public:
    /// @throws InvalidInput when n < 0, InvalidOption when opt is out of range
    KrylovWorkspace(Method method, Index n, const KrylovOptions& opt);

    Method      method() const { return static_cast<Method>(parts.index()); }
    std::size_t bytes() const { return bytes_; }  ///< where B computes; the small host arrays of GMRES not counted

    /// In the order of Method.
    std::variant<GmresWorkspace<B, S>, FgmresWorkspace<B, S>, BicgWorkspace<B, S>, BicgstabWorkspace<B, S>,
                 CgWorkspace<B, S>, MinresWorkspace<B, S>, SqmrWorkspace<B, S>, CocgWorkspace<B, S>>
        parts;

private:
    std::size_t bytes_;
};

/// Solves A x = b by `method`, which ws was made for. Parameters and report: see gmres, and the method's header.
/// Nothing is allocated. @throws InvalidInput also when ws was made for another method
template <Backend B, Scalar S>
IterationReport solve(B& be, Method method, const LinearOperator<B, S>& A, Preconditioner<B, S>& M,
                      ConstSpan<B, NotDeduced<S>> b, Span<B, NotDeduced<S>> x, KrylovWorkspace<B, S>& ws,
                      const KrylovOptions& opt, const ProgressListener& on_progress = {}, const StopToken& stop = {});

}  // namespace ilux

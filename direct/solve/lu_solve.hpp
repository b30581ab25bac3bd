#pragma once
// x ← A⁻¹ b, A⁻ᵀ b and A⁻ᴴ b from finished factors; refinement and condition.

#include <array>
#include <functional>
#include <span>
#include <vector>

#include "ilux/base/cpu.hpp"
#include "ilux/direct/factor/lu_factors.hpp"

namespace ilux {

/// A x = b, Aᵀ x = b, or Aᴴ x = b, which of real numbers is Aᵀ x = b.
enum class Transpose { no, yes, adjoint };

/// Scratch memory of one solve at a time; factors are only read, so each thread that solves needs one of its own.
template <class S = double>
class LuWorkspace {
public:
    /// @param rhs  right-hand sides that may be solved together; more than that are solved in turns. 8 is all that one
    ///             thread can use
    explicit LuWorkspace(Index n, Index rhs = 1);

    std::size_t bytes() const { return sizeof(S) * (y.size() + r.size() + d.size() + lost.size() + fronts.size()); }
    Index       rhs() const { return rhs_; }  ///< as asked for, rounded up to 1, 4 or a multiple of 8

    std::vector<S> y;           ///< n · rhs(), and for several a little more
    std::vector<S> r, d, lost;  ///< n each: residual and correction of refinement, rounding errors of the residual
    std::vector<S> fronts;      ///< what fronts leave one another; grows with the first solve by fronts

private:
    Index rhs_;
};

/// x ← A⁻¹ b, A⁻ᵀ b or A⁻ᴴ b for as many systems as b holds, vector after vector; b and x may be the same memory.
/// Nothing is allocated, but with fronts by the first call. The bits of a solution depend neither on its neighbours nor
/// on the number of threads. A = R⁻¹ Pᵀ B Qᵀ C⁻¹:  y ← P R b;  B z = y, blocks last to first: z ← U⁻¹ L⁻¹ (y − F z);  x
/// ← C Q z. Costs 2 (nnz(L + U) + nnz(F)) flops a right-hand side; several share each pass over the factors, and
/// threads share the passes.
/// @throws InvalidInput when lengths disagree or the factors have a bad pivot; OutOfMemory with fronts
template <class S>
void lu_solve(Cpu& be, const LuFactors<S>& factors, std::span<const NotDeduced<S>> b, std::span<NotDeduced<S>> x,
              LuWorkspace<NotDeduced<S>>& ws, Transpose transpose = Transpose::no);

/// What refinement reached for one right-hand side.
struct RefineReport {
    Index  steps = 0;  ///< corrections solved for; the last is not in x where it made things worse
    double backward_error =
        0;  ///< max_i |b − A x|_i / (|A||x| + |b|)_i [oettli_prager_64]; 0/0 counts as 0; Inf where not finite
    bool finite = true;  ///< false: x or b − A x overflowed or holds NaN; |A||x| + |b| may overflow
    /// Backward error of x to begin with and after each of the first steps, also those not taken: steps + 1 of them, if
    /// there is room.
    std::array<double, 8> first_errors = {};
};
/// Whether `one` is further from a solution than `two`.
inline bool worse(const RefineReport& one, const RefineReport& two)
{
    return one.finite != two.finite ? !one.finite : one.backward_error > two.backward_error;
}

/// Refines x with r ← b − A x in the original A until the componentwise backward error is at most 2 ε or
/// options.refine_target, no longer halves, or options.refine_steps are spent; x is the best iterate met. An x good
/// enough from the first costs one pass over A. [arioli_demmel_duff_89] Where that leaves an error above 1000 ε, the
/// x_j of rows with b_i = 0 that are rounding errors in place of 0, of which no digit can be right, are made 0 if that
/// gives a smaller error. So the error is never measured otherwise than as above. Nothing is allocated. A step costs a
/// solve and a pass over A, which is neither copied nor transposed.
/// @param A  the matrix that was factored, or a nearby one. Duplicates count as entries of their own in |A|
/// @param b, x  n
/// @throws InvalidInput when lengths disagree, A has no values or the factors have a bad pivot
template <class S>
RefineReport lu_refine(Cpu& be, const LuFactors<S>& factors, const MatrixView<NotDeduced<S>>& A,
                       std::span<const NotDeduced<S>> b, std::span<NotDeduced<S>> x, LuWorkspace<NotDeduced<S>>& ws,
                       Transpose transpose = Transpose::no);

/// lu_solve, and then lu_refine for each system that b holds. @return what the worst of them reached
template <class S>
RefineReport lu_solve_refined(Cpu& be, const LuFactors<S>& factors, const MatrixView<NotDeduced<S>>& A,
                              std::span<const NotDeduced<S>> b, std::span<NotDeduced<S>> x,
                              LuWorkspace<NotDeduced<S>>& ws, Transpose transpose = Transpose::no);

/// v ← A⁻¹ v or A⁻ᴴ v.
template <class S>
using SolveInPlace = std::function<void(std::span<S> v, Transpose transpose)>;

/// Estimate of ‖A‖₁ ‖A⁻¹‖₁, usually within a factor of 3 from below [hager_84] [higham_88]; at most 5 pairs of solves
/// and one more. 1 for n = 0; Inf where it overflows, or ‖A‖₁ does.
/// @param x, xi  n, scratch
template <class S>
double condition_estimate(const MatrixView<NotDeduced<S>>& A, const SolveInPlace<NotDeduced<S>>& solve,
                          std::span<NotDeduced<S>> x, std::span<NotDeduced<S>> xi);
/// The estimate by factors on the host. @throws InvalidInput as lu_refine
template <class S>
double condition_estimate(Cpu& be, const LuFactors<S>& factors, const MatrixView<NotDeduced<S>>& A,
                          LuWorkspace<NotDeduced<S>>& ws);

}  // namespace ilux

#pragma once
// What a direct solution reports, and by which rule its answer counts as a success.

#include <limits>
#include <span>
#include <string>
#include <vector>

#include "ilux/direct/lu/lu.hpp"
#include "ilux/engine/report/accuracy.hpp"

namespace ilux {

/// Facts of one system's LU, or of the last one in a series that could be factored. After another analysis, until
/// numbers are factored, they are what that foresees, and the counts of the series.
struct LuFacts {
    LuSymbolicReport symbolic;
    Offset           nnz = 0, nnz_F = 0;  ///< L + U of the diagonal blocks, unit diagonal not counted; above the blocks
    double           fill = 0;            ///< (nnz + nnz_F) / nnz(A)
    double           flops = 0;
    Index            levels = 0;        ///< of columns that wait for one another in a left-looking method
    std::string      refactor = "cpu";  ///< how numbers were, or would have been, renewed
    Index            repivots = 0;      ///< that gave factors, in a series
    double           growth = 0;        ///< reciprocal: min over columns of max|A(:,k)| / max|U(:,k)|
    double           rcond = 0;         ///< min |u_kk| / max |u_kk|
    double           condition = std::numeric_limits<double>::quiet_NaN();  ///< ‖A‖₁‖A⁻¹‖₁, estimated
    Index            refine_steps = 0;
    std::vector<double> refine_errors = {};  ///< of a single solve: before refinement and after each of the first steps
};

LuFacts facts_before(const LuSymbolic& symbolic);
/// Adds what the pattern of L + U tells; nothing where the last factorization failed. @param nnz_A  of the matrix
template <Scalar S>
void note_factors(const Lu<S>& lu, Offset nnz_A, LuFacts& facts);

/// Options with the memory that the machine has free where there is no limit.
LuOptions within_memory(const LuOptions& options);
/// Before any factoring: values and rows of L + U as predicted, with what leads from A to them.
/// @param value  bytes of one
double predicted_bytes(const LuSymbolic& symbolic, std::size_t value = sizeof(double));
/// @throws OutOfMemory with the prediction when it exceeds the limit. @param given  the options as the user gave them
void require_memory(const LuSymbolic& symbolic, const LuOptions& given, std::size_t value = sizeof(double));

/// Bound on ‖x − x*‖∞ / ‖x‖∞ from what is left of b − A x and the rounding of A and b: ‖|A⁻¹| (|r| + ε (|A||x| +
/// |b|))‖∞ / ‖x‖∞, whose numerator is estimated as ‖D A⁻ᵀ‖₁ [arioli_demmel_duff_89] [hager_84]. The scaling of rows
/// does not matter.
/// @param factored  no: the factors are of A; else of Aᴴ
template <Scalar S>
double forward_error_bound(Cpu& be, const LuFactors<S>& factors, const CsrView<NotDeduced<S>>& A,
                           std::span<const NotDeduced<S>> x, std::span<const NotDeduced<S>> b,
                           Transpose factored = Transpose::no);

inline constexpr double lu_tolerance = 1e-12;

/// Whether a direct solution is a success.
struct LuVerdict {
    Outcome     outcome = Outcome::converged;
    std::string detail;  ///< why it is no success, or ""
    std::string remark;  ///< of a success: why ‖b − A x‖₂ stays above rtol·‖b‖₂ all the same, or ""
};
/// converged: the componentwise backward error is at most 1e-12, so x solves a system whose entries differ from A's and
/// b's by no more; or it is over the rows that count, and no unknown that counts is uncertain. Where then
/// ‖b − A x‖₂ > rtol·‖b‖₂ and the forward error bound reaches 1, A is singular in working precision. So it is where the
/// componentwise error is larger, though every |b − A x|_i / (Σ_j |a_ij| ‖x‖∞ + |b_i|) is of rounding size, and the
/// bound reaches 1: x is then little but a null vector.
/// @param factored  as forward_error_bound has it
template <Scalar S>
LuVerdict lu_verdict(Cpu& be, const Lu<S>& lu, const CsrView<NotDeduced<S>>& A, std::span<const NotDeduced<S>> x,
                     std::span<const NotDeduced<S>> b, const LuSolveReport& solved, const Accuracy& accuracy,
                     double rtol, Transpose factored = Transpose::no);

/// Whether lu_verdict is `converged` without a remark, which it says without a look at the factors.
bool is_plain_success(const Accuracy& accuracy, double rtol);

}  // namespace ilux

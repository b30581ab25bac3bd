#pragma once
// How right x is: measured from A, b and x alone, and estimated with the preconditioner or factors at hand.

#include <limits>
#include <span>
#include <string>
#include <vector>

#include "ilux/base/cpu.hpp"
#include "ilux/base/matrix/csr.hpp"

namespace ilux {

/// Unknowns below this share of the largest do not count: their digits are rounding errors of others as a rule.
inline constexpr double least_unknown = 1e-12;
/// An unknown counts as no smaller than this share of what its equations make of it: one that crosses 0 among
/// neighbours of 1 need not have digits of its own.
inline constexpr double own_share = 1e-3;
/// An unknown whose estimated error is above this share of it is called uncertain: half of 1 %, as an estimate may be
/// half of the error.
inline constexpr double uncertain_from = 5e-3;

/// What is known of the error of x, in each measure that reports give. NaN: not known.
struct Accuracy {
    double relative_residual = 1;  ///< ‖b − A x‖₂ / ‖b‖₂; absolute when b = 0
    double backward_error = std::numeric_limits<double>::quiet_NaN();  ///< ‖b − A x‖₂ / (‖A‖_F ‖x‖₂ + ‖b‖₂)
    double rowwise =
        std::numeric_limits<double>::quiet_NaN();  ///< max_i |b − A x|_i / (|A||x| + |b|)_i [oettli_prager_64]
    /// The largest over the rows that count. Where a row's terms are small beside 1e-12 Σ_j |a_ij| ‖x‖_∞, its r is held
    /// against that.
    double rowwise_counting = std::numeric_limits<double>::quiet_NaN();
    /// ‖e‖_∞ / max_i s_i, where e ≈ A⁻¹(b − A x) and s_i = max(|x|, |x + e|)_i, or own_share of the unknown's own scale
    /// where that was asked for
    double error = std::numeric_limits<double>::quiet_NaN();
    double worst_error = std::numeric_limits<double>::quiet_NaN();  ///< max_i |e_i| / s_i over the unknowns that count
    Index  worst = -1;                                              ///< the unknown where that is, from 0
    Index  uncertain = 0;                                           ///< unknowns that count with |e_i| > 0.005 s_i
    bool   finite = false;                                          ///< x and b − A x are
    /// False: e may be far too small. An iteration on A e = b − A x, or refinement by an LU, did not settle, or a row
    /// that counts is lost.
    bool estimate_settled = true;
};

/// b − A x in twice the precision, in units of 2^exponent, in which the largest of b neither over- nor underflows.
template <Scalar S = double>
struct Residual {
    std::vector<S>      r;     ///< n
    std::vector<double> size;  ///< n: |A||x| + |b|, in the same units
    int                 exponent = 0;
    /// In the same units, which may be too small for a double: n of them where some r became 0 as a double, rows being
    /// 10^300 apart; else none.
    struct Row {
        long double r, size;  ///< |r|
    };
    std::vector<Row> lost = {};
};

/// b − A x with what it says of x. Sums are carried in twice the precision, so what rounding hides is seen.
/// @param x, b  n  @param residual  out; memory of an earlier call serves again
/// Cost: a pass over A, by all threads of be.
template <Scalar S = double>
Accuracy measure(Cpu& be, const CsrView<S>& A, std::span<const NotDeduced<S>> x, std::span<const NotDeduced<S>> b,
                 Residual<S>& residual);
template <Scalar S = double>
Accuracy measure(const CsrView<S>& A, std::span<const NotDeduced<S>> x,
                 std::span<const NotDeduced<S>> b);  ///< by one thread

/// max((|A||x| + |b|)_i, share · Σ_j |a_ij| ‖x‖_∞), in the units of the residual, whose range of numbers it may leave.
template <Scalar S = double>
class RowSizes {
public:
    RowSizes(const CsrView<S>& A, std::span<const S> x, const Residual<S>& residual, double share);
    long double operator()(Index i) const;  ///< O(entries of row i)

private:
    const CsrView<S>&  A_;
    std::span<const S> x_;
    const Residual<S>& residual_;
    long double        share_of_x_;
};

/// Sets accuracy.rowwise_counting. Where a row that counts is lost no estimate of the error is trusted. O(nnz).
template <Scalar S = double>
void note_counting_rows(const CsrView<S>& A, std::span<const NotDeduced<S>> x, const Residual<S>& residual,
                        Accuracy& accuracy);

/// The own scale of each unknown j: min_i (|A||x| + |b|)_i / |a_ij|, the terms of the equation that determines it most
/// tightly, in its units and those of the residual. At least |x_j|; Inf for an empty column. O(nnz)
/// @param scale  n, out
template <Scalar S = double>
void note_own_scales(const CsrView<S>& A, const Residual<S>& residual, std::vector<double>& scale);

/// What an estimate of the error says of x.
/// @param e  n, e ≈ A⁻¹ r for the residual r, in the same units  @param scale  of note_own_scales, or empty: unknowns
/// are held to themselves
template <Scalar S = double>
void note_error(std::span<const NotDeduced<S>> x, std::span<const NotDeduced<S>> e, const Residual<S>& residual,
                Accuracy& accuracy, std::span<const double> scale = {});

/// "3 of 120 unknowns are uncertain by more than 0.5 %, the worst, unknown 7 (counted from 1), by 0.4 times its size",
/// or "".
std::string uncertainty_text(const Accuracy& accuracy, Index n);

}  // namespace ilux

#pragma once
// The last level: small, dense, and the place where a singular matrix shows.

#include <span>
#include <vector>

#include "ilux/base/csr.hpp"

namespace ilux {

/// S⁻¹ by LU with partial pivoting, or, when S is numerically singular, S⁺ by QR with column pivoting truncated at its
/// numerical rank. Empty rows and columns of S are left out: their unknowns become 0. With `positive` S is symmetric
/// and should be SPD; where dropping has only just spoiled that, |S| (absolute eigenvalues) takes its place.
class DenseLevel {
public:
    DenseLevel() = default;
    DenseLevel(const CsrMatrix<double>& S, bool positive);

    Index       size() const { return n_; }
    Offset      stored() const { return static_cast<Offset>(factor_.size() + q_.size()); }  ///< values
    std::size_t bytes() const { return stored() * sizeof(double); }
    Index       deficiency() const { return n_ - rank_; }  ///< rank missing from the non-empty part, plus empty rows
    double      rcond() const { return rcond_; }           ///< estimate of 1 / (‖S‖₁ ‖S⁻¹‖₁); 0 when truncated
    std::size_t workspace() const { return rows_.size() + cols_.size(); }

    /// x ← S⁻¹ b, x ← S⁻ᵀ b. b, x: size(), may be the same memory. Cost 2 n² flops.
    void solve(std::span<const double> b, std::span<double> x, std::span<double> work) const;
    void solve_transpose(std::span<const double> b, std::span<double> x, std::span<double> work) const;

private:
    void equilibrate(std::vector<double>& S);
    bool factor_lu(const std::vector<double>& S);
    void factor_qr(std::vector<double> S);
    void make_positive(std::vector<double>& S);

    Index               n_ = 0, rank_ = 0;
    double              rcond_ = 1;
    std::vector<Index>  rows_, cols_;  // non-empty rows and columns of S
    std::vector<double> row_scale_, col_scale_;  // of those: S is equilibrated before its rank is judged
    std::vector<double> factor_;       // LU or R, by columns
    std::vector<double> q_;            // rows × rank, by columns; empty with LU
    std::vector<Index>  pivot_;        // LU: row_of[new]; QR: column_of[new]
};

}  // namespace ilux

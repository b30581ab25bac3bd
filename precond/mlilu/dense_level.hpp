#pragma once
// The last level: small, dense, and the place where a singular matrix shows.

#include <span>
#include <vector>

#include "ilux/base/matrix/csr.hpp"
#include "ilux/base/stop_token.hpp"

namespace ilux {

struct SingleScales;

/// S⁻¹ by LU with partial pivoting, or, when S is numerically singular, by QR with column pivoting: S P = Q R, where
/// the rows of R beyond the numerical rank are replaced by the identity. M then stays regular, so that a consistent
/// singular system can still be solved. Empty rows and columns of S are paired likewise without being stored. With
/// `definite` S is Hermitian and ought to be positive definite; where dropping has spoiled that, or A is not, |S|
/// (absolute eigenvalues) takes its place.
template <Scalar T = double>
class DenseLevel {
public:
    static constexpr Index largest = 4000;  ///< order of a last level that build() solves densely

    DenseLevel() = default;
    /// @param most_absolute  rows of which |S| is taken at most: where it takes more, the level is left empty, and
    /// size() is 0
    /// @param stop  ends the work, between its steps
    DenseLevel(const CsrView<T>& S, bool definite = false, Index most_absolute = largest, const StopToken& stop = {});
    /// That of R S C in single precision. @throws InvalidInput where a value is out of the range of float
    template <class Wide>
    DenseLevel(const DenseLevel<Wide>& wide, const SingleScales& scales);

    Index       size() const { return n_; }
    Offset      stored() const { return static_cast<Offset>(factor_.size() + q_.size()); }  ///< values
    std::size_t bytes() const;
    /// bytes() of a regular matrix of order n without empty rows.
    static std::size_t bytes(Index n)
    {
        const auto k = static_cast<std::size_t>(n);
        return k * k * sizeof(T) + k * (3 * sizeof(Index) + 2 * sizeof(double));
    }
    Index       deficiency() const { return n_ - rank_; }  ///< numerical rank that S lacks
    double      rcond() const { return rcond_; }  ///< estimate of 1 / (‖S‖₁ ‖S⁻¹‖₁); 0 when S lacks rank
    std::size_t workspace() const { return 2 * static_cast<std::size_t>(n_); }

    /// x ← S⁻¹ b, x ← S⁻ᴴ b. b, x: size(), may be the same memory. Cost 2 n² flops.
    void solve(std::span<const T> b, std::span<T> x, std::span<T> work) const;
    void solve_adjoint(std::span<const T> b, std::span<T> x, std::span<T> work) const;

private:
    template <Scalar>
    friend class DenseLevel;
    void choose_rows_and_cols(const CsrView<T>& S);
    void choose_scales(const CsrView<T>& S, bool definite);
    bool factor_lu(const std::vector<T>& S);
    void factor_qr(std::vector<T> S);
    bool make_definite(std::vector<T>& S, Index most_absolute, const StopToken& stop) const;

    Index               n_ = 0, rank_ = 0;
    double              rcond_ = 1;
    std::vector<Index>  rows_, cols_;            // n each: the k stored ones, then the empty ones, paired in order
    std::size_t         k_ = 0;                  // order of the stored part
    std::vector<double> row_scale_, col_scale_;  // k; powers of two: S is scaled before its rank is judged
    std::vector<T>      factor_;                 // k×k by columns: LU, or R
    std::vector<T>      q_;                      // k×k by columns; empty with LU
    std::vector<Index>  pivot_;                  // k; LU: row_of[new]; QR: column_of[new]
};

}  // namespace ilux

#pragma once
// Sparse triangular systems L x = b: analyse once, solve often. Every engine gives the same bits.

#include <memory>
#include <span>

#include "ilux/base/enum_names.hpp"
#include "ilux/base/cpu.hpp"
#include "ilux/base/matrix/csr.hpp"
#include "ilux/sptrsv/level_set.hpp"
#include "ilux/sptrsv/triangle.hpp"

namespace ilux {

/// How a triangular system is solved on the host.
enum class SpTrsvEngine { level_set, serial };

constexpr auto names(SpTrsvEngine) { return words("level_set", "serial"); }

/// Options of an analysis.
struct SpTrsvOptions {
    SpTrsvEngine engine = SpTrsvEngine::level_set;
    bool         transposable = false;  ///< keep Aᵀ and its levels, so that solving with it or Aᴴ is threaded too
    Offset wide_level = LevelSets::default_wide;  ///< level_set: entries and rows from which threads share a level
};

/// A triangular matrix ready to be solved with, on the host. Immutable: serves several threads at once. Owns or shares
/// the matrix; copies share it. Values are stored as T, vectors and sums are of S.
template <class T = double, class S = working_of<T>>
class SpTrsvPlan {
public:
    SpTrsvPlan() = default;  ///< of order 0
    /// @param A  n×n, only the triangle named: strictly inside it for Diagonal::unit, with it for Diagonal::stored
    /// @throws InvalidInput naming the first entry outside that triangle
    /// Costs O(n + nnz) once.
    SpTrsvPlan(CsrMatrix<T> A, Triangle triangle, Diagonal diagonal, SpTrsvOptions options = {});
    /// Plans without a copy: A stays where it is, and must not change.
    SpTrsvPlan(std::shared_ptr<const CsrMatrix<T>> A, Triangle triangle, Diagonal diagonal, SpTrsvOptions options = {});

    const CsrView<T>& matrix() const { return *A_; }
    Triangle          triangle() const { return triangle_; }
    Diagonal          diagonal() const { return diagonal_; }
    Index             size() const { return matrix().rows(); }
    Index             depth() const { return levels_.depth(); }  ///< longest chain of rows that wait on one another
    Index       zero_pivot() const { return zero_pivot_; }  ///< first row whose diagonal is 0 or absent; −1: none
    std::size_t bytes() const;                              ///< the matrix included

    /// x ← A⁻¹ b, x ← A⁻ᵀ b and x ← A⁻ᴴ b; b and x may be the same memory. Lengths k·n solve k systems, a vector after
    /// another. A zero pivot yields Inf or NaN in x, and a NaN in b spreads to all that depends on it. Nothing is
    /// allocated. Costs 2 nnz flops a right-hand side; the last two of a plan that is not `transposable` run on one
    /// thread.
    void solve(Cpu& be, std::span<const S> b, std::span<S> x) const;
    void solve_transpose(Cpu& be, std::span<const S> b, std::span<S> x) const;
    void solve_adjoint(Cpu& be, std::span<const S> b, std::span<S> x) const;

private:
    void solve_transposed(Cpu& be, std::span<const S> b, std::span<S> x, Values values) const;

    std::shared_ptr<const CsrMatrix<T>> A_ = std::make_shared<const CsrMatrix<T>>();
    CsrMatrix<T>                        At_;
    LevelSets                           levels_, levels_t_;
    Triangle                            triangle_ = Triangle::lower;
    Diagonal                            diagonal_ = Diagonal::unit;
    SpTrsvOptions                       options_;
    Index                               zero_pivot_ = -1;
};

}  // namespace ilux

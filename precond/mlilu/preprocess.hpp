#pragma once
// Before a level is factored: scalings, matching and ordering, Â = Pᵀ Dr A Dc Q.

#include <optional>
#include <string>
#include <vector>

#include "ilux/base/matrix/csr.hpp"
#include "ilux/base/stop_token.hpp"
#include "ilux/precond/mlilu/mlilu.hpp"
#include "ilux/precond/rounds/rounds_plan.hpp"
#include "ilux/reorder/matching.hpp"

namespace ilux {

/// What a matrix with A = Aᴴ is called.
template <Scalar T>
inline constexpr const char* hermitian_word = is_complex<T> ? "Hermitian" : "symmetric";

/// Â(i, j) = row_scale[p[i]] · A(p[i], q[j]) · col_scale[q[j]]. Scale factors are powers of two: scaling is exact.
template <class T = double>
struct Preprocessed {
    std::vector<double> row_scale, col_scale;   ///< n, indexed by A's rows and columns
    std::vector<Index>  p, q;                   ///< perm[new] = old
    CsrMatrix<T>        A, At;                  ///< Â and its transpose
    Mirror              mirror = Mirror::none;  ///< that Â is, exactly, with p = q and equal scales
    bool                positive = false;       ///< Hermitian with a positive diagonal: worth keeping D positive
    bool                matched = false;
    bool saddle_point = false;             ///< it has zeros on its diagonal, and may_wait(): rounds lose its symmetry
    std::optional<Index> structural_rank;  ///< by the matching, or n for a zero-free diagonal; else unknown
    std::string          decision;         ///< what `matching=auto` chose and why
};

/// Below this share of the largest entry of its row or column a diagonal entry is small.
constexpr double small_diagonal = 0.1;
constexpr int    equilibration_sweeps = 12;  ///< each halves the exponents' spread; most matrices need two or three
constexpr double largest_scale = 0x1p1000;   ///< so that neither a factor nor the reciprocal of one overflows
/// What rounds put where a saddle point has a zero on its diagonal, beside diagonals of about 1, within a factor 2.
/// (docs/design/precond_rounds.md) Half would leave sums that are powers of four to rounding.
constexpr double balanced_diagonal = 0.4;

/// The maximum product matching, its scale factors rounded to powers of two. By threads.
template <Scalar T>
Matching matching_of_level(const Cpu& be, const CsrView<T>& A, const StopToken& stop = {});
/// Whether perm is another permutation than the identity.
bool                  moves_rows(std::span<const Index> perm);
constexpr const char* matching_is_not_the_best =
    "; the matching's work limit was reached, so its product is not the largest";

/// The scalings, and the matching where it is wanted: p stays the identity, and At is not made.
/// @param A  n×n;  cost O(nnz) plus matching
/// @param stop  ends the matching
template <Scalar T>
Preprocessed<T> equilibrate_and_match(const Cpu& be, CsrMatrix<T> A, const MlIluOptions& options,
                                      const StopToken& stop = {});
/// Preprocesses A by the matching of an earlier matrix and its scale factors. Where that had none, the diagonal
/// stays, whatever it is like now, and A is equilibrated.
template <Scalar T>
Preprocessed<T> equilibrate_and_match_again(const Cpu& be, CsrMatrix<T> A, const MlIluOptions& options,
                                            const RoundsOfLevel& former);
/// Permutes rows and columns alike by an ordering, and makes At unless Â is Hermitian.
template <Scalar T>
void put_in_order(Preprocessed<T>& pre, Ordering ordering, const StopToken& stop = {});

}  // namespace ilux

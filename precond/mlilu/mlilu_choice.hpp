#pragma once
// What is decided about a level, on whatever machine: whether it is matched, whether and how it is eliminated in
// rounds.

#include <limits>
#include <string>
#include <vector>

#include "ilux/precond/mlilu/mlilu_options.hpp"
#include "ilux/precond/rounds/rounds_ilu.hpp"

namespace ilux {

/// Whether a level is matched, and why.
struct MatchingDecision {
    bool        match = false;
    std::string why;  ///< "" where the options left no choice
};
/// @param positive  A is Hermitian, which is called `word`, with a positive diagonal
/// @param small  diagonal entries, of n, that are small against their row or column
MatchingDecision decide_matching(const MlIluOptions& options, bool positive, Index small, Index n, const char* word);
/// Whether matching=wait holds for a matrix: rounds were asked for, and it is Hermitian or symmetric. With zeros on its
/// diagonal it is then taken as a saddle point: an unknown without a diagonal waits until its neighbours have given it
/// one.
bool may_wait(const MlIluOptions& options, Mirror mirror);

/// How a matrix is eliminated.
struct RoundsChoice {
    bool                     rounds = false;
    Compensation             compensation = Compensation::off;  ///< on, off or lumped
    std::vector<std::string> decisions;                         ///< what was left to us, for the report
};
/// What the first level's scaled matrix is like.
struct LevelFacts {
    Index  n = 0;
    Offset nnz = 0;
    Index  dominant = 0;          ///< rows, in the test vector
    Index  even = 0;              ///< rows that couple unknowns of like t alone
    bool   moved = false;         ///< a matching has exchanged columns
    bool   positive = false;      ///< it is Hermitian with a positive diagonal
    bool   saddle_point = false;  ///< it has zeros on its diagonal, and may_wait()
    bool   on_device = false;     ///< where rounds take a fraction of the seconds of Crout's sweep, whatever A is
};
/// Whether a third of the entries or more are stored.
constexpr bool nearly_dense(Offset n, Offset nnz) { return 3 * nnz > n * n; }

constexpr double rounds_like_size = 8;  ///< of two entries of the test vector that are alike, at most

/// Compensation wants rows that are dominant in the test vector; where most are, rounds with it take fewer steps than
/// Crout's sweep, where few are, more. Where a matching has moved rows, unknowns are of several kinds, such as volts
/// and amperes, and the constant test vector stands for nothing. Where coefficients jump at every turn, weak ties hold
/// many islands: there t jumps, by the root of their ratio. In a nearly dense matrix every row sees every other one,
/// and pivots are found one by one.
RoundsChoice choose_rounds(const MlIluOptions& options, const LevelFacts& level);

/// A sentence for each option that is not at its default and has no effect on a matrix with so many entries.
/// @param rounds, compensation  how the matrix is eliminated; where it is not in rounds, by Crout's sweep
std::vector<std::string> without_effect(const MlIluOptions& options, bool rounds, Compensation compensation,
                                        Offset nnz);

/// What speaks against the rounds of an earlier matrix, which were chosen with this compensation, or "".
std::string why_not_again(const RoundsChoice& choice, Compensation before);

/// Whether the multilevel ILU of A is likely to be made in rounds, told by A as it is: a row is dominant in the test
/// vector, which is the constant, whatever the scale factors. Matching and jumps are not looked at. Cost O(nnz).
template <Scalar T>
bool rounds_are_likely(Cpu& be, const CsrView<T>& A, const MlIluOptions& options);
/// Whether a GPU would make the multilevel ILU in rounds, as far as options and density tell.
bool device_rounds_are_likely(Offset n, Offset nnz, const MlIluOptions& options);

constexpr Index most_test_vectors = 64;
/// Vectors of a matrix of n rows: near_null, or a constant. Several are scaled by powers of two, each so that its
/// largest value is about 1.
/// @throws InvalidInput where near_null is not n × 1 to most_test_vectors, has an Inf or a NaN, or is 0
std::vector<double> given_near_null(const MlIluOptions& options, Index n);
/// The vectors for a compensation, which divides by ‖t_i‖: an unknown that is 0 in all of them, such as one that is
/// held fast, or below 1e-150 beside the largest of several, gets the largest value in one of them.
std::vector<double> test_vectors(const MlIluOptions& options, Index n);

/// The matrix of a level that is to be eliminated in rounds.
struct LevelMatrix {
    Mirror mirror = Mirror::none;  ///< none for a saddle point, which drops by rows
    bool   saddle_point = false;   ///< it has zeros on its diagonal, and may_wait()
    double largest = 0;            ///< of its entries
};
/// κ, γ, τ_S and the rest; `enough` and `most_entries` are left to the caller. Of a saddle point γ is 0.17 of it.
RoundsOptions rounds_options(const MlIluOptions& options, Compensation compensation, const LevelMatrix& level);

/// Rows of the dense end, which should cost less than the rest of a matrix with so many entries.
Index rounds_tail(const MlIluOptions& options, Offset nnz);

constexpr double rounds_stall = 0.1;  ///< a level that accepts a smaller share of its rows has stalled
/// Below, entries being about 1, a pivot is a zero.
constexpr double pivot_noise = 16 * std::numeric_limits<double>::epsilon();

}  // namespace ilux

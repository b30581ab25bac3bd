#pragma once
// What can be said of a matrix before it is factored, and what solving with it would take.

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ilux/base/matrix/csr.hpp"
#include "ilux/base/stop_token.hpp"
#include "ilux/direct/factor/levels.hpp"
#include "ilux/engine/machine/options.hpp"
#include "ilux/engine/report/lu_facts.hpp"

namespace ilux {

/// Entries of the rows of a matrix.
struct RowLengths {
    Index  shortest = 0, longest = 0, empty = 0;
    double mean = 0;
};

/// What stands on it.
struct DiagonalFacts {
    Index zeros = 0, missing = 0;  ///< stored as 0; not stored
    Index largest_in_row = 0;      ///< rows with |a_ii| ≥ all |a_ij| and > 0
    Index dominant = 0;            ///< rows with |a_ii| ≥ Σ_j≠i |a_ij|
};

inline constexpr std::size_t most_unmatched = 6;  ///< one more than are named

/// Facts of the maximum-product matching.
struct Matched {
    Index              rank = 0;          ///< structural rank
    bool               optimal = true;    ///< as in Matching
    Index              moved = 0;         ///< rows matched with another column than their own
    Index              dominant = 0;      ///< as DiagonalFacts::dominant, after permuting and scaling by the matching
    std::vector<Index> unmatched_rows{};  ///< the first most_unmatched of them, ascending
};

/// Columns of L + U that wait for one another; from a factorization.
struct Levels {
    Index left = 0, exact = 0, relaxed = 0;  ///< how many, by rule
    /// Facts of the left-looking levels.
    std::vector<Index>                  sizes = {};       ///< columns of each
    std::vector<LuLevelStatistics::Hub> hubs = {};        ///< by updates, most first
    std::vector<Index>                  hub_column = {};  ///< of A
};

/// What LinearSolver would take with default options for one system.
struct Recommended {
    MethodChoice             method = MethodChoice::lu;
    PrecondKind              precond = PrecondKind::none;
    std::vector<std::string> decisions;  ///< sentences with the figures that decided

    bool direct() const { return method == MethodChoice::lu; }
};

/// All that is seen.
struct MatrixInfo {
    Index                  rows = 0, cols = 0;
    Offset                 nnz = 0, stored_zeros = 0;
    std::size_t            matrix_bytes = 0, value_bytes = 0;  ///< of A; of one value
    bool                   complex = false, pattern_symmetric = false;
    bool                   symmetric = false, hermitian = false;  ///< A = Aᵀ, A = Aᴴ: of real values the same
    bool                   skew_symmetric = false;                ///< A = −Aᵀ and A ≠ 0
    RowLengths             lengths;
    Index                  lower_bandwidth = 0, upper_bandwidth = 0;
    double                 smallest = 0, largest = 0;  ///< of |a_ij| over values ≠ 0
    Offset                 imaginary = 0;              ///< values with an imaginary part ≠ 0
    DiagonalFacts          diagonal;
    Index                  depth_lower = 0;         ///< longest chain of the forward substitution with tril(A), in rows
    std::optional<Matched> matching;                ///< square matrices only
    std::shared_ptr<const LuSymbolic> lu;           ///< those of full structural rank only
    std::optional<Recommended>        recommended;  ///< likewise
    std::optional<Levels>             levels;
    std::string                       no_levels;  ///< why there are none though asked for, or ""
};

/// Looks at A: O(nnz) but for the matching and the analysis of LU. Sizes of values are |a_ij|.
/// @param factored  whether to factor as well, for the levels
/// @param stop  asked by the analyses and the factorization  @throws Stopped
template <Scalar S>
MatrixInfo examine(const CsrView<S>& A, bool factored, const StopToken& stop = {});

/// Bytes that a way of solving would take.
struct MemoryEstimate {
    std::string_view what;
    double           bytes;
};
/// A column index takes 4 bytes beside a value; fill 3 is what the default tolerance typically leaves. On a GPU, which
/// takes real values alone, lie A, the factors with the places of their rows, and the basis.
std::vector<MemoryEstimate> estimates(const MatrixInfo& info);

}  // namespace ilux

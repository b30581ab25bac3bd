#pragma once
// The analysis of a direct solution: permutations and blocks chosen before any pivoting, and where every input value
// goes.

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "ilux/base/cpu.hpp"
#include "ilux/base/matrix/csr.hpp"
#include "ilux/base/scalar.hpp"
#include "ilux/base/stop_token.hpp"
#include "ilux/base/unset_vector.hpp"
#include "ilux/direct/analysis/lu_options.hpp"
#include "ilux/direct/analysis/lu_ordering.hpp"

namespace ilux {

/// What is compressed: rows or columns.
enum class MatrixLayout { rows, columns };

/// A square matrix as the caller holds it: compressed rows or compressed columns, indices in any order inside,
/// duplicates allowed (they are added). Only looked at.
template <class S = double>
struct MatrixView {
    Index                   n = 0;
    std::span<const Offset> ptr;  ///< n + 1
    std::span<const Index>  idx;  ///< nnz
    std::span<const S>      val;  ///< nnz; empty: only the pattern is known
    MatrixLayout            layout = MatrixLayout::rows;
};
template <class S>
MatrixView<S> view(const CsrView<S>& A);  ///< @throws InvalidInput unless A is square

/// What the analysis chose and found.
struct LuSymbolicReport {
    LuOrdering               ordering = LuOrdering::amd;  ///< the one taken; never automatic
    bool                     matched = false;             ///< by values, for a large diagonal
    Index                    structural_rank = 0;
    Index                    blocks = 0, largest_block = 0;
    double                   nnz = 0;    ///< of L + U of the blocks, exact where pivots stay on the diagonal
    double                   flops = 0;  ///< the same, counted as LuPattern::flops
    std::vector<std::string> decisions;
    double                   seconds = 0;
};

/// An array over entries, which threads fill: none makes a pass over its memory before.
template <class T>
using EntryArray = UnsetVector<T, Pages::usual>;

/// B = A(row_perm, col_perm), block upper triangular, with a structurally nonzero diagonal where the structural rank
/// allows. Immutable and shared; serves any number of factors and threads.
struct LuSymbolic {
    Index               n = 0;
    Offset              input_nnz = 0;  ///< of the caller's arrays, duplicates counted
    MatrixLayout        layout = MatrixLayout::rows;
    std::vector<Offset> input_ptr;           ///< n + 1, the caller's: what a later pattern is compared with
    EntryArray<Index>   input_idx;           ///< input_nnz
    std::vector<Index>  row_perm, col_perm;  ///< n; perm[new] = old
    std::vector<Index>  block_ptr;           ///< blocks + 1
    std::vector<double> row_scale,
        col_scale;                ///< n by old number, powers of two; empty: ones, or rows scaled when factored
    std::vector<Offset> col_ptr;  ///< n + 1; B by columns
    EntryArray<Index>   row;      ///< input_nnz; rows of B ascending within a column, duplicates adjacent
    EntryArray<Offset>  source;   ///< input_nnz; position of each among the caller's values
    LuOptions           options;
    LuSymbolicReport    report;
};

/// Analyses the pattern, and the values where they are given: matching, block triangular form, ordering. Of complex
/// values it looks at |a_ij|, duplicates added first.
/// Structural singularity is no error here: report.structural_rank tells.
/// The result is the same for any number of threads.
/// Cost: near linear in nnz for amd; others are tried only where the predicted flops make their time worth it.
/// @param stop  ends the analysis by Cancelled or OutOfTime within some tens of milliseconds for each 10⁶ entries
/// @param limit  ends it by NotWorthIt
/// @throws InvalidInput for a broken pattern, or for NaN or Inf among the values, naming row and column;
///         InvalidOption for a matching or its scaling without values
template <class S = double>
std::shared_ptr<const LuSymbolic> analyse(const MatrixView<S>& A, const LuOptions& options = {},
                                          const StopToken& stop = {}, const Cpu& be = Cpu(1),
                                          const AnalysisLimit& limit = {});

/// @throws InvalidInput unless there are as many values as the analysed matrix has entries
void require_values(const LuSymbolic& symbolic, std::size_t values);

/// @throws InvalidInput, naming what differs first, unless A has the analysed order, layout and pattern. O(nnz)
template <class S = double>
void require_same_pattern(const LuSymbolic& symbolic, const MatrixView<S>& A);

}  // namespace ilux

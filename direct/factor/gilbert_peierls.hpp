#pragma once
// The first factorization: left-looking, column by column, with threshold partial pivoting [gilbert_peierls_88].

#include <memory>
#include <span>

#include "ilux/base/cpu.hpp"
#include "ilux/direct/factor/lu_factors.hpp"

namespace ilux {

/// How threads share the first factorization, and what ends it.
struct PivotTuning {
    double    seconds_a_thread = 5e-4;  ///< one thread joins for each so many seconds of work; 0: all always do
    BadPivots bad = BadPivots::end;     ///< keep: one thread does all
    Offset    most_entries = 0;         ///< entries of L + U beyond which the work ends; 0: no limit
};

/// Chooses pivots and pattern for the given values. Column k: the reach of B(:,k) in the graph of L is searched,
/// shortened by symmetric pruning [eisenstat_liu_92]; x ← L⁻¹ B(:,k) over that reach; the diagonal is kept where it is
/// not 0 and |x_k| ≥ pivot_tol · max |x|, else the largest entry becomes the pivot, the first among equals. Structural
/// entries stay even where their value is 0, so that the pattern is closed under fill.
///
/// Sizes of complex numbers are |z|, not |Re z| + |Im z|: then |l| ≤ 1 / pivot_tol holds and the monitors mean what
/// they mean of real ones. Costs one root an entry.
///
/// The reach is eliminated in ascending order, which is a topological one: the values are bit by bit those that
/// refactor_serial computes from the same input. options.scaling = rows scales here, by the power of two nearest to
/// 1 / max_j |a_ij c_j|; every other scaling is the analysis's, and so are matching, blocks and ordering.
///
/// A zero or non-finite pivot column ends the work: monitor.bad_column is that column, the pattern holds permutations,
/// scales and blocks only, and there are no values. Before a bad column row_perm is where pivoting has put the rows,
/// beyond it the analysis's choice as far as pivots left it. The monitor measures B scaled, within the diagonal blocks,
/// duplicates added.
/// With tuning.bad = keep the work goes on. Where no candidate is left but 0, the diagonal becomes the pivot, u_kk = 0,
/// and L(:,k) = 0, so that P A Q = L U holds; where numbers overflowed it becomes the pivot, too, and Inf and NaN go
/// on. monitor.bad_column is the first bad one.
/// @param options  only pivot_tol and scaling are used; left out, they are the analysis's
/// @param values  as many as the analysed matrix has, in the caller's order
/// @param stop  asked before the first column and then every few thousand entries of a thread, between columns; then
/// the work ends
///              as at a bad column, with monitor.stopped; tuning.most_entries is looked at then, too
/// @param be  its threads share the work where pivots stay on the diagonal; the result has the same bits for any number
/// of them
/// @throws InvalidInput naming row and column of a NaN or Inf, or when values has another length;
///         OutOfMemory when pattern and values pass the analysis's memory_limit or the machine's memory
/// Costs O(flops + nnz(A)). Several threads need 20 n bytes each, 64 n in all (of real numbers) and twice the factors
/// for a while.
template <class S = double>
LuFactors<S> gilbert_peierls(std::shared_ptr<const LuSymbolic> symbolic, const LuOptions& options,
                             std::span<const NotDeduced<S>> values, const StopToken& stop = {}, const Cpu& be = Cpu(1),
                             const PivotTuning& tuning = {});

template <class S = double>
LuFactors<S> gilbert_peierls(const std::shared_ptr<const LuSymbolic>& symbolic, std::span<const NotDeduced<S>> values,
                             const StopToken& stop = {}, const Cpu& be = Cpu(1), const PivotTuning& tuning = {})
{
    return gilbert_peierls<S>(symbolic, symbolic->options, values, stop, be, tuning);
}

}  // namespace ilux

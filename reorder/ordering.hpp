#pragma once
// Fill-reducing and bandwidth-reducing orderings behind one function.

#include <span>
#include <vector>

#include "ilux/base/enum_names.hpp"
#include "ilux/base/matrix/csr.hpp"
#include "ilux/base/stop_token.hpp"

namespace ilux {

/// Fill-reducing orderings.
enum class Ordering { amd, metis, rcm, colamd, none };

constexpr auto names(Ordering) { return words("amd", "metis", "rcm", "colamd", "none"); }

/// The pattern of a square matrix; columns ascend strictly within a row. Only looked at.
struct PatternView {
    Index                   n = 0;
    std::span<const Offset> row_ptr;  ///< n + 1
    std::span<const Index>  col;      ///< nnz

    Offset nnz() const { return static_cast<Offset>(col.size()); }
};

/// What AMD counts while it orders: upper bounds for LU with pivots on the diagonal, for the pattern of |A| + |Aᵀ|.
struct AmdCounts {
    double nnz_L = 0;          ///< without the diagonal
    double multiply_adds = 0;  ///< of LU
    double symmetry = 1;       ///< share of the entries off the diagonal whose mirror image is an entry too
};

/// @throws InvalidInput unless rows = cols
PatternView square_pattern(Index rows, Index cols, std::span<const Offset> row_ptr, std::span<const Index> col);

/// perm[new] = old. amd, metis (nested dissection) and rcm order the graph of |A| + |Aᵀ| and are meant for rows and
/// columns alike; colamd orders columns for LU with row pivoting. Explicit zeros are edges: the pattern is the
/// caller's. Deterministic. amd, metis and colamd put (nearly) dense rows last.
/// Cost: amd, colamd and rcm about linear in nnz, metis O(nnz log n). Memory: 20 to 80 nnz bytes.
/// Methods: [amestoy_davis_duff_96], [davis_et_al_04], [karypis_kumar_98], [cuthill_mckee_69] with roots of
/// [george_liu_79]. metis seeds and draws from the C library's rand().
/// @param counts  filled by amd alone; may be null
/// @param stop  Cancelled and OutOfTime end the call at once. From 20,000 entries on the work is done on a copy of the
/// pattern,
///                    by a thread that is then left behind: these libraries cannot be interrupted
/// @throws InvalidInput unless A is square, or when metis was built with indices too narrow for A's graph;
///         OutOfMemory when the library reports it
std::vector<Index> fill_reducing_order(const PatternView& A, Ordering ordering, AmdCounts* counts = nullptr,
                                       const StopToken& stop = {});
template <class T>
std::vector<Index> fill_reducing_order(const CsrView<T>& A, Ordering ordering, const StopToken& stop = {})
{
    return fill_reducing_order(square_pattern(A.rows(), A.cols(), A.row_ptr(), A.col()), ordering, nullptr, stop);
}

}  // namespace ilux

#pragma once
// Unknowns that a coarse space takes together.

#include "ilux/base/matrix/csr.hpp"
#include "ilux/precond/coarse_steps/groups.hpp"

namespace ilux {

/// Unknowns that stand for one point, such as the components of a displacement: nodes that the pattern of A shows, of
/// equally many unknowns; of one each where it shows none. Told by a sample of the rows.
template <class T>
NodeNumbering nodes_of(const CsrView<T>& A)
{
    return detail::find_nodes({A.rows(), A.row_ptr(), A.col()});
}

constexpr double strong_tie = 0.1;  ///< a tie above so much of the largest of its row is strong

/// Unknowns of nodes around roots that are three ties apart at least, then aggregates of aggregates, until they have
/// about so many unknowns. What has no strong tie
/// is in no aggregate. The same for any number of threads, and on a Gpu. [bell_dalton_olson_12] O(nnz) a sweep, some
/// ten sweeps.
/// @param nodes  of the unknowns of A  @param unknowns  of an aggregate, wanted
template <Backend B, class T>
Groups<B> aggregates(B& be, const SparseView<B, T>& A, const Groups<B>& nodes, Index unknowns);

}  // namespace ilux

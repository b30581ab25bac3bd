#pragma once
// P of a coarse space: aggregates times near-null vectors.

#include <vector>

#include "ilux/precond/coarse/near_null.hpp"

namespace ilux {

/// P, n × coarse unknowns, and what is needed for a coarse space of the coarse matrix.
template <class T>
struct Prolongation {
    CsrMatrix<T>       P;
    NearNull<T>        coarse;     ///< the vectors in the coarse unknowns: P times them are the fine ones
    std::vector<Index> aggregate;  ///< of each coarse unknown
};

/// For each aggregate an orthonormal basis of the vectors restricted to it, by modified Gram-Schmidt, twice; what is
/// left of a vector below 1e-6 of it is no column. Pᴴ P = I. Aggregates side by side. O(n count²)
template <class T>
Prolongation<T> orthonormal_basis(Cpu& be, const Aggregates& aggregates, const Nodes& nodes,
                                  const NearNull<T>& vectors);

/// P − ω D⁻¹ A P, ω = 0.66, where |d_i| is at least half of the row's sum. [vanek_mandel_brezina_96]
template <class T>
CsrMatrix<T> smoothed(Cpu& be, const CsrView<T>& A, const CsrView<T>& P);

}  // namespace ilux

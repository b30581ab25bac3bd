#pragma once
// What vectors of ones say of A, besides any preconditioner: whether A takes one of them to 0, or nearly.

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "ilux/base/cpu.hpp"
#include "ilux/base/matrix/csr.hpp"

namespace ilux {

/// Which unknowns are looked at as one kind.
enum class UnknownKind { all, zero_diagonal, nonzero_diagonal, of_two, of_three };

/// A set of unknowns t, 1 on its members and 0 elsewhere, for which A t vanishes beside |A| t, or nearly.
struct LooseSet {
    UnknownKind        kind = UnknownKind::all;
    std::vector<Index> members = {};  ///< ascending
    double             pinned = 0;    ///< Σ_i |A t|_i / Σ_i (|A| t)_i; 0: A is singular
};

/// What is known of A by sums of its rows.
struct ConstantVectors {
    /// The least Σ_i |A t|_i / Σ_i (|A| t)_i over the vectors t that were looked at, sets that are loose left out.
    double pinned = 1;
    /// Every row is diagonally dominant, and leads by large entries to one that is so by a millionth: A is regular
    /// [taussky_49].
    bool                  regular = false;
    std::vector<LooseSet> loose = {};  ///< those with less than 1e-7
};

/// Looks at the ones of all unknowns; and, unless A is proven regular by its diagonal, of those with a zero diagonal,
/// of those with another, and of every second and every third. Unknowns that no large entry connects are sets of their
/// own.
/// @param A  square. Cost: a pass over A where its rows are dominant, else about ten
/// @param leads_to  n, or none: how a proof by the diagonal goes, so that a pass checks it for other numbers: each row
/// leads to itself,
///                  its diagonal being larger than the rest, or by a large entry to a row that is so
template <Scalar S = double>
ConstantVectors look_at_constants(Cpu& be, const CsrView<S>& A, std::span<Index> leads_to = {});

}  // namespace ilux

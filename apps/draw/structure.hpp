#pragma once
// What factors look like: the order of rows and columns, fill, and which rows wait for which. For reports with
// pictures.

#include <optional>
#include <string>
#include <vector>

#include "ilux/apps/draw/sparsity.hpp"
#include "ilux/direct/factor/levels.hpp"
#include "ilux/direct/lu/lu.hpp"
#include "ilux/solver/linear_solver.hpp"

namespace ilux::app {

struct SparsityPicture {
    std::string        title;
    SparsityGrid       grid;
    std::vector<Index> cuts = {};  ///< where levels or blocks begin
};

/// Rows by their place in the chains of rows that wait for one another.
struct DepthProfile {
    std::string        name;
    std::vector<Index> rows;  ///< those of depth 1, of depth 2, and so on
};

struct Structure {
    bool                                of_lu = false;
    std::vector<SparsityPicture>        pictures;
    std::vector<DepthProfile>           profiles;
    std::vector<LuLevelStatistics::Hub> hubs;  ///< the largest of `hub_count`
    Index                               hub_count = 0;
};

/// Updates from which a column of U counts as a hub.
inline constexpr Index hub_updates = 256;

/// A as its entries lie.
template <Scalar S>
SparsityPicture picture_of(const CsrView<S>& A);

/// The structure of what the solver has factored last, if anything.
template <Scalar S>
std::optional<Structure> structure_of(const LinearSolver<S>& solver);

/// P A Q, L + U and the columns by level, of the last factorization that succeeded. O(nnz(L + U)).
template <Scalar S>
Structure structure_of(const Lu<S>& lu);

/// A in the order of the multilevel ILU, and the rows of its levels, or of ILU(0), by depth; nothing for the others.
/// O(nnz(A) + nnz(M)).
template <Scalar S>
Structure structure_of(const CsrView<S>& A, const PrecondFactors<S>& factors);

}  // namespace ilux::app

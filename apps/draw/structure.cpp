#include "ilux/apps/draw/structure.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "ilux/base/instances.hpp"
#include "ilux/precond/mlilu/mlilu_levels.hpp"

namespace ilux::app {
namespace {

constexpr std::size_t most_hubs = 10;
constexpr std::size_t most_cuts = 40;  // more lines than that would hide the entries

/// Rows of a triangular matrix by the longest chain of rows they wait for; a diagonal, stored or not, says nothing.
template <Scalar S>
DepthProfile profile_of(std::string name, const CsrView<S>& T, Triangle triangle)
{
    const Index        n = T.rows();
    DepthProfile       profile{.name = std::move(name), .rows = {}};
    std::vector<Index> depth(static_cast<std::size_t>(n), 0);
    for (Index k = 0; k < n; ++k) {
        const Index i = triangle == Triangle::lower ? k : n - 1 - k;
        for (Offset p = T.row_ptr()[i]; p < T.row_ptr()[i + 1]; ++p)
            if (const Index j = T.col()[p]; j != i) depth[i] = std::max(depth[i], depth[j] + 1);
        if (depth[i] >= profile.rows.size()) profile.rows.resize(static_cast<std::size_t>(depth[i]) + 1, 0);
        ++profile.rows[depth[i]];
    }
    return profile;
}

SparsityPicture permuted(const LuPattern& pattern)
{
    SparsityPicture picture{.title = "P A Q: A as it is factored", .grid = SparsityGrid(pattern.n)};
    for (Index k = 0; k < pattern.n; ++k)
        for (Offset p = pattern.in_ptr[k]; p < pattern.in_ptr[k + 1]; ++p) picture.grid.add(pattern.in_row[p], k);
    if (pattern.block_ptr.size() <= most_cuts) picture.cuts = pattern.block_ptr;
    return picture;
}

SparsityPicture factors_of(const LuPattern& pattern)
{
    SparsityPicture picture{.title = "L + U, and F above the blocks", .grid = SparsityGrid(pattern.n)};
    for (Index k = 0; k < pattern.n; ++k) {
        for (Offset p = pattern.col_ptr[k]; p < pattern.col_ptr[k + 1]; ++p) picture.grid.add(pattern.row[p], k);
        for (Offset p = pattern.f_col_ptr[k]; p < pattern.f_col_ptr[k + 1]; ++p) picture.grid.add(pattern.f_row[p], k);
    }
    if (pattern.block_ptr.size() <= most_cuts) picture.cuts = pattern.block_ptr;
    return picture;
}

/// All levels' orders as one: each permutes what those before postponed. @param of  p or q of a level
template <Scalar S>
std::vector<Index> order_of(const MlIluFactors<S>& factors, std::vector<Index> MlIluLevel<S>::*of)
{
    std::vector<Index> order(static_cast<std::size_t>(factors.n));
    for (Index i = 0; i < factors.n; ++i) order[i] = i;
    std::size_t begin = 0;
    for (const MlIluLevel<S>& level : factors.levels) {
        const std::vector<Index> before(order.begin() + static_cast<std::ptrdiff_t>(begin), order.end());
        for (Index k = 0; k < level.n; ++k) order[begin + k] = before[(level.*of)[k]];
        begin += level.nB;
    }
    return order;
}

template <Scalar S>
SparsityPicture permuted(const CsrView<S>& A, const MlIluFactors<S>& factors)
{
    SparsityPicture          picture{.title = "A in the order of the levels", .grid = SparsityGrid(A.rows())};
    const std::vector<Index> rows = order_of(factors, &MlIluLevel<S>::p);
    const std::vector<Index> place = inverse_permutation(order_of(factors, &MlIluLevel<S>::q));
    for (Index i = 0; i < A.rows(); ++i)
        for (Offset p = A.row_ptr()[rows[i]]; p < A.row_ptr()[rows[i] + 1]; ++p) picture.grid.add(i, place[A.col()[p]]);
    Index begin = 0;
    for (const MlIluLevel<S>& level : factors.levels) picture.cuts.push_back(begin += level.nB);
    return picture;
}

}  // namespace

template <Scalar S>
SparsityPicture picture_of(const CsrView<S>& A)
{
    SparsityPicture picture{.title = "A as given", .grid = SparsityGrid(A.rows())};
    for (Index i = 0; i < A.rows(); ++i)
        for (Offset p = A.row_ptr()[i]; p < A.row_ptr()[i + 1]; ++p) picture.grid.add(i, A.col()[p]);
    return picture;
}

template <Scalar S>
std::optional<Structure> structure_of(const LinearSolver<S>& solver)
{
    if (const Lu<S>* lu = solver.lu()) {
        if (lu->pivots().fronts) return std::nullopt;  // no entries are stored one by one
        return structure_of(*lu);
    }
    if (const PrecondFactors<S>* factors = solver.preconditioner()) return structure_of(solver.matrix(), *factors);
    return std::nullopt;
}

template <Scalar S>
Structure structure_of(const Lu<S>& lu)
{
    const LuPattern&  pattern = *lu.factors().pattern;
    LuLevelStatistics statistics = level_statistics(pattern, lu_levels(pattern, DependencyRule::left), hub_updates);
    Structure         structure;
    structure.of_lu = true;
    structure.pictures = {permuted(pattern), factors_of(pattern)};
    structure.profiles = {{.name = "columns of L + U", .rows = {}}};
    for (const auto& level : statistics.levels) structure.profiles.front().rows.push_back(level.columns);
    structure.hub_count = static_cast<Index>(statistics.hubs.size());
    statistics.hubs.resize(std::min(statistics.hubs.size(), most_hubs));
    structure.hubs = std::move(statistics.hubs);
    return structure;
}

template <Scalar S>
Structure structure_of(const CsrView<S>& A, const PrecondFactors<S>& factors)
{
    Structure structure;
    if (factors.ilu0)
        structure.profiles = {profile_of("rows of L", factors.ilu0->L(), Triangle::lower),
                              profile_of("rows of U", factors.ilu0->U(), Triangle::upper)};
    if (!factors.mlilu) return structure;
    const MlIluFactors<S>& all = factors.mlilu->factors();
    structure.pictures = {permuted(A, all)};
    for (std::size_t k = 0; k < std::min<std::size_t>(all.levels.size(), 3); ++k) {
        const MlIluLevel<S>& level = all.levels[k];
        structure.profiles.push_back(
            profile_of(fmt::format("rows of L, level {}", k + 1), lower_factor(level), Triangle::lower));
        structure.profiles.push_back(profile_of(fmt::format("rows of U, level {}", k + 1), level.U_B, Triangle::upper));
    }
    return structure;
}

#define ILUX_INSTANTIATE(S)                                                 \
    template SparsityPicture          picture_of(const CsrView<S>&);        \
    template std::optional<Structure> structure_of(const LinearSolver<S>&); \
    template Structure                structure_of(const Lu<S>&);           \
    template Structure                structure_of(const CsrView<S>&, const PrecondFactors<S>&);
ILUX_SCALARS(ILUX_INSTANTIATE)
#undef ILUX_INSTANTIATE

}  // namespace ilux::app

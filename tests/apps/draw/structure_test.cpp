// What pages show of factors.

#include "ilux/apps/draw/structure.hpp"

#include <gtest/gtest.h>

#include <numeric>

#include "ilux/gallery/gallery.hpp"
#include "ilux/tests/support/checks.hpp"

namespace ilux::app {
namespace {

Offset entries(const SparsityGrid& grid)
{
    Offset sum = 0;
    for (Index i = 0; i < grid.cells(); ++i)
        for (Index j = 0; j < grid.cells(); ++j) sum += grid.count(i, j);
    return sum;
}

Index sum(const std::vector<Index>& rows) { return std::accumulate(rows.begin(), rows.end(), Index(0)); }

/// Rows and columns 1 … n − 1 meet only 0: eliminated in any order but the first, nothing fills.
CsrMatrix<double> arrow(Index n)
{
    std::vector<Index>  row, col;
    std::vector<double> val;
    const auto          add = [&](Index i, Index j, double a) { row.push_back(i), col.push_back(j), val.push_back(a); };
    for (Index i = 0; i < n; ++i) add(i, i, n);
    for (Index i = 1; i < n; ++i) add(0, i, 1), add(i, 0, 1);
    return CsrMatrix<double>::from_triplets(n, n, row, col, val);
}

TEST(Structure, OfAnArrowHasOneHubAndTwoLevels)
{
    const Index n = 480;  // three rows a cell
    const auto  A = arrow(n);
    Cpu         serial(1);
    Lu          lu(serial, analyse(view(A)));
    ASSERT_EQ(lu.factor(A.val()).outcome, Outcome::converged);
    const Structure structure = structure_of(lu);
    ASSERT_EQ(structure.profiles.size(), 1u);
    EXPECT_EQ(structure.profiles[0].rows, (std::vector<Index>{n - 1, 1}));
    ASSERT_EQ(structure.hubs.size(), 1u);
    EXPECT_EQ(structure.hub_count, 1);
    EXPECT_EQ(structure.hubs[0].column, n - 1);
    EXPECT_EQ(structure.hubs[0].updates, n - 1);
    ASSERT_EQ(structure.pictures.size(), 2u);
    for (const SparsityPicture& picture : structure.pictures) {  // nothing fills: both hold A's entries
        EXPECT_EQ(entries(picture.grid), A.nnz()) << picture.title;
        EXPECT_EQ(picture.grid.count(0, 0), picture.grid.count(1, 1)) << picture.title;
        EXPECT_GT(picture.grid.count(picture.grid.cells() - 1, 0), 0) << picture.title;  // the arrow points down
    }
    EXPECT_GT(picture_of(A).grid.count(0, picture_of(A).grid.cells() - 1), 0);
}

TEST(Structure, OfTheMultilevelIluIsThatOfItsLevels)
{
    const auto       A = gallery::build("convdiff2d:n=40");
    Cpu              serial(1);
    PrecondFactors<> factors{.mlilu = MlIlu<>::build(serial, A, {}), .ilu0 = nullptr, .jacobi = nullptr};
    const auto&      report = factors.mlilu->report();
    const auto       structure = structure_of(A, factors);
    ASSERT_EQ(structure.pictures.size(), 1u);
    EXPECT_EQ(entries(structure.pictures[0].grid), A.nnz());
    ASSERT_GE(report.levels.size(), 2u);
    ASSERT_GE(structure.profiles.size(), 2u);
    for (std::size_t k = 0; k < 2; ++k) {
        EXPECT_EQ(sum(structure.profiles[k].rows), report.levels[0].accepted);
        EXPECT_EQ(structure.profiles[k].rows.size(), k == 0 ? report.levels[0].depth_L : report.levels[0].depth_U);
    }
    EXPECT_EQ(structure.pictures[0].cuts.front(), report.levels[0].accepted);
}

TEST(Structure, OfIlu0OfATridiagonalMatrixIsAChain)
{
    const Index      n = 50;
    const auto       A = gallery::build("tridiagonal:n=50");
    PrecondFactors<> factors{.mlilu = {}, .ilu0 = std::make_unique<Ilu0<>>(A), .jacobi = nullptr};
    for (const DepthProfile& profile : structure_of(A, factors).profiles)
        EXPECT_EQ(profile.rows, std::vector<Index>(n, 1)) << profile.name;
    EXPECT_TRUE(structure_of(A, PrecondFactors<>{}).profiles.empty());
}

}  // namespace
}  // namespace ilux::app

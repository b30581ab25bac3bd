// Oracles: the grid that unknowns were blown up from; the definition of a class.

#include "ilux/reorder/compressed_graph.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "ilux/gallery/gallery.hpp"

namespace ilux {
namespace {

PatternView graph_pattern(const CsrMatrix<double>& A) { return {A.rows(), A.row_ptr(), A.col()}; }

/// Where unknown k of a node is.
using Place = Index (*)(Index node, Index k, Index nodes, Index size);
Index together(Index node, Index k, Index, Index size) { return node * size + k; }
Index by_component(Index node, Index k, Index nodes, Index) { return k * nodes + node; }

/// Every node of the grid has `size` unknowns, each joined to those of its own and all neighbouring nodes, but for a
/// share of the couplings between different components, which is left out in both directions, or in one.
CsrMatrix<double> nodes_of(const CsrMatrix<double>& grid, Index size, Place place, double dropped, bool symmetric)
{
    std::mt19937                     random(7);
    std::uniform_real_distribution<> draw;
    std::vector<Index>               row, col;
    const auto                       add = [&](Index i, Index j) {
        row.push_back(i);
        col.push_back(j);
    };
    for (Index i = 0; i < grid.rows(); ++i)
        for (Offset p = grid.row_ptr()[i]; p < grid.row_ptr()[i + 1]; ++p) {
            const Index j = grid.col()[p];
            for (Index a = 0; j <= i && a < size; ++a)
                for (Index b = i == j ? a : 0; b < size; ++b) {
                    const Index u = place(i, a, grid.rows(), size), v = place(j, b, grid.rows(), size);
                    const bool  kept = a == b || draw(random) >= dropped;
                    if (kept) add(u, v);
                    if (u != v && (symmetric ? kept : a == b || draw(random) >= dropped)) add(v, u);
                }
        }
    const Index n = grid.rows() * size;
    return CsrMatrix<double>::from_triplets(n, n, row, col, std::vector<double>(row.size(), 1));
}

void expect_nodes(const CompressedGraph& c, const CsrMatrix<double>& grid, Index size, Place place)
{
    ASSERT_EQ(c.classes(), grid.rows());
    EXPECT_TRUE(c.hub.empty());
    for (Index node = 0; node < grid.rows(); ++node) {
        ASSERT_EQ(c.weight[node], size);
        for (Index k = 0; k < size; ++k) EXPECT_EQ(c.member[c.member_ptr[node] + k], place(node, k, grid.rows(), size));
        std::vector<Index> others;
        for (Offset p = grid.row_ptr()[node]; p < grid.row_ptr()[node + 1]; ++p)
            if (grid.col()[p] != node) others.push_back(grid.col()[p]);
        EXPECT_TRUE(std::ranges::equal(c.graph.of(node), others));
    }
}

TEST(CompressedGraph, FindsTheNodesOfFiniteElementsWhicheverWayTheyAreNumbered)
{
    const auto grid = gallery::build("poisson3d:n=10");
    for (const Index size : {2, 3, 4, 6})
        for (const Place place : {together, by_component})
            for (const double dropped : {0.0, 0.3}) {
                const auto A = nodes_of(grid, size, place, dropped, true);
                const auto one = compressed_graph(Cpu(1), graph_pattern(A));
                expect_nodes(one, grid, size, place);
                EXPECT_EQ(one.symmetry, 1);
                const auto many = compressed_graph(Cpu(3), graph_pattern(A));
                EXPECT_EQ(many.graph.neighbour, one.graph.neighbour);
                EXPECT_EQ(many.member, one.member);
            }
}

TEST(CompressedGraph, TellsHowManyEntriesAreMirrored)
{
    const auto grid = gallery::build("poisson3d:n=10");
    const auto A = nodes_of(grid, 3, together, 0.2, false);
    const auto c = compressed_graph(Cpu(2), graph_pattern(A));
    double     entries = 0, mirrored = 0;
    for (Index i = 0; i < A.rows(); ++i)
        for (Offset p = A.row_ptr()[i]; p < A.row_ptr()[i + 1]; ++p) {
            const Index j = A.col()[p];
            if (j == i) continue;
            const auto other = A.col().subspan(A.row_ptr()[j], A.row_ptr()[j + 1] - A.row_ptr()[j]);
            ++entries;
            mirrored += std::ranges::binary_search(other, i);
        }
    EXPECT_LT(c.symmetry, 0.95);
    EXPECT_NEAR(c.symmetry, mirrored / entries, 1e-12);
    expect_nodes(c, grid, 3, together);
}

TEST(CompressedGraph, LeavesAScalarProblemAsItIs)
{
    for (const auto* spec : {"poisson2d:n=60", "poisson3d:n=16", "anisotropic2d:n=60", "stokes2d:n=20"}) {
        const auto A = gallery::build(spec);
        const auto c = compressed_graph(Cpu(2), graph_pattern(A));
        EXPECT_EQ(c.classes(), A.rows()) << spec;
    }
}

TEST(CompressedGraph, LeavesHubsOutAndPutsThemLast)
{
    const Index        n = 2000;
    std::vector<Index> row, col;
    for (Index i = 0; i < n; ++i)
        for (const Index j : {i, (i + 1) % n, Index{5}}) {
            row.insert(row.end(), {i, j});
            col.insert(col.end(), {j, i});
        }
    const auto A = CsrMatrix<double>::from_triplets(n, n, row, col, std::vector<double>(row.size(), 1));
    const auto c = compressed_graph(Cpu(2), graph_pattern(A));
    EXPECT_EQ(c.hub, std::vector<Index>{5});
    std::vector<Index> order(c.classes());
    std::iota(order.begin(), order.end(), Index{0});
    const auto perm = c.expanded(order);
    EXPECT_EQ(perm.back(), 5);
    EXPECT_NO_THROW(inverse_permutation(perm));
}

}  // namespace
}  // namespace ilux

// Oracles: the counts of an analysis; a whole matrix that is one part.

#include "ilux/direct/analysis/fill_estimate.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <utility>

#include "ilux/direct/analysis/lu_symbolic.hpp"
#include "ilux/direct/analysis/matrix_part.hpp"
#include "ilux/gallery/gallery.hpp"

namespace ilux {
namespace {

PatternView part_pattern(const CsrMatrix<double>& A) { return {A.rows(), A.row_ptr(), A.col()}; }

TEST(FillEstimate, IsWithinAFactorOfFourOfWhatAnAnalysisCounts)
{
    for (const auto* spec : {"convdiff2d:n=250", "anisotropic2d:n=200", "elasticity2d:n=120", "convdiff3d:n=36",
                             "stokes2d:n=120", "helmholtz2d:n=200"}) {
        const auto   A = gallery::build(spec);
        const auto   estimate = estimate_fill(Cpu(2), part_pattern(A));
        const double flops = analyse(view(A))->report.flops;
        EXPECT_LT(estimate.flops, 4 * flops) << spec;
        EXPECT_GT(4 * estimate.flops, flops) << spec;
    }
}

TEST(FillEstimate, TellsAPlaneFromASpaceAndAChain)
{
    const auto growth = [](const char* spec) {
        return estimate_fill(Cpu(2), part_pattern(gallery::build(spec))).growth;
    };
    EXPECT_LT(growth("poisson2d:n=200000,ny=1"), 1.1);
    EXPECT_LT(growth("anisotropic2d:n=300"), 1.8);
    EXPECT_GT(growth("convdiff3d:n=40"), 1.9);
}

TEST(FillEstimate, IsTheSameOnAnyThreadsAndOfASmallMatrixAMDsOwnCount)
{
    const auto A = gallery::build("convdiff3d:n=30");
    const auto one = estimate_fill(Cpu(1), part_pattern(A)), many = estimate_fill(Cpu(3), part_pattern(A));
    EXPECT_EQ(one.flops, many.flops);
    EXPECT_EQ(one.arcs, many.arcs);
    const auto small = gallery::build("poisson2d:n=20");
    const auto symbolic = analyse(view(small), {.ordering = LuOrdering::amd});
    EXPECT_EQ(estimate_fill(Cpu(2), part_pattern(small)).nnz, symbolic->report.nnz);
    EXPECT_EQ(estimate_fill(Cpu(2), {}).flops, 0);
}

TEST(FillEstimate, TellsTheStepsFromTheMiddleToTheEnd)
{
    const auto radius = [](const char* spec) {
        return estimate_fill(Cpu(2), part_pattern(gallery::build(spec))).radius;
    };
    // Unknowns within r steps: 2 r², 4/3 r³, 2 r.
    EXPECT_NEAR(radius("poisson2d:n=200"), 200 / std::sqrt(2.), 15);
    EXPECT_NEAR(radius("poisson3d:n=64"), 64 * std::cbrt(0.75), 6);
    EXPECT_NEAR(radius("poisson3d:n=50"), 50 * std::cbrt(0.75), 5);
    EXPECT_NEAR(radius("poisson2d:n=50000,ny=1"), 25'000, 100);
    EXPECT_EQ(radius("poisson2d:n=20"), 0);
}

TEST(MatrixPart, CountsStepsByLevelsAndSharesOfThem)
{
    const auto       A = gallery::build("poisson2d:n=21");
    const MatrixPart part(part_pattern(A), 10 * 21 + 10, 25);  // 1, 4, 8 and 12 rows
    for (const auto& [first, steps] : {std::pair(1, 0.), {3, 0.5}, {5, 1.}, {9, 1.5}, {13, 2.}, {25, 3.}})
        EXPECT_EQ(part.radius(first), steps) << first;
}

TEST(FillEstimate, CountsTheArcsOfNodes)
{
    const auto   A = gallery::build("elasticity2d:n=120");  // two unknowns a node
    const double arcs = estimate_fill(Cpu(2), part_pattern(A)).arcs;
    EXPECT_LT(arcs, 0.3 * double(A.nnz()));
    EXPECT_GT(arcs, 0.2 * double(A.nnz()));
}

TEST(FillEstimate, TakesOneComponentForAll)
{
    const auto         grid = gallery::build("poisson2d:n=30");
    const Index        copies = 50, n = grid.rows() * copies;
    std::vector<Index> row, col;
    for (Index c = 0; c < copies; ++c)
        for (Index i = 0; i < grid.rows(); ++i)
            for (Offset p = grid.row_ptr()[i]; p < grid.row_ptr()[i + 1]; ++p) {
                row.push_back(c * grid.rows() + i);
                col.push_back(c * grid.rows() + grid.col()[p]);
            }
    const auto   A = CsrMatrix<double>::from_triplets(n, n, row, col, std::vector<double>(row.size(), 1));
    const auto   estimate = estimate_fill(Cpu(2), part_pattern(A));
    const double one = estimate_fill(Cpu(1), part_pattern(grid)).flops;
    EXPECT_EQ(estimate.growth, 1);
    EXPECT_NEAR(estimate.flops, copies * one, 0.2 * copies * one);
}

TEST(GraphDimension, IsThatOfTheMesh)
{
    const auto dimension = [](const char* name) { return graph_dimension(Cpu(2), part_pattern(gallery::build(name))); };
    EXPECT_NEAR(dimension("poisson2d:n=300"), 2, 0.25);
    EXPECT_NEAR(dimension("elasticity2d:n=150"), 2, 0.3);
    EXPECT_NEAR(dimension("poisson3d:n=64"), 2.8, 0.3);  // small balls grow a little less than the third power
    EXPECT_EQ(dimension("poisson2d:n=60"), 0);           // small
}

TEST(MatrixPart, HasTheRowsThatASearchMeetsFirstWithoutHubs)
{
    const auto       A = gallery::build("poisson2d:n=40");
    const MatrixPart part(part_pattern(A), 820, 13);  // a diamond around a point inside
    ASSERT_EQ(part.size(), 13);
    const PartPattern all = part.pattern(13);
    EXPECT_EQ(all.unknown, (std::vector<Index>{740, 779, 780, 781, 818, 819, 820, 821, 822, 859, 860, 861, 900}));
    EXPECT_EQ(all.col.size(), 13u + 2 * 16);
    for (std::size_t k = 0; k < all.col.size(); ++k) EXPECT_EQ(A.col()[all.source[k]], all.unknown[all.col[k]]);
    EXPECT_EQ(part.pattern(1).unknown, std::vector<Index>{820});
}

}  // namespace
}  // namespace ilux

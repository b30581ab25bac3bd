// Oracles: one thread's analysis for that of many; AMD's flops.

#include "ilux/direct/analysis/lu_ordering.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "ilux/direct/analysis/lu_symbolic.hpp"
#include "ilux/gallery/gallery.hpp"

namespace ilux {
namespace {

TEST(LuOrdering, IsTheSameOnAnyNumberOfThreads)
{
    for (const auto* spec : {"convdiff2d:n=150", "poisson3d:n=28", "power_grid:n=60"}) {
        const auto A = gallery::build(spec);
        const auto one = analyse(view(A), {}, {}, Cpu(1));
        for (const int threads : {2, 3, 8}) {
            const auto s = analyse(view(A), {}, {}, Cpu(threads));
            EXPECT_EQ(s->col_perm, one->col_perm) << spec;
            EXPECT_EQ(s->row_perm, one->row_perm);
            EXPECT_EQ(s->row, one->row);
            EXPECT_EQ(s->report.nnz, one->report.nnz);
            EXPECT_EQ(s->report.flops, one->report.flops);
        }
    }
}

TEST(LuOrdering, OfALargeMeshIsByNestedDissectionAloneAndOfALongStripByWhatIsBest)
{
    const auto mesh = analyse(view(gallery::build("convdiff3d:n=28")));
    EXPECT_EQ(mesh->report.ordering, LuOrdering::dissection);
    EXPECT_EQ(std::ranges::count_if(mesh->report.decisions,
                                    [](const std::string& line) { return line.starts_with("amd"); }),
              0);
    const auto strip = gallery::build("poisson2d:n=4,ny=6000");
    EXPECT_LE(analyse(view(strip))->report.flops, analyse(view(strip), {.ordering = LuOrdering::amd})->report.flops);
}

}  // namespace
}  // namespace ilux

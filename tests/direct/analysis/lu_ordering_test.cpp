// Oracles: one thread's analysis for that of many; AMD's flops; levels of the factors.

#include "ilux/direct/analysis/lu_ordering.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "ilux/direct/analysis/lu_symbolic.hpp"
#include "ilux/direct/factor/gilbert_peierls.hpp"
#include "ilux/direct/factor/levels.hpp"
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

/// Columns that wait for one another, of the factors.
Index levels(const CsrMatrix<double>& A, const LuOptions& options)
{
    return lu_levels(*gilbert_peierls<double>(analyse(view(A), options), A.val()).pattern, DependencyRule::left)
        .depth();
}

TEST(LuOrdering, ForAGpuHasFewerColumnsThatWaitForOneAnother)
{
    const auto A = gallery::build("poisson2d:n=4,ny=1500");  // AMD goes along the strip
    const auto host = analyse(view(A), {.order_for = LuOrderFor::host});
    const auto gpu = analyse(view(A), {.order_for = LuOrderFor::gpu});
    EXPECT_LE(10 * levels(A, {.order_for = LuOrderFor::gpu}), levels(A, {}));
    EXPECT_LE(gpu->report.nnz, 3 * host->report.nnz);
    EXPECT_EQ(analyse(view(A))->col_perm, host->col_perm) << "auto is the host's";
    EXPECT_EQ(analyse(view(A), {.order_for = LuOrderFor::gpu}, {}, Cpu(3))->col_perm, gpu->col_perm);
}

TEST(LuOrdering, ForAGpuIsTheHostsWhereLevelsAreFewOrWorkIsMore)
{
    for (const auto* spec : {"poisson2d:n=7", "mna_random:n=2000,decades=6"}) {
        const auto A = gallery::build(spec);
        EXPECT_EQ(analyse(view(A), {.order_for = LuOrderFor::gpu})->col_perm, analyse(view(A))->col_perm) << spec;
    }
}

}  // namespace
}  // namespace ilux

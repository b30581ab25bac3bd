#include "ilux/direct/batch/gpu_batch_solver.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "ilux/gallery/gallery.hpp"
#include "ilux/tests/direct/batch/batch_systems.hpp"

namespace ilux::test {
namespace {

constexpr std::size_t enough = std::size_t{1} << 40;

/// max_i |b − A x|_i / (|A||x| + |b|)_i, by the test's own sums.
double error_of_rows(const DataflowSystem& system, std::span<const double> values, std::span<const double> x,
                     std::span<const double> b)
{
    double worst = 0;
    for (Index i = 0; i < system.A.n; ++i) {
        long double r = b[i], size = std::abs(b[i]);
        for (Offset p = system.A.ptr[i]; p < system.A.ptr[i + 1]; ++p) {
            r -= static_cast<long double>(values[p]) * x[system.A.col[p]];
            size += std::abs(static_cast<long double>(values[p]) * x[system.A.col[p]]);
        }
        if (r != 0) worst = std::max(worst, static_cast<double>(std::abs(r) / size));
    }
    return worst;
}

TEST(GpuBatchSolver, RefinesEveryMemberByItsOwnMatrix)
{
    ILUX_SKIP_WITHOUT_GPU();
    Gpu gpu;
    for (const DataflowSystem& system : dataflow_systems()) {
        if (system.A.n == 0 || system.A.n > 1000) continue;
        const auto     n = static_cast<std::size_t>(system.A.n);
        GpuBatchSolver solver(gpu, system.F.symbolic, system.F.pattern, 40, enough);
        EXPECT_EQ(solver.room(), 40);
        for (const Index members : {40, 33, 1}) {  // fewer than there is room for, too
            const auto               all = member_values(system.A.val, members);
            const auto               b = random_vector(system.A.n * members, 5);
            std::vector<double>      x(b.size()), e(b.size());
            std::vector<BatchMember> done(static_cast<std::size_t>(members));
            solver.refactor(all, done);
            solver.solve(b, x, done);
            solver.substitute(b, e);
            for (Index m = 0; m < members; ++m) {
                SCOPED_TRACE(system.name + ", member " + std::to_string(m) + " of " + std::to_string(members));
                EXPECT_EQ(done[m].monitor.bad_column, -1);
                EXPECT_TRUE(done[m].refine.finite);
                EXPECT_LE(done[m].refine.backward_error, 1e-14);
                EXPECT_LE(error_of_rows(system, member_of(all, members, m), member_of(x, members, m),
                                        member_of(b, members, m)),
                          2e-14);
                EXPECT_LE(relative_difference(std::span<const double>(e).subspan(m * n, n), member_of(x, members, m)),
                          1e-6);
            }
        }
    }
}

TEST(GpuBatchSolver, ABadMemberIsNotFiniteAndHarmsNoOther)
{
    ILUX_SKIP_WITHOUT_GPU();
    Gpu                      gpu;
    const DataflowSystem     system = dataflow_system("mesh", gallery::poisson2d(12, 9));
    const Index              members = 34;
    const std::size_t        nnz = system.A.val.size();
    GpuBatchSolver           solver(gpu, system.F.symbolic, system.F.pattern, members, enough);
    const auto               b = random_vector(system.A.n * members, 5);
    std::vector<double>      x(b.size()), wanted(b.size());
    std::vector<BatchMember> done(members);
    auto                     all = member_values(system.A.val, members);
    solver.refactor(all, done);
    solver.solve(b, wanted, done);
    for (std::size_t p = 0; p < nnz; ++p) all[3 * nnz + p] = 0;
    all[33 * nnz] = nan;
    solver.refactor(all, done);
    solver.solve(b, x, done);
    for (Index m = 0; m < members; ++m) {
        const bool bad = m == 3 || m == 33;
        EXPECT_EQ(done[m].refine.finite, !bad) << m;
        EXPECT_EQ(done[m].monitor.bad_column >= 0, bad) << m;
        if (!bad) {
            EXPECT_TRUE(identical(member_of(x, members, m), member_of(wanted, members, m))) << m;
        }
    }
}

TEST(GpuBatchSolver, TakesAsManyMembersAsFitAndHoldsTheMemoryThatItTells)
{
    ILUX_SKIP_WITHOUT_GPU();
    Gpu                  gpu;
    const DataflowSystem system = dataflow_system("mesh", gallery::poisson2d(24, 19));
    const auto           bytes_of = [&](Index members) {
        const auto           before = device_use().bytes;
        const GpuBatchSolver solver(gpu, system.F.symbolic, system.F.pattern, members, enough);
        EXPECT_EQ(device_use().bytes - before, solver.bytes()) << members;
        return solver.bytes();
    };
    const std::size_t of_32 = bytes_of(32), of_96 = bytes_of(96);
    for (const std::size_t limit : {of_32, of_96 - 1, of_96}) {
        restart_device_peak();
        const auto           before = device_use().bytes;
        const GpuBatchSolver solver(gpu, system.F.symbolic, system.F.pattern, 96, limit);
        EXPECT_EQ(solver.room() % 32, 0);
        EXPECT_EQ(solver.room() == 96, limit == of_96) << solver.room();
        EXPECT_LE(solver.bytes(), limit);
        EXPECT_LE(device_use().peak_bytes - before, limit);
    }
    expect_refusal<OutOfMemory>([&] { GpuBatchSolver(gpu, system.F.symbolic, system.F.pattern, 96, of_32 - 1); },
                                {"a batch of", "may be used"});
    expect_refusal<OutOfMemory>([&] { GpuBatchSolver(gpu, system.F.symbolic, system.F.pattern, 96, 1000); },
                                {"may be used"});
}

}  // namespace
}  // namespace ilux::test

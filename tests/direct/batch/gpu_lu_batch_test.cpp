#include "ilux/direct/batch/gpu_lu_batch.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "ilux/direct/dataflow/lu_dataflow.hpp"
#include "ilux/tests/direct/batch/batch_systems.hpp"
#include "ilux/tests/direct/dataflow/tail_systems.hpp"
#include "ilux/tests/direct/same_monitor.hpp"

namespace ilux::test {
namespace {

/// Of finished values, L + U and then F, column by column: the definition, as slowly as it reads.
PivotMonitor monitor_of(const LuPattern& P, std::span<const double> values, std::span<const double> val)
{
    PivotMonitor        seen;
    std::vector<double> b(P.n, 0.0);
    for (Index k = 0; k < P.n; ++k) {
        double largest_b = 0, largest_u = 0, largest_l = 0;
        bool   finite = true, finite_u = true;
        for (Offset e = P.in_ptr[k]; e < P.in_split[k]; ++e) b[P.in_row[e]] += values[P.in_source[e]] * P.in_scale[e];
        for (Offset e = P.in_ptr[k]; e < P.in_split[k]; ++e) largest_b = std::max(largest_b, std::abs(b[P.in_row[e]]));
        for (Offset e = P.in_ptr[k]; e < P.in_split[k]; ++e) b[P.in_row[e]] = 0;
        for (Offset p = P.col_ptr[k]; p < P.col_ptr[k + 1]; ++p) {
            finite = finite && std::isfinite(val[p]);
            if (p <= P.diag[k]) finite_u = finite;
            auto& largest = p <= P.diag[k] ? largest_u : largest_l;
            largest = std::max(largest, std::abs(val[p]));
        }
        for (Offset p = P.f_col_ptr[k]; p < P.f_col_ptr[k + 1]; ++p) finite = finite && std::isfinite(val[P.nnz() + p]);
        const double pivot = std::abs(val[P.diag[k]]);
        if (!finite || pivot == 0) return {.bad_column = k, .not_finite = !(finite_u && pivot == 0)};
        seen.min_pivot = std::min(seen.min_pivot, pivot);
        seen.max_pivot = std::max(seen.max_pivot, pivot);
        if (largest_b / largest_u < seen.rgrowth) {
            seen.rgrowth = largest_b / largest_u;
            seen.growth_column = k;
        }
        if (largest_l > seen.max_multiplier) {
            seen.max_multiplier = largest_l;
            seen.multiplier_column = k;
        }
    }
    return seen;
}

/// A batch that has factored.
template <class T>
struct Factored {
    Factored(Gpu& gpu, const DataflowSystem& system, std::span<const double> all, Index members)
        : values(all.size()), batch(gpu, system.F.pattern, members)
    {
        upload<double>(gpu, all, values);
        batch.refactor(gpu, values.data());
        const LuPattern& P = *system.F.pattern;
        v.resize(batch.slot_of().empty() ? 0 : factor_dataflow(P, choose_dense_tail(P)).slots() * batch.stride());
        download<T>(gpu, {const_cast<T*>(batch.val()), v.size()}, v);
        monitors = batch.monitors(gpu);
    }
    /// L + U, then F.
    std::vector<double> entries(const LuPattern& P, Index m) const
    {
        std::vector<double> found;
        for (Offset e = 0; e < P.nnz() + P.nnz_F(); ++e)
            found.push_back(static_cast<double>(v[std::size_t{batch.slot_of()[e]} * batch.stride() + m]));
        return found;
    }
    DeviceBuffer<double>      values;
    GpuLuBatch<T>             batch;
    std::vector<T>            v;
    std::vector<PivotMonitor> monitors;
};

TEST(GpuLuBatch, FactorsEveryMemberAsOneAloneWithItsDenseTail)
{
    ILUX_SKIP_WITHOUT_GPU();
    Gpu gpu;
    int tails = 0;
    for (const DataflowSystem& system : tail_systems()) {
        const LuPattern&  P = *system.F.pattern;
        const TailProgram alone(P, choose_dense_tail(P));
        tails += alone.tail.size > 0;
        for (const Index members : {1, 31, 32, 33}) {
            const auto             all = member_values(system.A.val, members);
            const Factored<double> found(gpu, system, all, members);
            for (Index m = 0; m < members; m += 10) {
                SCOPED_TRACE(system.name + ", member " + std::to_string(m) + " of " + std::to_string(members));
                auto factors = found.entries(P, m);
                factors.resize(static_cast<std::size_t>(P.nnz()));
                ASSERT_TRUE(identical(factors, values_of(P, alone.dataflow, alone.run(member_of(all, members, m)))));
            }
        }
    }
    EXPECT_GE(tails, 2);
}

/// Columns that are 0, NaN or Inf inside the tail and before it.
TEST(GpuLuBatch, NamesTheBadColumnOfAMemberInsideADenseTailAndBeforeIt)
{
    ILUX_SKIP_WITHOUT_GPU();
    Gpu gpu;
    for (const DataflowSystem& system :
         {dataflow_system_as_it_stands("full", random_dominant(190, 190, 21)),
          dataflow_system_as_it_stands("tridiagonal", gallery::tridiagonal({.n = 200}))}) {
        SCOPED_TRACE(system.name);
        const LuPattern&  P = *system.F.pattern;
        const TailColumns tail = choose_dense_tail(P);
        ASSERT_GT(tail.size, 30);
        ASSERT_GT(tail.first, 5);
        struct Spoilt {
            Index  member, column;
            double value;
        };
        const Spoilt bad[] = {{3, 2, 0.0},        {5, tail.first - 1, nan}, {9, tail.first, 0.0},
                              {31, P.n - 1, nan}, {32, P.n - 1, 0.0},       {30, tail.first + 17, infinity}};
        const Index  members = 33;
        const auto   sound = member_values(system.A.val, members);
        auto         all = sound;
        for (const auto& [m, k, value] : bad)
            for (Offset e = P.in_ptr[k]; e < P.in_ptr[k + 1]; ++e)
                all[m * system.A.val.size() + P.in_source[e]] = value;
        const Factored<double> before(gpu, system, sound, members), after(gpu, system, all, members);
        for (Index m = 0; m < members; ++m) {
            SCOPED_TRACE(m);
            const auto* spoilt = std::ranges::find(bad, m, &Spoilt::member);
            expect_same_monitor(after.monitors[m], monitor_of(P, member_of(all, members, m), after.entries(P, m)));
            if (spoilt != std::end(bad)) {
                EXPECT_EQ(after.monitors[m].bad_column, spoilt->column);
            } else {
                ASSERT_TRUE(identical(after.entries(P, m), before.entries(P, m)));
            }
        }
    }
}

TEST(GpuLuBatch, MonitorsEveryMemberAsOneAlone)
{
    ILUX_SKIP_WITHOUT_GPU();
    Gpu gpu;
    for (const DataflowSystem& system : dataflow_systems()) {
        const LuPattern&       P = *system.F.pattern;
        const Index            members = 33;
        const auto             all = member_values(system.A.val, members);
        const Factored<double> found(gpu, system, all, members);
        ASSERT_EQ(found.monitors.size(), members);
        for (const Index m : {0, 17, 31, 32}) {
            SCOPED_TRACE(system.name + ", member " + std::to_string(m));
            expect_same_monitor(found.monitors[m], monitor_of(P, member_of(all, members, m), found.entries(P, m)));
            EXPECT_EQ(found.monitors[m].bad_column, -1);
        }
    }
}

TEST(GpuLuBatch, ReadsItsMonitorFromFactorsInFloatToo)
{
    ILUX_SKIP_WITHOUT_GPU();
    Gpu                   gpu;
    const DataflowSystem  system = dataflow_system("circuit", gallery::mna_random({.n = 400, .decades = 2}));
    const auto            all = member_values(system.A.val, 5);
    const Factored<float> found(gpu, system, all, 5);
    for (Index m = 0; m < 5; ++m)
        expect_same_monitor(found.monitors[m],
                            monitor_of(*system.F.pattern, member_of(all, 5, m), found.entries(*system.F.pattern, m)));
}

/// Members 3, 17, … are singular, hold NaN or Inf, or overflow; all others are as if those were sound.
TEST(GpuLuBatch, KeepsABadMemberFromItsNeighbours)
{
    ILUX_SKIP_WITHOUT_GPU();
    Gpu gpu;
    for (const DataflowSystem& system : dataflow_systems()) {
        SCOPED_TRACE(system.name);
        const LuPattern&  P = *system.F.pattern;
        const std::size_t count = system.A.val.size();
        if (count == 0 || P.n > 1000) continue;
        const Index              members = 45;
        const auto               sound = member_values(system.A.val, members);
        auto                     spoilt = sound;
        const std::vector<Index> bad{3, 17, 31, 32, 40};
        for (std::size_t p = 0; p < count; ++p) spoilt[3 * count + p] = 0;
        spoilt[17 * count] = nan;
        spoilt[32 * count - 1] = infinity;
        spoilt[32 * count + count / 2] = -infinity;
        for (std::size_t p = 0; p < count; p += 2) spoilt[40 * count + p] = 1e308;
        const Factored<double> before(gpu, system, sound, members), after(gpu, system, spoilt, members);
        for (Index m = 0; m < members; ++m) {
            SCOPED_TRACE(m);
            const bool is_bad = std::ranges::find(bad, m) != bad.end();
            if (is_bad) {
                expect_same_monitor(after.monitors[m],
                                    monitor_of(P, member_of(spoilt, members, m), after.entries(P, m)));
            } else {
                ASSERT_TRUE(identical(after.entries(P, m), before.entries(P, m)));
                expect_same_monitor(after.monitors[m], before.monitors[m]);
            }
        }
        EXPECT_EQ(after.monitors[3].bad_column, 0);
        EXPECT_FALSE(after.monitors[3].not_finite);
        for (const Index m : {17, 31, 32}) EXPECT_TRUE(after.monitors[m].not_finite) << m;
    }
}

/// [1 1; 1 2 + m]: u_22 = 1 + m, and member 3's 1 at the end makes it singular in column 1.
TEST(GpuLuBatch, NamesTheColumnOfAZeroPivot)
{
    ILUX_SKIP_WITHOUT_GPU();
    Gpu                  gpu;
    const DataflowSystem system = dataflow_system_as_it_stands("2 x 2", to_csr({2, 2, {1, 1, 1, 2}}));
    std::vector<double>  all;
    for (int m = 0; m < 4; ++m) all.insert(all.end(), {1, 1, 1, m == 3 ? 1.0 : 2.0 + m});
    const Factored<double> found(gpu, system, all, 4);
    for (Index m = 0; m < 3; ++m)
        expect_same_monitor(found.monitors[m], {.min_pivot = 1,
                                                .max_pivot = 1.0 + m,
                                                .rgrowth = 1,
                                                .growth_column = 0,
                                                .max_multiplier = 1,
                                                .multiplier_column = 0});
    expect_same_monitor(found.monitors[3], {.bad_column = 1});
}

template <class T>
void expect_solutions(Gpu& gpu, const DataflowSystem& system, double bound)
{
    const Index          n = system.A.n, members = 35;
    const auto           all = member_values(system.A.val, members);
    Factored<T>          found(gpu, system, all, members);
    const auto           b = random_vector(n * members, 5);
    DeviceBuffer<double> rhs(b.size()), x(b.size());
    std::vector<double>  solution(b.size());
    upload<double>(gpu, b, rhs);
    for (const Transpose transpose : {Transpose::no, Transpose::yes}) {
        found.batch.solve(gpu, rhs.data(), x.data(), transpose);
        download<double>(gpu, x, solution);
        for (const Index m : {0, 31, 32, 34}) {
            std::vector<Index> row, col;
            for (Index i = 0; i < n; ++i)
                for (Offset p = system.A.ptr[i]; p < system.A.ptr[i + 1]; ++p) {
                    row.push_back(transpose == Transpose::no ? i : system.A.col[p]);
                    col.push_back(transpose == Transpose::no ? system.A.col[p] : i);
                }
            const auto values = member_of(all, members, m);
            const auto A = CsrMatrix<double>::from_triplets(n, n, row, col, {values.begin(), values.end()});
            EXPECT_LE(backward_error(A, member_of(solution, members, m), member_of(b, members, m)), bound)
                << system.name << ", member " << m;
        }
    }
}

TEST(GpuLuBatch, SolvesEveryMember)
{
    ILUX_SKIP_WITHOUT_GPU();
    Gpu gpu;
    for (const DataflowSystem& system : dataflow_systems()) {
        if (system.A.n > 1000) continue;
        expect_solutions<double>(gpu, system, 1e-13);
    }
}

TEST(GpuLuBatch, SolvesWithFactorsInFloat)
{
    ILUX_SKIP_WITHOUT_GPU();
    Gpu gpu;
    expect_solutions<float>(gpu, dataflow_system("mesh", gallery::poisson2d(24, 19)), 1e-5);
    expect_solutions<float>(gpu, dataflow_system("random", random_dominant(200, 4, 7)), 1e-5);
}

TEST(GpuLuBatch, HoldsTheMemoryThatItTells)
{
    ILUX_SKIP_WITHOUT_GPU();
    Gpu                  gpu;
    const DataflowSystem system = dataflow_system("mesh", gallery::poisson2d(24, 19));
    const auto           before = device_use().bytes;
    GpuLuBatch<double>   batch(gpu, system.F.pattern, 64);
    EXPECT_EQ(device_use().bytes - before, batch.bytes());
    const auto           allocations = device_use().allocations;
    DeviceBuffer<double> values(64 * system.A.val.size()), x(64 * std::size_t(system.A.n));
    batch.prepare(gpu, Transpose::no);
    EXPECT_GT(device_use().allocations, allocations);
    const auto prepared = device_use().allocations;
    batch.refactor(gpu, values.data());
    batch.solve(gpu, x.data(), x.data());
    gpu.synchronize();
    EXPECT_EQ(device_use().allocations, prepared);
}

}  // namespace
}  // namespace ilux::test

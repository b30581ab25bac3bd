#include "ilux/direct/gpu/gpu_pivot_monitor.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "ilux/direct/dataflow/dataflow_program.hpp"
#include "ilux/direct/refactor_cpu/refactor.hpp"
#include "ilux/direct/factor/elimination_step.hpp"
#include "ilux/tests/direct/both_scalars.hpp"
#include "ilux/tests/direct/pattern_systems.hpp"
#include "ilux/tests/direct/same_monitor.hpp"
#include "ilux/tests/direct/series.hpp"

namespace ilux::test {
namespace {

template <class S>
class GpuPivotMonitorOf : public testing::Test {};
TYPED_TEST_SUITE(GpuPivotMonitorOf, BothScalars, ScalarName);

template <class S>
bool finite(const S* first, const S* end)
{
    return std::all_of(first, end, [](S x) { return is_finite(x); });
}

/// By definition. @param B, val  entries of L + U, then F
template <class S>
PivotMonitor by_definition(const LuPattern& P, std::span<const NotDeduced<S>> B, const std::vector<S>& val)
{
    PivotMonitor seen;
    const auto   abs_max = [](std::span<const S> x) {
        double largest = 0;
        for (const S x_i : x) largest = std::max(largest, modulus(x_i));
        return largest;
    };
    for (Index k = 0; k < P.n; ++k) {
        const Offset first = P.col_ptr[k], d = P.diag[k], end = P.col_ptr[k + 1];
        const S      pivot = val[d];
        const bool   singular = finite(&val[first], &val[d] + 1) && pivot == S(0);
        const S*     F = val.data() + P.nnz();
        if (singular || !finite(&val[first], val.data() + end) || !finite(F + P.f_col_ptr[k], F + P.f_col_ptr[k + 1]))
            return {.bad_column = k, .not_finite = !singular};
        const std::span<const S> all(val);
        const double             l = abs_max(all.subspan(d + 1, end - d - 1));
        const double growth = abs_max(B.subspan(first, end - first)) / abs_max(all.subspan(first, d + 1 - first));
        seen.min_pivot = std::min(seen.min_pivot, modulus(pivot));
        seen.max_pivot = std::max(seen.max_pivot, modulus(pivot));
        if (growth < seen.rgrowth) seen.rgrowth = growth, seen.growth_column = k;
        if (l > seen.max_multiplier) seen.max_multiplier = l, seen.multiplier_column = k;
    }
    return seen;
}

/// A monitor of a system on the device, and the values and factors that it is to look at.
template <class S>
struct Watched {
    Watched(Gpu& gpu, const SystemOf<S>& system, std::span<const ValueSlot> slot_of = {})
        : P(*system.F.pattern),
          monitor(gpu, std::make_shared<const GpuLuPattern>(gpu, system.F.pattern), slot_of),
          slot_of(slot_of.begin(), slot_of.end())
    {}
    PivotMonitor look(Gpu& gpu, std::span<const S> values, std::span<const S> factors)
    {
        std::vector<S> placed(factors.begin(), factors.end());
        if (!slot_of.empty()) placed.assign(*std::ranges::max_element(slot_of) + 1, nan);
        for (std::size_t e = 0; e < slot_of.size(); ++e) placed[slot_of[e]] = factors[e];
        const auto input = on_device<S>(gpu, values), val = on_device<S>(gpu, placed);
        monitor.watch(gpu, input.data(), val.data());
        return monitor.result(gpu);
    }

    const LuPattern&       P;
    GpuPivotMonitor        monitor;
    std::vector<ValueSlot> slot_of;
};

TYPED_TEST(GpuPivotMonitorOf, SeesWhatTheSerialFactorizationSees)
{
    ILUX_SKIP_WITHOUT_GPU();
    using S = TypeParam;
    Gpu gpu;
    for (SystemOf<S>& system : systems_of<S>(pattern_systems())) {
        SCOPED_TRACE(system.name);
        Watched watched(gpu, system);
        Random  random(5);
        for (int round = 0; round < 3; ++round) {
            for (S& value : system.A.val) value *= std::exp(random.uniform(-1, 1));
            refactor_serial<S>(system.A.val, system.F);
            expect_same_monitor(watched.look(gpu, system.A.val, factor_entries(system.F)), system.F.monitor);
        }
    }
}

TEST(GpuPivotMonitor, ReadsFactorsWhereTheyAre)
{
    ILUX_SKIP_WITHOUT_GPU();
    Gpu gpu;
    for (DataflowSystem& system : pattern_systems()) {
        SCOPED_TRACE(system.name);
        refactor_serial(system.A.val, system.F);
        const auto             order = random_permutation(static_cast<Index>(entries(*system.F.pattern)), 3);
        std::vector<ValueSlot> slot_of;
        for (const Index place : order) slot_of.push_back(DataflowProgram::first_slot + place);
        Watched watched(gpu, system, slot_of);
        expect_same_monitor(watched.look(gpu, system.A.val, factor_entries(system.F)), system.F.monitor);
    }
}

TEST(GpuPivotMonitor, NamesTheFirstOfEquals)
{
    ILUX_SKIP_WITHOUT_GPU();
    Gpu gpu;
    for (const DataflowSystem& system : pattern_systems()) {
        SCOPED_TRACE(system.name);
        const LuPattern& P = *system.F.pattern;
        Watched          watched(gpu, system);
        for (const Index kinds : {1, 3}) {
            Random     random(static_cast<std::uint64_t>(kinds));
            const auto few = [&](std::size_t count) {
                std::vector<double> x(count);
                for (double& x_i : x) x_i = std::ldexp(random.below(2) == 0 ? 1.0 : -1.0, random.below(kinds));
                return x;
            };
            const auto values = few(system.A.val.size()), factors = few(entries(P));
            expect_same_monitor(watched.look(gpu, values, factors),
                                by_definition(P, scaled_inputs(P, values), factors));
        }
    }
}

/// The next watch starts afresh: what bad values left is gone.
TYPED_TEST(GpuPivotMonitorOf, TellsTheFirstBadColumnOfEveryKind)
{
    ILUX_SKIP_WITHOUT_GPU();
    using S = TypeParam;
    Gpu gpu;
    for (const SystemOf<S>& system : systems_of<S>(pattern_systems())) {
        const LuPattern& P = *system.F.pattern;
        if (P.n == 0) continue;
        const auto B = scaled_inputs<S>(P, system.A.val), sound = factor_entries(system.F);
        Watched    watched(gpu, system);
        Random     random(9);
        for (const double bad : {0.0, -0.0, nan, -nan, infinity, -infinity})
            for (int round = 0; round < 8; ++round) {
                SCOPED_TRACE(system.name + ", " + std::to_string(bad) + ", round " + std::to_string(round));
                auto factors = sound;
                for (int planted = 0; planted <= round % 4; ++planted) {
                    const Index  k = random.below(P.n);
                    const Offset any = P.col_ptr[k] + random.below(static_cast<Index>(P.col_ptr[k + 1] - P.col_ptr[k]));
                    factors[static_cast<std::size_t>(round < 4 ? P.diag[k] : any)] = bad;
                    if (planted == 2) factors[random.below(static_cast<Index>(factors.size()))] = nan;  // F, too
                    if (planted == 3) factors[static_cast<std::size_t>(P.diag[k])] = 0;
                }
                expect_same_monitor(watched.look(gpu, system.A.val, factors), by_definition(P, B, factors));
            }
        expect_same_monitor(watched.look(gpu, system.A.val, sound), by_definition(P, B, sound));
    }
}

TEST(GpuPivotMonitor, SaysTheSameEveryTimeOnTwoStreamsAtOnce)
{
    ILUX_SKIP_WITHOUT_GPU();
    Gpu                  first, second;
    const DataflowSystem a = dataflow_system_as_it_stands("arrow", arrow_down(9000, 3)),
                         b = dataflow_system("grid", gallery::power_grid({}));
    Watched    watched_a(first, a), watched_b(second, b);
    const auto values_a = on_device(first, a.A.val), values_b = on_device(second, b.A.val);
    const auto val_a = on_device(first, factor_entries(a.F)), val_b = on_device(second, factor_entries(b.F));
    const auto expected_a = by_definition(watched_a.P, scaled_inputs(watched_a.P, a.A.val), factor_entries(a.F)),
               expected_b = by_definition(watched_b.P, scaled_inputs(watched_b.P, b.A.val), factor_entries(b.F));
    for (int repeat = 0; repeat < repeats(); ++repeat) {
        SCOPED_TRACE(repeat);
        watched_a.monitor.watch(first, values_a.data(), val_a.data());
        watched_b.monitor.watch(second, values_b.data(), val_b.data());
        expect_same_monitor(watched_a.monitor.result(first), expected_a);
        expect_same_monitor(watched_b.monitor.result(second), expected_b);
    }
}

}  // namespace
}  // namespace ilux::test

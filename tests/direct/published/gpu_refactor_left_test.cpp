#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ilux/base/gpu/gpu_graph.hpp"
#include "ilux/direct/published/refactor_left.hpp"
#include "ilux/direct/refactor_cpu/refactor.hpp"
#include "ilux/tests/direct/both_scalars.hpp"
#include "ilux/tests/direct/repeats.hpp"

namespace ilux::test {
namespace {

constexpr Index any_number = std::numeric_limits<Index>::max();

/// Three blocks of awkward sizes with entries of F above them.
DataflowSystem blocks_with_F()
{
    Random              random(11);
    std::vector<Index>  row, col;
    std::vector<double> val;
    Index               first = 0;
    for (const Index n : {33, 1, 64}) {
        const auto block = random_dominant(n, 4, 2 + n);
        for (Index i = 0; i < n; ++i)
            for (Offset p = block.row_ptr()[i]; p < block.row_ptr()[i + 1]; ++p)
                row.push_back(first + i), col.push_back(first + block.col()[p]), val.push_back(block.val()[p]);
        for (Index k = 0; k < 3 * n && first > 0; ++k)
            row.push_back(random.below(first)), col.push_back(first + random.below(n)), val.push_back(random.uniform());
        first += n;
    }
    return dataflow_system("F", CsrMatrix<double>::from_triplets(first, first, row, col, val));
}

std::vector<DataflowSystem> every_system()
{
    auto all = dataflow_systems();
    all.push_back(blocks_with_F());
    return all;
}

template <class S>
class GpuRefactorLeftOf : public testing::Test {};
TYPED_TEST_SUITE(GpuRefactorLeftOf, BothScalars, ScalarName);

template <class S>
std::shared_ptr<const GpuLuPattern> pattern_on_device(Gpu& gpu, const SystemOf<S>& system)
{
    return std::make_shared<const GpuLuPattern>(gpu, system.F.pattern);
}

/// A pattern on the device with one tuning of the method.
template <class S = double>
struct LeftOnDevice {
    LeftOnDevice(Gpu& gpu, std::shared_ptr<const GpuLuPattern> P, std::span<const S> values,
                 const LeftTuning& tuning = {}, const detail::KernelTrial& trial = {})
        : pattern(std::move(P)), left(gpu, pattern, tuning, trial), input(values.size()), val(pattern->entries())
    {
        upload<S>(gpu, values, input);
    }
    void enqueue(Gpu& gpu)
    {
        pattern->scatter<S>(gpu, input.data(), val);
        left.run(gpu, val);
    }
    std::vector<S> found(Gpu& gpu)
    {
        std::vector<S> entries(val.size());
        download<S>(gpu, val, entries);
        return entries;
    }
    std::vector<S> run(Gpu& gpu)
    {
        enqueue(gpu);
        return found(gpu);
    }

    std::shared_ptr<const GpuLuPattern> pattern;
    LeftRefactor<S>                     left;
    DeviceBuffer<S>                     input, val;
};

/// L + U and behind them F, on one host thread. @param F  also the monitor of that
template <class S>
std::vector<S> serially(LuFactors<S>& F, std::span<const NotDeduced<S>> values)
{
    refactor_serial<S>(values, F);
    std::vector<S> both(F.val.begin(), F.val.end());
    both.insert(both.end(), F.f_val.begin(), F.f_val.end());
    return both;
}
template <class S>
std::vector<S> serially(const SystemOf<S>& system)
{
    LuFactors<S> F = system.F;
    return serially(F, system.A.val);
}

TYPED_TEST(GpuRefactorLeftOf, HasTheBitsOfTheSerialOneInEveryModeAtAnyNumberOfWarps)
{
    ILUX_SKIP_WITHOUT_GPU();
    using S = TypeParam;
    Gpu gpu;
    for (const SystemOf<S>& system : systems_of<S>(every_system())) {
        const auto expected = serially(system);
        const auto P = pattern_on_device(gpu, system);
        for (const Index pipeline_columns : {0, 4, 128, any_number})
            for (const Index warps : {1, 2, 33, 0})
                for (const unsigned delay : {0u, 2000u}) {
                    LeftOnDevice<S> device(gpu, P, system.A.val, {.pipeline_columns = pipeline_columns, .warps = warps},
                                           {.delay = delay});
                    for (int run = 0; run < 2; ++run)
                        ASSERT_TRUE(same_numbers(device.run(gpu), expected))
                            << system.name << ", pipeline_columns " << pipeline_columns << ", warps " << warps
                            << ", delay " << delay << ", run " << run;
                }
    }
}

TYPED_TEST(GpuRefactorLeftOf, HasTheSameBitsEveryTimeHoweverWarpsAreDelayed)
{
    ILUX_SKIP_WITHOUT_GPU();
    using S = TypeParam;
    Gpu gpu;
    for (const SystemOf<S>& system : systems_of<S>(every_system())) {
        const auto      expected = serially(system);
        LeftOnDevice<S> device(gpu, pattern_on_device(gpu, system), system.A.val, {.pipeline_columns = any_number},
                               {.delay = 2000});
        for (int run = 0; run < repeats(); ++run)
            ASSERT_TRUE(same_numbers(device.run(gpu), expected)) << system.name << ", run " << run;
    }
}

/// The first column whose pivot is zero or that holds anything not finite, F included; n: none.
template <class S>
Index first_bad(const LuPattern& P, const std::vector<S>& entries)
{
    const auto finite = [&](Offset begin, Offset end) {
        return std::ranges::all_of(std::span(entries).subspan(begin, end - begin), [](S v) { return is_finite(v); });
    };
    for (Index k = 0; k < P.n; ++k)
        if (entries[P.diag[k]] == S(0) || !finite(P.col_ptr[k], P.col_ptr[k + 1]) ||
            !finite(P.nnz() + P.f_col_ptr[k], P.nnz() + P.f_col_ptr[k + 1]))
            return k;
    return P.n;
}

/// Runs with bad values, then with good ones on the same objects.
template <class S>
void expect_first_bad_column(Gpu& gpu, const SystemOf<S>& system, const std::vector<S>& values, LeftOnDevice<S>& device)
{
    const LuPattern& P = *system.F.pattern;
    LuFactors<S>     F = system.F;
    const auto       expected = serially(F, values);
    upload<S>(gpu, values, device.input);
    const auto  found = device.run(gpu);
    const Index bad = F.monitor.bad_column < 0 ? P.n : F.monitor.bad_column;
    ASSERT_EQ(first_bad(P, found), bad);
    const Offset before = P.col_ptr[bad];
    ASSERT_TRUE(same_numbers(std::span(found).first(before), std::span(expected).first(before)));
    upload<S>(gpu, system.A.val, device.input);
    ASSERT_TRUE(same_numbers(device.run(gpu), serially(system))) << "good values afterwards";
}

TYPED_TEST(GpuRefactorLeftOf, EndsWhateverTheValuesAndKeepsTheFirstBadColumn)
{
    ILUX_SKIP_WITHOUT_GPU();
    using S = TypeParam;
    Gpu gpu;
    for (const SystemOf<S>& system :
         systems_of<S>({dataflow_system("circuit", gallery::mna_random({.n = 200})), blocks_with_F(),
                        dataflow_system_as_it_stands("arrow", arrow_down(300, 3)),
                        dataflow_system_as_it_stands("full", random_dominant(40, 40, 5))})) {
        const LuPattern& P = *system.F.pattern;
        for (const Index pipeline_columns : {0, any_number}) {
            LeftOnDevice<S> device(gpu, pattern_on_device(gpu, system), system.A.val,
                                   {.pipeline_columns = pipeline_columns}, {.delay = 500});
            for (const double bad : {0.0, 1e300, 1e-320, std::numeric_limits<double>::infinity(),
                                     std::numeric_limits<double>::quiet_NaN()})
                for (const std::size_t step : {std::size_t{3}, system.A.val.size() / 2 + 1}) {
                    SCOPED_TRACE(system.name + ", every " + std::to_string(step) + "th: " + std::to_string(bad));
                    auto values = system.A.val;
                    for (std::size_t p = step - 1; p < values.size(); p += step) values[p] = bad;
                    expect_first_bad_column(gpu, system, values, device);
                }
            for (const Index k : {0, P.n / 2, P.n - 1}) {  // an empty column: its pivot is exactly zero
                SCOPED_TRACE(system.name + ", no values in column " + std::to_string(k));
                auto values = system.A.val;
                for (Offset e = P.in_ptr[k]; e < P.in_ptr[k + 1]; ++e) values[P.in_source[e]] = 0;
                expect_first_bad_column(gpu, system, values, device);
            }
        }
    }
}

TEST(GpuRefactorLeft, RunsOnTwoStreamsAtOnce)
{
    ILUX_SKIP_WITHOUT_GPU();
    Gpu                  first, second;
    const DataflowSystem system = dataflow_system("mesh", gallery::poisson2d(24, 19));
    const auto           P = pattern_on_device(first, system);
    auto                 moved = system.A.val;
    for (double& value : moved) value *= 1.5;
    LuFactors<>    F = system.F;
    LeftOnDevice<> a(first, P, system.A.val), b(second, P, moved);
    for (int run = 0; run < 50; ++run) {
        a.enqueue(first);
        b.enqueue(second);
    }
    EXPECT_TRUE(identical(a.found(first), serially(system)));
    EXPECT_TRUE(identical(b.found(second), serially(F, moved)));
}

TEST(GpuRefactorLeft, RunsInsideAGraphOfTheCallerAndOnAStreamThatHasNone)
{
    ILUX_SKIP_WITHOUT_GPU();
    const DataflowSystem system = dataflow_system("mesh", gallery::poisson2d(24, 19));
    const auto           expected = serially(system);
    const auto           tuning = LeftTuning{.pipeline_columns = 4};
    Gpu                  gpu, legacy(0, nullptr);
    LeftOnDevice<>       captured(gpu, pattern_on_device(gpu, system), system.A.val, tuning);
    const GpuGraph       graph(gpu, [&] { captured.enqueue(gpu); });
    for (int run = 0; run < 3; ++run) {
        fill(gpu, 0, captured.val);
        graph.launch(gpu);
        EXPECT_TRUE(identical(captured.found(gpu), expected)) << "run " << run;
    }
    EXPECT_TRUE(identical(captured.run(gpu), expected)) << "behind that graph";
    LeftOnDevice<> plain(legacy, pattern_on_device(legacy, system), system.A.val, tuning);
    EXPECT_TRUE(identical(plain.run(legacy), expected));
}

TEST(GpuRefactorLeft, MovesWithItsWorkAndItsGraph)
{
    ILUX_SKIP_WITHOUT_GPU();
    Gpu                  gpu;
    const DataflowSystem system = dataflow_system("mesh", gallery::poisson2d(24, 19));
    LeftOnDevice<>       device(gpu, pattern_on_device(gpu, system), system.A.val, {.pipeline_columns = 4});
    LeftRefactor<>       moved = std::move(device.left);
    device.left = std::move(moved);
    EXPECT_TRUE(identical(device.run(gpu), serially(system)));
}

TEST(GpuRefactorLeft, TakesTheMemoryItAnnouncesWithinItsLimit)
{
    ILUX_SKIP_WITHOUT_GPU();
    Gpu                   gpu;
    const DataflowSystem  system = dataflow_system("mesh", gallery::poisson2d(24, 19));
    const LuPattern&      P = *system.F.pattern;
    constexpr std::size_t limit = 100'000;
    const auto            pattern = pattern_on_device(gpu, system);
    const LeftRefactor<>  free(gpu, pattern), limited(gpu, pattern, {.work_bytes = limit});
    EXPECT_EQ(limited.warps(), static_cast<Index>(limit / (8 * P.n)));
    EXPECT_GT(free.warps(), limited.warps());
    for (const auto* left : {&free, &limited}) {
        EXPECT_LE(left->bytes(), LeftRefactor<>::bytes_needed(P, left->warps()));
        EXPECT_GT(left->bytes() + 1024, LeftRefactor<>::bytes_needed(P, left->warps()));
    }
}

TEST(GpuRefactorLeft, RefusesTooFewValues)
{
    ILUX_SKIP_WITHOUT_GPU();
    Gpu                  gpu;
    const DataflowSystem system = dataflow_system("", random_dominant(3, 2, 1));
    LeftRefactor<>       left(gpu, pattern_on_device(gpu, system));
    DeviceBuffer<double> val(1);
    expect_refusal([&] { left.run(gpu, val); }, {"1"});
}

}  // namespace
}  // namespace ilux::test

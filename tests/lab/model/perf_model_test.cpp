#include "ilux/lab/model/perf_model.hpp"

#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "ilux/tests/direct/dataflow/dataflow_systems.hpp"
#include "ilux/tests/direct/worked_example.hpp"
#include "ilux/tests/lab/model/plain_device.hpp"

namespace ilux::test {
namespace {

constexpr Index      most_columns = std::numeric_limits<Index>::max();
constexpr LeftTuning all_pipeline{.pipeline_columns = most_columns};
constexpr LeftTuning all_clusters{.pipeline_columns = 0};

std::shared_ptr<const LuPattern> worked_lu_pattern()
{
    return dataflow_system_as_it_stands("", worked_example()).F.pattern;
}

// --- the parametric model ------------------------------------------------------------------------------------------

TEST(WarpPeriod, HasTheThreeCasesOfFigureTen)
{
    // mem_cycle / comp_cycle = 40, so 41 warps hide a memory period.
    const auto period = [](double mwp) {
        return WarpPeriod{.mem_cycle = 400, .comp_cycle = 10, .comp_latency = 10, .mwp = mwp};
    };
    EXPECT_EQ(period(50).warp_exp(), 41);
    EXPECT_EQ(period(50).mwp_req(24), 24);
    EXPECT_EQ(period(50).mwp_req(48), 40);

    EXPECT_EQ(period(50).which(48), WarpCase::computing);
    EXPECT_DOUBLE_EQ(period(50).cycles(48, 3), 2 * 10 * 48 + 10 + 400);  // (6)
    EXPECT_EQ(period(20).which(32), WarpCase::bandwidth);
    EXPECT_DOUBLE_EQ(period(20).cycles(32, 3), 3 * 400 * 32 / 20.);  // (7)
    EXPECT_EQ(period(50).which(24), WarpCase::latency);
    EXPECT_DOUBLE_EQ(period(50).cycles(24, 3), 3 * (10 + 400));  // (8)

    // At their borders.
    EXPECT_EQ(period(40).which(40), WarpCase::latency);
    EXPECT_EQ(period(40).which(41), WarpCase::computing);
    EXPECT_EQ(period(39).which(41), WarpCase::bandwidth);
}

TEST(WarpPeriod, IsNeverFasterThanAWarpAlone)
{
    for (const double mwp : {0.5, 3., 20., 1e9})
        for (const double comp_latency : {5., 10., 300.}) {
            const WarpPeriod period{.mem_cycle = 400, .comp_cycle = 10, .comp_latency = comp_latency, .mwp = mwp};
            double           before = 0;
            for (double warps = 0.25; warps <= 128; warps *= 2) {
                const double cycles = period.cycles(warps, 7);
                EXPECT_GE(cycles, 7 * (comp_latency + 400)) << warps << " warps, MWP " << mwp;
                EXPECT_GE(cycles, before) << warps << " warps, MWP " << mwp;
                before = cycles;
            }
        }
}

TEST(Mwp, IsWhatTheNarrowerBandwidthServes)
{
    DeviceParameters device;
    device.multiprocessors = 10;
    device.clock = 1e9;
    device.bandwidth = 1e11;  // 10 bytes a cycle and multiprocessor
    device.cache_bandwidth = 4e11;
    // A memory period of 400 cycles brings 4000 bytes: of 224 · 0.5 each, (2) and (3).
    EXPECT_DOUBLE_EQ(mwp(device, 400, 224 * 0.5, 224), 4000 / 112.);
    EXPECT_DOUBLE_EQ(mwp(device, 400, 1, 224), 16000 / 224.);
    EXPECT_EQ(mwp(device, 400, 0, 0), std::numeric_limits<double>::infinity());
}

TEST(DeviceParameters, LieLinearlyBetweenWhatWasMeasured)
{
    DeviceParameters device;
    device.cache_bytes = 1e6;
    for (std::size_t s = 0; s < device.miss.size(); ++s)  // just what does not fit
        device.miss[s].fill(std::max(0., 1 - 1 / DeviceParameters::working_sets[s]));
    device.cache_cycle = {100, 200, 300, 400, 500, 600};
    device.global_cycle = {1000, 1000, 1000, 1000, 1000, 2000};
    EXPECT_DOUBLE_EQ(device.access_cycle(1, 0), 100);
    EXPECT_DOUBLE_EQ(device.access_cycle(0.5, 0), 100);
    EXPECT_DOUBLE_EQ(device.access_cycle(3, 0), 250);
    EXPECT_DOUBLE_EQ(device.access_cycle(64, 0), 600);
    EXPECT_DOUBLE_EQ(device.access_cycle(24, 1), 1500);
    EXPECT_DOUBLE_EQ(device.access_cycle(8, 0.25), 0.25 * 1000 + 0.75 * 400);  // (1)

    for (const double transactions : {1., 5., 32.}) {
        EXPECT_EQ(device.miss_rate(transactions, 0), 0);
        EXPECT_EQ(device.miss_rate(transactions, 1e6), 0);
        EXPECT_DOUBLE_EQ(device.miss_rate(transactions, 1.5e6), 0.25);
        EXPECT_DOUBLE_EQ(device.miss_rate(transactions, 2e6), 0.5);
        EXPECT_DOUBLE_EQ(device.miss_rate(transactions, 1e9), 7 / 8.);
    }
    device.miss.back()[0] = 0.4;
    EXPECT_DOUBLE_EQ(device.miss_rate(1.5, 8e6), (0.4 + 7 / 8.) / 2);
}

TEST(DeviceParameters, ThatMakeNoSenseAreRefused)
{
    require_sensible({});
    const auto refused = [](const std::function<void(DeviceParameters&)>& spoil, const std::string& word) {
        DeviceParameters device;
        spoil(device);
        expect_refusal<InvalidInput>([&] { require_sensible(device); }, {word});
    };
    refused([](DeviceParameters& d) { d.clock = 0; }, "clock = 0");
    refused([](DeviceParameters& d) { d.flag = -1; }, "flag = -1");
    refused([](DeviceParameters& d) { d.bandwidth = std::nan(""); }, "bandwidth");
    refused([](DeviceParameters& d) { d.comp_cycle = INFINITY; }, "comp_cycle");
    refused([](DeviceParameters& d) { d.cache_cycle[3] = 0; }, "cache_cycle");
    refused([](DeviceParameters& d) { d.miss[2][1] = 1.5; }, "miss rate of 1.5");
}

// --- the graph -----------------------------------------------------------------------------------------------------

TEST(LeftModel, WalksTheWorkedExampleAsByHand)
{
    const auto P = worked_lu_pattern();
    ASSERT_EQ(P->nnz(), 29);
    const LeftModel model(*P, plain_device(), all_pipeline);
    // Columns 0, 1, 3, 5 wait for nobody: 550 + 350, all at 900. With eight warps:
    // 2 ← 0, 1 begins by 950, has column 0 at 970, ends by 970 + 500 + 350 = 1820, and so does 6 ← 3, 5.
    // 4 ← 2 has it at 1890 and ends by 1890 + 250 + 350 = 2490. 7 ← 0, 1, 2, 4: 970 + 500, 1890 + 250, 2560 + 250 +
    // 350.
    EXPECT_DOUBLE_EQ(model.predict(8).seconds, 3160);
    // Two warps, A: 0, 3, 2, 4 and B: 1, 5, 6, 7. At 1800 both begin 2 and 6, ready by 3600: 1800 + 950 + 500 + 350.
    // 4 has 2 from its own warp, no flag: 3600 + 950 + 250 + 350 = 5150. 7: 3600 + 950 + 750, and 4 is there by 5220.
    EXPECT_DOUBLE_EQ(model.predict(2).seconds, 3600 + 950 + 1000 + 350);
    EXPECT_DOUBLE_EQ(model.predict(1).seconds, 4 * 900 + 2 * 1800 + 1550 + 2300);
    EXPECT_DOUBLE_EQ(model.predict(1).serial, model.predict(1).seconds);
    EXPECT_EQ(model.predict(8).warps, 8);
    EXPECT_EQ(model.predict(0).warps, 8);
    EXPECT_EQ(model.predict(100).warps, 8);
}

TEST(LeftModel, WalksTheLevelsOfTheWorkedExampleAsByHand)
{
    const auto       P = worked_lu_pattern();
    DeviceParameters device = plain_device();
    device.barrier = 1000;
    device.launch = 10;
    const LeftModel clusters(*P, device, all_clusters);
    // {0, 1, 3, 5}, {2, 6}, {4}, {7}: 450 + 350; 450 + 300 + 500 + 350; with one update 1350; with four 2100.
    EXPECT_DOUBLE_EQ(clusters.predict(4).seconds, 4 * 1000 + 800 + 1600 + 1350 + 2100);
    EXPECT_DOUBLE_EQ(clusters.predict(1).seconds, 4 * 1000 + 4 * 800 + 2 * 1600 + 1350 + 2100);
    EXPECT_DOUBLE_EQ(clusters.predict(3).seconds, 4 * 1000 + 2 * 800 + 1600 + 1350 + 2100);  // A: 0 and 5
    // {0, 1, 3, 5} as a level, then a launch of the pipeline: none waits for the level. 2 and 6: 950 + 500 + 350 =
    // 1800; 4: 1870 + 250 + 350; 7: 950 + 500, 1870 + 250, 2540 + 250 + 350.
    const LeftModel both(*P, device, {.pipeline_columns = 4});
    EXPECT_DOUBLE_EQ(both.predict(8).seconds, 1000 + 800 + 10 + 2540 + 250 + 350);
}

/// Of all columns one after another in the pipeline of a plain device.
double serial_by_hand(const LuPattern& P)
{
    const auto times = [](double cost, Index count, Index of) { return cost * ((count + of - 1) / of); };
    double     seconds = 0;
    for (Index k = 0; k < P.n; ++k) {
        const auto entries = static_cast<Index>(P.col_ptr[k + 1] - P.col_ptr[k]);
        seconds += 400 + times(150, entries, 64) + times(400, P.upper_count(k), 32) + 100 + times(250, entries, 64);
        for (Offset p = P.col_ptr[k]; p < P.diag[k]; ++p) seconds += times(250, P.lower_count(P.row[p]), 64);
    }
    return seconds;
}

TEST(LeftModel, OfOneWarpIsTheSumOfAllColumns)
{
    for (const DataflowSystem& system : dataflow_systems()) {
        const LuPattern&     P = *system.F.pattern;
        const LeftPrediction found = LeftModel(P, plain_device(), all_pipeline).predict(1);
        EXPECT_DOUBLE_EQ(found.seconds, serial_by_hand(P)) << system.name;
        EXPECT_DOUBLE_EQ(found.serial, serial_by_hand(P)) << system.name;
        EXPECT_EQ(found.warps, 1) << system.name;
    }
}

TEST(LeftModel, OfAnEmptyPatternIsTheCall)
{
    DeviceParameters device = plain_device();
    device.call = 5;
    device.launch = device.barrier = 100;
    const LeftPrediction found = LeftModel(*dataflow_system("", random_dominant(0, 0, 1)).F.pattern, device).predict(4);
    EXPECT_EQ(found.seconds, 5);
    EXPECT_EQ(found.serial, 0);
    EXPECT_EQ(found.active, 0);
}

TEST(LeftModel, LiesBetweenTheLongestChainAndTheSum)
{
    for (const DataflowSystem& system : dataflow_systems()) {
        const LuPattern& P = *system.F.pattern;
        const LeftModel  model(P, plain_device(4, 16), all_pipeline);
        // What each column needs at least behind what it waits for: a flag, its last update and its end.
        std::vector<double> ready(P.n, 0);
        double              chain = 0;
        for (Index k = 0; k < P.n; ++k) {
            for (Offset p = P.col_ptr[k]; p < P.diag[k]; ++p)
                if (P.lower_count(P.row[p]) > 0) ready[k] = std::max(ready[k], ready[P.row[p]] + 250);
            ready[k] += 350;
            chain = std::max(chain, ready[k]);
        }
        for (const Index warps : {2, 7, 64}) {
            const double seconds = model.predict(warps).seconds;
            EXPECT_GE(seconds, chain) << system.name << ", " << warps;
            EXPECT_GE(seconds, serial_by_hand(P) / warps * (1 - 1e-12)) << system.name << ", " << warps;
            EXPECT_LE(seconds, serial_by_hand(P) + 70. * P.n) << system.name << ", " << warps;
        }
    }
}

TEST(LeftModel, GrowsWithEveryCostAndShrinksWithEveryRate)
{
    using Change = std::function<void(DeviceParameters&, double)>;
    const std::vector<std::pair<std::string, Change>> slower{
        {"flag", [](DeviceParameters& d, double f) { d.flag *= f; }},
        {"comp_latency", [](DeviceParameters& d, double f) { d.comp_latency *= f; }},
        {"clock", [](DeviceParameters& d, double f) { d.clock /= f; }},
        {"call", [](DeviceParameters& d, double f) { d.call *= f; }},
        {"cache_cycle",
         [](DeviceParameters& d, double f) {
             for (double& c : d.cache_cycle) c *= f;
         }},
    };
    const auto circuit = dataflow_system("", gallery::mna_random({.n = 400, .decades = 6}));
    // One warp for each column: who takes what does not depend on the costs.
    for (const auto& [name, change] : slower) {
        double before = 0;
        for (const double factor : {0.5, 1., 2., 4.}) {
            DeviceParameters device;
            change(device, factor);
            const double seconds = LeftModel(*circuit.F.pattern, device, all_pipeline).predict(0).seconds;
            EXPECT_GT(seconds, before) << name << " × " << factor;
            before = seconds;
        }
    }
}

TEST(LeftModel, FeelsBandwidthWhereCachesMissAndWarpsAreMany)
{
    const auto       full = dataflow_system_as_it_stands("", random_dominant(150, 150, 5));
    DeviceParameters device;
    device.multiprocessors = 1;
    device.cache_bytes = 1;  // nothing fits
    for (auto& row : device.miss) row.fill(1);
    const auto seconds = [&](double bandwidth, WarpCase expected) {
        device.bandwidth = bandwidth;
        const LeftPrediction found = LeftModel(*full.F.pattern, device).predict(32);
        EXPECT_EQ(found.which, expected) << bandwidth;
        EXPECT_EQ(found.miss, 1);
        return found.seconds;
    };
    const double wide = seconds(1e15, WarpCase::latency), narrow = seconds(1e9, WarpCase::bandwidth);
    EXPECT_GT(narrow, 2 * wide);
    EXPECT_GT(seconds(0.5e9, WarpCase::bandwidth), 1.5 * narrow);
}

TEST(LeftModel, ChoosesTheNumberOfWarpsThatItPredictsFastest)
{
    const auto               mesh = dataflow_system("", gallery::poisson2d(24, 19));
    const std::vector<Index> each{1, 2, 4, 8};
    const LeftModel          model(*mesh.F.pattern, plain_device(3));
    const Index              best = model.best_warps(each);
    bool                     among = false;
    for (const Index e : each) {
        EXPECT_LE(model.predict(best).seconds, model.predict(3 * e).seconds) << e;
        among = among || best == 3 * e;
    }
    EXPECT_TRUE(among) << best;
}

TEST(LeftModel, RefusesWhatThePlanRefuses)
{
    const auto P = worked_lu_pattern();
    expect_refusal<InvalidOption>([&] { LeftModel(*P, {}, {.pipeline_columns = -1}); }, {"-1"});
    expect_refusal<InvalidOption>([&] { LeftModel(*P, {}).predict(-2); }, {"-2"});
}

}  // namespace
}  // namespace ilux::test

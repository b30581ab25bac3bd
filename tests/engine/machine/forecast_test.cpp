// Oracles: figures made up, and the seconds that some systems took on two machines (docs/design/solver.md).

#include "ilux/engine/machine/forecast.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "ilux/engine/machine/machine_rates.hpp"
#include "ilux/tests/support/checks.hpp"

namespace ilux {
namespace {

TEST(ForecastDirect, IsNearWhatFrontsTookOnOneThread)
{
    const struct {
        const char* name;
        double      nnz, flops, seconds;  // of the numbers
    } measured[] = {{"elasticity_bar", 1.39e8, 1.84e11, 5.31},
                    {"biharmonic", 4.84e7, 2.19e10, 0.885},
                    {"transport", 1.08e8, 1.91e11, 4.60},
                    {"diode2d", 2.13e7, 5.44e9, 0.298},
                    {"convdiff2d 1000²", 8.69e7, 1.98e10, 1.30}};
    for (const auto& one : measured) {
        const LuWork work{.entries = 1e6, .nnz = one.nnz, .flops = one.flops, .analysis_seconds = 0};
        const double renewed = forecast_direct(work, {.threads = 1}, Rates()).renew;
        EXPECT_LT(renewed, 1.5 * one.seconds) << one.name;
        EXPECT_GT(1.5 * renewed, one.seconds) << one.name;
    }
}

TEST(ForecastDirect, CostsMoreWherePivotsAreFarFromTheDiagonal)
{
    LuWork       work{.entries = 1e6, .nnz = 1e8, .flops = 1e9, .analysis_seconds = 0};
    const double factor = forecast_direct(work, {}, Rates()).factor;
    work.matched = true;
    EXPECT_GT(forecast_direct(work, {}, Rates()).factor, factor);
}

TEST(ForecastDirect, CountsThreadsAndAGpuWhereNumbersAreByFronts)
{
    const Rates  rates;
    const LuWork fronts{.entries = 1.3e7, .arcs = 2e6, .nnz = 5.4e8, .flops = 1.85e12, .analysis_seconds = 0};
    const auto   on = [&](int threads, bool gpu) { return forecast_direct(fronts, {threads, gpu}, rates).of(1); };
    EXPECT_LT(on(2, false), 0.6 * on(1, false));
    EXPECT_LT(on(16, false), 0.15 * on(1, false));
    EXPECT_LT(on(16, true), 0.6 * on(16, false));
    EXPECT_TRUE(gpu_pays_for_fronts(fronts, 16, rates));
    const LuWork plane{.entries = 4.5e5, .arcs = 4.5e5, .nnz = 6.6e6, .flops = 6.3e8, .analysis_seconds = 0};
    EXPECT_FALSE(gpu_pays_for_fronts(plane, 16, rates));
    EXPECT_EQ(forecast_direct(plane, {16, true}, rates).of(1), forecast_direct(plane, {16, false}, rates).of(1));
    const LuWork circuit{.entries = 1e6, .nnz = 2e6, .flops = 1e7};
    EXPECT_FALSE(fronts_are_likely(circuit));
    EXPECT_EQ(forecast_direct(circuit, {1}, rates).of(1), forecast_direct(circuit, {16, true}, rates).of(1));
}

TEST(ForecastIterative, CountsThreadsAndTheGpuWhereThePreconditionerIsMadeInRounds)
{
    const IterationFacts sweep{.entries = 1e7}, rounds{.entries = 1e7, .rounds = true};
    const auto           on = [](IterationFacts facts, int threads, bool gpu = false) {
        facts.gpu_rounds = gpu && facts.rounds;
        return forecast_iterative(facts, {threads, gpu}, Rates());
    };
    EXPECT_EQ(on(sweep, 1).of(1), on(sweep, 16).of(1));
    EXPECT_EQ(on(sweep, 1).factor, on(sweep, 1, true).factor);
    EXPECT_LT(3 * on(rounds, 16).of(1), on(rounds, 1).of(1));
    EXPECT_GT(16 * on(rounds, 16).of(1), on(rounds, 1).of(1));
    EXPECT_LT(10 * on(rounds, 16, true).factor, on(rounds, 16).factor);
    EXPECT_LT(on(rounds, 1).renew, on(rounds, 1).factor / 5);  // some systems share one, and its rounds serve again
}

TEST(ForecastIterative, CountsRoundsOfAGpuThatTheHostWouldNotMake)
{
    const auto           of = [](IterationFacts facts) { return forecast_iterative(facts, {16, true}, Rates()); };
    const IterationFacts even{.entries = 1e7, .rounds = true, .gpu_rounds = true},
        uneven{.entries = 1e7, .gpu_rounds = true}, matched{.entries = 1e7, .gpu_rounds = true, .positive = false},
        waits{.entries = 1e7, .rounds = true, .coarse = true, .gpu_rounds = true, .positive = false};
    EXPECT_GT(of(uneven).factor, 2 * of(even).factor);
    EXPECT_LT(of(uneven).factor, of({.entries = 1e7}).factor / 10);  // by Crout's sweep
    EXPECT_GT(of(matched).factor, of(uneven).factor + 1);
    EXPECT_EQ(of(waits).factor, of(even).factor);
    EXPECT_GT(of(matched).renew / of(matched).factor, of(uneven).renew / of(uneven).factor);  // matched anew
}

TEST(MachineRates, AreReadAsTheyWereSavedAndOnlyOnTheirProcessor)
{
    const test::TempFolder folder;
    const std::string      file = folder.file("cache/rates");
    EXPECT_EQ(load_rates(file, "A").origin, "built in");
    Rates rates;
    rates.front_flop = 7.25e-12;
    save_rates(rates, file, "A");
    const Rates read = load_rates(file, "A");
    EXPECT_EQ(read.front_flop, 7.25e-12);
    EXPECT_EQ(read.crout_entry, rates.crout_entry);
    EXPECT_EQ(read.origin, "of a calibration");
    const Rates other = load_rates(file, "B");
    EXPECT_EQ(other.front_flop, Rates().front_flop);
    EXPECT_NE(other.origin.find("another processor"), std::string::npos);
    for (const char* damage : {"front_flop x", "front_flop -1", "nothing 1", "front_flop", "front_flop nan"}) {
        std::ofstream(file, std::ios::app) << damage << '\n';
        const Rates damaged = load_rates(file, "A");
        EXPECT_EQ(damaged.front_flop, Rates().front_flop) << damage;
        EXPECT_NE(damaged.origin.find("damaged"), std::string::npos) << damage;
        save_rates(rates, file, "A");
    }
    for (const char* whole : {"", "no rates", "ilux rates 1 of A\n", "ilux rates 1 of A\nfront_flop 1e-12\n"}) {
        std::ofstream(file) << whole;
        EXPECT_NE(load_rates(file, "A").origin.find("damaged"), std::string::npos) << whole;
    }
    save_rates(rates, file, "A");
    std::ofstream(file, std::ios::app) << "front_flop 1e-3\n";
    EXPECT_NE(load_rates(file, "A").origin.find("damaged"), std::string::npos);
}

}  // namespace
}  // namespace ilux

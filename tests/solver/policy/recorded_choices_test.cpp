// The choice as a pure function of facts and rates, on the facts and seconds that tools/auto_at_scale recorded of every
// system.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ilux/engine/machine/forecast.hpp"

namespace ilux {
namespace {

using Record = nlohmann::json;

struct Recorded {
    std::string           name;
    ChoiceFacts           facts;
    bool                  direct = false, solved = false;  ///< what was chosen; whether mode auto solved it
    std::optional<double> lu, iteration;  ///< seconds of the fixed modes; nothing: they did not solve it
};

LuWork lu_of(const Record& json)
{
    return {.entries = json["entries"],
            .arcs = json["arcs"],
            .nnz = json["nnz"],
            .flops = json["flops"],
            .complex = json["complex"],
            .matched = json["matched"],
            .analysis_seconds = json["analysed"].get<bool>() ? 0. : -1.};
}

IterationFacts iteration_of(const Record& json)
{
    return {.entries = json["entries"],
            .rounds = json["rounds"],
            .coarse = json.value("coarse", false),
            .dominant = json.value("dominant", false),
            .gpu_rounds = json["gpu_rounds"],
            .heavy = json["heavy"],
            .positive = json["positive"],
            .fill = json["fill"],
            .hopeless = json["hopeless"],
            .coupling = json["coupling"].is_null() ? INFINITY : json["coupling"].get<double>(),
            .jacobi = json["jacobi"],
            .complex = json["complex"],
            .rows = json.value("rows", 0.),
            .radius = json.value("radius", 0.),
            .hermitian = json.value("hermitian", false)};
}

std::optional<double> seconds_of(const Record& run)
{
    if (run["outcome"] != "converged") return std::nullopt;
    return run["seconds"].get<double>();
}

/// Whether the last of the choices was LU; one before a quick try went by an estimate.
bool chose_lu(const Record& decisions)
{
    bool direct = false;
    for (const std::string decision : decisions)
        if (decision.starts_with("direct:") || decision.starts_with("iterative:")) direct = decision[0] == 'd';
    return direct;
}

/// The systems of a record for which there was a choice; systems of at most 5000 entries have none.
std::vector<Recorded> recorded(const std::string& name)
{
    const auto    tree = std::filesystem::path(__FILE__).parent_path().parent_path().parent_path().parent_path();
    std::ifstream file(tree / "bench" / "results" / (name + ".json"));
    EXPECT_TRUE(file.good()) << name;
    const Record          record = Record::parse(file);
    std::vector<Recorded> systems;
    for (const Record& row : record["rows"]) {
        const Record& choice = row["auto"].contains("choice") ? row["auto"]["choice"] : Record();
        if (choice.is_null()) continue;
        const Record& place = choice["place"];
        systems.push_back({.name = row["name"],
                           .facts = {.lu = lu_of(choice["lu"]),
                                     .iteration = iteration_of(choice["iteration"]),
                                     .place = {place["threads"], place["gpu"]},
                                     .lu_estimated = choice["lu"]["estimated"]},
                           .direct = chose_lu(row["auto"]["decisions"]),
                           .solved = row["auto"]["outcome"] == "converged",
                           .lu = seconds_of(row["lu"]),
                           .iteration = seconds_of(row["gmres"])});
    }
    return systems;
}

/// Pivots within fronts fail there, or fill far more than foreseen. Nobody knows that before; LU ends early, and an
/// iteration follows.
bool pivots_fail(const std::string& name)
{
    static constexpr std::array<std::string_view, 4> known{"darcy_mixed", "kkt_CVXQP1_L", "kkt_CVXQP3_L", "NSR8K"};
    return std::ranges::count(known, name) > 0;
}

class RecordedChoices : public testing::TestWithParam<const char*> {};

TEST_P(RecordedChoices, FollowFromTheirFactsAlone)
{
    const auto systems = recorded(GetParam());
    EXPECT_FALSE(systems.empty());
    for (const Recorded& one : systems) EXPECT_EQ(expect(one.facts, Rates()).take_lu, one.direct) << one.name;
}

TEST_P(RecordedChoices, AreOfSystemsThatAutoSolvesWhereAFixedModeDoes)
{
    for (const Recorded& one : recorded(GetParam())) EXPECT_TRUE(one.solved || !(one.lu || one.iteration)) << one.name;
}

/// What the modes that were chosen take by themselves, of systems that both solve.
TEST_P(RecordedChoices, CostLittleMoreThanTheBetterMode)
{
    double chosen = 0, better = 0;
    for (const Recorded& one : recorded(GetParam())) {
        if (!one.lu || !one.iteration || pivots_fail(one.name)) continue;
        chosen += expect(one.facts, Rates()).take_lu ? *one.lu : *one.iteration;
        better += std::min(*one.lu, *one.iteration);
    }
    EXPECT_GT(better, 0);
    EXPECT_LE(chosen, 1.2 * better);
}

/// Where one mode alone solves a system, it is chosen nearly always; else the other follows it.
TEST_P(RecordedChoices, RarelyBeginWithTheModeThatFails)
{
    int wrong = 0, either = 0;
    for (const Recorded& one : recorded(GetParam())) {
        if (one.lu.has_value() == one.iteration.has_value()) continue;
        ++either;
        wrong += expect(one.facts, Rates()).take_lu != one.lu.has_value();
    }
    EXPECT_LE(wrong, 1 + either / 5);
}

INSTANTIATE_TEST_SUITE_P(Records, RecordedChoices,
                         testing::Values("auto_scale_1", "auto_scale_2", "auto_scale_gpu", "auto_real_1"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace ilux

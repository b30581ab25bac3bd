// ilux-lab lu-model, and the parts it is made of. Without a GPU its predictions are of a made-up device.

#include <cmath>

#include "ilux/base/gpu/gpu.hpp"
#include "ilux/lab/model/device_parameters_json.hpp"
#include "ilux/lab/suites/bench_lu_model_report.hpp"
#include "ilux/lab/suites/scatter_chart.hpp"
#include "ilux/tests/lab/lab_cli.hpp"

namespace ilux {
namespace {

using Json = nlohmann::ordered_json;

std::string parameters_text(const DeviceParameters& device = {}) { return app::to_json(device).dump(); }

/// One object a line.
std::vector<Json> lines_of(const std::string& text)
{
    std::vector<Json>  all;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) all.push_back(Json::parse(line, nullptr, false));
    return all;
}

// --- parameters ----------------------------------------------------------------------------------------------------

TEST(DeviceParametersJson, ReadsBackWhatItPrints)
{
    DeviceParameters device;
    device.clock = 1.0 / 3 * 1e9;
    device.flag = 7.1e-7;
    device.miss[3][2] = 0.123456789012345678;
    device.global_cycle[5] = 1234.5;
    const auto same = [&](const std::string& text) {
        EXPECT_EQ(app::to_json(app::parse_device_parameters(text, "a.json")), app::to_json(device)) << text;
    };
    same(parameters_text(device));
    same(app::to_json(device).dump(2));
    same("{\"suite\":\"lu-model\",\"parameters\":" + parameters_text(device) + "}\n{\"name\":\"m\"}\n");
}

TEST(DeviceParametersJson, RefusesWhatIsNoDevice)
{
    const auto refused = [](const std::string& text, const std::string& word) {
        test::expect_refusal<InvalidInput>([&] { app::parse_device_parameters(text, "a.json"); }, {word});
    };
    const auto changed = [](const std::function<void(Json&)>& change) {
        Json json = app::to_json(DeviceParameters{});
        change(json);
        return json.dump();
    };
    refused("", "a.json");
    refused("[1]", "no JSON object");
    refused("{}", "is missing");
    refused(changed([](Json& j) { j.erase("flag"); }), "flag is missing");
    refused(changed([](Json& j) { j["flags"] = 1; }), "no parameter flags");
    refused(changed([](Json& j) { j["clock"] = "fast"; }), "clock is string");
    refused(changed([](Json& j) { j["clock"] = nullptr; }), "clock is null");
    refused(changed([](Json& j) { j["clock"] = -1; }), "clock = -1");
    refused(changed([](Json& j) { j["cache_cycle"].push_back(1); }), "cache_cycle: expected 6");
    refused(changed([](Json& j) { j["miss"].erase(0); }), "miss: expected 8 rows");
    refused(changed([](Json& j) { j["miss"][0][0] = 2; }), "miss rate of 2");
}

// --- the report ----------------------------------------------------------------------------------------------------

/// A matrix of which left takes 4, 2, 2.5 and 3 s and was predicted to take 5, 2.2, 1.9 and 1.8 s; the last two with
/// the same warps.
Json finding()
{
    const auto measured = [](double seconds) { return Json{{"numeric", {{"median", seconds}}}}; };
    Json       found{{"name", "a"}, {"n", 3}, {"nnz_LU", 7}, {"levels", {{"left", 2}}}, {"longest_column", 1}};
    found["error"] = nullptr;
    Json& predicted = found["predicted"];
    predicted = {{"left", Json::array()}, {"methods", Json::array()}, {"model_seconds", 0.5}};
    found["measured"] = {{"left", Json::array()}, {"methods", Json::array()}};
    const std::vector<std::array<double, 4>> sweep{{1, 10, 5, 4}, {2, 20, 2.2, 2}, {4, 30, 1.9, 2.5}, {8, 30, 1.8, 3}};
    for (const auto& [each, warps, p, m] : sweep) {
        predicted["left"].push_back(
            {{"each", Index(each)}, {"warps", Index(warps)}, {"seconds", p}, {"active", 1}, {"miss", 0}, {"case", 3}});
        Json one = measured(m);
        one["each"] = Index(each);
        found["measured"]["left"].push_back(one);
    }
    const auto method = [&](const char* name, double p, Json m) {
        predicted["methods"].push_back({{"method", name}, {"seconds", p}});
        m["method"] = name;
        found["measured"]["methods"].push_back(m);
    };
    method("dataflow", 1, {{"error", "auto takes left here"}});
    method("left", 2, measured(2.5));
    method("cpu", 3, measured(2));
    predicted["methods"].push_back({{"method", "islu"}, {"seconds", 9}});  // ended before it was measured
    return found;
}

TEST(LuModelReport, HasErrorsAndRegretsAsByHand)
{
    Json found = finding();
    app::add_comparison(found);
    ASSERT_EQ(found["left"].size(), 4u);
    EXPECT_DOUBLE_EQ(found["left"][0]["relative_error"], 0.25);
    EXPECT_NEAR(found["left"][2]["relative_error"], 0.6 / 2.5, 1e-15);
    EXPECT_FALSE(found["left"][2].contains("same_as"));
    EXPECT_EQ(found["left"][3]["same_as"], 4);
    // W 4 is predicted fastest (1.9; 8 is the same number of warps), and takes 2.5 where W 2 takes 2.
    EXPECT_EQ(found["regret"]["warps"], (Json{{"chosen", 4}, {"best", 2}, {"ratio", 1.25}}));
    // dataflow was not measured, so left is chosen, and cpu would have been the best.
    EXPECT_EQ(found["regret"]["method"], (Json{{"chosen", "left"}, {"best", "cpu"}, {"ratio", 1.25}}));
    EXPECT_EQ(found["methods"][0]["error"], "auto takes left here");

    Json other = found;
    other["regret"] = {{"warps", nullptr}, {"method", {{"chosen", "cpu"}, {"best", "cpu"}, {"ratio", 1}}}};
    const Json broken{{"name", "b"}, {"error", "no such file"}};
    const Json summary = app::lu_model_summary(Json::array({found, other, broken}));
    EXPECT_EQ(summary["left"]["points"], 6);
    EXPECT_NEAR(summary["left"]["mean_relative_error"], (0.25 + 0.1 + 0.24) / 3, 1e-14);
    EXPECT_DOUBLE_EQ(summary["left"]["most"], 0.25);
    ASSERT_EQ(summary["methods"].size(), 2u);
    EXPECT_EQ(summary["methods"][0]["method"], "left");
    EXPECT_DOUBLE_EQ(summary["methods"][1]["mean_relative_error"], 0.5);
    EXPECT_EQ(summary["regret"]["warps"]["matrices"], 1);
    EXPECT_DOUBLE_EQ(summary["regret"]["warps"]["mean"], 1.25);
    EXPECT_EQ(summary["regret"]["warps"]["most"], 1.25);
    EXPECT_DOUBLE_EQ(summary["regret"]["method"]["mean"], std::sqrt(1.25));
    EXPECT_TRUE(app::lu_model_summary(Json::array({broken})).empty());

    const std::string text = app::lu_model_lines(found) + app::lu_model_summary_lines(summary);
    for (const char* word : {"left W 8", "the same warps as before", "W chosen 4, best 2: 1.25 times",
                             "method chosen left, best cpu", "auto takes left here", "21.8 %"})
        EXPECT_NE(text.find(word), std::string::npos) << word << " is not in:\n" << text;
    EXPECT_NE(app::lu_model_lines(broken).find("no such file"), std::string::npos);
}

int circles(const std::string& svg)
{
    int count = 0;
    for (std::size_t at = svg.find("<circle"); at != std::string::npos; at = svg.find("<circle", at + 1)) ++count;
    return count;
}

TEST(LuModelReport, DrawsWhatWasBothPredictedAndMeasured)
{
    Json found = finding();
    app::add_comparison(found);
    const std::string svg = app::lu_model_chart(Json::array({found, {{"name", "b"}, {"error", "none"}}}), "a machine");
    EXPECT_EQ(circles(svg), 3 + 1) << "three numbers of warps, and cpu";
    for (const char* word : {"left, all W", ">cpu<", "a machine"}) EXPECT_NE(svg.find(word), std::string::npos) << word;
    EXPECT_EQ(svg.find(">islu<"), std::string::npos);
}

TEST(ScatterChart, DrawsEveryPointThatCanBeDrawn)
{
    const auto nan = std::nan("");
    const auto svg = app::to_svg({.title = "a < b",
                                  .subtitle = "",
                                  .x = "measured, milliseconds",
                                  .y = "predicted, milliseconds",
                                  .series = {{"one", {{1, 2}, {0, 1}, {nan, 1}, {3, -1}}}, {"two", {{1e-3, 5}}}}});
    EXPECT_EQ(circles(svg), 2);
    for (const char* word :
         {"a &lt; b", "measured, milliseconds", "predicted, milliseconds", ">one<", ">two<", "stroke-dasharray"})
        EXPECT_NE(svg.find(word), std::string::npos) << word;
    EXPECT_EQ(svg.find("nan"), std::string::npos);
    const auto none = app::to_svg({.title = "", .subtitle = "", .x = "", .y = "", .series = {}});
    EXPECT_EQ(circles(none), 0);
    EXPECT_EQ(none.find("nan"), std::string::npos);
}

// --- the program ---------------------------------------------------------------------------------------------------

TEST_F(LabCli, LuModelRefusesWhatItDoesNotKnow)
{
    const std::string given = file("p.json", parameters_text()), bad = file("bad.json", "{\"clock\": 1}");
    const std::string A = "gallery:poisson2d:n=4";
    expect_refusal(1, {"lu-model"}, {"PATHS"});
    expect_refusal(1, {"lu-models"}, {"lu-model"});
    expect_refusal(1, {"lu-model", A, "--parameter", given}, {"--parameters"});
    expect_refusal(1, {"lu-model", A, "--device", "cpu"}, {"--parameters"});
    expect_refusal(1, {"lu-model", A, "--parameters", given, "--warps", "4,2"}, {"2 after 4"});
    expect_refusal(1, {"lu-model", A, "--parameters", given, "--warps", "0"}, {"warps"});
    expect_refusal(1, {"lu-model", A, "--parameters", given, "--warps", "1,,2"}, {"warps"});
    expect_refusal(1, {"lu-model", A, "--device", "cpu", "--parameters", given, "--warps", "64"}, {"32"});
    expect_refusal(1, {"lu-model", A, "--parameters", given, "--repetitions", "0"}, {"repetitions"});
    expect_refusal(2, {"lu-model", folder.file("nowhere"), "--parameters", given}, {"nowhere"});
    expect_refusal(2, {"lu-model", A, "--device", "cpu", "--parameters", folder.file("none.json")}, {"none.json"});
    expect_refusal(2, {"lu-model", A, "--device", "cpu", "--parameters", bad}, {"bad.json", "missing"});
    expect_refusal(2, {"lu-model", A, "--device", "cpu", "--parameters", given, "--svg", folder.file("no/such/a.svg")},
                   {"no/such"});
    if (gpu_count() > 0) return;
    expect_refusal(6, {"lu-model", A}, {""});
    expect_refusal(6, {"lu-model", A, "--device", "gpu", "--parameters", given}, {""});
}

TEST_F(LabCli, LuModelPredictsForAMadeUpDevice)
{
    const std::string given = file("p.json", parameters_text()), svg = folder.file("a.svg");
    const std::string singular = file("s.mtx", matrix("2 2 4\n1 1 1\n1 2 1\n2 1 1\n2 2 1\n"));
    const Result      result =
        ilux({"lu-model", "gallery:poisson2d:n=9", singular, "--device", "cpu", "--parameters", given, "--threads", "1",
              "--repetitions", "3", "--warps", "1,4,64", "--commit", "abc", "--json", "--svg", svg});
    ASSERT_EQ(result.code, 0) << result.err;
    const auto lines = lines_of(result.out);
    ASSERT_EQ(lines.size(), 4u) << result.out;
    expect_keys(lines[0], {"suite", "version", "commit", "command", "machine", "repetitions", "warps", "parameters"});
    EXPECT_EQ(lines[0]["suite"], "lu-model");
    EXPECT_EQ(lines[0]["warps"], (Json{1, 4})) << "64 do not fit";
    EXPECT_EQ(lines[0]["parameters"], app::to_json(DeviceParameters{}));
    const Json& found = lines[1];
    EXPECT_TRUE(found["error"].is_null()) << found["error"];
    EXPECT_EQ(found["n"], 81);
    ASSERT_EQ(found["left"].size(), 2u);
    for (const Json& one : found["left"]) {
        EXPECT_GT(one["predicted"], 0);
        EXPECT_FALSE(one.contains("measured"));
    }
    std::set<std::string> predicted;
    for (const Json& one : found["methods"]) {
        predicted.insert(one["method"]);
        EXPECT_GT(one["predicted"], 0) << one;
        EXPECT_EQ(one.contains("measured"), one["method"] == "cpu") << one;
    }
    EXPECT_EQ(predicted, (std::set<std::string>{"dataflow", "left", "glu1", "glu3", "islu", "cpu"}));
    EXPECT_TRUE(found["regret"]["warps"].is_null());
    EXPECT_NE(lines[2]["error"].get<std::string>().find("zero pivot"), std::string::npos);
    EXPECT_EQ(lines[3]["summary"]["methods"][0]["method"], "cpu");
    EXPECT_NE(read_bytes(svg).find("predicted, milliseconds"), std::string::npos);

    // What it printed is taken for parameters.
    const Result again =
        ilux({"lu-model", "gallery:poisson2d:n=9", "--device", "cpu", "--parameters", file("report.json", result.out),
              "--threads", "1", "--repetitions", "1", "--warps", "2"});
    EXPECT_EQ(again.code, 0) << again.err;
    for (const char* word : {"132 multiprocessors", "poisson2d", "left W 2", "glu3", "cpu: mean relative error"})
        EXPECT_NE(again.out.find(word), std::string::npos) << word << " is not in:\n" << again.out;
    EXPECT_EQ(ilux({"lu-model", singular, "--device", "cpu", "--parameters", given}).code, 3);
}

class GpuCliBenchLuModel : public LabCli {};

TEST_F(GpuCliBenchLuModel, MeasuresEveryNumberOfWarpsAndEveryMethod)
{
    ILUX_SKIP_WITHOUT_GPU();
    const Result result = ilux(
        {"lu-model", "gallery:poisson2d:n=60", "--threads", "1", "--repetitions", "3", "--warps", "1,8", "--json"});
    ASSERT_EQ(result.code, 0) << result.err;
    const auto lines = lines_of(result.out);
    ASSERT_EQ(lines.size(), 3u) << result.out;
    EXPECT_NO_THROW(app::parse_device_parameters(result.out, "report"));
    EXPECT_TRUE(lines[1]["error"].is_null()) << lines[1]["error"];
    for (const char* list : {"left", "methods"})
        for (const Json& one : lines[1][list]) {
            ASSERT_TRUE(one.contains("measured")) << one;
            // Within a factor of four: that predictions and measurements are of the same thing.
            EXPECT_LT(std::abs(std::log(one["predicted"].get<double>() / one["measured"].get<double>())), std::log(4.))
                << one;
        }
    EXPECT_FALSE(lines[1]["regret"]["warps"].is_null());
    EXPECT_FALSE(lines[1]["regret"]["method"].is_null());
}

}  // namespace
}  // namespace ilux

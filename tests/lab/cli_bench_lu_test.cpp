// ilux-lab lu, and the parts it is made of.

#include <algorithm>
#include <cmath>
#include <set>

#include "ilux/direct/factor/gilbert_peierls.hpp"
#include "ilux/direct/factor/levels.hpp"
#include "ilux/gallery/pde.hpp"
#include "ilux/lab/suites/bench_lu_report.hpp"
#include "ilux/lab/suites/published_dependencies.hpp"
#include "ilux/tests/apps/sequence_folder.hpp"
#include "ilux/tests/direct/dense_factors.hpp"
#include "ilux/tests/lab/lab_cli.hpp"

namespace ilux {
namespace {

using Json = nlohmann::ordered_json;
using Edges = std::vector<std::pair<Index, Index>>;

// --- the rule of GLU 2.0 -------------------------------------------------------------------------------------------

TEST(PublishedDependencies, OfTheWorkedExampleAreItsDoubleUs)
{
    // The figure of [peng_tan_20], by columns, counted from 0. L(t,i) ≠ 0 and U(i,k) ≠ 0 with k > t:
    const std::vector<std::vector<Index>> column{{0, 1, 2, 7}, {1, 2, 4}, {0, 1, 2, 4, 7}, {3, 5, 7},
                                                 {2, 4, 7},    {5, 7},    {3, 5, 6, 7},    {0, 1, 2, 4, 7}};
    test::Stored                          S(8, std::vector<char>(8));
    for (std::size_t k = 0; k < column.size(); ++k)
        for (const Index i : column[k]) S[i][k] = 1;
    const auto found = app::published_dependencies(test::pattern_of(S), 0);
    EXPECT_TRUE(found.complete);
    EXPECT_EQ(found.columns, 8);
    EXPECT_EQ(found.edges, (Edges{{1, 0}, {2, 0}, {2, 1}, {4, 1}, {4, 2}, {5, 3}}));
}

TEST(PublishedDependencies, LeadToTheLevelsOfTheExactRule)
{
    test::Random random(1);
    int          beyond_left = 0;
    for (int round = 0; round < 200; ++round) {
        const Index  n = 1 + random.below(50);
        test::Stored S = test::random_pattern(n, random.uniform(0, 3.0 / n), random);
        test::close_under_fill(S);
        const LuPattern P = test::pattern_of(S);
        // Column t waits for i where U(i,t) ≠ 0, or by the loops; for nothing that is never read: L(:,i), L(:,t) not
        // empty.
        std::set<std::pair<Index, Index>> edges;
        for (Index t = 0; t < n; ++t)
            for (Index i = 0; i < t; ++i)
                if (S[i][t] && P.lower_count(i) > 0) edges.emplace(t, i);
        const std::size_t left = edges.size();
        for (const auto& [t, i] : app::published_dependencies(P, 0).edges)
            if (P.lower_count(t) > 0) edges.emplace(t, i);
        beyond_left += edges.size() > left;
        std::vector<Index> level(n);
        for (const auto& [t, i] : edges) level[t] = std::max(level[t], level[i] + 1);
        ASSERT_EQ(lu_levels(P, DependencyRule::exact).level_of, level) << "round " << round;
    }
    EXPECT_GT(beyond_left, 50);  // else the loops were hardly needed
}

TEST(PublishedDependencies, AreGivenUpAtTheLimit)
{
    const auto A = gallery::poisson2d(40, 40);
    const auto F = gilbert_peierls(analyse(view(A)), A.val());
    const auto found = app::published_dependencies(*F.pattern, 1e-9);
    EXPECT_FALSE(found.complete);
    EXPECT_LT(found.columns, A.rows());
    EXPECT_GT(found.seconds, 0);
    EXPECT_TRUE(app::published_dependencies(test::pattern_of({}), 1e-9).complete);
}

// --- rates and ratios ----------------------------------------------------------------------------------------------

Json times(double seconds) { return {{"median", seconds}, {"least", 0.9 * seconds}, {"most", 1.2 * seconds}}; }

/// A matrix whose bound is that of its 1000 levels.
Json found_matrix(int n)
{
    Json found{{"name", "a<b>.mtx"}, {"source", "file"}, {"n", n},         {"nnz", 100},  {"nnz_LU", 1000},
               {"nnz_F", 3},         {"fill", 10.03},    {"flops", 5.2e6}, {"blocks", 2}, {"longest_column", 7},
               {"ordering", "amd"},  {"error", nullptr}};
    found["levels"] = {{"left", 1000},
                       {"exact", 1001},
                       {"relaxed", 1002},
                       {"resource_aware", 1003},
                       {"capacity", 1056}};
    found["methods"] = Json::array();
    return found;
}

void add_method(Json& found, const std::string& name, double seconds, int threads = 0)
{
    Json method{{"method", name},
                {"prepare", 1e-3},
                {"numeric", times(seconds)},
                {"solve", times(1e-4)},
                {"backward_error", 1e-16}};
    if (threads > 0) method["threads"] = threads;
    if (threads == 0 && name != "klu") {
        method["numeric"] = times(seconds / 2);
        method["cold"] = times(seconds);
        method["copy_bandwidth"] = 1e9;
        method["bytes"] = 2048;
    }
    found["methods"].push_back(method);
}

TEST(LuBenchRates, AreThoseOfAHandComputation)
{
    Json found = found_matrix(10);
    add_method(found, "auto", 5.2e-4);
    add_method(found, "cpu", 1e-3, 4);
    found["methods"].push_back({{"method", "islu"}, {"error", "out of memory"}});
    app::add_rates(found);
    const Json& gpu = found["methods"][0];
    EXPECT_DOUBLE_EQ(found["least_traffic"].get<double>(), 16 * 1000 + 8 * 100);
    EXPECT_DOUBLE_EQ(gpu["seconds"].get<double>(), 5.2e-4);  // cold
    EXPECT_NEAR(gpu["gflops"].get<double>(), 10, 1e-9);
    EXPECT_NEAR(gpu["bandwidth"].get<double>(), 16800 / 5.2e-4, 1);
    EXPECT_NEAR(gpu["over_bound"].get<double>(), 2, 1e-9);  // 1000 hops of 0.26 µs, more than 16.8 µs of traffic
    EXPECT_FALSE(found["methods"][1].contains("over_bound"));
    EXPECT_FALSE(found["methods"][2].contains("seconds"));

    found["levels"]["left"] = 1;  // now the traffic bounds
    app::add_rates(found);
    EXPECT_NEAR(found["methods"][0]["over_bound"].get<double>(), 5.2e-4 / 16.8e-6, 1e-9);
}

const Json* ratio(const Json& summary, const std::string& name)
{
    const auto row = std::ranges::find_if(summary, [&](const Json& one) { return one["ratio"] == name; });
    return row == summary.end() ? nullptr : &*row;
}

TEST(LuBenchSummary, TakesGeometricMeansOfWhatWasMeasured)
{
    Json small = found_matrix(100), large = found_matrix(50'000), broken = found_matrix(100);
    add_method(small, "cpu", 4e-3, 1);
    add_method(small, "cpu", 1e-3, 4);
    add_method(small, "auto", 1e-3);
    add_method(small, "left", 4e-3);
    add_method(small, "glu3", 2e-3);
    add_method(large, "cpu", 9e-3, 4);
    add_method(large, "auto", 1e-3);
    add_method(large, "islu", 8e-3);
    broken["methods"].push_back({{"method", "auto"}, {"error", "zero pivot"}});
    large["dependencies"] = {{"exact_by_relaxed", 1.25}, {"published_by_exact", 500}};
    Json all = Json::array({small, large, broken});
    for (Json& found : all) app::add_rates(found);
    const Json summary = app::summary_json(all);

    const Json* published = ratio(summary, "best published / auto");
    ASSERT_NE(published, nullptr);
    EXPECT_NEAR((*published)["mean"].get<double>(), 4, 1e-12);  // of 2 and 8
    EXPECT_NEAR((*published)["least"].get<double>(), 2, 1e-12);
    EXPECT_NEAR((*published)["most"].get<double>(), 8, 1e-12);
    EXPECT_EQ((*published)["matrices"], 2);
    EXPECT_NEAR((*ratio(summary, "cpu / auto"))["mean"].get<double>(), 3, 1e-12);  // of 1 and 9: the most threads
    EXPECT_NEAR((*ratio(summary, "cpu / auto, n > 30000"))["mean"].get<double>(), 9, 1e-12);
    EXPECT_NEAR((*ratio(summary, "cpu, 1 thread / cpu"))["mean"].get<double>(), 4, 1e-12);
    EXPECT_EQ((*ratio(summary, "dependencies: exact / relaxed"))["mean"], 1.25);
    EXPECT_EQ(ratio(summary, "klu / cpu"), nullptr);
    EXPECT_NE(app::lu_summary_lines(summary).find("best published / auto"), std::string::npos);
    EXPECT_EQ(app::lu_summary_lines(app::summary_json(Json::array())), "");
}

TEST(LuBenchReport, SaysWhatWasFoundAndWhyNot)
{
    Json found = found_matrix(50'000);
    add_method(found, "auto", 5.2e-4);
    add_method(found, "cpu", 1e-3, 4);
    found["methods"].push_back({{"method", "glu3"}, {"error", "ended by signal 6"}});
    found["methods"][0]["modes"] = {{"small_block", 3}, {"large_block", 4}, {"stream", 995}};
    found["dependencies"] = {{"exact", times(1e-3)},
                             {"relaxed", times(8e-4)},
                             {"published", {{"seconds", 5.0}, {"complete", false}, {"columns", 9}, {"double_u", 8}}},
                             {"exact_by_relaxed", 1.25},
                             {"published_by_exact", 5000.0}};
    found["ablation"] = Json::array({{{"name", "no streams"}, {"numeric", times(1)}, {"cold", times(2)}}});
    app::add_rates(found);
    found["methods"][1]["backward_error"] = nullptr;  // infinite
    const std::string text = app::lu_bench_lines(found);
    for (const char* word :
         {"n 50000", "left 1000", "at most 1056 columns 1003", "(1.25×)", "> 5000 ms (> 5000×", "auto", "0.5200",
          "cpu, 4 thr.", "2 kB", "ended by signal 6", "stream 995", "no streams 2000 ms", " 30 %"})
        EXPECT_NE(text.find(word), std::string::npos) << word << " is not in:\n" << text;
}

TEST(LuBenchReport, SaysHowARivalPrepared)
{
    Json found = found_matrix(9);
    add_method(found, "pardiso", 1e-3, 2);
    found["methods"][0].update(
        Json{{"version", "1.2"}, {"analyse", 5e-3}, {"factor", 7e-3}, {"nnz_LU", 123.0}, {"refine_steps", 2}});
    app::add_rates(found);
    const std::string text = app::lu_bench_lines(found);
    for (const char* word : {"pardiso, 2 thr.", "pardiso 1.2", "analysis 5.00 ms", "first factorization 7.00 ms",
                             "L + U 123", "steps of refinement 2"})
        EXPECT_NE(text.find(word), std::string::npos) << word << " is not in:\n" << text;
}

TEST(LuBenchChart, IsLogarithmic)
{
    Json found = found_matrix(10), empty = found_matrix(10);
    add_method(found, "auto", 1e-3);  // 1 ms, 10 ms and 100 ms
    add_method(found, "left", 1e-2);
    add_method(found, "klu", 1e-1);
    app::add_rates(found);
    const std::string   svg = app::lu_bench_chart(Json::array({found, empty}), "a machine");
    std::vector<double> heights;  // of bars, not of the legend's squares
    for (std::size_t p = svg.find("<rect x="); p != std::string::npos; p = svg.find("<rect x=", p + 1))
        if (svg.find("width=\"15.0\"", p) < svg.find("/>", p))
            heights.push_back(std::stod(svg.substr(svg.find("height=\"", p) + 8)));
    ASSERT_EQ(heights.size(), 3u);
    EXPECT_NEAR(heights[1] - heights[0], heights[2] - heights[1], 0.02);
    EXPECT_NEAR(heights[1], 2 * heights[0], 0.02);  // the axis begins a power of ten below the shortest
    EXPECT_NE(svg.find("a&lt;b&gt;"), std::string::npos);
    EXPECT_NE(app::lu_bench_chart(Json::array(), "a machine").find("</svg>"), std::string::npos);
}

// --- the suite -----------------------------------------------------------------------------------------------------

TEST_F(LabCli, LuRefusesWhatItDoesNotKnow)
{
    EXPECT_NE(ilux({"--help"}).out.find("  lu "), std::string::npos);
    EXPECT_EQ(ilux({"lu", "--help"}).code, 0);
    expect_refusal(1, {"lu", "--methods", "glu4"}, {"'glu4'", "did you mean 'glu"});
    expect_refusal(1, {"lu", "--methods", ""}, {"--methods", "''"});
    expect_refusal(1, {"lu", "--repetitions", "0"}, {"repetitions=0"});
    expect_refusal(1, {"lu", "--loop-limit", "0"}, {"loop-limit=0"});
    expect_refusal(1, {"lu", "--device", "cup"}, {"auto|cpu|gpu"});
    expect_refusal(1, {"lu", "--steps", "foo"}, {"--steps", "--in-process"});
    expect_refusal(2, {"lu", folder.file("nowhere")}, {"nowhere"});
    expect_refusal(2, {"lu", "--svg", folder.file("no/such/a.svg")}, {"no/such"});
}

TEST_F(LabCli, LuMeasuresFilesSequencesAndTheGalleryOnTheCpu)
{
    // Block triangular: {1}, {2, 3} with one multiplier; L + U has 1 + 4 entries, F one. 2 flops and 1 division.
    const std::string      A = file("A.mtx", matrix("3 3 6\n1 1 2\n1 2 1\n2 2 4\n2 3 1\n3 2 2\n3 3 3\n"));
    const test::TempFolder series;
    // The first is dominant, the second not: its pivots are those of the first.
    const std::string sequence = test::write_series(series, {4, 1, 1, 4, 2, 1, 3, 4}, {1, 1, 3, 7});
    const std::string svg = folder.file("a.svg");
    const auto json = this->json({"lu", A, sequence, "gallery:poisson2d:n=9", "--device", "cpu", "--threads", "2",
                                  "--repetitions", "3", "--commit", "abc", "--json", "--svg", svg});
    expect_keys(json, {"suite", "version", "commit", "command", "machine", "repetitions", "unavailable", "matrices",
                       "summary"});
    EXPECT_EQ(json["suite"], "lu");
    EXPECT_EQ(json["commit"], "abc");
    std::set<std::string> unavailable;
    for (const auto& one : json["unavailable"]) {
        unavailable.insert(one["method"]);
        EXPECT_NE(one["reason"], "");
    }
    for (const char* method : {"auto", "left", "glu1", "glu3", "islu"}) EXPECT_TRUE(unavailable.contains(method));
    ASSERT_EQ(json["matrices"].size(), 3u);
    for (const auto& found : json["matrices"]) {
        EXPECT_TRUE(found["error"].is_null()) << found;
        ASSERT_EQ(found["methods"].size(), unavailable.contains("klu") ? 2 : 3);
        for (const auto& method : found["methods"]) {
            expect_keys(method, {"method", "prepare", "numeric", "solve", "backward_error", "seconds", "gflops"});
            EXPECT_LE(method["backward_error"].get<double>(), 1e-14) << found["name"] << method;
            EXPECT_LE(method["numeric"]["least"], method["numeric"]["median"]);
            EXPECT_LE(method["numeric"]["median"], method["numeric"]["most"]);
        }
        EXPECT_EQ(found["methods"][0]["threads"], 1);
        EXPECT_EQ(found["methods"][1]["threads"], 2);
        EXPECT_TRUE(found["dependencies"]["published"]["complete"]);
    }
    const auto& small = json["matrices"][0];
    EXPECT_EQ(small["source"], "file");
    EXPECT_EQ(small["nnz_LU"], 5);
    EXPECT_EQ(small["nnz_F"], 1);
    EXPECT_EQ(small["flops"], 3);
    EXPECT_EQ(small["blocks"], 2);
    EXPECT_EQ(small["longest_column"], 1);
    for (const char* rule : {"left", "exact", "relaxed", "resource_aware"}) EXPECT_EQ(small["levels"][rule], 2) << rule;
    EXPECT_EQ(json["matrices"][1]["source"], "sequence");
    EXPECT_EQ(json["matrices"][2]["source"], "gallery");
    EXPECT_NE(read_bytes(svg).find("poisson2d"), std::string::npos);
}

TEST_F(LabCli, LuMeasuresComplexSystemsBesideRealOnesOfTheSamePattern)
{
    const std::string A = file("z.mtx",
                               "%%MatrixMarket matrix coordinate complex general\n3 3 6\n1 1 2 1\n1 2 1 0\n2 2 4 -1\n"
                               "2 3 1 2\n3 2 2 0\n3 3 3 3\n");
    const auto  json = this->json({"lu", A, "gallery:poisson2d:n=9", "--device", "cpu", "--threads", "1", "--methods",
                                   "cpu,klu", "--repetitions", "3", "--json"});
    const auto& found = json["matrices"][0];
    EXPECT_TRUE(found["error"].is_null()) << found;
    EXPECT_TRUE(found["complex"].get<bool>());
    EXPECT_EQ(found["nnz_LU"], 5);
    EXPECT_EQ(found["flops"], 3) << "complex operations";
    for (const auto& method : found["methods"]) EXPECT_LE(method["backward_error"].get<double>(), 1e-14) << method;
    EXPECT_GT(found["methods"][0]["real"]["median"].get<double>(), 0);
    EXPECT_DOUBLE_EQ(found["methods"][0]["gflops"].get<double>() * found["methods"][0]["seconds"].get<double>(), 12e-9);
    EXPECT_FALSE(json["matrices"][1]["complex"].get<bool>());
    EXPECT_FALSE(json["matrices"][1]["methods"][0].contains("real"));
    int ratios = 0;
    for (const auto& row : json["summary"]) {
        if (row["ratio"] != "complex / real, cpu, 1 thread") continue;
        ++ratios;
        EXPECT_EQ(row["matrices"], 1);
        EXPECT_DOUBLE_EQ(row["mean"].get<double>(), found["methods"][0]["seconds"].get<double>() /
                                                        found["methods"][0]["real"]["median"].get<double>());
    }
    EXPECT_EQ(ratios, 1);
}

TEST_F(LabCli, LuPutsOtherSolversBesideOursOrSaysWhyNot)
{
    const std::string complex =
        file("z.mtx",
             "%%MatrixMarket matrix coordinate complex general\n3 3 6\n1 1 2 1\n1 2 1 0\n2 2 4 -1\n"
             "2 3 1 2\n3 2 2 0\n3 3 3 3\n");
    const test::TempFolder series;
    // Of the second system, so that factors of the first would show.
    const std::string     sequence = test::write_series(series, {4, 1, 1, 4, 2, 1, 3, 4}, {1, 1, 3, 7});
    const std::string     svg = folder.file("rivals.svg");
    const auto            json = this->json({"lu", sequence, complex, "gallery:convdiff2d:n=12", "--methods",
                                             "klu,cudss,supernodes_gpu,pardiso,umfpack,superlu", "--device", "cpu", "--threads",
                                             "2", "--repetitions", "3", "--json", "--svg", svg});
    std::set<std::string> unavailable, measured;
    for (const auto& one : json["unavailable"]) {
        unavailable.insert(one["method"]);
        EXPECT_NE(one["reason"], "");
    }
    EXPECT_TRUE(unavailable.contains("cudss") && unavailable.contains("supernodes_gpu"));
    for (const auto& found : json["matrices"]) {
        EXPECT_TRUE(found["error"].is_null()) << found["error"];
        EXPECT_FALSE(found.contains("nnz_LU")) << "we factored";
        ASSERT_EQ(found["methods"].size() + unavailable.size(), 6u);
        for (const auto& method : found["methods"]) {
            measured.insert(method["method"]);
            expect_keys(method, {"version", "analyse", "factor", "prepare", "numeric", "solve", "nnz_LU", "bytes",
                                 "backward_error", "refine_steps", "seconds"});
            EXPECT_LE(method["backward_error"].get<double>(), 1e-10) << found["name"] << method;
            EXPECT_GE(method["nnz_LU"].get<double>(), found["n"].get<double>());
            EXPECT_DOUBLE_EQ(method["prepare"].get<double>(),
                             method["analyse"].get<double>() + method["factor"].get<double>());
        }
    }
    const std::string chart = read_bytes(svg);
    for (const char* name : {"pardiso", "umfpack", "superlu"}) {
        EXPECT_NE(measured.contains(name), unavailable.contains(name)) << name;
        EXPECT_EQ(chart.find(name) != std::string::npos, measured.contains(name)) << name;
    }
}

TEST_F(LabCli, LuGoesOnAfterAMatrixThatCannotBeUsed)
{
    const std::string singular = file("s.mtx", matrix("2 2 4\n1 1 1\n1 2 1\n2 1 1\n2 2 1\n"));
    const std::string cut = file("c.mtx", matrix("2 2 9\n1 1 1\n"));
    const auto json = this->json({"lu", singular, cut, "gallery:poisson2d:n=4", "--methods", "cpu", "--device", "cpu",
                                  "--threads", "1", "--json"});
    EXPECT_NE(json["matrices"][0]["error"].get<std::string>().find("zero pivot"), std::string::npos);
    EXPECT_NE(json["matrices"][1]["error"].get<std::string>().find("c.mtx"), std::string::npos);
    EXPECT_EQ(json["matrices"][2]["methods"].size(), 1u);
    EXPECT_EQ(ilux({"lu", singular, "--methods", "cpu", "--device", "cpu"}).code, 3);
}

TEST_F(LabCli, LuSaysInTextWhatItDoesNotMeasure)
{
    const Result result =
        ilux({"lu", "gallery:poisson2d:n=5", "--device", "cpu", "--threads", "1", "--repetitions", "1", "--ablation"});
    EXPECT_EQ(result.code, 0) << result.err;
    for (const char* word : {"glu1", "ablation (--device cpu)", "poisson2d:n=5 (gallery), n 25", "levels: left",
                             "dependencies: exact", "cpu, 1 thr.", "Ratios of times"})
        EXPECT_NE(result.out.find(word), std::string::npos) << word << " is not in:\n" << result.out;
    EXPECT_EQ(ilux({"lu", "gallery:poisson2d:n=5", "--device", "cpu", "--methods", "left"}).code, 3);
    EXPECT_EQ(result.out.find("umfpack"), std::string::npos) << "not asked for";
}

TEST_F(LabCli, LuEndsAStepAtTheTimeLimitAndMeasuresTheOthers)
{
    // The loops of GLU 2.0 take some fifty times as long here as loading, factoring and the method.
    const auto done = ilux({"lu", "gallery:poisson3d:n=22", "--methods", "cpu", "--device", "cpu", "--threads", "1",
                            "--repetitions", "1", "--loop-limit", "1e6", "--time-limit", "4", "--json"});
    const auto json = nlohmann::json::parse(done.out, nullptr, false);
    ASSERT_TRUE(json.contains("matrices")) << done.out << done.err;
    const auto& found = json["matrices"][0];
    const char* late = "ended after the time limit of 4 s";
    if (found["error"] == late) GTEST_SKIP()
    << "so slow a machine that the factorization itself " << late;
    EXPECT_TRUE(found["error"].is_null()) << found["error"];
    EXPECT_EQ(done.code, 0) << done.err;
    EXPECT_EQ(found["dependencies"].value("error", "none"), late);
    ASSERT_EQ(found["methods"].size(), 1u);
    EXPECT_TRUE(found["methods"][0].contains("seconds")) << found["methods"];
}

class GpuCliBenchLu : public LabCli {};

TEST_F(GpuCliBenchLu, MeasuresEveryMethodAndTheAblation)
{
    ILUX_SKIP_WITHOUT_GPU();
    const auto  json = this->json({"lu", "gallery:poisson2d:n=30", "--device", "gpu", "--threads", "1", "--repetitions",
                                   "3", "--ablation", "--json"});
    const auto& found = json["matrices"][0];
    EXPECT_TRUE(found["error"].is_null()) << found["error"];
    std::set<std::string> measured;
    for (const auto& method : found["methods"]) {
        measured.insert(method["method"]);
        ASSERT_TRUE(method.contains("numeric")) << method;
        EXPECT_LE(method["backward_error"].get<double>(), 1e-14) << method;
        if (method["method"] == "cpu" || method["method"] == "klu") continue;
        expect_keys(method,
                    {"first_prepare", "prepare", "transfer", "cold", "solve", "bytes", "over_bound", "refine_steps"});
        EXPECT_GT(method["over_bound"].get<double>(), 0.1) << method;
    }
    for (const char* method : {"auto", "left", "glu1", "glu3", "islu", "cpu"}) EXPECT_TRUE(measured.contains(method));
    EXPECT_EQ(found["ablation"].size(), 3u);
    EXPECT_GT(found["bound"]["seconds"].get<double>(), 0);
}

TEST_F(GpuCliBenchLu, MeasuresSupernodesWithoutFactorsByEntries)
{
    ILUX_SKIP_WITHOUT_GPU();
    const auto  json = this->json({"lu", "gallery:convdiff2d:n=60", "--methods", "supernodes_gpu", "--threads", "1",
                                   "--repetitions", "3", "--json"});
    const auto& found = json["matrices"][0];
    EXPECT_TRUE(found["error"].is_null()) << found["error"];
    EXPECT_FALSE(found.contains("nnz_LU"));
    ASSERT_EQ(found["methods"].size(), 1u);
    const auto& method = found["methods"][0];
    expect_keys(method, {"analyse", "factor", "prepare", "transfer", "numeric", "cold", "solve", "solve_cold", "nnz_LU",
                         "bytes", "backward_error", "perturbed_pivots"});
    EXPECT_LE(method["backward_error"].get<double>(), 1e-13);
}

}  // namespace
}  // namespace ilux

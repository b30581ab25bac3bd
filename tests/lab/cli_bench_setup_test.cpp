// ilux-lab setup, and the parts it is made of.

#include <algorithm>
#include <set>

#include "ilux/base/gpu/gpu.hpp"
#include "ilux/gallery/pde.hpp"
#include "ilux/lab/rivals/setup_rivals.hpp"
#include "ilux/lab/suites/bench_setup_measure.hpp"
#include "ilux/lab/suites/bench_setup_report.hpp"
#include "ilux/tests/apps/well_formed.hpp"
#include "ilux/tests/lab/lab_cli.hpp"

namespace ilux {
namespace {

using Json = nlohmann::ordered_json;

// --- the ways ------------------------------------------------------------------------------------------------------

std::vector<std::string> texts(const std::vector<app::SetupWay>& ways)
{
    std::vector<std::string> all;
    for (const app::SetupWay& way : ways) all.push_back(way.text());
    return all;
}

TEST(SetupWays, DoubleTheThreadsOfRoundsUpToAllOfThem)
{
    using Texts = std::vector<std::string>;
    const Texts both{"crout", "rounds"};
    EXPECT_EQ(texts(app::setup_ways(both, 1, false, {})), (Texts{"crout:1", "rounds:1"}));
    EXPECT_EQ(texts(app::setup_ways(both, 6, true, {"amgcl"})),
              (Texts{"crout:1", "crout:6", "rounds:1", "rounds:2", "rounds:4", "rounds:6", "crout:gpu", "rounds:gpu",
                     "amgcl"}));
    EXPECT_EQ(texts(app::setup_ways({"auto"}, 4, false, {})), (Texts{"auto:1", "auto:2", "auto:4"}));
}

TEST(SetupWays, AreReadAsTheyAreWritten)
{
    for (const char* text : {"crout:1", "rounds:16", "rounds:gpu"}) EXPECT_EQ(app::parse_setup_way(text).text(), text);
    for (const char* text : {"", "round:1", "rounds:", "rounds:0", "rounds:x", "eigen"})
        EXPECT_THROW(app::parse_setup_way(text), InvalidOption) << text;
}

// --- the rivals ----------------------------------------------------------------------------------------------------

TEST(SetupRivals, SolveOrSayHowToGetThem)
{
    const auto                A = gallery::convdiff2d({.n = 12});
    const std::vector<double> b(static_cast<std::size_t>(A.rows()), 1.);
    const app::RivalTask      task{.A = A, .b = b};
    for (const app::Rival& rival : app::setup_rivals()) {
        EXPECT_NE(rival.about(), "");
        if (const std::string why = rival.why_not(); !why.empty()) {
            EXPECT_NE(why.find("configure"), std::string::npos) << why;
            EXPECT_THROW((void)rival.solve(task), InvalidInput) << rival.name;
            EXPECT_THROW(app::find_rival(rival.name), InvalidOption);
            continue;
        }
        if (rival.on_gpu && gpu_count() == 0) {
            EXPECT_THROW((void)rival.solve(task), DeviceError) << rival.name;
            continue;
        }
        const app::RivalAnswer answer = app::find_rival(rival.name).solve(task);
        ASSERT_EQ(answer.x.size(), b.size()) << rival.name;
        EXPECT_LE(measure(A, answer.x, b).relative_residual, 1e-7) << rival.name;
        EXPECT_GT(answer.steps, 0);
        EXPECT_GT(answer.factor, 0);
        EXPECT_TRUE(std::isnan(answer.fill) || answer.fill > 0.5) << answer.fill;
    }
}

// --- the report ----------------------------------------------------------------------------------------------------

Json way(const std::string& name, double setup, double solve, const char* outcome = "converged")
{
    Json row{{"way", name}, {"fill", 2.5}, {"levels", 3},        {"rounds", nullptr},
             {"steps", 17}, {"runs", 3},   {"outcome", outcome}, {"relative_residual", 3e-9}};
    row["seconds"] = {{"analyse", setup / 4}, {"factor", setup / 2},   {"sets", setup / 8},   {"eliminate", setup / 8},
                      {"assemble", 0.0},      {"tail", 0.0},           {"transfer", nullptr}, {"setup", setup},
                      {"solve", solve},       {"total", setup + solve}};
    return row;
}

Json found_system(std::vector<Json> ways)
{
    Json found{{"name", "gallery:a<b>:n=3"}, {"n", 10}, {"nnz", 40}, {"rhs", "random:1"}, {"error", nullptr}};
    found["ways"] = std::move(ways);
    return found;
}

TEST(SetupBenchReport, SaysWhatWasFoundAndWhyNot)
{
    const Json        found = found_system({way("rounds:4", 0.4, 0.0125), way("crout:gpu", 4, 1, "max_steps"),
                                            Json{{"way", "eigen-ilut"}, {"error", "ended by signal 9"}}});
    const std::string text = app::setup_bench_lines(found);
    for (const char* words : {"n 10, nnz 40, b random:1", "rounds, 4 threads", "crout, GPU", "400", "12.5", "413",
                              "2.50", "3.0e-09  max_steps", "eigen-ilut", "ended by signal 9"})
        EXPECT_NE(text.find(words), std::string::npos) << words << " is not in:\n" << text;
    EXPECT_NE(app::setup_bench_head("GMRES(30)", 1e-8).find("GMRES(30) from x = 0 to 1e-08"), std::string::npos);
}

TEST(SetupBenchChart, StacksThePhasesOfEveryWay)
{
    const Json        findings = Json::array({found_system({way("crout:1", 1, 1), way("rounds:1", 0.5, 0.5)}),
                                              found_system({way("rounds:1", 0.5, 0.5, "max_steps"), way("amgcl", 5, 5)}),
                                              found_system({Json{{"way", "crout:1"}, {"error", "no memory"}}})});
    const std::string svg = app::setup_bench_chart(findings, "a machine");
    EXPECT_EQ(why_not_xml(svg), "");
    for (const char* words : {"a: crout, 1 thread", "b: rounds, 1 thread", "c: amgcl", ">b!<", "a&lt;b&gt;", "2000 ms"})
        EXPECT_NE(svg.find(words), std::string::npos) << words;
    EXPECT_EQ(why_not_xml(app::setup_bench_chart(Json::array(), "")), "");
}

// --- the suite -----------------------------------------------------------------------------------------------------

class BenchSetup : public LabCli {};

TEST_F(BenchSetup, TimesEveryPhaseOfEveryWay)
{
    const std::string svg = folder.file("a.svg");
    const auto json = this->json({"setup", "gallery:convdiff3d:n=12", "gallery:recirculating2d:n=30", "--device", "cpu",
                                  "--threads", "2", "--runs", "2", "--commit", "abc", "--json", "--svg", svg});
    expect_keys(json,
                {"suite", "version", "commit", "command", "machine", "no_gpu", "runs", "options", "rivals", "systems"});
    EXPECT_EQ(json["suite"], "setup");
    EXPECT_EQ(json["commit"], "abc");
    EXPECT_EQ(json["no_gpu"], "--device cpu");
    EXPECT_EQ(json["options"]["rhs"], "random:1");
    ASSERT_EQ(json["systems"].size(), 2u);
    for (const auto& found : json["systems"]) {
        EXPECT_TRUE(found["error"].is_null()) << found["error"];
        expect_keys(found, {"name", "n", "nnz", "symmetric", "rhs"});
        std::vector<std::string> ways;
        for (const auto& row : found["ways"]) {
            ways.push_back(row["way"]);
            expect_keys(row, {"setup", "device", "threads", "runs", "fill", "levels", "rounds", "bytes", "steps",
                              "detail", "relative_residual", "backward_error", "decisions"});
            EXPECT_EQ(row["outcome"], "converged") << row;
            EXPECT_LE(row["relative_residual"].get<double>(), 1e-8);
            EXPECT_EQ(row["runs"], 2);
            EXPECT_GT(row["steps"], 0);
            EXPECT_EQ(row["rounds"].get<int>() > 0, row["setup"] == "rounds");
            const auto& seconds = row["seconds"];
            expect_keys(seconds, {"analyse", "factor", "sets", "eliminate", "assemble", "tail", "transfer", "setup",
                                  "solve", "total", "setup_least", "setup_most"});
            EXPECT_EQ(seconds["eliminate"].get<double>() > 0, row["setup"] == "rounds");
            EXPECT_EQ(seconds["transfer"], 0);
            EXPECT_LE(seconds["setup_least"], seconds["setup"]);
            EXPECT_LE(seconds["setup"], seconds["setup_most"]);
            EXPECT_GE(seconds["total"], seconds["solve"]);
        }
        EXPECT_EQ(ways, (std::vector<std::string>{"crout:1", "crout:2", "rounds:1", "rounds:2"}));
    }
    EXPECT_NE(read_bytes(svg).find("convdiff3d:n=12"), std::string::npos);
}

TEST_F(BenchSetup, JudgesRivalsItself)
{
    const std::string name = "eigen-ilut";
    if (!app::why_no_eigen().empty()) GTEST_SKIP()
    << app::why_no_eigen();
    const auto json = this->json({"setup", "gallery:convdiff3d:n=10", "--device", "cpu", "--threads", "1", "--runs",
                                  "1", "--setups", "rounds", "--rival", name, "--rtol", "1e-6", "--json"});
    EXPECT_EQ(json["rivals"][0]["name"], name);
    EXPECT_NE(json["rivals"][0]["about"].get<std::string>().find("IncompleteLUT"), std::string::npos);
    const auto& row = json["systems"][0]["ways"][1];
    EXPECT_EQ(row["way"], name);
    EXPECT_TRUE(row["seconds"]["sets"].is_null());
    EXPECT_GT(row["seconds"]["factor"].get<double>(), 0);
    EXPECT_GT(row["fill"].get<double>(), 0);
    EXPECT_EQ(row["outcome"] == "converged", row["relative_residual"].get<double>() <= 1e-6);
}

TEST_F(BenchSetup, PrintsATableAndGoesOnAfterWhatCannotBeRead)
{
    const std::string cut = file("c.mtx", matrix("2 2 9\n1 1 1\n"));
    const Result result = ilux({"setup", cut, "gallery:poisson2d:n=12", "--device", "cpu", "--threads", "1", "--runs",
                                "1", "--setups", "auto"});
    EXPECT_EQ(result.code, 0) << result.err;
    for (const char* words : {"no rows of a GPU: --device cpu", "c.mtx", "poisson2d:n=12: n 144", "auto, 1 thread"})
        EXPECT_NE(result.out.find(words), std::string::npos) << words << " is not in:\n" << result.out;
    EXPECT_EQ(ilux({"setup", cut, "--device", "cpu"}).code, 3);
}

TEST_F(BenchSetup, RefusesWhatItCannotMeasure)
{
    EXPECT_NE(ilux({"--help"}).out.find("  setup "), std::string::npos);
    const Result help = ilux({"setup", "--help-all"});
    EXPECT_EQ(help.code, 0);
    EXPECT_NE(help.out.find("eigen-ilut"), std::string::npos);
    expect_refusal(1, {"setup", "--rival", "eigen-ilu"}, {"'eigen-ilu'", "did you mean 'eigen-ilut'"});
    expect_refusal(1, {"setup", "--rival", "ilupack"}, {"'ilupack'", "there are eigen-ilut"});
    if (!app::why_no_amgcl().empty())
        expect_refusal(1, {"setup", "--rival", "amgcl"}, {"--rival amgcl", "-D AMGCL_ROOT="});
    if (!app::why_no_amgx().empty())
        expect_refusal(1, {"setup", "--rival", "amgx-cg"}, {"--rival amgx-cg", "-D AMGX_ROOT="});
    if (!app::why_no_hypre().empty())
        expect_refusal(1, {"setup", "--rival", "hypre-cg"}, {"--rival hypre-cg", "-D HYPRE_ROOT="});
    expect_refusal(1, {"setup", "--setups", "round"}, {"setups=round", "crout|rounds"});
    expect_refusal(1, {"setup", "--runs", "0"}, {"runs=0"});
    expect_refusal(1, {"setup", "--method", "lu"}, {"method=lu", "gmres, fgmres, bicgstab or cg"});
    expect_refusal(1, {"setup", "-p", "precond.setup=rounds"}, {"--setups"});
    expect_refusal(1, {"setup", "--rhs", "-"}, {"standard input"});
    expect_refusal(1, {"setup", "--device", "cup"}, {"auto|cpu|gpu"});
    expect_refusal(2, {"setup", folder.file("nowhere")}, {"nowhere"});
}

TEST_F(LabCli, SetupMeasuresTheStepsNamedAlone)
{
    const auto json = this->json(
        {"setup", "gallery:convdiff3d:n=8", "--device", "cpu", "--steps", "rounds:1,crout:2", "--runs", "1", "--json"});
    const auto& ways = json["systems"][0]["ways"];
    ASSERT_EQ(ways.size(), 2U);
    EXPECT_EQ(ways[0]["way"], "rounds:1");
    EXPECT_EQ(ways[1]["way"], "crout:2");
    EXPECT_EQ(json["rivals"].size(), 0U);
    expect_refusal(1, {"setup", "--steps", "nothing"}, {"--steps: 'nothing'", "SETUP:THREADS"});
    expect_refusal(1, {"setup", "--steps", "rounds:1", "--setups", "crout"}, {"--steps", "--setups"});
    expect_refusal(1, {"setup", "--steps", "rounds:gpu", "--device", "cpu"}, {"--steps rounds:gpu", "cpu"});
    expect_refusal(1, {"setup", "--in-process"}, {"--in-process", "--steps"});
}

class GpuBenchSetup : public LabCli {};

TEST_F(GpuBenchSetup, MeasuresTheGpuBesideTheHost)
{
    ILUX_SKIP_WITHOUT_GPU();
    const auto json =
        this->json({"setup", "gallery:convdiff3d:n=12", "--device", "gpu", "--threads", "1", "--runs", "1", "--json"});
    std::set<std::string> ways;
    for (const auto& row : json["systems"][0]["ways"]) {
        ways.insert(row["way"]);
        EXPECT_EQ(row["outcome"], "converged") << row;
        EXPECT_EQ(row["seconds"]["transfer"].get<double>() > 0, row["device"] == "gpu");
    }
    EXPECT_EQ(ways, (std::set<std::string>{"crout:1", "rounds:1", "crout:gpu", "rounds:gpu"}));
}

}  // namespace
}  // namespace ilux

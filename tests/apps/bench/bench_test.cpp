// ilux bench, and the parts it is made of.

#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>

#include "ilux/apps/bench/bench_gmres_report.hpp"
#include "ilux/apps/draw/bar_chart.hpp"
#include "ilux/apps/program/child.hpp"
#include "ilux/tests/apps/cli.hpp"
#include "ilux/tests/apps/well_formed.hpp"

namespace ilux {
namespace {

int count(const std::string& text, const std::string& word)
{
    int found = 0;
    for (std::size_t p = text.find(word); p != std::string::npos; p = text.find(word, p + 1)) ++found;
    return found;
}

TEST(WellFormed, TellsGoodFromBad)
{
    EXPECT_EQ(why_not_xml("<a b=\"1\"><c/>x &lt; y</a>\n"), "");
    for (const char* bad : {"<a>", "<a></b>", "<a/><b/>", "x<a/>", "<a>x & y</a>", "<a b=\"1></a>", "</a>", ""})
        EXPECT_NE(why_not_xml(bad), "") << bad;
}

// --- the chart -----------------------------------------------------------------------------------------------------

TEST(BarChart, IsWellFormedWhateverTheNamesHold)
{
    const std::string awkward = "a<b>&\"c\"\n\x01";
    app::BarChart     chart{.title = awkward,
                            .subtitle = awkward,
                            .axis = awkward,
                            .parts = {awkward, "M⁻¹"},
                            .notes = {awkward},
                            .groups = {{awkward, {{awkward, awkward, {0.5, 0.25}}}}},
                            .top = 1};
    EXPECT_EQ(why_not_xml(app::to_svg(chart)), "");
    chart.groups = {};
    EXPECT_EQ(why_not_xml(app::to_svg(chart)), "");
}

TEST(BarChart, DrawsARectangleForEveryPartThatShows)
{
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const auto   rectangles = [](std::vector<double> parts) {
        const app::BarChart chart{.title = "",
                                    .subtitle = "",
                                    .axis = "",
                                    .parts = {},
                                    .groups = {{"g", {{"a", "", std::move(parts)}}}}};
        return count(app::to_svg(chart), "<rect") - 1;  // the background
    };
    EXPECT_EQ(rectangles({}), 0);
    EXPECT_EQ(rectangles({0.25, 0.25, 0.5}), 3);
    EXPECT_EQ(rectangles({0.25, 0, nan, -1}), 1);
    EXPECT_EQ(rectangles({0.5, 2, 1}), 3);  // two show, and the gap of a bar that goes on
}

TEST(BarChart, HeightsAreTheParts)
{
    const app::BarChart chart{.title = "",
                              .subtitle = "",
                              .axis = "",
                              .parts = {},
                              .groups = {{"g", {{"a", "", {0.25, 0.5}}}}},
                              .top = 1};
    const std::string   svg = app::to_svg(chart);
    std::vector<double> heights;
    for (std::size_t p = svg.find("<rect x="); p != std::string::npos; p = svg.find("<rect x=", p + 1))
        heights.push_back(std::stod(svg.substr(svg.find("height=\"", p) + 8)));
    ASSERT_EQ(heights.size(), 2u);
    EXPECT_DOUBLE_EQ(heights[1], 2 * heights[0]);
}

// --- the report ----------------------------------------------------------------------------------------------------

/// A matrix measured by all variants: stages of 1, 2, 3 and 4 ms, doubled for c and quadrupled for b and a.
nlohmann::ordered_json findings()
{
    nlohmann::ordered_json found;
    found["name"] = "lung2";
    found["paper"] = {{"steps", 4}, {"precond", 2.11}, {"ortho", 1.45}, {"total", 1.6}};
    found["source"] = "real";
    found["n"] = 3;
    found["nnz"] = 7;
    found["setup"] = found["variants"] = nlohmann::ordered_json::array();
    found["error"] = nullptr;
    const std::pair<const char*, const char*> all[] = {{"d", "best"},
                                                       {"c", "proposal"},
                                                       {"b", "baseline"},
                                                       {"a", "cpu"}};
    double                                    ms = 1e-3;
    for (const auto& [letter, name] : all) {
        found["variants"].push_back(
            {{"letter", letter},
             {"name", name},
             {"outcome", "converged"},
             {"steps", 5},
             {"relative_residual", 1e-9},
             {"seconds",
              {{"spmv", ms}, {"precond", 2 * ms}, {"ortho", 3 * ms}, {"other", 4 * ms}, {"total", 10 * ms}}}});
        if (ms < 4e-3) ms *= 2;
    }
    return found;
}

TEST(BenchReport, GainsAreAgainstTheBaseline)
{
    std::istringstream lines(app::bench_lines(findings()));
    std::string        line, head;
    std::getline(lines, head);
    EXPECT_NE(head.find("lung2 (real), n 3, nnz 7; paper: 4 steps"), std::string::npos) << head;
    const std::pair<const char*, int> wanted[] = {{"  a", 3},
                                                  {"  b", 0},
                                                  {"  c", 3},
                                                  {"  d", 3}};  // and how many gains
    for (const auto& [letter, gains] : wanted) {
        std::getline(lines, line);
        EXPECT_TRUE(line.starts_with(letter)) << line;
        EXPECT_EQ(count(line, "×"), gains) << line;
    }
    EXPECT_EQ(count(line, "4.00×"), 3) << line;  // d, in M⁻¹, orthogonalization and in all
    EXPECT_NE(line.find("10.0"), std::string::npos) << line;
}

TEST(BenchReport, ChartHoldsABarForEveryVariantAndNoneForWhatFailed)
{
    auto all = nlohmann::ordered_json::array({findings(), findings()});
    all[1]["variants"][0] = {{"letter", "d"}, {"name", "best"}, {"error", "out of memory"}};
    const std::string svg = app::bench_chart(all, "machine");
    EXPECT_EQ(why_not_xml(svg), "");
    EXPECT_EQ(count(svg, "<rect x="), 4 + (4 + 3) * 4);  // the legend, and four stages a bar
    EXPECT_NE(app::bench_lines(all[1]).find("  d  out of memory"), std::string::npos);
    EXPECT_EQ(why_not_xml(app::bench_chart(nlohmann::ordered_json::array(), "machine")), "");
}

// --- the process of its own ----------------------------------------------------------------------------------------

TEST(RunSelf, PassesOnEveryLineAndTellsHowItEnded)
{
    std::vector<std::string> lines;  // this very program, asked for its tests
    EXPECT_EQ(app::run_self({"--gtest_list_tests"}, 60, [&](std::string_view line) { lines.emplace_back(line); }), "");
    EXPECT_NE(std::ranges::find(lines, "RunSelf."), lines.end());
}

// --- the suite -----------------------------------------------------------------------------------------------------

TEST_F(Cli, BenchListsItsSuitesAndRefusesOthers)
{
    const Result help = ilux({"bench", "--help"});
    EXPECT_EQ(help.code, 0);
    EXPECT_NE(help.out.find("ilupack-gmres"), std::string::npos);
    EXPECT_EQ(ilux({"bench", "ilupack-gmres", "--help"}).code, 0);
    expect_refusal(1, {"bench"}, {"SUITE is missing"});
    expect_refusal(1, {"bench", "ilupack-gmre"}, {"did you mean 'ilupack-gmres'"});
    expect_refusal(1, {"bench", "ilupack-gmres", "--only", "apache"},
                   {"there is no matrix 'apache'", "did you mean 'apache2'"});
    expect_refusal(1, {"bench", "ilupack-gmres", "--only", "nosuch"}, {"there is no matrix 'nosuch'", "lung2"});
    expect_refusal(1, {"bench", "ilupack-gmres", "--only", ""}, {"--only", "''"});
    expect_refusal(1, {"bench", "ilupack-gmres", "--only", "lung2,"}, {"--only", "''"});
    expect_refusal(2, {"bench", "ilupack-gmres", "--matrices", folder.file("nowhere")}, {"--matrices", "nowhere"});
    for (const char* unused :
         {"method=cg", "rhs=ones", "retry=off", "time_limit=9", "precond.kind=ilu0", "precond.off_diagonal=keep"})
        expect_refusal(1, {"bench", "ilupack-gmres", "-p", unused}, {unused, "does not use"});
    expect_refusal(1, {"bench", "ilupack-gmres", "--repeats", "0"}, {"repeats=0"});
    expect_refusal(1, {"bench", "ilupack-gmres", "--scale", "2"}, {"scale=2"});
    expect_refusal(2, {"bench", "ilupack-gmres", "--svg", folder.file("no/such/a.svg")}, {"no/such"});
}

TEST_F(Cli, BenchOnTheCpuMeasuresStandInsAndDrawsThem)
{
    const std::string svg = folder.file("a.svg");
    const auto        json =
        this->json({"bench", "ilupack-gmres", "--device", "cpu", "--scale", "0.002", "--repeats", "2", "--only",
                    "lung2,apache2", "--threads", "1", "--commit", "abc", "--json", "--svg", svg});
    expect_keys(json, {"suite", "version", "commit", "command", "machine", "note", "repeats", "options", "variants",
                       "matrices"});
    EXPECT_EQ(json["commit"], "abc");
    EXPECT_EQ(json["machine"]["threads"], 1);
    EXPECT_NE(json["command"].get<std::string>().find("--scale 0.002"), std::string::npos);
    EXPECT_NE(json["note"].get<std::string>().find("only variant a"), std::string::npos);
    ASSERT_EQ(json["matrices"].size(), 2u);
    EXPECT_EQ(json["matrices"][0]["name"], "apache2");  // the paper's order
    for (const auto& matrix : json["matrices"]) {
        expect_keys(matrix, {"name", "paper", "source", "n", "nnz", "setup", "variants", "error"});
        EXPECT_EQ(matrix["source"], "stand-in");
        EXPECT_TRUE(matrix["error"].is_null());
        EXPECT_EQ(matrix["setup"].size(), 1u);  // one factorization
        ASSERT_EQ(matrix["variants"].size(), 1u);
        const auto& variant = matrix["variants"][0];
        EXPECT_EQ(variant["name"], "cpu");
        EXPECT_EQ(variant["outcome"], "converged");
        EXPECT_EQ(variant["runs"], 2);
        EXPECT_LE(variant["relative_residual"].get<double>(), 1e-8);
        expect_keys(variant["seconds"], {"spmv", "precond", "ortho", "other", "total"});
        EXPECT_GE(variant["seconds"]["total_most"], variant["seconds"]["total"]);
    }
    const std::string drawn = read_bytes(svg);
    EXPECT_EQ(why_not_xml(drawn), "") << drawn;
    EXPECT_NE(drawn.find("apache2*"), std::string::npos);
}

TEST_F(Cli, BenchTakesRealMatricesAndGoesOnAfterABrokenOne)
{
    file("lung2.mtx", matrix("2 2 2\n1 1 1\n2 2 4\n"));
    file("cage13.mtx", matrix("2 2 9\n1 1 1\n"));
    const auto json = this->json({"bench", "ilupack-gmres", "--matrices", folder.path().string(), "--device", "cpu",
                                  "--only", "cage13,lung2", "--json"});
    ASSERT_EQ(json["matrices"].size(), 2u);
    EXPECT_NE(json["matrices"][0]["error"].get<std::string>().find("cage13.mtx"), std::string::npos);
    EXPECT_EQ(json["matrices"][0]["variants"].size(), 0u);
    EXPECT_EQ(json["matrices"][1]["source"], "real");
    EXPECT_EQ(json["matrices"][1]["n"], 2);
    EXPECT_EQ(json["matrices"][1]["variants"][0]["outcome"], "converged");
}

TEST_F(Cli, BenchSaysOfEveryVariantWhyItWasNotMeasured)
{
    const auto  json = this->json({"bench", "ilupack-gmres", "--device", "cpu", "--scale", "0.002", "--only", "apache2",
                                   "-p", "precond.memory_limit=1K", "--json"},
                                  3);
    const auto& found = json["matrices"][0];
    EXPECT_TRUE(found["error"].is_null());
    ASSERT_EQ(found["variants"].size(), 1u);
    EXPECT_EQ(found["variants"][0]["letter"], "a");
    EXPECT_NE(found["variants"][0]["error"].get<std::string>().find("memory_limit"), std::string::npos);
}

/// The first child of a process, once it has one; 0 when it has none for ten seconds.
pid_t first_child(pid_t parent)
{
    for (int tries = 0; tries < 1000; ++tries) {
        if (const int child = std::atoi(read_bytes(fmt::format("/proc/{0}/task/{0}/children", parent)).c_str()))
            return child;
        usleep(10'000);
    }
    return 0;
}

TEST_F(Cli, BenchLeavesNoProcessBehindWhenItIsKilled)
{
    ASSERT_EQ(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);  // the orphan becomes ours, to be waited for
    const pid_t bench = fork();
    if (bench == 0) {
        execl(program(), "ilux", "bench", "ilupack-gmres", "--device", "cpu", "--only", "cage13", "--json", nullptr);
        _exit(127);
    }
    const pid_t measuring = first_child(bench);
    kill(bench, SIGKILL);
    EXPECT_EQ(waitpid(bench, nullptr, 0), bench);
    ASSERT_GT(measuring, 0);
    int status = 0;
    EXPECT_EQ(waitpid(measuring, &status, 0), measuring);
    const bool not_begun = WIFEXITED(status) && WEXITSTATUS(status) == 127;
    EXPECT_TRUE(not_begun || (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)) << status;
    prctl(PR_SET_CHILD_SUBREAPER, 0);
}

TEST_F(Cli, BenchEndsAMatrixAtTheTimeLimitAndSaysSo)
{
    const Result result =
        ilux({"bench", "ilupack-gmres", "--device", "cpu", "--only", "cage13", "--time-limit", "0.2"});
    EXPECT_EQ(result.code, 3) << result.out << result.err;  // nothing was measured
    EXPECT_NE(result.out.find("ended after the time limit of 0.2 s"), std::string::npos) << result.out;
}

TEST_F(Cli, BenchTableNamesVariantsStepsAndTheRowOfThePaper)
{
    const Result result = ilux(
        {"bench", "ilupack-gmres", "--device", "cpu", "--only", "ASIC_320ks", "--scale", "0.002", "--repeats", "1"});
    EXPECT_EQ(result.code, 0) << result.err;
    for (const char* word :
         {"only variant a", "cuSPARSE SpSV", "ASIC_320ks (stand-in)", "paper: 2 steps", "SpMV", "factor"})
        EXPECT_NE(result.out.find(word), std::string::npos) << word << " is not in:\n" << result.out;
}

}  // namespace
}  // namespace ilux

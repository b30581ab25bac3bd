// ilux-lab, and the parts it is made of.

#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "ilux/lab/suites/bench_gmres_report.hpp"
#include "ilux/tests/apps/well_formed.hpp"
#include "ilux/tests/lab/lab_cli.hpp"

namespace ilux {
namespace {

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

// --- the suite -----------------------------------------------------------------------------------------------------

TEST_F(LabCli, ListsItsSuitesAndRefusesOthers)
{
    const Result help = ilux({"--help"});
    EXPECT_EQ(help.code, 0);
    EXPECT_NE(help.out.find("ilupack-gmres"), std::string::npos);
    EXPECT_EQ(ilux({"ilupack-gmres", "--help"}).code, 0);
    expect_refusal(1, {}, {"a command is missing"});
    expect_refusal(1, {"bench"}, {"there is no command 'bench'"});
    expect_refusal(1, {"ilupack-gmre"}, {"did you mean 'ilupack-gmres'"});
    expect_refusal(1, {"ilupack-gmres", "--only", "apache"}, {"there is no matrix 'apache'", "did you mean 'apache2'"});
    expect_refusal(1, {"ilupack-gmres", "--only", "nosuch"}, {"there is no matrix 'nosuch'", "lung2"});
    expect_refusal(1, {"ilupack-gmres", "--only", ""}, {"--only", "''"});
    expect_refusal(1, {"ilupack-gmres", "--only", "lung2,"}, {"--only", "''"});
    expect_refusal(2, {"ilupack-gmres", "--matrices", folder.file("nowhere")}, {"--matrices", "nowhere"});
    for (const char* unused :
         {"method=cg", "rhs=ones", "retry=off", "time_limit=9", "precond.kind=ilu0", "precond.off_diagonal=keep"})
        expect_refusal(1, {"ilupack-gmres", "-p", unused}, {unused, "does not use"});
    expect_refusal(1, {"ilupack-gmres", "--repeats", "0"}, {"repeats=0"});
    expect_refusal(1, {"ilupack-gmres", "--scale", "2"}, {"scale=2"});
    expect_refusal(2, {"ilupack-gmres", "--svg", folder.file("no/such/a.svg")}, {"no/such"});
}

TEST_F(LabCli, OnTheCpuMeasuresStandInsAndDrawsThem)
{
    const std::string svg = folder.file("a.svg");
    const auto json = this->json({"ilupack-gmres", "--device", "cpu", "--scale", "0.002", "--repeats", "2", "--only",
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

TEST_F(LabCli, TakesRealMatricesAndGoesOnAfterABrokenOne)
{
    file("lung2.mtx", matrix("2 2 2\n1 1 1\n2 2 4\n"));
    file("cage13.mtx", matrix("2 2 9\n1 1 1\n"));
    const auto json = this->json(
        {"ilupack-gmres", "--matrices", folder.path().string(), "--device", "cpu", "--only", "cage13,lung2", "--json"});
    ASSERT_EQ(json["matrices"].size(), 2u);
    EXPECT_NE(json["matrices"][0]["error"].get<std::string>().find("cage13.mtx"), std::string::npos);
    EXPECT_EQ(json["matrices"][0]["variants"].size(), 0u);
    EXPECT_EQ(json["matrices"][1]["source"], "real");
    EXPECT_EQ(json["matrices"][1]["n"], 2);
    EXPECT_EQ(json["matrices"][1]["variants"][0]["outcome"], "converged");
}

TEST_F(LabCli, SaysOfEveryVariantWhyItWasNotMeasured)
{
    const auto  json = this->json({"ilupack-gmres", "--device", "cpu", "--scale", "0.002", "--only", "apache2", "-p",
                                   "memory_limit=1K", "--json"},
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

TEST_F(LabCli, LeavesNoProcessBehindWhenItIsKilled)
{
    ASSERT_EQ(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);  // the orphan becomes ours, to be waited for
    const pid_t bench = fork();
    if (bench == 0) {
        execl(program(), "ilux-lab", "ilupack-gmres", "--device", "cpu", "--only", "cage13", "--json", nullptr);
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

TEST_F(LabCli, EndsAMatrixAtTheTimeLimitAndSaysSo)
{
    const Result result = ilux({"ilupack-gmres", "--device", "cpu", "--only", "cage13", "--time-limit", "0.2"});
    EXPECT_EQ(result.code, 3) << result.out << result.err;  // nothing was measured
    EXPECT_NE(result.out.find("ended after the time limit of 0.2 s"), std::string::npos) << result.out;
}

TEST_F(LabCli, TableNamesVariantsStepsAndTheRowOfThePaper)
{
    const Result result =
        ilux({"ilupack-gmres", "--device", "cpu", "--only", "ASIC_320ks", "--scale", "0.002", "--repeats", "1"});
    EXPECT_EQ(result.code, 0) << result.err;
    for (const char* word :
         {"only variant a", "cuSPARSE SpSV", "ASIC_320ks (stand-in)", "paper: 2 steps", "SpMV", "factor"})
        EXPECT_NE(result.out.find(word), std::string::npos) << word << " is not in:\n" << result.out;
}

// --- files and names -----------------------------------------------------------------------------------------------

TEST_F(LabCli, LeavesNothingOfAFormerRunWhereItRefuses)
{
    const std::string svg = folder.file("a.svg"), grid = "gallery:poisson2d:n=4";
    using Words = std::vector<std::string>;
    std::vector<std::pair<int, Words>> cases{{1, {"lu", grid, "--methods", "no"}},
                                             {2, {"lu", folder.file("missing.mtx")}},
                                             {1, {"lu-model", grid, "--device", "cpu"}},
                                             {1, {"ilupack-gmres", "--only", "no_such_matrix"}}};
    if (!test::why_no_gpu().empty()) {
        cases.push_back({6, {"lu", grid, "--device", "gpu"}});
        cases.push_back({6, {"ilupack-gmres", "--device", "gpu"}});
    }
    for (auto& [code, arguments] : cases) {
        file("a.svg", "of a former run");
        arguments.insert(arguments.end(), {"--svg", svg});
        const Result refused = ilux(arguments);
        EXPECT_EQ(refused.code, code) << refused.err;
        EXPECT_FALSE(std::filesystem::exists(svg)) << arguments.front();
    }
}

TEST_F(LabCli, NeverTouchesAnInput)
{
    const std::string b = file("b.mtx", "%%MatrixMarket matrix array real general\n1 1\n2\n"), was = read_bytes(b);
    for (const char* key : {"rhs", "near_null"}) {
        const std::string config = file("c.json", fmt::format(R"({{"{}": "{}"}})", key, b));
        EXPECT_EQ(ilux({"setup", "gallery:poisson2d:n=3", "--config", config, "--svg", b}).code, 1);
        EXPECT_EQ(read_bytes(b), was);
    }
}

TEST_F(LabCli, NeverSendsControlCharactersOfNamesToATerminal)
{
    const std::string evil = "A\x1b[31m\n\r\x07.mtx";
    const std::string good = file(evil, matrix("2 2 2\n1 1 2\n2 2 2\n")), bad = file("bad" + evil, "hello");
    for (const std::vector<std::string>& arguments :
         std::vector<std::vector<std::string>>{{"lu", good, "--methods", "cpu", "--repetitions", "1"},
                                               {"lu", bad, "--methods", "cpu"},
                                               {"lu", "--methods", evil},
                                               {evil}}) {
        const Result result = ilux(arguments);
        for (const char control : {'\x1b', '\r', '\x07'})
            EXPECT_EQ((result.out + result.err).find(control), std::string::npos) << arguments.front();
    }
}

class GpuLab : public LabCli {
protected:
    void SetUp() override { ILUX_SKIP_WITHOUT_GPU(); }
};

TEST_F(GpuLab, MeasuresAllVariantsToTheSameAccuracy)
{
    const std::string svg = folder.file("a.svg");
    const auto        json = this->json({"ilupack-gmres", "--scale", "0.01", "--only", "apache2,lung2,thermomech_dK",
                                         "--repeats", "1", "--json", "--svg", svg});
    for (const auto& matrix : json["matrices"]) {
        ASSERT_EQ(matrix["variants"].size(), 4u) << matrix.dump();
        EXPECT_EQ(matrix["setup"].size(), 2u);
        int saved = -1;
        for (const auto& variant : matrix["variants"]) {
            ASSERT_TRUE(variant.contains("seconds")) << variant.dump();
            EXPECT_EQ(variant["outcome"], "converged");
            EXPECT_LE(variant["relative_residual"].get<double>(), 1e-8);
            if (variant["off_diagonal"] != "save") continue;
            if (saved < 0) saved = variant["steps"];
            EXPECT_NEAR(variant["steps"].get<int>(), saved, 1);  // the same M
        }
    }
    EXPECT_NE(read_bytes(svg).find("lung2*"), std::string::npos);
}

}  // namespace
}  // namespace ilux

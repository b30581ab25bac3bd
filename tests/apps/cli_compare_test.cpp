// ilux compare, and what it says of programs that answer well, badly or not at all.

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "ilux/apps/compare/compare.hpp"
#include "ilux/apps/compare/compare_report.hpp"
#include "ilux/apps/input/system_file.hpp"
#include "ilux/tests/apps/cli.hpp"
#include "ilux/tests/apps/sequence_folder.hpp"

namespace ilux {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* small_problem = "gallery:convdiff2d:n=12";  // 144 unknowns

class Compare : public Cli {
protected:
    ~Compare() override { unsetenv("ILUX_COMPARE_CUSP"); }

    /// Stands in for ilux_compare_cusp: a shell script, in which $1 is the system, $2 where x goes, $3 the
    /// preconditioner.
    void rival(const std::string& script)
    {
        const std::string program = file("rival", "#!/bin/sh\n" + script);
        std::filesystem::permissions(program, std::filesystem::perms::owner_all);
        setenv("ILUX_COMPARE_CUSP", program.c_str(), 1);
    }
    /// Head and rows of a run that ends with this code.
    std::vector<Json> lines(std::vector<std::string> arguments, int code = 0)
    {
        arguments.insert(arguments.begin(), "compare");
        return json_lines<Json>(arguments, code);
    }
    /// The one row of a comparison with the rival alone.
    Json rival_row(int code, const std::vector<std::string>& more = {})
    {
        std::vector<std::string> arguments{small_problem, "--strategies", "cusp", "--cusp-preconds", "diagonal"};
        arguments.insert(arguments.end(), more.begin(), more.end());
        const auto all = lines(arguments, code);
        EXPECT_EQ(all.size(), 2u);
        return all.size() == 2 ? all[1] : Json();
    }
};

/// A script that leaves x = value in all 144 unknowns.
std::string write_x(const TempFolder& folder, double value)
{
    folder.write("x", test::bytes_of(std::vector<double>(144, value)));
    return "cp '" + folder.file("x") + "' \"$2\"\n";
}

constexpr const char* claim =
    R"(echo '{"outcome": "converged", "steps": 7, "tested_residual": 1e-9, "seconds": {"solve": 0.5}}')"
    "\n";

// --- refusals ------------------------------------------------------------------------------------------------------

TEST_F(Compare, RefusesWhatMakesNoSense)
{
    expect_refusal(1, {"compare"}, {"MATRIX is missing"});
    expect_refusal(1, {"compare", "-"}, {"standard input"});
    expect_refusal(1, {"compare", small_problem, "--rhs", "-"}, {"standard input"});
    expect_refusal(2, {"compare", folder.file("nowhere.mtx")}, {"nowhere.mtx"});
    expect_refusal(1, {"compare", small_problem, "--strategies", "cups"}, {"'cups'", "did you mean 'cusp'"});
    expect_refusal(1, {"compare", small_problem, "--strategies", ""}, {"''", "direct, iterative, auto, cusp"});
    expect_refusal(1, {"compare", small_problem, "--cusp-preconds", "ilu"}, {"'ilu'", "smoothed_aggregation"});
    expect_refusal(1, {"compare", small_problem, "--repeats", "0"}, {"repeats=0"});
    expect_refusal(1, {"compare", small_problem, "--method", "lu"}, {"method=lu"});
    expect_refusal(1, {"compare", small_problem, "--in-process", "cusp:gpu"}, {"cusp:gpu"});
    expect_refusal(2, {"compare", small_problem, "--svg", folder.file("no/such/a.svg")}, {"no/such"});
    EXPECT_EQ(ilux({"compare", "--help"}).code, 0);
}

TEST_F(Compare, SaysWhichOptionsTheWaysAskedForDoNotTake)
{
    const auto remarks = [&](const std::vector<std::string>& more) {
        std::vector<std::string> arguments{small_problem};
        arguments.insert(arguments.end(), more.begin(), more.end());
        return lines(arguments).at(0)["remarks"].dump();
    };
    const auto direct = remarks({"--strategies", "direct", "--method", "gmres", "--restart", "7", "--rtol", "1e-9"});
    for (const char* option : {"method=gmres", "krylov.restart=7"}) EXPECT_NE(direct.find(option), std::string::npos);
    EXPECT_EQ(direct.find("rtol"), std::string::npos);
    EXPECT_NE(remarks({"--strategies", "iterative", "-p", "lu.pivot_tol=0.5"}).find("lu.pivot_tol"), std::string::npos);
    EXPECT_EQ(remarks({"--strategies", "direct,iterative", "--method", "gmres", "-p", "lu.pivot_tol=0.5"}), "[]");
}

TEST_F(Compare, KeepsWithinABudgetOfBytes)
{
    const auto all = lines({small_problem, "--device", "cpu", "--strategies", "direct", "-p", "memory_limit=1K"}, 3);
    EXPECT_EQ(all.at(1)["outcome"], "out_of_memory");
}

TEST_F(Compare, RefusesARivalThatIsNoProgram)
{
    setenv("ILUX_COMPARE_CUSP", folder.file("nowhere").c_str(), 1);
    expect_refusal(2, {"compare", small_problem}, {"ILUX_COMPARE_CUSP", "nowhere"});
}

// --- our own strategies
// -------------------------------------------------------------------------------------------------

TEST_F(Compare, PutsDirectIterativeAndAutoSideBySide)
{
    const std::string svg = folder.file("a.svg");
    const auto        all = lines({small_problem, "--device", "cpu", "--threads", "1", "--svg", svg});
    ASSERT_EQ(all.size(), 4u);
    expect_keys(all[0], {"suite", "version", "commit", "command", "machine", "rtol", "max_steps", "restart",
                         "time_limit", "repeats", "unavailable", "remarks"});
    for (std::size_t k : {1, 2, 3}) {
        const Json& row = all[k];
        expect_keys(row,
                    {"matrix", "n", "nnz", "symmetric", "rhs", "strategy", "method", "precond", "device", "outcome",
                     "detail", "steps", "relative_residual", "backward_error", "tested_residual", "seconds"});
        expect_keys(row["seconds"], {"analyse", "factor", "transfer", "setup", "refactor", "solve", "total"});
        EXPECT_EQ(row["n"], 144);
        EXPECT_EQ(row["outcome"], "converged");
        EXPECT_LE(row["relative_residual"].get<double>(), 1e-8);
        EXPECT_DOUBLE_EQ(row["seconds"]["total"].get<double>(),
                         row["seconds"]["setup"].get<double>() + row["seconds"]["solve"].get<double>());
    }
    EXPECT_EQ(all[1]["strategy"], "direct");
    EXPECT_GT(all[1]["seconds"]["refactor"].get<double>(), 0);
    EXPECT_EQ(all[2]["strategy"], "iterative");
    EXPECT_EQ(all[2]["method"], "gmres");
    EXPECT_EQ(all[2]["precond"], "mlilu");
    EXPECT_TRUE(all[2]["seconds"]["refactor"].is_null());
    EXPECT_EQ(all[3]["strategy"], "auto");
    EXPECT_EQ(all[3]["method"], "lu");  // it is small
    EXPECT_GE(all[3]["chosen_over_faster"].get<double>(), 1);
    EXPECT_NE(read_bytes(svg).find("convdiff2d"), std::string::npos);
}

TEST_F(Compare, HandsItsOptionsToEveryWay)
{
    const auto all =
        lines({"gallery:poisson2d:n=10", "--device", "cpu", "--strategies", "iterative", "--precond", "jacobi",
               "--method", "bicgstab", "--max-steps", "2", "--retry", "off", "--rhs", "random:3"},
              3);
    ASSERT_EQ(all.size(), 2u);
    EXPECT_EQ(all[1]["method"], "bicgstab");
    EXPECT_EQ(all[1]["precond"], "jacobi");
    EXPECT_EQ(all[1]["outcome"], "max_steps");
    EXPECT_EQ(all[1]["rhs"], "random:3");
    EXPECT_GT(all[1]["relative_residual"].get<double>(), 1e-8);
}

TEST_F(Compare, TakesTheFirstSystemOfASeriesWithItsRightHandSide)
{
    const std::string series = test::write_series(folder, {2, 0, 0, 4, 1, 0, 0, 1}, {2, 8, 1, 1});
    const auto        all = lines({series, "--device", "cpu", "--strategies", "direct"});
    ASSERT_EQ(all.size(), 2u);
    EXPECT_EQ(all[1]["rhs"], "auto");
    EXPECT_EQ(all[1]["outcome"], "converged");
    const auto first = [&](const char* rhs) { return std::get<app::Problem<>>(app::load_first_system(series, rhs)); };
    const app::Problem<> problem = first("auto");
    EXPECT_EQ(problem.b, (std::vector<double>{2, 8}));
    EXPECT_EQ(problem.A.at(1, 1), 4);
    EXPECT_EQ(first("A1").b, (std::vector<double>{2, 4}));
}

TEST_F(Compare, GoesOnAfterABrokenMatrixAndASingularOne)
{
    const std::string broken = file("broken.mtx", matrix("2 2 9\n1 1 1\n"));
    const std::string singular = file("singular.mtx", matrix("2 2 2\n1 1 1\n1 2 1\n"));
    const auto        all = lines({broken, singular, small_problem, "--device", "cpu", "--strategies", "direct"}, 2);
    ASSERT_EQ(all.size(), 4u);
    EXPECT_NE(all[1]["error"].get<std::string>().find("broken.mtx"), std::string::npos);
    EXPECT_EQ(all[2]["outcome"], "singular");
    EXPECT_EQ(all[3]["outcome"], "converged");
}

TEST_F(Compare, AWayThatTakesTooLongIsKilledAndTheNextOneRuns)
{
    const auto all = lines({"gallery:poisson3d:n=70", "--device", "cpu", "--time-limit", "0.05", "--threads", "1"}, 3);
    ASSERT_EQ(all.size(), 4u);
    for (std::size_t k : {1, 2, 3}) {
        EXPECT_EQ(all[k]["outcome"], "killed") << all[k];
        EXPECT_EQ(all[k]["detail"], "ended after the time limit of 0.05 s");
        EXPECT_TRUE(all[k]["relative_residual"].is_null());
    }
}

// --- the rival -----------------------------------------------------------------------------------------------------

TEST_F(Compare, SaysHowToGetTheRivalAndComparesTheRest)
{
    if (std::filesystem::exists(std::filesystem::path(program()).parent_path() / "ilux_compare_cusp")) GTEST_SKIP()
    << "ilux_compare_cusp was built";
    const Result result = ilux({"compare", small_problem});
    EXPECT_EQ(result.code, 0) << result.err;
    for (const char* word : {"not compared: cusp", "git clone https://github.com/cusplibrary", "CUSP_ROOT", "direct"})
        EXPECT_NE(result.out.find(word), std::string::npos) << word << " is not in:\n" << result.out;
    expect_refusal(2, {"compare", small_problem, "--strategies", "cusp"}, {"CUSP_ROOT"});
}

TEST_F(Compare, JudgesARightAnswerByItsOwnResidual)
{
    rival("echo '{\"begin\": \"'$3'\"}'\n" + write_x(folder, 1) + claim);
    const Json row = rival_row(0);
    EXPECT_EQ(row["outcome"], "converged");
    EXPECT_EQ(row["strategy"], "cusp");
    EXPECT_EQ(row["precond"], "diagonal");
    EXPECT_EQ(row["steps"], 7);
    EXPECT_LE(row["relative_residual"].get<double>(), 1e-14);
    EXPECT_EQ(row["tested_residual"], 1e-9);
    EXPECT_EQ(row["seconds"]["solve"], 0.5);
}

TEST_F(Compare, GivesTheRivalTheSystemThatItNames)
{
    rival("cp \"$1\" '" + folder.file("seen") + "'\n" + write_x(folder, 1) + claim);
    EXPECT_EQ(rival_row(0)["outcome"], "converged");
    const app::RawSystem system = app::read_system(folder.file("seen"));
    const app::Problem<> problem = app::load_problem(small_problem, "A1");
    EXPECT_TRUE(std::ranges::equal(system.row_ptr, problem.A.row_ptr()));
    EXPECT_TRUE(std::ranges::equal(system.col, problem.A.col()));
    EXPECT_TRUE(std::ranges::equal(system.val, problem.A.val()));
    EXPECT_EQ(system.b, problem.b);
}

TEST_F(Compare, BelievesNoClaimThatTheResidualContradicts)
{
    rival(write_x(folder, 1.5) + claim);
    const Json row = rival_row(3);
    EXPECT_EQ(row["outcome"], "stagnated");
    EXPECT_NEAR(row["relative_residual"].get<double>(), 0.5, 1e-12);
    EXPECT_NE(row["detail"].get<std::string>().find("called itself converged"), std::string::npos);
}

TEST_F(Compare, CallsAnAnswerThatHoldsConvergedThoughItsStepsRanOut)
{
    rival(write_x(folder, 1) + "echo '{\"outcome\": \"max_steps\", \"steps\": 1000}'\n");
    EXPECT_EQ(rival_row(0)["outcome"], "converged");
}

TEST_F(Compare, CallsAnAnswerWithoutXOrOfAnotherLengthFailed)
{
    rival(claim);
    EXPECT_EQ(rival_row(3)["detail"], "it called itself converged, but left no x");
    rival("printf 12345678 > \"$2\"\n" + std::string(claim));
    const Json row = rival_row(3);
    EXPECT_EQ(row["outcome"], "failed");
    EXPECT_NE(row["detail"].get<std::string>().find("8 bytes instead of 1152"), std::string::npos);
}

TEST_F(Compare, ToldNothingOrNonsenseItSaysSo)
{
    rival("exit 0\n");
    EXPECT_EQ(rival_row(3)["detail"], "it ended without an answer");
    rival("echo 'no JSON'; echo '[1]'; echo '{\"strategy\": 3, \"outcome\": 3, \"seconds\": \"many\"}'; exit 9\n");
    const Json row = rival_row(3);
    EXPECT_EQ(row["outcome"], "failed");
    EXPECT_EQ(row["strategy"], "cusp");
    EXPECT_EQ(row["detail"], "ended with exit code 9");
    rival("echo '{\"error\": \"no CUDA device\"}'\n");
    EXPECT_EQ(rival_row(3)["detail"], "no CUDA device");
}

TEST_F(Compare, KillsARivalThatHangsAndKeepsWhatItHadSaid)
{
    rival("echo '{\"begin\": 1}'; echo '{\"seconds\": {\"factor\": 0.25}}'; exec sleep 60\n");
    const Json row = rival_row(3, {"--time-limit", "0.3"});
    EXPECT_EQ(row["outcome"], "killed");
    EXPECT_EQ(row["detail"], "ended after the time limit of 0.3 s");
    EXPECT_EQ(row["seconds"]["setup"], 0.25);
    EXPECT_TRUE(row["seconds"]["total"].is_null());
}

TEST_F(Compare, LinesDoNotLetARivalLiveLonger)
{
    rival("while true; do echo '{\"begin\": 1}'; sleep 0.05; done\n");
    EXPECT_EQ(rival_row(3, {"--time-limit", "0.3"})["outcome"], "killed");
}

TEST_F(Compare, AnAnswerOutlivesTheKillingOfItsRepetitions)
{
    rival(write_x(folder, 1) + claim + "exec sleep 60\n");
    EXPECT_EQ(rival_row(0, {"--time-limit", "0.3"})["outcome"], "converged");
}

TEST_F(Compare, RunsEveryPreconditionerOfTheRivalOnItsOwnX)
{
    rival("if [ $3 = none ]; then\n" + write_x(folder, 1) + claim + "else kill -9 $$; fi\n");
    const auto all = lines({small_problem, "--strategies", "cusp"});
    ASSERT_EQ(all.size(), 5u);
    EXPECT_EQ(all[1]["precond"], "none");
    EXPECT_EQ(all[1]["outcome"], "converged");
    for (std::size_t k : {2, 3, 4}) {
        EXPECT_EQ(all[k]["outcome"], "killed");
        EXPECT_EQ(all[k]["detail"], "ended by signal 9");
        EXPECT_TRUE(all[k]["relative_residual"].is_null());  // the x before is not its own
    }
    EXPECT_EQ(all[4]["precond"], "smoothed_aggregation");
}

TEST_F(Compare, IsNotRunWhereNoGpuIsToBeUsed)
{
    rival(write_x(folder, 1) + claim);
    const auto all = lines({small_problem, "--device", "cpu"});
    ASSERT_EQ(all.size(), 4u);
    EXPECT_EQ(all[0]["unavailable"].back()["strategy"], "cusp");
}

TEST_F(Compare, TableShowsEveryColumn)
{
    rival(write_x(folder, 1.5) + claim);
    const Result result = ilux({"compare", small_problem, "--cusp-preconds", "diagonal"});
    EXPECT_EQ(result.code, 0) << result.err;
    for (const char* word :
         {"setup", "refactor", "residual", "tested", "n 144, nnz 672, not symmetric; b: A1", "direct", "gmres", "mlilu",
          "diagonal", "5.0e-01", "1.0e-09", "stagnated: it called itself"})
        EXPECT_NE(result.out.find(word), std::string::npos) << word << " is not in:\n" << result.out;
}

// --- parts ---------------------------------------------------------------------------------------------------------

TEST(CompareRow, SetupIsAllThatComesBeforeTheSolve)
{
    Json row = app::row_head("A", app::load_problem(small_problem, "A1"), {"cusp", "none", "gpu"});
    add_finding(row, {{"seconds", {{"transfer", 1.}, {"factor", 2.}}}});
    EXPECT_EQ(row["seconds"]["setup"], 3.);
    EXPECT_TRUE(row["seconds"]["total"].is_null());
    add_finding(row, {{"seconds", {{"solve", 4.}}}, {"n", 3}});
    EXPECT_EQ(row["seconds"]["total"], 7.);
    EXPECT_EQ(row["n"], 144);
    app::conclude(row, "ended by signal 11", true);
    EXPECT_EQ(row["outcome"], "killed");
}

TEST(CompareRow, SaysHowGoodTheChoiceOfAutoWas)
{
    const auto row = [&](const char* strategy, const char* device, const char* method, double seconds) {
        Json one = app::row_head("A.mtx", app::load_problem(small_problem, "A1"), {strategy, "", device});
        add_finding(one, {{"outcome", seconds > 0 ? "converged" : "stagnated"},
                          {"method", method},
                          {"began_with", std::string_view(method) == "lu" ? "direct" : "iterative"},
                          {"seconds", {{"factor", seconds / 2}, {"solve", seconds / 2}}}});
        return one;
    };
    Json rows =
        Json::array({row("direct", "cpu", "lu", 2), row("direct", "gpu", "lu", 1), row("iterative", "cpu", "cg", 0.5)});
    const auto judged = [&](const char* device, const char* method) {
        Json automatic = row("auto", device, method, 3);
        app::judge_choice(automatic, rows);
        return automatic["chosen_over_faster"];
    };
    EXPECT_EQ(judged("cpu", "lu"), 4);
    EXPECT_EQ(judged("cpu", "gmres"), 1);
    EXPECT_TRUE(judged("gpu", "lu").is_null());  // there is no other row
    rows.push_back(row("iterative", "gpu", "gmres", 0));
    EXPECT_EQ(judged("gpu", "lu"), 1);
    EXPECT_TRUE(judged("gpu", "gmres").is_null());  // what was chosen does not solve it by itself
    Json other = rows[0];
    app::judge_choice(other, rows);
    EXPECT_FALSE(other.contains("chosen_over_faster"));
}

TEST(CompareChart, HasABarForEveryRowAndWordsForWhatFailed)
{
    Json row = app::row_head("a/b/<m>.mtx.gz", app::load_problem(small_problem, "A1"), {"direct", "", "cpu"});
    add_finding(row, {{"outcome", "converged"}, {"seconds", {{"factor", 1.}, {"solve", 1.}}}});
    Json failed = row;
    failed["strategy"] = "iterative";
    failed["outcome"] = "killed";
    const std::string svg = app::compare_chart({row, failed}, "a machine");
    EXPECT_NE(svg.find("&lt;m&gt;<"), std::string::npos) << svg;
    EXPECT_NE(svg.find(">killed<"), std::string::npos);
    EXPECT_NE(svg.find(">b: iterative, cpu<"), std::string::npos);
    EXPECT_NE(app::compare_chart(Json::array(), "a machine").find("</svg>"), std::string::npos);
    EXPECT_EQ(app::compare_matrix_line({{"matrix", "A"}, {"error", "no memory"}}), "A: no memory\n");
    EXPECT_EQ(app::compare_matrix_line({{"matrix", "A"}, {"error", "A:3: no number"}}), "A:3: no number\n");
}

TEST(SystemFile, IsReadAsWrittenAndRefusedWhenCutShort)
{
    const TempFolder          folder;
    const std::string         name = folder.file("s");
    const std::vector<Offset> row_ptr{0, 1, 3};
    const std::vector<Index>  col{0, 0, 1};
    const std::vector<double> val{1, 2, 3}, b{4, 5};
    app::write_system(name, row_ptr, col, val, b);
    const app::RawSystem read = app::read_system(name);
    EXPECT_EQ(read.row_ptr, row_ptr);
    EXPECT_EQ(read.col, col);
    EXPECT_EQ(read.val, val);
    EXPECT_EQ(read.b, b);
    const std::string bytes = read_bytes(name);
    for (std::size_t length = 0; length < bytes.size(); ++length)
        EXPECT_THROW(app::read_system(folder.write("short", bytes.substr(0, length))), InvalidInput) << length;
    EXPECT_THROW(app::read_system(folder.write("long", bytes + "x")), InvalidInput);
    EXPECT_THROW(app::read_system(folder.file("none")), InvalidInput);
    EXPECT_THROW(app::write_doubles(folder.file("no/such"), b), InvalidInput);
}

}  // namespace
}  // namespace ilux

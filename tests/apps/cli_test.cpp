// What the program does with good input.

#include "ilux/apps/program/machine.hpp"
#include "ilux/tests/apps/cli.hpp"

namespace ilux {
namespace {

// --- solve ---------------------------------------------------------------------------------------------------------

TEST_F(Cli, SolvesAModelProblemAndVerifiesTheAnswer)
{
    const auto json = this->json({"solve", "gallery:convdiff2d:n=20", "--method", "gmres", "--json"});
    EXPECT_EQ(json["outcome"], "converged");
    EXPECT_LE(json["relative_residual"].get<double>(), 1e-8);
    EXPECT_LE(json["forward_error"].get<double>(), 1e-4);
    EXPECT_GT(json["steps"].get<int>(), 0);
    EXPECT_EQ(json["matrix"]["n"], 400);
    EXPECT_EQ(json["device"]["kind"], "cpu");
    EXPECT_EQ(json["attempts"].size(), 1u);
}

TEST_F(Cli, PrintsEveryPromisedJsonKey)
{
    const auto json = this->json({"solve", "gallery:poisson2d:n=10", "--json", "--method", "gmres"});
    expect_keys(json, {"version", "matrix", "rhs", "method", "precond", "device", "outcome", "steps",
                       "relative_residual", "backward_error", "componentwise_error", "estimated_error", "forward_error",
                       "seconds", "memory_bytes", "mlilu", "decisions", "attempts", "options"});
    expect_keys(json["matrix"], {"name", "n", "nnz", "symmetric", "pattern_symmetric"});
    expect_keys(json["device"], {"kind", "name"});
    expect_keys(json["seconds"],
                {"read", "analyse", "factor", "transfer", "solve", "spmv", "precond", "ortho", "other"});
    expect_keys(json["memory_bytes"], {"matrix", "factors", "workspace", "peak_device"});
    expect_keys(json["mlilu"], {"fill", "seconds", "levels"});
    expect_keys(json["mlilu"]["seconds"], {"sets", "eliminate", "assemble", "tail"});
    expect_keys(json["mlilu"]["levels"][0], {"n", "accepted", "postponed", "rounds", "nnz_L", "nnz_U", "nnz_G", "nnz_F",
                                             "inverse_L", "inverse_U", "depth_L", "depth_U"});
    expect_keys(json["attempts"][0], {"outcome", "steps", "relative_residual", "fill", "seconds"});
    expect_keys(json["options"], {"method", "krylov", "precond"});
    EXPECT_EQ(json["matrix"]["symmetric"], true);
}

TEST_F(Cli, EveryMethodAndEveryPreconditionerSolvesThePoissonProblem)
{
    for (const char* method : {"auto", "gmres", "fgmres", "bicg", "bicgstab", "cg"})
        EXPECT_EQ(ilux({"solve", "gallery:poisson2d:n=10", "--method", method, "--precond", "jacobi", "--retry", "off"})
                      .code,
                  0)
            << method;
    for (const char* precond : {"mlilu", "ilu0", "jacobi", "none"}) {
        const auto json = this->json({"solve", "gallery:poisson2d:n=10", "-p", "mode=iterative", "--precond", precond,
                                      "--retry", "off", "--json"});
        EXPECT_EQ(json["precond"], precond);
        EXPECT_EQ(json["mlilu"].is_null(), std::string(precond) != "mlilu");
    }
}

TEST_F(Cli, ChoosesCgOnlyForASymmetricMatrixWithPositiveDiagonal)
{
    EXPECT_EQ(json({"solve", "gallery:poisson2d:n=8", "--precond", "jacobi", "--json"})["method"], "cg");
    const auto unsymmetric = json({"solve", "gallery:convdiff2d:n=8", "-p", "mode=iterative", "--json"});
    EXPECT_EQ(unsymmetric["method"], "gmres");
    EXPECT_NE(unsymmetric["decisions"].dump().find("not symmetric"), std::string::npos);
}

TEST_F(Cli, SaysWhichDeviceAutoTookAndWhichOptionsOnlyAGpuMinds)
{
    const auto auto_took = json({"solve", "gallery:poisson2d:n=10", "-p", "mode=iterative", "--json"});
    EXPECT_EQ(auto_took["device"]["kind"], "cpu");
    EXPECT_TRUE(auto_took["gpu"].is_null());
    EXPECT_NE(auto_took["decisions"].dump().find("device cpu: "), std::string::npos);
    if (built_with_cuda() && !test::why_no_gpu().empty()) {
        const auto large = json({"solve", "gallery:poisson2d:n=320", "-p", "mode=iterative", "--json"});
        EXPECT_NE(large["decisions"].dump().find("no GPU was found"), std::string::npos);
    }
    const auto ignored = json({"solve", "gallery:convdiff2d:n=10", "--device", "cpu", "-p", "precond.precision=single",
                               "-p", "mode=iterative", "-p", "sptrsv.engine=chunked", "-p", "device_memory=1G", "-p",
                               "krylov.ortho=mgso_hybrid", "--json"})["decisions"]
                             .dump();
    EXPECT_EQ(ignored.find("device cpu: "), std::string::npos);  // asked for, not decided
    for (const char* option : {"precond.precision=single has no effect", "sptrsv.engine=chunked has no effect",
                               "device_memory=", "krylov.ortho=mgso_hybrid instead of mgso has no effect"})
        EXPECT_NE(ignored.find(option), std::string::npos) << option << " is not in: " << ignored;
}

TEST_F(Cli, WritesTheSolutionItReports)
{
    const std::string A = file("A.mtx", matrix("2 2 3\n1 1 2\n1 2 1\n2 2 4\n"));
    const std::string b = file("b.mtx", "%%MatrixMarket matrix array real general\n2 1\n4\n8\n");
    const std::string x = folder.file("x.mtx");
    const auto        json = this->json({"solve", A, "--rhs", b, "--out", x, "--json", "--rtol", "1e-12"});
    EXPECT_TRUE(json["forward_error"].is_null());
    const auto values = read_vector(x);
    ASSERT_EQ(values.size(), 2u);
    EXPECT_NEAR(values[0], 1, 1e-10);  // 2 x₁ + x₂ = 4, 4 x₂ = 8
    EXPECT_NEAR(values[1], 2, 1e-10);
}

TEST_F(Cli, ReadsTheMatrixFromStandardInput)
{
    const Result result = ilux({"solve", "-", "--quiet"}, matrix("1 1 1\n1 1 5\n"));
    EXPECT_EQ(result.code, 0) << result.err;
    EXPECT_TRUE(result.out.starts_with("converged, ")) << result.out;
    EXPECT_EQ(std::count(result.out.begin(), result.out.end(), '\n'), 1);
    EXPECT_EQ(result.err, "");
}

TEST_F(Cli, TakesEachKindOfRightHandSide)
{
    for (const char* rhs : {"A1", "ones", "random:3", "random:-3"}) {
        const auto json = this->json({"solve", "gallery:convdiff2d:n=8", "--rhs", rhs, "--json"});
        EXPECT_EQ(json["rhs"], rhs);
        EXPECT_EQ(json["forward_error"].is_null(), std::string(rhs) != "A1");
    }
    expect_refusal(1, {"solve", "gallery:poisson2d:n=4", "--rhs", "one"}, {"did you mean 'ones'"});
    expect_refusal(1, {"solve", "gallery:poisson2d:n=4", "--rhs", "random:x"}, {"rhs=random:x"});
}

TEST_F(Cli, TakesVectorsThatTheMatrixTakesToLittle)
{
    std::string t = "%%MatrixMarket matrix array real general\n144 2\n";
    for (int i = 0; i < 288; ++i) t += i % 2 == i / 144 ? "1\n" : "0\n";
    const std::string vectors = file("t.mtx", t), grid = "gallery:convdiff2d:n=12";
    const auto        solved = [&](std::vector<std::string> more) {
        more.insert(more.begin(), {"solve", grid, "--near-null", vectors, "--json"});
        return nlohmann::json::parse(ilux(more).out);
    };
    const auto json = solved({"--method", "gmres"});
    const auto plain = this->json({"solve", grid, "--method", "gmres", "--json"});
    EXPECT_EQ(json["options"]["near_null"], vectors);
    EXPECT_NE(json["mlilu"]["fill"], plain["mlilu"]["fill"]);
    const auto mentioned = [&](const std::vector<std::string>& more) {
        return solved(more)["decisions"].dump().find("near_null") != std::string::npos;
    };
    EXPECT_FALSE(mentioned({"--method", "gmres"}));
    EXPECT_TRUE(mentioned({"--precond", "ilu0"}));
    EXPECT_TRUE(mentioned({"--method", "gmres", "-p", "precond.setup=crout"}));
    EXPECT_TRUE(mentioned({"--method", "lu"}));
}

TEST_F(Cli, GivesTheShortestXOfAMatrixWhoseNullSpaceIsNamed)
{
    const std::string head = "%%MatrixMarket matrix array real general\n4 1\n";
    const std::string A = file("A.mtx", matrix("4 4 8\n1 1 1\n1 2 -1\n2 1 -1\n2 2 1\n3 3 2\n3 4 -2\n4 3 -2\n4 4 2\n")),
                      b = file("b.mtx", head + "2\n0\n0\n4\n"), X = folder.file("x.mtx"),
                      N = file("N.mtx", "%%MatrixMarket matrix array real general\n4 2\n1\n1\n0\n0\n1\n1\n5\n5\n");
    for (const std::string& null_space : {std::string("constant"), N}) {
        const auto json =
            this->json({"solve", A, "--rhs", b, "--out", X, "-p", "krylov.null_space=" + null_space, "--json"});
        EXPECT_TRUE(json["decisions"].dump().find("null_space") != std::string::npos) << json["decisions"];
        const std::vector<double> x = read_vector(X);  // b is (1, -1, -2, 2) and a part that no x gives
        ASSERT_EQ(x.size(), 4u);
        for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(x[i], i % 2 == i / 2 ? 0.5 : -0.5, 1e-10);
    }
    const Result text = ilux({"solve", A, "--rhs", b, "-p", "krylov.null_space=constant"});
    EXPECT_NE(text.out.find("recomputed, of b without the part that was taken off"), std::string::npos) << text.out;
    expect_refusal(2, {"solve", A, "-p", "krylov.null_space=" + b}, {"null_space", "vector 1", "row 1"});
    expect_refusal(2, {"solve", A, "-p", "krylov.null_space=" + folder.file("missing.mtx")}, {"missing.mtx"});
    expect_refusal(1, {"solve", A, "--method", "lu", "-p", "krylov.null_space=constant"}, {"an LU does not take it"});
}

TEST_F(Cli, HistoryHoldsTheStepsAndEndsWithTheReportedResidual)
{
    const std::string csv = folder.file("h.csv");
    const auto        json = this->json(
               {"solve", "gallery:convdiff2d:n=12", "--method", "gmres", "--precond", "jacobi", "--history", csv, "--json"});
    std::istringstream lines(read_bytes(csv));
    std::string        line;
    std::getline(lines, line);
    EXPECT_EQ(line, "step,relative_residual,exact,seconds");
    int    rows = 0, step = 0, exact = 0, last_step = 0;
    double residual = 0, seconds = 0;
    while (std::getline(lines, line)) {
        ASSERT_EQ(std::sscanf(line.c_str(), "%d,%lf,%d,%lf", &step, &residual, &exact, &seconds), 4) << line;
        EXPECT_GE(step, last_step);
        last_step = step;
        ++rows;
    }
    EXPECT_GT(rows, json["steps"].get<int>());  // a row a step, one for the start, and the verified end
    EXPECT_EQ(step, json["steps"].get<int>());
    EXPECT_EQ(exact, 1);
    const double told = json["relative_residual"];  // measured in twice the precision
    EXPECT_NEAR(residual, told, 1e-6 * told);
}

TEST_F(Cli, HistoryIsJsonWhereItsNameSaysSo)
{
    const std::string file = folder.file("h.json");
    const auto        json = this->json(
               {"solve", "gallery:convdiff2d:n=12", "--method", "gmres", "--rhs", "random:1", "--history", file, "--json"});
    const auto points = nlohmann::json::parse(read_bytes(file));
    ASSERT_TRUE(points.is_array());
    EXPECT_EQ(points.front()["step"], 0);
    EXPECT_EQ(points.back()["step"], json["steps"]);
    EXPECT_EQ(points.back()["exact"], true);
    const double told = json["relative_residual"];
    EXPECT_NEAR(points.back()["relative_residual"].get<double>(), told, 1e-6 * told);
    EXPECT_EQ(points.back().size(), 4u);
}

TEST_F(Cli, CommandLineWinsOverTheConfigFile)
{
    const std::string config =
        file("c.json",
             R"({"method": "bicgstab", "krylov": {"rtol": 1e-3, "restart": 7}, "precond": {"drop_tol": 0.5}})");
    const auto options = json({"solve", "gallery:convdiff2d:n=8", "--config", config, "--rtol", "1e-5", "-p",
                               "precond.drop_tol=0.25", "--json"})["options"];
    EXPECT_EQ(options["method"], "bicgstab");
    EXPECT_EQ(options["krylov"]["rtol"], 1e-5);
    EXPECT_EQ(options["krylov"]["restart"], 7);
    EXPECT_EQ(options["precond"]["drop_tol"], 0.25);
}

TEST_F(Cli, OptionsItPrintsAreAConfigFileItAccepts)
{
    const auto        options = json({"solve", "gallery:convdiff2d:n=8", "--restart", "9", "--json"})["options"];
    const std::string config = file("c.json", options.dump());
    EXPECT_EQ(json({"solve", "gallery:convdiff2d:n=8", "--config", config, "--json"})["options"], options);
}

TEST_F(Cli, ReportForPeopleTellsOutcomeErrorsTimesAndMemory)
{
    const Result result = ilux({"solve", "gallery:convdiff2d:n=12", "--method", "gmres"});
    EXPECT_EQ(result.code, 0);
    for (const char* word : {"gallery:convdiff2d:n=12", "n 144", "GMRES(30)", "multilevel ILU", "level",
                             "converged in ", "recomputed", "backward error", "forward error", "factor", "memory"})
        EXPECT_NE(result.out.find(word), std::string::npos) << word << " is not in:\n" << result.out;
    EXPECT_EQ(result.out.find('\033'), std::string::npos);  // no colour into a pipe
    EXPECT_EQ(result.err, "");                              // and no progress line
}

// --- failures of the method ----------------------------------------------------------------------------------------

TEST_F(Cli, StepLimitIsExitCodeThreeWithAdvice)
{
    const Result result = ilux({"solve", "gallery:poisson2d:n=30", "--method", "gmres", "--precond", "none",
                                "--max-steps", "5", "--retry", "off"});
    EXPECT_EQ(result.code, 3);
    EXPECT_NE(result.out.find("max_steps after 5 steps"), std::string::npos) << result.out;
    EXPECT_NE(result.out.find("try next"), std::string::npos);
    EXPECT_NE(result.out.find("--precond mlilu"), std::string::npos);
}

TEST_F(Cli, RetriesWithATighterPreconditionerAndSaysSo)
{
    const auto json = this->json(
        {"solve", "gallery:poisson2d:n=30", "--method", "gmres", "--precond", "none", "--max-steps", "20", "--json"});
    ASSERT_GE(json["attempts"].size(), 2u);
    EXPECT_EQ(json["attempts"][0]["outcome"], "max_steps");
    EXPECT_EQ(json["attempts"][1]["precond"], "mlilu");
    EXPECT_EQ(json["precond"], "mlilu");
    EXPECT_NE(json["decisions"].dump().find("precond mlilu"), std::string::npos);
}

TEST_F(Cli, RetriesByCroutsSweepWhereRoundsDoNotServe)
{
    // So little memory spoils rounds more than the sweep: about 100 and 45 steps.
    const auto json = this->json({"solve", "gallery:poisson2d:n=60", "--method", "gmres", "--rhs", "random:1", "-p",
                                  "memory_limit=700K", "--max-steps", "70", "--json"});
    ASSERT_EQ(json["attempts"].size(), 2u);
    EXPECT_EQ(json["attempts"][0]["outcome"], "max_steps");
    EXPECT_EQ(json["outcome"], "converged");
    EXPECT_NE(json["decisions"].dump().find("trying precond.setup crout"), std::string::npos) << json["decisions"];
    for (const auto& level : json["mlilu"]["levels"]) EXPECT_EQ(level["rounds"], 0);
}

// --- info, gallery, doctor, help -----------------------------------------------------------------------------------

TEST_F(Cli, InfoMeasuresASmallMatrix)
{
    // Row 1 needs column 2: the matching swaps the first two columns. Row 3 waits for row 2, which waits for row 1.
    const std::string A = file("A.mtx", matrix("3 3 6\n1 1 0\n1 2 4\n2 1 0.001\n2 3 0.0001\n3 2 2\n3 3 8\n"));
    const auto        json = this->json({"info", A, "--json"});
    EXPECT_EQ(json["matrix"]["nnz"], 6);
    EXPECT_EQ(json["matrix"]["stored_zeros"], 1);
    EXPECT_EQ(json["matrix"]["pattern_symmetric"], true);
    EXPECT_EQ(json["matrix"]["symmetric"], false);
    EXPECT_EQ(json["diagonal"]["zeros"], 1);
    EXPECT_EQ(json["diagonal"]["missing"], 1);
    EXPECT_EQ(json["diagonal"]["dominant_rows"], 1);
    EXPECT_EQ(json["bandwidth"]["lower"], 1);
    EXPECT_EQ(json["row_lengths"]["max"], 2);
    EXPECT_NEAR(json["values"]["decades"].get<double>(), std::log10(8 / 1e-4), 1e-12);
    EXPECT_EQ(json["matching"]["structural_rank"], 3);
    EXPECT_EQ(json["matching"]["rows_moved"], 2);
    EXPECT_EQ(json["depth_lower"], 3);
    EXPECT_NE(ilux({"info", A}).out.find("structural rank 3 of 3"), std::string::npos);
}

TEST_F(Cli, InfoTakesRectangularAndEmptyMatricesToo)
{
    const auto wide = json({"info", file("A.mtx", matrix("1 3 1\n1 2 5\n")), "--json"});
    EXPECT_EQ(wide["matrix"]["cols"], 3);
    EXPECT_TRUE(wide["matching"].is_null());
    EXPECT_EQ(ilux({"info", file("E.mtx", matrix("0 0 0\n"))}).code, 0);
    EXPECT_EQ(json({"info", file("Z.mtx", matrix("2 2 0\n")), "--json"})["matching"]["structural_rank"], 0);
}

TEST_F(Cli, GalleryListsAndWritesWhatSolveUses)
{
    const Result list = ilux({"gallery"});
    EXPECT_EQ(list.code, 0);
    EXPECT_NE(list.out.find("poisson2d"), std::string::npos);
    EXPECT_NE(list.out.find("n="), std::string::npos);
    EXPECT_NE(list.out.find("STAND-IN"), std::string::npos);

    const std::string A = folder.file("A.mtx");
    EXPECT_EQ(ilux({"gallery", "convdiff2d:n=5", "--out", A}).code, 0);
    EXPECT_EQ(read_matrix(A).rows(), 25);
    const Result text = ilux({"gallery", "convdiff2d:n=5", "--out", "-"});
    EXPECT_TRUE(test::identical(parse_matrix(text.out, "stdout"), read_matrix(A)));
    EXPECT_NE(ilux({"gallery", "poisson2d"}).out.find("symmetric positive definite"), std::string::npos);
    expect_refusal(1, {"gallery", "--out", A}, {"NAME"});
}

TEST_F(Cli, DoctorPassesItsSelfTest)
{
    const Result result = ilux({"doctor"});
    EXPECT_EQ(result.code, 0) << result.out;
    for (const char* word : {"compiler", "memory", "CUDA build", "passed", "lu on gallery:mna_random"})
        EXPECT_NE(result.out.find(word), std::string::npos) << word;
    EXPECT_EQ(result.out.find("FAILED"), std::string::npos);
}

TEST_F(Cli, HelpGoesToStandardOutputBySections)
{
    for (const char* word : {"solve", "info", "gallery", "compare", "doctor", "exit codes"})
        EXPECT_NE(ilux({"--help"}).out.find(word), std::string::npos) << word;
    const Result brief = ilux({"solve", "--help"}), help = ilux({"solve", "--help-all"});
    EXPECT_EQ(brief.code, 0);
    EXPECT_EQ(help.code, 0);
    EXPECT_LE(std::ranges::count(brief.out, '\n'), 30);
    for (const char* word : {"usage: ilux solve", "--method auto|gmres", "--max-steps", "--help-all"})
        EXPECT_NE(brief.out.find(word), std::string::npos) << word << " is not in:\n" << brief.out;
    EXPECT_EQ(brief.out.find("precond.drop_tol"), std::string::npos);
    for (const char* word : {"usage: ilux solve", "Problem:", "Method:", "Machine:", "Output:", "--max-steps",
                             "precond.drop_tol", "krylov.ortho", "amd|metis"})
        EXPECT_NE(help.out.find(word), std::string::npos) << word << " is not in:\n" << help.out;
    for (const char* command : {"info", "gallery", "compare", "doctor"})
        EXPECT_EQ(ilux({command, "--help"}).code, 0) << command;
    EXPECT_TRUE(ilux({"--version"}).out.starts_with("ilux "));
}

}  // namespace
}  // namespace ilux

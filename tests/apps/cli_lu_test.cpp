// ilux solve --method lu and what ilux info says of direct solutions.

#include "ilux/tests/apps/cli.hpp"

namespace ilux {
namespace {

TEST_F(Cli, LuSolvesModelProblemsToRoundingAndFillsItsKey)
{
    for (const char* problem : {"gallery:convdiff2d:n=20", "gallery:poisson3d:n=6", "gallery:convdiff2d:n=1"}) {
        const auto json = this->json({"solve", problem, "--method", "lu", "--json"});
        EXPECT_EQ(json["outcome"], "converged");
        EXPECT_EQ(json["method"], "lu");
        EXPECT_EQ(json["precond"], "none");
        EXPECT_EQ(json["device"]["kind"], "cpu");
        EXPECT_TRUE(json["mlilu"].is_null());
        EXPECT_LE(json["forward_error"].get<double>(), 1e-10) << problem;
        expect_keys(json["lu"], {"nnz", "flops", "levels", "refactor", "repivots", "growth", "rcond", "condition",
                                 "ordering", "blocks", "fill", "refine_steps"});
        EXPECT_LE(json["componentwise_error"].get<double>(), 1e-12);
        EXPECT_GE(json["lu"]["nnz"].get<int>(), json["matrix"]["n"].get<int>());
        EXPECT_GE(json["lu"]["condition"].get<double>(), 1);
        EXPECT_GT(json["memory_bytes"]["factors"].get<double>(), 0);
        EXPECT_EQ(json["attempts"].size(), 1u);
    }
}

TEST_F(Cli, LuTellsFillBlocksAndPivotsOfASmallMatrix)
{
    // Block triangular: {1}, {2, 3}; the second block is [4 1; 2 3] with one multiplier, so L + U has 1 + 4 entries, F
    // one.
    const std::string A = file("A.mtx", matrix("3 3 6\n1 1 2\n1 2 1\n2 2 4\n2 3 1\n3 2 2\n3 3 3\n"));
    const auto        lu = json({"solve", A, "--method", "lu", "--json"})["lu"];
    EXPECT_EQ(lu["blocks"], 2);
    EXPECT_EQ(lu["largest_block"], 2);
    EXPECT_EQ(lu["nnz"], 5);
    EXPECT_EQ(lu["nnz_F"], 1);
    EXPECT_EQ(lu["levels"], 2);
    EXPECT_EQ(lu["fill"], 1);
    const Result text = ilux({"solve", A, "--method", "lu"});
    EXPECT_EQ(text.code, 0);
    for (const char* word : {"direct, P A Q = L U", "2 diagonal blocks", "L + U 5 entries, 1 above the blocks",
                             "pivots", "converged, componentwise backward error", "max |b − A x|_i"})
        EXPECT_NE(text.out.find(word), std::string::npos) << word << " is not in:\n" << text.out;
    EXPECT_EQ(text.out.find("preconditioner"), std::string::npos);
}

TEST_F(Cli, LuNamesTheColumnOfASingularMatrixWithExitCodeFour)
{
    const std::string rank_one = file("one.mtx", matrix("2 2 4\n1 1 1\n1 2 1\n2 1 1\n2 2 1\n"));
    const auto        json = this->json({"solve", rank_one, "--method", "lu", "--rhs", "ones", "--json"}, 4);
    EXPECT_EQ(json["outcome"], "singular");
    EXPECT_NE(json["detail"].get<std::string>().find("column"), std::string::npos);
    const Result structural = ilux(
        {"solve", file("zero.mtx", matrix("3 3 4\n1 1 1\n1 2 1\n3 3 1\n3 2 1\n")), "--method", "lu", "--rhs", "ones"});
    EXPECT_EQ(structural.code, 4);
    EXPECT_NE(structural.out.find("structurally singular: rank 2 of 3"), std::string::npos) << structural.out;
    // Its last pivot is rounding noise: a componentwise small backward error would pass, x is of size 10¹⁶.
    const std::string noise =
        file("noise.mtx", matrix("3 3 9\n1 1 .1\n1 2 .2\n1 3 .3\n2 1 .4\n2 2 .5\n2 3 .6\n3 1 .7\n3 2 .8\n3 3 .9\n"));
    const std::string b = file("b.mtx", "%%MatrixMarket matrix array real general\n3 1\n1\n0\n0\n");
    EXPECT_EQ(ilux({"solve", noise, "--method", "lu", "--rhs", b}).code, 4);
}

TEST_F(Cli, OutHoldsALastIterateOrIsNotThere)
{
    const std::string out = folder.file("x.mtx");
    const std::string rank_one = file("one.mtx", matrix("2 2 4\n1 1 1\n1 2 1\n2 1 1\n2 2 1\n"));
    const std::string huge = file("huge.mtx", matrix("1 1 1\n1 1 1e-300\n")),
                      b = file("b.mtx", "%%MatrixMarket matrix array real general\n1 1\n1e300\n");
    const std::string grid = "gallery:poisson2d:n=16";
    struct Case {
        int                      code;
        const char*              outcome;
        std::vector<std::string> arguments;
        bool                     has_x;
    };
    const Case cases[] = {
        {4, "singular", {rank_one, "--method", "lu", "--rhs", "ones"}, false},
        {3, "not_finite", {huge, "--method", "lu", "--rhs", b}, false},
        {5, "out_of_memory", {grid, "--method", "lu", "-p", "memory_limit=1K"}, false},
        {3, "time_limit", {grid, "--method", "lu", "--time-limit", "1e-9"}, false},
        {3, "max_steps", {grid, "--method", "gmres", "--precond", "none", "--max-steps", "3", "--retry", "off"}, true},
    };
    for (const Case& one : cases) {
        SCOPED_TRACE(one.outcome);
        for (const bool former : {false, true}) {
            std::filesystem::remove(out);
            if (former) write_vector(out, std::vector<double>{7, 7});
            std::vector<std::string> arguments{"solve", "--json", "--out", out};
            arguments.insert(arguments.end(), one.arguments.begin(), one.arguments.end());
            const Result result = ilux(arguments);
            EXPECT_EQ(result.code, one.code) << result.out << result.err;
            const auto json = nlohmann::json::parse(result.out, nullptr, false);
            EXPECT_EQ(json["outcome"], one.outcome);
            const std::string said = json["decisions"].dump();
            EXPECT_EQ(said.find("--out: there is no x") == std::string::npos, one.has_x) << said;
            EXPECT_EQ(std::filesystem::exists(out), one.has_x);
            if (one.has_x) {
                EXPECT_EQ(read_vector(out).size(), 256u);
                continue;
            }
            EXPECT_NE(said.find(former ? "was removed, being of a former run" : "was not written"), std::string::npos)
                << said;
        }
    }
    EXPECT_EQ(ilux({"solve", rank_one, "--method", "lu", "--rhs", "ones", "--out", "/dev/null"}).code, 4);
    EXPECT_TRUE(std::filesystem::exists("/dev/null"));
}

TEST_F(Cli, LuSolvesWhereARowSeesOnlyRoundingErrors)
{
    // x = (0, 3, 0), and b₃ = 0: whatever small numbers come out for x₁ and x₃, all of row 3 is rounding.
    const std::string A = file("A.mtx", matrix("3 3 7\n1 1 20\n1 2 2\n1 3 -3\n2 2 20\n2 3 -1\n3 1 3\n3 3 21\n"));
    const std::string b = file("b.mtx", "%%MatrixMarket matrix array real general\n3 1\n6\n60\n0\n");
    const auto        json = this->json({"solve", A, "--rhs", b, "--method", "lu", "--json"});
    EXPECT_EQ(json["outcome"], "converged");
    EXPECT_LE(json["componentwise_error"].get<double>(), 1e-15);
    EXPECT_EQ(json["attempts"].size(), 1u);
}

TEST_F(Cli, LuSolvesWithTheLargestNumberThereIs)
{
    const std::string huge = file("huge.mtx", matrix("1 1 1\n1 1 1.5e308\n"));
    EXPECT_EQ(ilux({"solve", huge, "--rhs", "ones", "--method", "lu"}).code, 0);
}

TEST_F(Cli, InfoSaysWhyThereAreNoLevels)
{
    const std::string one = file("one.mtx", matrix("2 2 4\n1 1 1\n1 2 1\n2 1 1\n2 2 1\n"));
    const Result      text = ilux({"info", one, "--levels"});
    EXPECT_EQ(text.code, 0);
    EXPECT_NE(text.out.find("none, since the factorization failed: singular, "), std::string::npos) << text.out;
    EXPECT_NE(json({"info", one, "--levels", "--json"})["lu"]["no_levels"].get<std::string>().find("column"),
              std::string::npos);
}

TEST_F(Cli, InfoTellsOfAStructurallySingularMatrix)
{
    // Rows 2 and 4 are empty, rows 5 and 6 share column 1, columns 4 and 6 are empty.
    const std::string A = file("A.mtx", matrix("6 6 6\n1 2 3\n1 3 1\n3 3 2\n5 1 4\n6 1 4\n3 5 0\n"));
    const auto        json = this->json({"info", A, "--json", "--levels"});
    EXPECT_EQ(json["matching"]["structural_rank"], 3);
    EXPECT_EQ(json["matching"]["rows_moved"], 2);  // row 1 to column 2, row 5 or 6 to column 1
    EXPECT_EQ(json["matching"]["dominant_rows"], 3);
    EXPECT_TRUE(json["lu"].is_null());
    EXPECT_FALSE(json["memory_bytes"].contains("lu"));
    const Result text = ilux({"info", A});
    for (const char* word :
         {"3 rows cannot be matched: A is singular. Rows 2 4 ", "none, since A is structurally singular"})
        EXPECT_NE(text.out.find(word), std::string::npos) << word << " is not in:\n" << text.out;
    const std::string wide = file("W.mtx", matrix("3 3 3\n2 1 1\n2 2 1\n2 3 1\n"));
    EXPECT_EQ(this->json({"info", wide, "--json"})["matching"]["structural_rank"], 1);
}

TEST_F(Cli, InfoOfOneEntryTakesLittleMoreMemoryThanItsRows)
{
    if (!test::memory_may_be_limited) GTEST_SKIP()
    << "no limit on memory under this sanitizer";
    const std::string A = file("A.mtx", matrix("16777216 16777216 1\n1 1 1\n"));
    const std::string limited = fmt::format("ulimit -v {}; exec '{}' info '{}'", 900'000, program(), A);
    EXPECT_EQ(std::system(("(" + limited + ") > '" + folder.file("out") + "'").c_str()), 0);  // 128 MiB are row_ptr
    EXPECT_NE(read_bytes(folder.file("out")).find("structural rank 1 of 16777216"), std::string::npos);
}

TEST_F(Cli, LuAcceptsABackwardStableAnswerWhoseResidualIsRounding)
{
    // In row 1 numbers of 10⁹ cancel to b₁ = 10⁻³; doubles of x₁ are so far apart that ‖b − A x‖ ≤ 10⁻⁸ ‖b‖ is out of
    // reach.
    const std::string A = file("A.mtx", matrix("3 3 7\n1 1 1e15\n1 2 -1e15\n1 3 1e-3\n2 2 3\n2 3 1\n3 2 1\n3 3 3\n"));
    const std::string b = file("b.mtx", "%%MatrixMarket matrix array real general\n3 1\n1e-3\n1e-5\n2e-5\n");
    const auto        json = this->json({"solve", A, "--rhs", b, "--method", "lu", "--json"});
    EXPECT_GT(json["relative_residual"].get<double>(), 1e-8);
    EXPECT_LE(json["componentwise_error"].get<double>(), 1e-15);
    EXPECT_NE(json["decisions"].dump().find("converged by the componentwise backward error"), std::string::npos);
}

TEST_F(Cli, LuSaysInOneLineThatXMayBeOneOfMany)
{
    const Result quiet = ilux({"solve", "gallery:singular", "--method", "lu", "--quiet"});
    EXPECT_EQ(quiet.code, 0);
    EXPECT_EQ(std::count(quiet.out.begin(), quiet.out.end(), '\n'), 1);
    EXPECT_NE(quiet.out.find("x is one of many"), std::string::npos) << quiet.out;
    EXPECT_NE(json({"solve", "gallery:singular", "--method", "lu", "--json"})["warning"], "");
    EXPECT_EQ(json({"solve", "gallery:poisson2d:n=9", "--method", "lu", "--json"})["warning"], "");
}

TEST_F(Cli, LuFindsAFreePressureSingularWhateverItsRightHandSide)
{
    for (const char* rhs : {"random:1", "random:2", "ones"}) {
        const Result result = ilux({"solve", "gallery:stokes2d:pressure=free,n=12", "--rhs", rhs, "--method", "lu"});
        EXPECT_EQ(result.code, 4) << rhs << result.out;
        for (const char* word : {"singular in working precision", "known only up to a constant"})
            EXPECT_NE(result.out.find(word), std::string::npos) << word << " is not in:\n" << result.out;
    }
}

TEST_F(Cli, LuIsGivenUpAtTheTimeLimit)
{
    const auto json =
        this->json({"solve", "gallery:convdiff2d:n=30", "--method", "lu", "--time-limit", "1e-9", "--json"}, 3);
    EXPECT_EQ(json["outcome"], "time_limit");
    EXPECT_NE(json["detail"].get<std::string>().find("given up"), std::string::npos) << json["detail"];
    EXPECT_EQ(json["attempts"].size(), 1u);
    EXPECT_NE(json["advice"].dump().find("--time-limit 1e-08"), std::string::npos) << json["advice"];
    EXPECT_EQ(ilux({"solve", "gallery:convdiff2d:n=30", "--method", "lu", "--time-limit", "0"}).code, 0);
}

TEST_F(Cli, LuRemarksOptionsThatSayNothingToIt)
{
    const Result result = ilux({"solve", "gallery:poisson2d:n=5", "--method", "lu", "--precond", "ilu0", "--restart",
                                "50", "--max-steps", "7", "--rtol", "1e-3", "--history", folder.file("h.csv"), "-p",
                                "sequence.refresh_factor=3", "-p", "precond.drop_tol=0.5"});
    EXPECT_EQ(result.code, 0) << result.err;
    for (const char* word : {"precond.kind=ilu0 has no effect on a direct solution", "krylov.restart=50 has no effect",
                             "krylov.max_steps=7 has no effect", "precond.drop_tol=0.5 has no effect", "--history",
                             "krylov.rtol=0.001: ", "sequence.refresh_factor=3 has no effect on a single system"})
        EXPECT_NE(result.out.find(word), std::string::npos) << word << " is not in:\n" << result.out;
    EXPECT_EQ(ilux({"solve", "gallery:poisson2d:n=5", "--method", "lu"}).out.find("no effect"), std::string::npos);
    const auto gmres = json({"solve", "gallery:poisson2d:n=5", "--method", "gmres", "-p", "lu.pivot_tol=1", "--json"});
    EXPECT_NE(gmres["decisions"].dump().find("lu.pivot_tol=1 has no effect on an iteration"), std::string::npos);
}

TEST_F(Cli, LuMemoryLimitIsKeptBeforeFactoring)
{
    const auto json =
        this->json({"solve", "gallery:convdiff2d:n=30", "--method", "lu", "-p", "memory_limit=10K", "--json"}, 5);
    EXPECT_EQ(json["outcome"], "out_of_memory");
    EXPECT_NE(json["detail"].get<std::string>().find("memory_limit is 10 kB"), std::string::npos) << json["detail"];
    EXPECT_GT(json["lu"]["predicted_nnz"].get<double>(), 900);
    EXPECT_EQ(json["lu"]["nnz"], 0);
    EXPECT_NE(json["advice"].dump().find("memory_limit"), std::string::npos);
    const auto of_all =
        this->json({"solve", "gallery:convdiff2d:n=30", "--method", "lu", "-p", "memory_limit=10K", "--json"}, 5);
    EXPECT_NE(of_all["advice"].dump().find("\"memory_limit is 10 kB: allow more"), std::string::npos)
        << of_all["advice"];
}

TEST_F(Cli, LuOptionsReachTheSolver)
{
    for (const char* ordering : {"amd", "colamd", "metis", "none"})
        EXPECT_EQ(json({"solve", "gallery:convdiff2d:n=12", "--method", "lu", "-p",
                        std::string("lu.ordering=") + ordering, "--json"})["lu"]["ordering"],
                  ordering);
    const std::string A = file("A.mtx", matrix("3 3 6\n1 1 2\n1 2 1\n2 2 4\n2 3 1\n3 2 2\n3 3 3\n"));
    EXPECT_EQ(json({"solve", A, "--method", "lu", "-p", "lu.blocks=off", "--json"})["lu"]["blocks"], 1);
    EXPECT_EQ(json({"solve", A, "--method", "lu", "-p", "lu.refactor=cpu", "--json"})["options"]["lu"]["refactor"],
              "cpu");
}

TEST_F(Cli, LuRefusesOptionsThatContradictOneAnother)
{
    const std::string A = "gallery:poisson2d:n=4";
    expect_refusal(1, {"solve", A, "--method", "lu", "-p", "lu.refactor=cpu", "--device", "gpu"},
                   {"lu.refactor=cpu", "device=gpu"});
    expect_refusal(1, {"solve", A, "--method", "lu", "-p", "lu.refactor=islu", "--device", "cpu"},
                   {"lu.refactor=islu", "device=cpu"});
    expect_refusal(1, {"sequence", A, "-p", "lu.refactor=glu3", "-p", "lu.deterministic=on"},
                   {"lu.deterministic", "glu3", "left"});
    expect_refusal(1, {"solve", A, "--method", "lu", "-p", "lu.refactor=glue"}, {"auto|cpu|left|glu1|glu3|islu"});
    expect_refusal(1, {"solve", A, "--method", "lu", "-p", "lu.pivot_tol=2"}, {"lu.pivot_tol=2"});
    expect_refusal(1, {"solve", A, "--method", "lu", "-p", "lu.orderin=amd"}, {"did you mean 'lu.ordering'"});
}

TEST_F(Cli, LuSaysThatAGpuIsMissing)
{
    if (test::why_no_gpu().empty()) GTEST_SKIP()
    << "there is one";
    expect_refusal(6, {"solve", "gallery:poisson2d:n=4", "--method", "lu", "--device", "gpu"}, {"device=cpu"});
    expect_refusal(6, {"solve", "gallery:poisson2d:n=4", "--method", "lu", "-p", "lu.refactor=left"}, {"device=cpu"});
}

TEST_F(Cli, InfoNamesHubColumnsAndHowDeepTheyAre)
{
    // Of a full matrix, whatever the order, pivot k waits for all before it, and its k updates for one another.
    std::string entries;
    for (int i = 1; i <= 258; ++i)
        for (int j = 1; j <= 258; ++j)
            entries += std::to_string(i) + " " + std::to_string(j) + (i == j ? " 300\n" : " 1\n");
    const std::string A = file("full.mtx", matrix("258 258 66564\n" + entries));
    const auto        levels = json({"info", A, "--levels", "--json"})["lu"]["levels"];
    EXPECT_EQ(levels["sizes"], std::vector<int>(258, 1));
    ASSERT_EQ(levels["hubs"].size(), 2u);
    EXPECT_NE(levels["hubs"][0]["column"], levels["hubs"][1]["column"]);
    for (int h = 0; h < 2; ++h) {
        EXPECT_EQ(levels["hubs"][h]["updates"], 257 - h);
        EXPECT_EQ(levels["hubs"][h]["depth"], 257 - h);
    }
    const Result text = ilux({"info", A, "--levels"});
    for (const char* word : {"the largest of 1 columns, 258 of fewer than 32", "2 hubs of 256 updates or more: column ",
                             ": 257 updates, 257 deep; column "})
        EXPECT_NE(text.out.find(word), std::string::npos) << word << " is not in:\n" << text.out;
}

TEST_F(Cli, InfoPredictsADirectSolution)
{
    const std::string A = file("A.mtx", matrix("3 3 6\n1 1 2\n1 2 1\n2 2 4\n2 3 1\n3 2 2\n3 3 3\n"));
    auto              json = this->json({"info", A, "--json"});
    EXPECT_EQ(json["lu"]["blocks"], 2);
    EXPECT_EQ(json["lu"]["largest_block"], 2);
    EXPECT_EQ(json["lu"]["predicted_nnz"], 5);
    EXPECT_TRUE(json["lu"]["levels"].is_null());
    EXPECT_GT(json["memory_bytes"]["lu"].get<double>(), 0);
    json = this->json({"info", A, "--levels", "--json"});
    EXPECT_EQ(json["lu"]["levels"]["left"], 2);
    EXPECT_EQ(json["lu"]["levels"]["exact"], 2);
    EXPECT_EQ(json["lu"]["levels"]["sizes"], (std::vector<int>{2, 1}));
    EXPECT_TRUE(json["lu"]["levels"]["hubs"].empty());
    const Result text = ilux({"info", A, "--levels"});
    for (const char* word : {"2 left-looking", "the largest of 2 columns, 2 of fewer than 32"})
        EXPECT_NE(text.out.find(word), std::string::npos) << word << " is not in:\n" << text.out;
    EXPECT_EQ(text.out.find("hub"), std::string::npos) << text.out;
    EXPECT_TRUE(this->json({"info", file("W.mtx", matrix("1 3 1\n1 2 5\n")), "--json"})["lu"].is_null());
}

}  // namespace
}  // namespace ilux

// What the program says when it cannot: failures, bad options, bad files.

#include "ilux/tests/apps/cli.hpp"

namespace ilux {
namespace {

TEST_F(Cli, ZeroPivotOfIluZeroIsBreakdownWithItsRow)
{
    const std::string A = file("A.mtx", matrix("2 2 2\n1 2 1\n2 1 1\n"));
    const Result      result = ilux({"solve", A, "--precond", "ilu0", "--retry", "off"});
    EXPECT_EQ(result.code, 4);
    EXPECT_NE(result.out.find("row 1"), std::string::npos) << result.out;
    EXPECT_EQ(ilux({"solve", A, "--precond", "ilu0"}).code, 0);  // the multilevel ILU permutes
}

TEST_F(Cli, SingularSystemsAreNeverCalledConverged)
{
    const std::string zero_row = file("zero.mtx", matrix("3 3 4\n1 1 1\n1 2 1\n3 3 1\n3 2 1\n"));
    const std::string rank_one = file("one.mtx", matrix("2 2 4\n1 1 1\n1 2 1\n2 1 1\n2 2 1\n"));
    const std::string b = file("b.mtx", "%%MatrixMarket matrix array real general\n2 1\n1\n2\n");
    const Result      structural = ilux({"solve", zero_row, "--rhs", "ones"});
    EXPECT_EQ(structural.code, 4) << structural.out;
    EXPECT_NE(structural.out.find("structurally singular"), std::string::npos) << structural.out;
    EXPECT_EQ(ilux({"solve", rank_one, "--rhs", b, "--method", "gmres"}).code, 4);
}

TEST_F(Cli, AFileThatTakesTooLongToReadIsExitCodeThree)
{
    std::string long_file = matrix("1 1 1\n1 1 1\n");
    for (int line = 0; line < 200'000; ++line) long_file += "% a comment\n";
    const std::string A = file("A_0.mtx", matrix("1 1 1\n1 1 1\n")), late = file("A_1.mtx", long_file);
    expect_refusal(3, {"solve", late, "--time-limit", "1e-9"}, {"A_1.mtx", "time limit of 1e-09 s", "--time-limit"});
    EXPECT_EQ(ilux({"solve", late, "--time-limit", "0"}).code, 0);
    const auto all = json_lines({"sequence", A, late, "--time-limit", "1e-9"}, 3);
    ASSERT_EQ(all.size(), 3U);
    EXPECT_EQ(all[1]["action"], "none");
    EXPECT_EQ(all[1]["outcome"], "time_limit");
    EXPECT_NE(all[1]["detail"].get<std::string>().find("while it was read"), std::string::npos);
}

TEST_F(Cli, AMemoryLimitTooSmallIsExitCodeFive)
{
    const auto json =
        this->json({"solve", "gallery:convdiff2d:n=30", "--method", "gmres", "-p", "memory_limit=1K", "--json"}, 5);
    EXPECT_EQ(json["outcome"], "out_of_memory");
    EXPECT_NE(json["detail"].get<std::string>(), "");
}

// --- refusals ------------------------------------------------------------------------------------------------------

TEST_F(Cli, UnknownNamesAreRefusedWithTheNearestOne)
{
    expect_refusal(1, {"sovle", "A.mtx"}, {"'sovle'", "did you mean 'solve'"});
    expect_refusal(1, {"compete", "A.mtx"}, {"'compete'", "did you mean 'compare'"});
    expect_refusal(1, {}, {"command is missing"});
    expect_refusal(1, {"solve", "gallery:poisson2d", "--metod", "cg"}, {"'--metod'", "did you mean '--method'"});
    expect_refusal(1, {"solve", "gallery:poisson2d", "--max_steps=3"}, {"did you mean '--max-steps'"});
    expect_refusal(1, {"solve", "gallery:poisson2d", "-p", "precond.droptol=1"}, {"did you mean 'precond.drop_tol'"});
    expect_refusal(1, {"solve", "gallery:poison2d"}, {"did you mean 'poisson2d'"});
    expect_refusal(1, {"solve", "gallery:poisson2d:m=3"}, {"'m'"});
    expect_refusal(1, {"solve", "gallery:poisson2d", "--method", "gmre"}, {"method=gmre", "auto|gmres"});
    expect_refusal(1, {"info", "gallery:poisson2d", "--jsn"}, {"did you mean '--json'"});
}

TEST_F(Cli, OptionsThatMakeNoSenseAreExitCodeOne)
{
    expect_refusal(1, {"solve"}, {"MATRIX is missing"});
    expect_refusal(1, {"solve", "gallery:poisson2d", "another"}, {"'another'"});
    expect_refusal(1, {"solve", "gallery:poisson2d", "--rtol", "-1"}, {"krylov.rtol=-1"});
    expect_refusal(1, {"solve", "gallery:poisson2d", "--rtol"}, {"--rtol"});
    expect_refusal(1, {"solve", "gallery:poisson2d", "--threads", "x"}, {"threads=x"});
    expect_refusal(1, {"solve", "gallery:poisson2d", "--rhs", "random:x"}, {"rhs=random:x: expected random:SEED"});
    expect_refusal(1, {"solve", "gallery:poisson2d", "--restart", "0"}, {"krylov.restart=0"});
    expect_refusal(1, {"solve", "gallery:poisson2d", "-p", "precond.drop_tol"}, {"PATH=VALUE"});
    expect_refusal(1, {"solve", "-", "--rhs", "-"}, {"standard input"});
    expect_refusal(1, {"solve", "gallery:poisson2d", "--out", "-"}, {"standard output"});
}

TEST_F(Cli, BrokenConfigFilesAreRefusedWithTheirPlace)
{
    expect_refusal(2, {"solve", "gallery:poisson2d", "--config", folder.file("none.json")}, {"none.json"});
    expect_refusal(2, {"solve", "gallery:poisson2d", "--config", file("a.json", "{\n \"threads\": }")},
                   {"a.json", "line 2, column 13"});
    expect_refusal(1, {"solve", "gallery:poisson2d", "--config", file("b.json", R"({"thread": 1})")},
                   {"b.json", "did you mean 'threads'"});
}

TEST_F(Cli, AResidualThatCancelsToZeroByLuckIsNotBelieved)
{
    // Singular, and b = 1 outside its range: BiCG ends at an x of 10¹⁵ whose plain b − A x rounds to about 0.
    const std::string A = folder.write("singular.mtx",
                                       "%%MatrixMarket matrix coordinate real general\n"
                                       "%\n"
                                       "5 5 13\n"
                                       "1 2 6.4496152579979193e-01\n"
                                       "1 4 6.4611190957731635e-01\n"
                                       "1 5 1.0994861774593110e+00\n"
                                       "1 1 1.7560792110886645e+00\n"
                                       "2 2 8.7013578826904825e-01\n"
                                       "2 1 6.4496152579979193e-01\n"
                                       "3 3 1.3470200090691736e-01\n"
                                       "4 5 4.9701881839463885e-01\n"
                                       "4 4 4.5048273885572998e-01\n"
                                       "4 1 6.4611190957731635e-01\n"
                                       "5 4 4.9701881839463885e-01\n"
                                       "5 5 9.7384306991105274e-01\n"
                                       "5 1 1.0994861774593110e+00\n");
    for (const char* method : {"bicg", "gmres", "fgmres", "bicgstab"}) {
        const Result result = ilux({"solve", A, "--rhs", "ones", "--method", method});
        EXPECT_NE(result.code, 0) << method << '\n' << result.out;
    }
}

TEST_F(Cli, OutputsNeverOverwriteInputs)
{
    const std::string A = folder.write("A.mtx", "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 2\n");
    expect_refusal(1, {"solve", A, "--out", A}, {"would be overwritten"});
    expect_refusal(1, {"solve", A, "--out", folder.file("x"), "--history", folder.file("x")}, {"would be overwritten"});
    EXPECT_EQ(ilux({"solve", A, "--out", folder.file("x.mtx")}).code, 0);
}

TEST_F(Cli, AMissingGpuIsExitCodeSixBeforeAnythingIsRead)
{
    if (test::why_no_gpu().empty()) GTEST_SKIP()
    << "there is a GPU";
    expect_refusal(6, {"solve", folder.file("not_there.mtx"), "--device", "gpu"}, {"gpu", "device=cpu"});
}

TEST_F(Cli, BadMatrixFilesAreExitCodeTwoWithFileAndLine)
{
    const std::pair<std::string, std::string> bad[] = {
        {"", ""},                                                     // empty
        {"%%MatrixMarket matrix coordinate real general\n", ""},      // no size line
        {matrix("2 2 2\n1 1 1\n"), ""},                               // one entry too few
        {matrix("2 2 1\n1 3 1\n"), ":3"},                             // column out of range
        {matrix("2 2 1\n0 1 1\n"), ":3"},                             // row out of range
        {matrix("2 2 2\n1 1 nan\n2 2 1\n"), ":3"},                    // not finite
        {matrix("1000000000 1000000000 900000000000\n1 1 1\n"), ""},  // a promise no file of this size keeps
        {std::string("\x7f"
                     "ELF\0\0\1\2",
                     8),
         ""},  // no text at all
        {std::string("\x1f\x8b"
                     "broken gzip"),
         ""},
        {matrix("2 3 1\n1 1 1\n"), "2 rows and 3 columns"},
        {matrix("0 0 0\n"), "0 rows"},
    };
    for (const auto& [bytes, words] : bad)
        expect_refusal(2, {"solve", file("bad.mtx", bytes), "--out", folder.file("x.mtx")}, {"bad.mtx", words});
    expect_refusal(2, {"solve", folder.file("missing.mtx")}, {"missing.mtx"});
    expect_refusal(2, {"solve", folder.path().string()}, {folder.path().string()});
    EXPECT_FALSE(std::filesystem::exists(folder.file("x.mtx")));
}

TEST_F(Cli, ARightHandSideOfTheWrongLengthIsExitCodeTwo)
{
    const std::string b = file("b.mtx", "%%MatrixMarket matrix array real general\n3 1\n1\n2\n3\n");
    expect_refusal(2, {"solve", "gallery:poisson2d:n=2", "--rhs", b}, {"b.mtx", "3 values", "4 rows"});
}

TEST_F(Cli, NearNullVectorsThatDoNotFitAreExitCodeTwo)
{
    const std::string grid = "gallery:poisson2d:n=2", head = "%%MatrixMarket matrix array real general\n";
    const std::string three = file("three.mtx", head + "3 1\n1\n2\n3\n"),
                      zero = file("zero.mtx", head + "4 1\n0\n0\n0\n0\n"), none = file("none.mtx", matrix("4 0 0\n")),
                      nan = file("nan.mtx", head + "4 1\n1\nnan\n3\n4\n");
    for (const char* command : {"solve", "sequence"}) {
        const std::string A = file("A_0.mtx", matrix("4 4 4\n1 1 1\n2 2 1\n3 3 1\n4 4 1\n"));
        expect_refusal(2, {command, A, "--near-null", three}, {"three.mtx: vectors of 3 values", "4 rows"});
        expect_refusal(2, {command, A, "--near-null", none}, {"none.mtx: 0 columns", "1 to 64"});
        expect_refusal(2, {command, A, "--near-null", zero}, {"zero.mtx: near_null: all values are 0"});
        expect_refusal(2, {command, A, "--near-null", nan}, {"nan.mtx"});
        expect_refusal(2, {command, A, "--near-null", folder.file("missing.mtx")}, {"missing.mtx"});
        expect_refusal(1, {command, A, "--near-null", "-"}, {"standard input"});
    }
}

TEST_F(Cli, ARightHandSideOfNoColumnsIsExitCodeTwo)
{
    const std::string none = file("none.mtx", matrix("4 0 0\n"));
    expect_refusal(2, {"solve", "gallery:poisson2d:n=2", "--rhs", none}, {"none.mtx", "0 columns"});
}

TEST_F(Cli, UnwritableOutputIsRefusedBeforeTheMatrixIsRead)
{
    const std::string nowhere = folder.file("no/such/folder/x.mtx");
    expect_refusal(2, {"solve", folder.file("missing.mtx"), "--out", nowhere}, {"no/such/folder/x.mtx"});
    expect_refusal(2, {"solve", "gallery:poisson2d:n=4", "--history", nowhere}, {"no/such/folder"});
    expect_refusal(2, {"solve", "gallery:poisson2d:n=4", "--out", folder.path().string()}, {folder.path().string()});
    expect_refusal(2, {"gallery", "poisson2d", "--out", nowhere}, {"no/such/folder"});
}

}  // namespace
}  // namespace ilux

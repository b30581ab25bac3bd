// ilux sequence, as its users run it.

#include <cmath>

#include "ilux/gallery/gallery.hpp"
#include "ilux/tests/apps/cli.hpp"
#include "ilux/tests/apps/sequence_folder.hpp"

namespace ilux {
namespace {

using namespace ilux::test;
namespace fs = std::filesystem;

class CliSequence : public CliOfSeries {
protected:
    /// k matrices A + k·0.01 diag(A) of a model problem, as numbered files.
    static std::string write_drifting(const TempFolder& where, int systems, CsrMatrix<double> A)
    {
        for (int k = 0; k < systems; ++k) {
            write_matrix(where.file(fmt::format("A_{:03}.mtx", k)), A);
            for (Index i = 0; i < A.rows(); ++i)
                for (Offset p = A.row_ptr()[i]; p < A.row_ptr()[i + 1]; ++p)
                    if (A.col()[p] == i) A.val()[p] *= 1.01;
        }
        return where.path().string();
    }

    TempFolder series;
};

TEST_F(CliSequence, PrintsEveryPromisedKeyOnALineForEachSystem)
{
    const auto all = lines({write_series(series, {4, 1, 1, 3, 5, 1, 1, 3}, {1, 2, 3, 4})});
    ASSERT_EQ(all.size(), 3u);
    for (std::size_t k = 0; k < 2; ++k) {
        expect_keys(all[k], {"type", "system", "name", "action", "reason", "outcome", "detail", "steps",
                             "relative_residual", "backward_error", "componentwise_error", "estimated_error",
                             "forward_error", "growth", "rcond", "seconds"});
        expect_keys(all[k]["seconds"], {"read", "factor", "solve"});
        EXPECT_EQ(all[k]["type"], "system");
        EXPECT_EQ(all[k]["system"], k);
        EXPECT_EQ(all[k]["outcome"], "converged");
        EXPECT_EQ(all[k]["action"], k == 0 ? "factor" : "refactor");
        EXPECT_LE(all[k]["componentwise_error"].get<double>(), 4 * eps);
    }
    const auto& summary = all.back();
    expect_keys(summary, {"type", "version", "sequence", "rhs", "method", "precond", "device", "outcome", "converged",
                          "actions", "steps", "worst_residual", "worst_backward_error", "worst_componentwise_error",
                          "seconds", "fill", "lu", "decisions", "options"});
    expect_keys(summary["seconds"], {"read", "analyse", "factor", "solve", "total"});
    expect_keys(summary["lu"], {"nnz", "flops", "levels", "refactor", "repivots", "growth", "rcond"});
    EXPECT_EQ(summary["type"], "summary");
    EXPECT_EQ(summary["method"], "lu");
    EXPECT_EQ(summary["sequence"]["systems"], 2);
    EXPECT_EQ(summary["sequence"]["nnz"], 4);
    EXPECT_EQ(summary["actions"]["factor"]["count"], 1);
    EXPECT_EQ(summary["actions"]["refactor"]["count"], 1);
    EXPECT_EQ(summary["lu"]["nnz"], 4);
    EXPECT_TRUE(summary["worst_residual"]["system"].is_number());
}

TEST_F(CliSequence, RepivotsWhereAPivotHasBecomeTinyAndSaysSo)
{
    // With the pivots of [1 1; 1 2] the second and third matrix lose every digit of x₁.
    const std::string path =
        write_series(series, {1, 1, 1, 2, 1e-16, 1, 1, 2, 1e-16, 1, 1, 2.5, 1, 1, 1, 2}, {2, 3, 1, 3, 1, 3.5, 2, 3});
    const std::string out = folder.file("x");
    const auto all = lines({path, "--out", out, "--method", "lu", "-p", "lu.matching=off", "-p", "lu.scaling=none"});
    ASSERT_EQ(all.size(), 5u);
    EXPECT_EQ(all[0]["action"], "factor");
    EXPECT_EQ(all[1]["action"], "repivot");
    EXPECT_NE(all[1]["reason"], "");
    EXPECT_EQ(all[4]["lu"]["repivots"], all[4]["actions"]["repivot"]["count"]);
    for (int k = 0; k < 4; ++k) {
        EXPECT_EQ(all[k]["outcome"], "converged");
        EXPECT_LE(all[k]["componentwise_error"].get<double>(), 1e-12);
        const auto x = read_vector((std::filesystem::path(out) / fmt::format("x_{:03}.mtx", k)).string());
        ASSERT_EQ(x.size(), 2u);
        EXPECT_NEAR(x[0], 1, 1e-14) << k;  // all four have x = (1, 1), up to 1e-16
        EXPECT_NEAR(x[1], 1, 1e-14) << k;
    }
    const auto told = ilux({"sequence", path, "--method", "lu", "-p", "lu.matching=off", "-p", "lu.scaling=none"}).out;
    EXPECT_NE(told.find("repivot: "), std::string::npos) << told;
}

TEST_F(CliSequence, ASingularSystemInTheMiddleIsNamedAndTheOthersAreSolved)
{
    const std::string path = write_series(series, {4, 1, 1, 3, 1, 1, 1, 1, 5, 1, 1, 3}, {5, 4, 1, 2, 6, 4});
    const std::string out = folder.file("x");
    std::filesystem::create_directory(out);
    write_vector(out + "/x_001.mtx", std::vector<double>{7, 7});  // of a former run
    const auto all = lines({path, "--out", out, "--method", "lu"}, 4);
    ASSERT_EQ(all.size(), 4u);
    const auto either = lines({path}, 4);  // the iteration that follows the LU adds nothing
    for (const auto& lines : {all, either}) {
        EXPECT_EQ(lines[1]["outcome"], "singular");
        EXPECT_NE(lines[1]["detail"].get<std::string>().find("column"), std::string::npos);
    }
    EXPECT_TRUE(all[1]["relative_residual"].is_null());
    for (const int k : {0, 2}) EXPECT_EQ(all[k]["outcome"], "converged");
    EXPECT_EQ(all[3]["outcome"], "singular");
    EXPECT_EQ(all[3]["converged"], 2);
    EXPECT_NEAR(read_vector(out + "/x_002.mtx")[0], 1, 1e-15);  // 5 + 1 = 6, 1 + 3 = 4
    EXPECT_FALSE(std::filesystem::exists(out + "/x_001.mtx"));
}

TEST_F(CliSequence, NoSolutionOfALongerFormerRunStays)
{
    const TempFolder  shorter;
    const std::string out = folder.file("x");
    lines({write_series(series, {2, 0, 0, 2, 2, 0, 0, 2, 2, 0, 0, 2, 2, 0, 0, 2}, {}), "--out", out});
    const std::vector<std::string> not_ours{"x_03.mtx",  "x_0003.mtx", "x_003.mtx.gz",
                                            "x_00a.mtx", "y_003.mtx",  "x_99999999999.mtx"};
    for (const std::string& other : not_ours) write_vector((fs::path(out) / other).string(), std::vector<double>{1});
    const std::string thousandth = (fs::path(out) / "x_1000.mtx").string();
    write_vector(thousandth, std::vector<double>{1});
    const auto all = lines({write_series(shorter, {4, 0, 0, 4, 4, 0, 0, 4}, {8, 8, 8, 8}), "--out", out});
    for (const char* stays : {"x_000.mtx", "x_001.mtx"}) EXPECT_EQ(read_vector((fs::path(out) / stays).string())[0], 2);
    for (const char* goes : {"x_002.mtx", "x_003.mtx", "x_1000.mtx"})
        EXPECT_FALSE(fs::exists(fs::path(out) / goes)) << goes;
    for (const std::string& other : not_ours) EXPECT_TRUE(fs::exists(fs::path(out) / other)) << other;
    EXPECT_NE(all.back()["decisions"].dump().find("--out: 5 solutions of a former run removed"), std::string::npos)
        << all.back();

    write_matrix((fs::path(out) / "x_000.mtx").string(), gallery::poisson2d(2, 2));  // never an input
    expect_refusal(1, {"sequence", out + "/x_000.mtx", "--out", out}, {"x_000.mtx would be overwritten by --out"});
    EXPECT_TRUE(fs::exists(fs::path(out) / "x_000.mtx"));
}

TEST_F(CliSequence, CountsAFailedRepivotSeparately)
{
    // Fresh pivots for the second; none for the third, which is singular; the first one's hold again for the fourth.
    const std::string path =
        write_series(series, {1, 1, 1, 2, 1e-16, 1, 1, 2, 1, 1, 1, 1, 1, 1, 1, 3}, {2, 3, 1, 3, 1, 2, 2, 4});
    const auto all = lines({path, "--method", "lu", "-p", "lu.matching=off", "-p", "lu.scaling=none"}, 4);
    ASSERT_EQ(all.size(), 5u);
    const char* actions[] = {"factor", "repivot", "failed_repivot"};
    for (int k = 0; k < 3; ++k) EXPECT_EQ(all[k]["action"], actions[k]) << k;
    EXPECT_EQ(all[2]["outcome"], "singular");
    EXPECT_EQ(all[3]["outcome"], "converged");
    const auto&  counted = all[4]["actions"];
    std::int64_t sum = 0;
    for (const auto& [name, action] : counted.items()) sum += action["count"].get<std::int64_t>();
    EXPECT_EQ(sum, 4);
    EXPECT_EQ(counted["failed_repivot"]["count"], 1);
    EXPECT_EQ(counted["repivot"]["count"], all[3]["action"] == "repivot" ? 2 : 1);
    EXPECT_EQ(all[4]["lu"]["repivots"], counted["repivot"]["count"]);
    EXPECT_NE(ilux({"sequence", path, "--method", "lu", "--quiet", "-p", "lu.matching=off", "-p", "lu.scaling=none"})
                  .out.find("1 failed_repivot"),
              std::string::npos);
}

TEST_F(CliSequence, ANumericallySingularSystemIsNoSuccess)
{
    // Rank 2, and the last pivot is rounding noise.
    series.write("A_0.mtx", matrix("3 3 9\n1 1 1\n1 2 2\n1 3 3\n2 1 4\n2 2 5\n2 3 6\n3 1 7\n3 2 8\n3 3 9.5\n"));
    series.write("A_1.mtx", matrix("3 3 9\n1 1 .1\n1 2 .2\n1 3 .3\n2 1 .4\n2 2 .5\n2 3 .6\n3 1 .7\n3 2 .8\n3 3 .9\n"));
    const auto all = lines({series.path().string(), "--rhs",
                            file("b.mtx", "%%MatrixMarket matrix array real general\n3 1\n1\n0\n0\n")},
                           4);
    ASSERT_EQ(all.size(), 3u);
    EXPECT_EQ(all[0]["outcome"], "converged");
    EXPECT_EQ(all[1]["outcome"], "singular") << all[1];
}

TEST_F(CliSequence, DataThatCannotBeUsedAreRefusedBySystemAndTheOthersAreSolved)
{
    const double nan = std::numeric_limits<double>::quiet_NaN();
    auto         all = lines({write_series(series, {4, 1, 1, 3, 4, 1, nan, 3, 5, 1, 1, 3}, {5, 4, 1, 2, 6, 4})}, 2);
    ASSERT_EQ(all.size(), 4u);
    EXPECT_EQ(all[1]["outcome"], "refused");
    EXPECT_NE(all[1]["detail"].get<std::string>().find("row 2, column 1"), std::string::npos);
    EXPECT_EQ(all[2]["outcome"], "converged");
    EXPECT_EQ(all[3]["outcome"], "refused");

    const TempFolder files;
    files.write("A_0.mtx", matrix_2x2(2, 1, 1, 2));
    files.write("A_1.mtx", matrix("3 3 3\n1 1 1\n2 2 1\n3 3 2\n"));
    files.write("A_2.mtx", matrix_2x2(3, 1, 1, 2));
    all = lines({files.path().string()}, 2);
    ASSERT_EQ(all.size(), 4u);
    EXPECT_EQ(all[1]["outcome"], "refused");
    EXPECT_NE(all[1]["detail"].get<std::string>().find("A_1.mtx: 3 × 3, but "), std::string::npos);
    EXPECT_EQ(all[2]["action"], "refactor");
    EXPECT_LE(all[2]["forward_error"].get<double>(), 4 * eps);  // b = A·1

    files.write("A_0.mtx", matrix("3 3 3\n1 1 1\n2 2 nan\n3 3 2\n"));
    all = lines({files.path().string()}, 2);
    ASSERT_EQ(all.size(), 4u);
    EXPECT_EQ(all[0]["outcome"], "refused");
    EXPECT_NE(all[0]["detail"].get<std::string>().find("A_0.mtx:4: expected a finite number"), std::string::npos)
        << all[0];
    EXPECT_EQ(all[1]["outcome"], "converged");  // the sizes are its own now
    EXPECT_NE(all[2]["detail"].get<std::string>().find("A_2.mtx: 2 × 2, but "), std::string::npos) << all[2];
}

/// b = A·1 of each, so that the error of x is known.
TEST_F(CliSequence, MembersWhoseWriterDroppedZerosAreSolvedByEveryMethodAndBatch)
{
    constexpr Index n = 40;
    for (Index k = 0; k < 9; ++k) {  // each lacks others of the entries beside the diagonal
        std::string entries;
        Index       count = 0;
        const auto  put = [&](Index i, Index j, double value) {
            entries += fmt::format("{} {} {}\n", i + 1, j + 1, value);
            ++count;
        };
        for (Index i = 0; i < n; ++i) {
            put(i, i, 4 + 0.1 * k);
            if ((i + k) % 4 != 0) put(i, (i + 1) % n, -1);
            if (k > 2 && (i * k) % 5 != 0) put(i, (i + 7) % n, 0.5);
        }
        series.write(fmt::format("A_{}.mtx", k), matrix(fmt::format("{} {} {}\n{}", n, n, count, entries)));
    }
    for (const char* method : {"auto", "lu", "gmres"})
        for (const char* batch : {"1", "2", "4", "9"}) {
            const auto all = lines({series.path().string(), "--method", method, "--batch", batch, "--rtol", "1e-12"});
            ASSERT_EQ(all.size(), 10U) << method << batch;
            for (Index k = 0; k < 9; ++k) EXPECT_LE(all[k]["forward_error"].get<double>(), 1e-10) << all[k];
            Index told = 0;
            for (const auto& decision : all[9]["decisions"])
                told += decision.get<std::string>().find("A_1.mtx: another pattern than") != std::string::npos;
            EXPECT_EQ(told, 1) << all[9]["decisions"];
        }
}

TEST_F(CliSequence, SolvesADriftingModelProblemByEveryMethod)
{
    const std::string path = write_drifting(series, 4, gallery::build("convdiff2d:n=12"));
    for (const char* method : {"auto", "lu", "gmres", "fgmres", "bicg", "bicgstab"}) {
        const auto all = lines({path, "--method", method, "--rtol", "1e-10"});
        ASSERT_EQ(all.size(), 5u) << method;
        for (int k = 0; k < 4; ++k) {
            EXPECT_LE(all[k]["relative_residual"].get<double>(), 1e-10) << method;
            EXPECT_LE(all[k]["forward_error"].get<double>(), 1e-6) << method;
        }
    }
    const TempFolder spd;
    const auto       all =
        lines({write_drifting(spd, 2, gallery::poisson2d(12, 12)), "--method", "cg", "--precond", "jacobi"});
    EXPECT_EQ(all.back()["converged"], 2);
}

TEST_F(CliSequence, KeepsAPreconditionerUntilStepsGrow)
{
    const std::string path = write_drifting(series, 5, gallery::build("convdiff2d:n=16"));
    const auto kept = lines({path, "--method", "gmres", "--precond", "ilu0", "-p", "sequence.refresh_factor=50"});
    EXPECT_EQ(kept.back()["actions"]["refresh"]["count"], 1);
    EXPECT_EQ(kept.back()["actions"]["lagged"]["count"], 4);
    EXPECT_EQ(kept[0]["action"], "refresh");
    for (int k = 1; k < 5; ++k) EXPECT_EQ(kept[k]["seconds"]["factor"], 0);

    // A matrix that has nothing to do with the first one: the former preconditioner fails or is slow, so there is a new
    // one.
    const TempFolder other;
    auto             A = read_matrix(path + "/A_000.mtx");
    write_matrix(other.file("A_0.mtx"), A);
    for (Offset p = 0; p < A.nnz(); ++p) A.val()[p] = p % 3 == 0 ? 100 : -std::abs(A.val()[p]);
    for (Index i = 0; i < A.rows(); ++i)
        for (Offset p = A.row_ptr()[i]; p < A.row_ptr()[i + 1]; ++p)
            if (A.col()[p] == i) A.val()[p] = 1000;
    for (int k = 1; k < 4; ++k) write_matrix(other.file(fmt::format("A_{}.mtx", k)), A);
    const auto renewed =
        lines({other.path().string(), "--method", "gmres", "--precond", "ilu0", "-p", "sequence.refresh_factor=1"});
    EXPECT_EQ(renewed.back()["actions"]["refresh"]["count"], 2) << renewed.back();
    const auto reason = renewed[1]["reason"].get<std::string>() + renewed[2]["reason"].get<std::string>();
    EXPECT_NE(reason.find("steps"), std::string::npos);
}

TEST_F(CliSequence, StartsFromTheLastSolutionOnlyWhereAsked)
{
    write_series(series, {4, 1, 1, 3, 4, 1, 1, 3, 4, 1, 1, 3}, {5, 4, 5, 4, 5, 4});
    const auto steps = [&](const std::string& reuse) {
        const auto all = lines(
            {series.path().string(), "--method", "gmres", "--precond", "none", "-p", "sequence.reuse_x=" + reuse});
        EXPECT_EQ(all[1]["action"], "none");
        return all[1]["steps"].get<int>();
    };
    EXPECT_GT(steps("off"), 0);
    EXPECT_EQ(steps("on"), 0);  // the same system again
}

TEST_F(CliSequence, AFailureOfTheMethodIsExitCodeThree)
{
    const std::string path = write_drifting(series, 2, gallery::build("poisson2d:n=16"));
    const auto        all = lines({path, "--method", "gmres", "--precond", "none", "--max-steps", "3"}, 3);
    EXPECT_EQ(all[0]["outcome"], "max_steps");
    EXPECT_EQ(all.back()["outcome"], "max_steps");
    EXPECT_EQ(all.back()["converged"], 0);
}

TEST_F(CliSequence, AMemoryLimitTooSmallIsExitCodeFive)
{
    const auto path = write_drifting(series, 2, gallery::build("poisson2d:n=16"));
    const auto all = lines({path, "--method", "lu", "-p", "memory_limit=1K"}, 5);
    for (int k = 0; k < 2; ++k) {
        EXPECT_EQ(all[k]["outcome"], "out_of_memory");
        EXPECT_NE(all[k]["detail"].get<std::string>().find("memory_limit"), std::string::npos);
    }
    EXPECT_EQ(lines({path, "-p", "memory_limit=30K"}, 0).back()["converged"], 2);  // by iterations
}

TEST_F(CliSequence, ReportForPeopleTellsWhatWasDone)
{
    const std::string path = write_series(series, {4, 1, 1, 3, 5, 1, 1, 3}, {1, 2, 3, 4});
    const Result      result = ilux({"sequence", path, "--threads", "1", "--method", "lu"});
    EXPECT_EQ(result.code, 0);
    for (const char* word : {"2 systems, n 2, nnz 4", "direct, P A Q = L U", "1 thread", "factor ", "refactor",
                             "residual", "2 of 2 systems converged: 1 factor, 1 refactor", "analyse", "ordering"})
        EXPECT_NE(result.out.find(word), std::string::npos) << word << " is not in:\n" << result.out;
    EXPECT_EQ(result.err, "");
    const Result quiet = ilux({"sequence", path, "--quiet"});
    EXPECT_TRUE(quiet.out.starts_with("2 of 2 systems converged")) << quiet.out;
    EXPECT_EQ(std::count(quiet.out.begin(), quiet.out.end(), '\n'), 1);
}

TEST_F(CliSequence, NamesTheFirstFailureInTheOneLineOfQuiet)
{
    const std::string path = write_series(series, {4, 1, 1, 3, 1, 1, 1, 1, 2, 2, 2, 2}, {5, 4, 1, 2, 1, 2});
    const Result      quiet = ilux({"sequence", path, "--quiet"});
    EXPECT_EQ(quiet.code, 4);
    EXPECT_EQ(std::count(quiet.out.begin(), quiet.out.end(), '\n'), 1);
    EXPECT_NE(quiet.out.find("2 failed, the first system 1: singular, "), std::string::npos) << quiet.out;
    EXPECT_EQ(quiet.out.find("A·1"), std::string::npos);
    const auto all = lines({path}, 4);
    EXPECT_EQ(all.back()["failed"]["count"], 2);
    EXPECT_EQ(all.back()["failed"]["first"], 1);
    EXPECT_TRUE(all.back()["warned"].is_null());

    const TempFolder files;
    files.write("A_0.mtx", matrix_2x2(2, 1, 1, 2));
    files.write("A_1.mtx", matrix("3 3 3\n1 1 1\n2 2 1\n3 3 2\n"));
    const Result refused = ilux({"sequence", files.path().string(), "--quiet"});
    EXPECT_NE(refused.out.find("1 failed, the first system 1 (A_1.mtx): refused, "), std::string::npos) << refused.out;
}

TEST_F(CliSequence, WarnsWhereXMayBeOneOfMany)
{
    // Periodic second differences plus δ: δ = 1, then 0 with b = A·1 = 0, then 1 again. Rows of the second sum to 0.
    const auto ring = [](double delta) {
        std::string entries = "4 4 12\n";
        for (int i = 0; i < 4; ++i)
            entries += fmt::format("{0} {0} {1}\n{0} {2} -1\n{0} {3} -1.1\n", i + 1, 2.1 + delta, (i + 1) % 4 + 1,
                                   (i + 3) % 4 + 1);
        return matrix(entries);
    };
    for (int k = 0; k < 3; ++k) series.write(fmt::format("A_{}.mtx", k), ring(k == 1 ? 1e-16 : 1));
    const std::string path = series.path().string();
    const auto        all = lines({path});
    ASSERT_EQ(all.size(), 4u);
    EXPECT_EQ(all[0]["warning"], "");
    EXPECT_NE(all[1]["warning"].get<std::string>().find("one of many"), std::string::npos) << all[1];
    EXPECT_EQ(all[2]["warning"], "");
    EXPECT_EQ(all[3]["warned"]["first"], 1);
    EXPECT_NE(ilux({"sequence", path}).out.find("A is singular, or nearly so"), std::string::npos);
    const Result quiet = ilux({"sequence", path, "--quiet"});
    EXPECT_NE(quiet.out.find("1 doubtful, the first system 1 (A_1.mtx): "), std::string::npos);
    EXPECT_EQ(std::count(quiet.out.begin(), quiet.out.end(), '\n'), 1);
}

TEST_F(CliSequence, SaysThatItMadeUpTheRightHandSides)
{
    const std::string path = write_series(series, {4, 1, 1, 3}, {});
    EXPECT_NE(ilux({"sequence", path, "--quiet"}).out.find("b = A·1"), std::string::npos);
    EXPECT_NE(lines({path}).back()["decisions"].dump().find("rhs A1"), std::string::npos);
    EXPECT_EQ(ilux({"sequence", path, "--quiet", "--rhs", "A1"}).out.find("b = A·1"), std::string::npos);  // as asked
}

TEST_F(CliSequence, TheTimeLimitIsOfEachSystem)
{
    const std::string path = write_series(series, {4, 1, 1, 3, 5, 1, 1, 3}, {1, 2, 3, 4});
    const auto        all = lines({path, "--time-limit", "1e-9"}, 3);
    ASSERT_EQ(all.size(), 3u);
    for (const int k : {0, 1}) {
        EXPECT_EQ(all[k]["outcome"], "time_limit");
        EXPECT_NE(all[k]["detail"].get<std::string>().find("given up"), std::string::npos) << all[k];
    }
    EXPECT_EQ(lines({path, "--time-limit", "1e-9", "--method", "gmres"}, 3)[1]["outcome"], "time_limit");
    EXPECT_EQ(lines({path, "--time-limit", "100"}).back()["converged"], 2);
}

TEST_F(CliSequence, AFullDiskBehindStandardOutputIsNotSuccess)
{
    const std::string path = write_series(series, {4, 1, 1, 3}, {1, 2});
    for (const char* flag : {"--json", "--quiet", "--threads 1"}) {
        const std::string command = fmt::format("'{}' sequence '{}' {} >/dev/full 2>/dev/null", program(), path, flag);
        const int         status = std::system(command.c_str());
        EXPECT_EQ(WIFEXITED(status) ? WEXITSTATUS(status) : -1, 2) << flag;
    }
}

TEST_F(CliSequence, RefusesWhatMakesNoSense)
{
    const std::string path = write_series(series, {4, 1, 1, 3}, {1, 2});
    expect_refusal(1, {"sequence"}, {"a folder or files are missing"});
    expect_refusal(1, {"sequence", path, "--metod", "lu"}, {"'--metod'", "did you mean '--method'"});
    expect_refusal(1, {"sequence", path, "-p", "sequence.refresh_facto=3"}, {"did you mean 'sequence.refresh_factor'"});
    expect_refusal(1, {"sequence", path, "-p", "sequence.refresh_factor=0.5"}, {"sequence.refresh_factor=0.5"});
    expect_refusal(1, {"sequence", path, "--device", "gpu", "-p", "lu.refactor=cpu"}, {"lu.refactor=cpu"});
    expect_refusal(2, {"sequence", folder.file("nowhere")}, {"nowhere", "no such file or folder"});
    expect_refusal(2, {"sequence", folder.path().string()}, {"neither pattern.mtx"});
    expect_refusal(2, {"sequence", path, folder.path().string()}, {"is a folder", "2 arguments", "one folder"});
    expect_refusal(2, {"sequence", "gallery:poisson2d"}, {"ilux gallery poisson2d --out A_000.mtx"});
    expect_refusal(1, {"sequence", path, "-p", "sequence.refresh=3"}, {"did you mean 'sequence.refresh_factor'"});
    expect_refusal(2, {"sequence", path, "--out", series.file("pattern.mtx")}, {"pattern.mtx"});
    std::filesystem::resize_file(series.file("values.f64"), 31);
    expect_refusal(2, {"sequence", path}, {"values.f64", "31 bytes"});
    EXPECT_NE(ilux({"sequence", "--help-all"}).out.find("sequence.refresh_factor"), std::string::npos);
    const auto gmres = lines({write_series(folder, {4, 1, 1, 3}, {1, 2}), "--method", "gmres", "-p", "lu.pivot_tol=1"});
    EXPECT_NE(gmres.back()["decisions"].dump().find("lu.pivot_tol=1 has no effect"), std::string::npos);
}

class GpuCliSequence : public CliSequence {
protected:
    void SetUp() override { ILUX_SKIP_WITHOUT_GPU(); }
};

/// The third system is what the first one's pivots are stale for, the fourth is singular.
TEST_F(GpuCliSequence, RefactorsRepivotsAndFailsAsTheHostDoes)
{
    const std::string path = write_series(series, {1, 1, 1, 2, 2, 1, 1, 2, 1e-16, 1, 1, 2, 1, 1, 1, 1, 3, 1, 1, 2},
                                          {1, 2, 3, 4, 5, 6, 7, 8, 9, 10});
    for (const char* method : {"auto", "left", "glu1", "glu3", "islu"}) {
        SCOPED_TRACE(method);
        const auto all = lines({path, "--device", "gpu", "-p", std::string("lu.refactor=") + method, "-p",
                                "lu.ordering=none", "-p", "lu.matching=off", "-p", "lu.scaling=none"},
                               4);
        ASSERT_EQ(all.size(), 6u);
        EXPECT_EQ(all[1]["action"], "refactor");
        EXPECT_EQ(all[2]["action"], "repivot");
        EXPECT_EQ(all[3]["outcome"], "singular");
        EXPECT_EQ(all[4]["outcome"], "converged");
        for (const int k : {0, 1, 2, 4}) EXPECT_LE(all[k]["componentwise_error"].get<double>(), 4 * eps) << k;
        EXPECT_EQ(all[5]["device"]["kind"], "gpu");
        EXPECT_EQ(all[5]["lu"]["refactor"], std::string(method) == "auto" ? "dataflow" : method);
    }
}

}  // namespace
}  // namespace ilux

// Several right-hand sides on the command line, and files of every kind as matrix and right-hand side.

#include <cmath>

#include "ilux/apps/report/report_text.hpp"
#include "ilux/apps/run/columns.hpp"
#include "ilux/gallery/gallery.hpp"
#include "ilux/tests/apps/cli.hpp"
#include "ilux/tests/base/io/foreign_files.hpp"
#include "ilux/engine/machine/host.hpp"

namespace ilux {
namespace {

using test::foreign_file;

/// 2 x₁ + x₂, 4 x₂.
const std::string two_by_two = matrix("2 2 3\n1 1 2\n1 2 1\n2 2 4\n");
const std::string three_columns = "%%MatrixMarket matrix array real general\n2 3\n4\n8\n1\n0\n0\n4\n";

TEST_F(Cli, SolvesForEveryColumnOfTheRightHandSide)
{
    const std::string A = file("A.mtx", two_by_two), b = file("b.mtx", three_columns), x = folder.file("x.mtx");
    for (const char* method : {"lu", "gmres"}) {
        const auto json =
            this->json({"solve", A, "--rhs", b, "--out", x, "--json", "--rtol", "1e-12", "--method", method});
        ASSERT_EQ(json["columns"].size(), 3u);
        for (int k = 0; k < 3; ++k) {
            const auto& column = json["columns"][k];
            EXPECT_EQ(column["column"], k + 1);
            EXPECT_EQ(column["outcome"], "converged");
            EXPECT_EQ(column["exit_code"], 0);
            EXPECT_LE(column["relative_residual"], json["relative_residual"]);  // that of the worst
        }
        EXPECT_NE(json["message"].get<std::string>().find("3 of 3 right-hand sides converged"), std::string::npos);
        const double expected[3][2] = {{1, 2}, {0.5, 0}, {-0.5, 1}};
        for (Index k = 0; k < 3; ++k) {
            const auto values = read_vector(x, k);
            ASSERT_EQ(values.size(), 2u);
            for (int i = 0; i < 2; ++i) EXPECT_NEAR(values[i], expected[k][i], 1e-10) << method << k;
        }
    }
}

TEST_F(Cli, OneColumnIsToldAsBefore)
{
    const std::string A = file("A.mtx", two_by_two);
    const std::string b = file("b.mtx", "%%MatrixMarket matrix array real general\n2 1\n4\n8\n");
    EXPECT_FALSE(json({"solve", A, "--rhs", b, "--json"}).contains("columns"));
    EXPECT_EQ(ilux({"solve", A, "--rhs", b}).out.find("column "), std::string::npos);
}

TEST_F(Cli, ARowOfAsManyValuesAsTheMatrixHasRowsIsOneColumnWhichIsTold)
{
    const std::string A = file("A.mtx", two_by_two), x = folder.file("x.mtx"),
                      column = file("b.mtx", "%%MatrixMarket matrix array real general\n2 1\n4\n8\n"),
                      row = file("row.mtx", "%%MatrixMarket matrix array real general\n1 2\n4\n8\n");
    (void)json({"solve", A, "--rhs", column, "--json", "--out", x});
    const auto wanted = read_vector(x);
    const auto report = json({"solve", A, "--rhs", row, "--json", "--out", x});
    EXPECT_EQ(read_vector(x), wanted);
    EXPECT_NE(report["decisions"].dump().find("row.mtx: a row of 2 values, taken as a column"), std::string::npos);
}

/// Of A X = A the solution is I: where an x should be 0 rounding alone fills its rows, which do not count.
TEST_F(Cli, SaysWhichComponentwiseErrorCounted)
{
    const std::string A = folder.file("A.mtx");
    ASSERT_EQ(ilux({"gallery", "poisson2d:n=20", "--out", A}).code, 0);
    const Result run = ilux({"solve", A, "--rhs", A, "--method", "lu", "--json"});
    EXPECT_EQ(run.code, 0) << run.err;
    EXPECT_NE(run.out.find("over the rows that count)"), std::string::npos);
}

TEST_F(Cli, RefusesMoreColumnsThanMemoryHoldsAndNamesItDoesNotWrite)
{
    const std::string A = file("A.mtx", two_by_two);
    const std::string b = file("b.mtx", "%%MatrixMarket matrix coordinate real general\n2 2147483647 1\n1 1 1\n");
    if (memory_available() < (std::uint64_t{100} << 30)) {
        const Result many = ilux({"solve", A, "--rhs", b});
        EXPECT_EQ(many.code, 5) << many.err;
        EXPECT_NE(many.err.find("2147483647 right-hand sides"), std::string::npos) << many.err;
    }
    const Result name = ilux({"solve", A, "--out", folder.file("x.npz")});
    EXPECT_EQ(name.code, 1) << name.err;
    EXPECT_NE(name.err.find(".npy"), std::string::npos) << name.err;
}

TEST_F(Cli, TellsTheWorstColumnFirstAndEndsWithItsCode)
{
    // A symmetric file of rank 1: only the first column is in its range.
    const std::string A = file("A.mtx", matrix("2 2 2\n1 1 1\n1 2 1\n"));
    const std::string b = file("b.mtx", "%%MatrixMarket matrix array real general\n2 2\n1\n0\n1\n1\n");
    const std::string x = folder.file("x.mtx"), page = folder.file("r.html"), history = folder.file("h.csv");
    const Result      text = ilux({"solve", A, "--rhs", b, "--out", x, "--report", page, "--history", history});
    EXPECT_EQ(text.code, 4) << text.out;
    EXPECT_LT(text.out.find("\ncolumn 2"), text.out.find("\ncolumn 1")) << text.out;
    EXPECT_NE(text.out.find("1 of 2 right-hand sides converged; the worst, column 2 (counted from 1): singular"),
              std::string::npos)
        << text.out;
    EXPECT_NE(test::read_bytes(page).find("Of column 2 of 2"), std::string::npos);
    const auto json = this->json({"solve", A, "--rhs", b, "--json"}, 4);
    EXPECT_EQ(json["outcome"], "singular");
    EXPECT_EQ(json["columns"][0]["exit_code"], 0);
    EXPECT_EQ(json["columns"][1]["exit_code"], 4);
}

TEST_F(Cli, TakesFilesOfEveryKind)
{
    const auto solved = [&](const std::string& A, const std::string& b) {
        const auto json = this->json({"solve", foreign_file(A), "--rhs", foreign_file(b), "--json"});
        EXPECT_EQ(json["outcome"], "converged") << A << b;
        return json.contains("columns") ? json["columns"].size() : 0u;
    };
    EXPECT_EQ(solved("csr.npz", "rows.npy"), 2u);
    EXPECT_EQ(solved("complex.npz", "complex.npy"), 2u);
    EXPECT_EQ(solved("scipy.rua", "one_array.npz"), 2u);
    EXPECT_EQ(solved("real_system.petsc", "real_native.petsc"), 2u);
    EXPECT_EQ(solved("real_system.petsc", "real_system.petsc"), 0u);  // its one vector
    const std::string x = folder.file("x.npy");
    EXPECT_EQ(ilux({"solve", foreign_file("coo.npz"), "--rhs", foreign_file("rows.npy"), "--out", x}).code, 0);
    EXPECT_EQ(read_vector(x, 1).size(), 4u);
    EXPECT_EQ(json({"info", foreign_file("csc.npz"), "--json"})["matrix"]["rows"], 4);
    EXPECT_EQ(ilux({"solve", "-", "--quiet"}, test::read_bytes(foreign_file("stored.npz"))).code, 0);
    expect_refusal(2, {"solve", foreign_file("bsr.npz")}, {"bsr", "tocsr"});
    expect_refusal(2, {"solve", foreign_file("csr.npz"), "--rhs", foreign_file("scipy.rua")},
                   {"scipy.rua", "without right-hand sides"});
    expect_refusal(2, {"solve", "gallery:poisson2d:n=3", "--rhs", foreign_file("rows.npy")}, {"4 values", "9 rows"});
}

TEST_F(Cli, TakesASeriesOfFilesOfOtherKinds)
{
    for (const char* k : {"0", "1"}) {
        file(fmt::format("A_{}.npz", k), test::read_bytes(foreign_file("csr.npz")));
        file(fmt::format("b_{}.npy", k), test::read_bytes(foreign_file("vector.npy")));
    }
    const auto lines = json_lines({"sequence", folder.path().string()});
    EXPECT_EQ(lines.back()["converged"], 2) << lines.back().dump();
}

TEST(Columns, AreSortedByExitCodeAndThenByResidual)
{
    std::vector<SolverReport> reports(4);
    const Outcome outcomes[] = {Outcome::converged, Outcome::max_steps, Outcome::singular, Outcome::max_steps};
    const double  residuals[] = {1e-9, 1e-3, 1, 0.5};
    for (std::size_t k = 0; k < 4; ++k) {
        reports[k].attempts.resize(1);
        reports[k].attempts[0].report.outcome = outcomes[k];
        reports[k].attempts[0].report.relative_residual = residuals[k];
        reports[k].attempts[0].seconds_factor = k == 0 ? 3 : 0;
        reports[k].seconds = 1;
        reports[k].decisions = {"the same", k == 3 ? "another" : "the same"};
    }
    reports[2].attempts[0].failure = "no factors";
    app::Run run;
    app::take_columns(std::move(reports), run);
    const Index order[] = {2, 3, 1, 0};
    for (std::size_t k = 0; k < 4; ++k) EXPECT_EQ(run.columns[k].column, order[k]);
    EXPECT_EQ(run.outcome(), Outcome::singular);
    EXPECT_EQ(run.seconds, 4);
    EXPECT_EQ(run.result().seconds_factor, 3);
    EXPECT_EQ(run.decisions, (std::vector<std::string>{"the same", "column 4 (counted from 1): another"}));
    std::vector<double> X{0, 1, 1, 1, 2, 1, 3, 1};
    EXPECT_TRUE(app::mark_missing_columns<double>(run, 2, X));
    EXPECT_EQ(X[2], 1);
    EXPECT_TRUE(std::isnan(X[4]) && std::isnan(X[5]));
    EXPECT_EQ(X[6], 3);
    EXPECT_NE(run.decisions.back().find("1 of 4 columns have no x, the first is column 3"), std::string::npos);
}

TEST(Columns, ThatWereNotBegunComeLastAmongThoseOfOneOutcome)
{
    std::vector<SolverReport> reports(4);
    for (std::size_t k = 0; k < 4; ++k) {
        reports[k].attempts.resize(1);
        reports[k].attempts[0].report.outcome = k == 0 ? Outcome::converged : Outcome::cancelled;
        reports[k].attempts[0].report.relative_residual = k == 1 ? 0.1 : 1;
        reports[k].begun = k < 2;
    }
    app::Run run;
    app::take_columns(std::move(reports), run);
    const Index order[] = {1, 0, 2, 3};
    for (std::size_t k = 0; k < 4; ++k) EXPECT_EQ(run.columns[k].column, order[k]);
    EXPECT_EQ(run.outcome(), Outcome::cancelled);
    const std::string text = app::outcome_line(run);
    EXPECT_NE(text.find("1 of 4 right-hand sides converged, 2 were not begun; the worst, column 2"), std::string::npos)
        << text;
}

TEST_F(Cli, TakesASquareFileAsManyRightHandSidesAndASparseVectorAsOne)
{
    const std::string A = folder.file("A.mtx");
    ASSERT_EQ(ilux({"gallery", "poisson2d:n=9", "--out", A}).code, 0);
    const Result many = ilux({"solve", A, "--rhs", A});
    EXPECT_EQ(many.code, 0) << many.err;
    EXPECT_NE(many.out.find("81 columns"), std::string::npos) << many.out;
    EXPECT_NE(many.out.find("81 of 81 right-hand sides converged"), std::string::npos);
    const auto one = json({"solve", foreign_file("csr.npz"), "--rhs", foreign_file("coo_vector.npz"), "--json"});
    EXPECT_FALSE(one.contains("columns"));
    EXPECT_EQ(one["outcome"], "converged");
}

}  // namespace
}  // namespace ilux

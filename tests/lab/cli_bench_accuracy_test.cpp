// ilux-lab accuracy, and the parts it is made of.

#include <algorithm>
#include <cmath>

#include "ilux/lab/suites/bench_accuracy_measure.hpp"
#include "ilux/lab/suites/bench_accuracy_report.hpp"
#include "ilux/tests/apps/sequence_folder.hpp"
#include "ilux/tests/lab/lab_cli.hpp"

namespace ilux {
namespace {

using Json = nlohmann::ordered_json;

// --- one row -------------------------------------------------------------------------------------------------------

/// x* = (1, 1).
app::Truth ones() { return app::find_truth(test::to_csr({2, 2, {1, 0, 0, 2}}), std::vector<double>{1, 2}, 0); }

SolverReport report_of(std::vector<double> x, double estimate, Outcome outcome = Outcome::converged,
                       const std::string& warning = "")
{
    Attempt tried;
    tried.x = std::move(x);
    tried.report.outcome = outcome;
    tried.warning = warning;
    tried.accuracy.finite = true;
    tried.accuracy.error = tried.accuracy.worst_error = estimate;
    SolverReport report;
    report.attempts.push_back(std::move(tried));
    return report;
}

TEST(AccuracyRow, IsWrongWhereAConvergedComponentIsOff)
{
    const app::Truth truth = ones();
    const Json       row = app::method_json("gmres", report_of({1, 1.05}, 0.5), &truth);
    EXPECT_NEAR(row["error"]["true"].get<double>(), 0.05, 1e-15);
    EXPECT_NEAR(row["error"]["ratio"].get<double>(), 10, 1e-12);
    EXPECT_NEAR(row["worst_error"]["true"].get<double>(), 0.05, 1e-15);
    EXPECT_EQ(row["worst"]["true"], 1);
    EXPECT_EQ(row["uncertain"]["true"], 1);
    EXPECT_EQ(row["off"], Json({0.5, 0.5, 0.5}));
    EXPECT_EQ(row["wrong"], true);
    EXPECT_EQ(row["wrong_silently"], true);
}

TEST(AccuracyRow, TellsWarningsAndFailuresFromClaims)
{
    const app::Truth truth = ones();
    const Json       warned = app::method_json("lu", report_of({1, 2}, 1, Outcome::converged, "beware"), &truth);
    EXPECT_EQ(warned["wrong"], true);
    EXPECT_EQ(warned["wrong_silently"], false);
    const Json failed = app::method_json("lu", report_of({1, 2}, 1, Outcome::max_steps), &truth);
    EXPECT_EQ(failed["wrong"], false);
    EXPECT_EQ(failed["off"][0], 0.5);
    const Json right = app::method_json("lu", report_of({1, 1.005}, 0, Outcome::converged), &truth);
    EXPECT_EQ(right["wrong"], false);
    EXPECT_EQ(right["off"], Json({0.0, 0.5, 0.5}));
    EXPECT_NEAR(right["error"]["ratio"].get<double>(), 1e-15 / 0.005, 1e-18);  // an estimate of 0 is one of rounding
}

TEST(AccuracyRow, JudgesNothingWithoutATruth)
{
    for (const auto& x : {std::vector<double>{1, 2}, {1, NAN}}) {
        const Json row = app::method_json("lu", report_of(x, 1), nullptr);
        EXPECT_TRUE(row["wrong"].is_null());
        EXPECT_TRUE(row["error"]["true"].is_null());
    }
    app::Truth none;
    none.why_not = "A is singular";
    const Json truth = app::truth_json(none, 1);
    EXPECT_EQ(truth["why_not"], "A is singular");
    EXPECT_EQ(truth["known"], 0);
}

TEST(AccuracySteps, AreReadAsTheyAreWritten)
{
    for (const char* text : {"0:truth", "12:bicgstab", "3:auto:unjudged"})
        EXPECT_EQ(app::parse_accuracy_step(text).text(), text);
    for (const char* text : {"", "truth", "1:", "1:gmress", "x:truth"})
        EXPECT_THROW(app::parse_accuracy_step(text), InvalidOption) << text;
}

TEST(AccuracySteps, DoNotSeekATruthTwiceThatWasEndedByForce)
{
    std::vector<std::string> left{"2:auto", "2:lu", "3:truth", "3:auto"};
    app::leave_unjudged(app::parse_accuracy_step("2:auto"), left);
    EXPECT_EQ(left.front(), "2:auto");
    app::leave_unjudged(app::parse_accuracy_step("2:truth"), left);
    EXPECT_EQ(left, (std::vector<std::string>{"2:auto:unjudged", "2:lu:unjudged", "3:truth", "3:auto"}));
}

// --- the counts ----------------------------------------------------------------------------------------------------

Json found(const app::Truth& truth, std::vector<Json> rows)
{
    Json one{{"name", "a"}, {"n", 2}, {"nnz", 2}, {"truth", app::truth_json(truth, 0)}, {"error", nullptr}};
    one["methods"] = std::move(rows);
    return one;
}

TEST(AccuracySummary, CountsByMethod)
{
    const app::Truth truth = ones();
    app::Truth       none;
    none.why_not = "A is singular";
    const auto row = [&](std::vector<double> x, double estimate, const std::string& warning, const app::Truth* known) {
        return app::method_json("gmres", report_of(std::move(x), estimate, Outcome::converged, warning), known);
    };
    const Json findings{found(truth, {row({1, 1.05}, 0.04, "", &truth)}),
                        found(truth, {row({1, 1.05}, 0.001, "beware", &truth)}),
                        found(truth, {row({1, 1.001}, 0.02, "beware", &truth)}),
                        found(none, {row({1, 1}, 0, "beware", nullptr)}),
                        found(truth, {Json{{"method", "gmres"}, {"outcome", "failed"}, {"detail", "was killed"}}}),
                        Json{{"name", "b"}, {"error", "complex"}}};
    const Json summary = app::accuracy_summary(findings);
    EXPECT_EQ(summary["systems"], 6);
    EXPECT_EQ(summary["known"], 4);
    EXPECT_EQ(summary["unknown"], 1);
    EXPECT_EQ(summary["refused"], 1);
    const Json                        gmres = summary["methods"].at(0);
    const std::pair<const char*, int> counts[] = {{"systems", 5},    {"converged", 4},      {"judged", 3},
                                                  {"wrong", 2},      {"wrong_silently", 1}, {"warned", 3},
                                                  {"needlessly", 1}, {"estimates", 3},      {"within_10", 1}};
    for (const auto& [key, count] : counts) EXPECT_EQ(gmres[key], count) << key;
    EXPECT_NEAR(gmres["share_within_10"].get<double>(), 1. / 3, 1e-15);
    EXPECT_NE(app::accuracy_summary_lines(summary).find("2 wrong, 1 without a warning"), std::string::npos);
    EXPECT_NE(app::accuracy_lines(findings[0]).find("WRONG, no warning"), std::string::npos);
    EXPECT_NE(app::accuracy_lines(findings[3]).find("the truth is unknown: A is singular"), std::string::npos);
    EXPECT_NE(app::accuracy_lines(findings[4]).find("was killed"), std::string::npos);
    EXPECT_EQ(app::accuracy_lines(findings[5]), "b: complex\n");
}

// --- the program ---------------------------------------------------------------------------------------------------

class BenchAccuracy : public LabCli {
protected:
    std::vector<Json> measured(std::vector<std::string> arguments, int code = 0)
    {
        arguments.insert(arguments.begin(), {"accuracy", "--threads", "1"});
        return json_lines<Json>(std::move(arguments), code);
    }
    std::string diagonal(const std::string& name, double second)
    {
        return file(name, matrix(fmt::format("2 2 2\n1 1 1\n2 2 {}\n", second)));
    }
};

TEST_F(BenchAccuracy, FindsTheSolutionOfAGalleryProblem)
{
    const auto lines = measured({"gallery:poisson2d:n=8"});
    ASSERT_EQ(lines.size(), 3U);
    EXPECT_EQ(lines[0]["suite"], "accuracy");
    EXPECT_EQ(lines[0]["methods"], Json({"auto", "gmres", "lu"}));
    EXPECT_EQ(lines[1]["truth"]["known"], 64);
    EXPECT_EQ(lines[1]["rhs"], "A1");
    for (const Json& row : lines[1]["methods"]) {
        EXPECT_EQ(row["outcome"], "converged");
        EXPECT_EQ(row["wrong"], false);
        EXPECT_LT(row["error"]["true"].get<double>(), 1e-6);
        EXPECT_NEAR(std::log10(row["error"]["ratio"].get<double>()), 0, 1);
    }
    EXPECT_EQ(lines[2]["summary"]["known"], 1);
}

TEST_F(BenchAccuracy, FindsAComponentThatTheResidualHides)
{
    // GMRES without a preconditioner stops at a residual of 1e-4 ‖b‖, where x₂ = 1 of b₂ = 1e-8 is not begun.
    const std::string A = diagonal("a.mtx", 1e-8);
    const auto        lines = measured({A, "--methods", "gmres,lu", "--rtol", "1e-4", "-p", "precond.kind=none"});
    const Json&       gmres = lines[1]["methods"].at(0);
    EXPECT_EQ(gmres["method"], "gmres");
    EXPECT_EQ(gmres["outcome"], "converged");
    EXPECT_NEAR(gmres["error"]["true"].get<double>(), 1, 1e-2);
    EXPECT_EQ(gmres["worst"]["true"], 1);
    EXPECT_EQ(gmres["off"], Json({0.5, 0.5, 0.5}));
    EXPECT_EQ(gmres["wrong"], true);
    EXPECT_EQ(gmres["wrong_silently"], gmres["warning"] == "");
    EXPECT_EQ(lines[1]["methods"].at(1)["wrong"], false);
    EXPECT_EQ(lines[2]["summary"]["methods"].at(0)["wrong"], 1);
}

TEST_F(BenchAccuracy, TakesEveryMatrixOfAFolderWithItsRightHandSide)
{
    diagonal("a.mtx", 4);
    file("a_b.mtx", test::vector_2(3, 8));
    file("c.mtx", "%%MatrixMarket matrix coordinate complex general\n1 1 1\n1 1 1 0\n");
    file("s.mtx", matrix("2 2 4\n1 1 1\n1 2 1\n2 1 1\n2 2 1\n"));
    file("notes.txt", "");
    const auto lines = measured({folder.path().string(), "--methods", "lu"});
    ASSERT_EQ(lines.size(), 5U);
    EXPECT_EQ(lines[1]["name"], "a.mtx");
    EXPECT_TRUE(lines[1]["rhs"].get<std::string>().ends_with("a_b.mtx"));
    EXPECT_EQ(lines[1]["truth"]["known"], 2);
    EXPECT_EQ(lines[1]["methods"].at(0)["error"]["true"], 0);
    EXPECT_EQ(lines[2]["name"], "c.mtx");
    EXPECT_NE(lines[2]["error"].get<std::string>().find("complex"), std::string::npos);
    EXPECT_EQ(lines[3]["truth"]["why_not"], "A is singular: LU found no pivots");
    EXPECT_TRUE(lines[3]["methods"].at(0)["wrong"].is_null());
    EXPECT_EQ(lines[4]["summary"]["refused"], 1);
    const auto random = measured({folder.file("a.mtx"), "--methods", "lu", "--rhs", "random:3"});
    EXPECT_EQ(random[1]["rhs"], "random:3");
}

TEST_F(BenchAccuracy, KeepsOneSolverThroughASeries)
{
    const std::string series = test::write_series(folder, {4, 1, 1, 3, 4, 1, 1, 2, 5, 1, 1, 2}, {1, 2, 1, 2, 1, 2});
    const auto        lines = measured({series, "--methods", "lu", "--systems", "2"});
    ASSERT_EQ(lines.size(), 4U);
    EXPECT_EQ(lines[1]["system"], 0);
    EXPECT_EQ(lines[1]["methods"].at(0)["action"], "factor");
    EXPECT_EQ(lines[2]["system"], 1);
    EXPECT_EQ(lines[2]["methods"].at(0)["action"], "refactor");
    EXPECT_EQ(lines[2]["truth"]["known"], 1);  // (4 1; 1 2) (0, 1) = (1, 2), and the 0 does not count
    EXPECT_EQ(measured({series, "--methods", "lu"}).size(), 5U);
}

TEST_F(BenchAccuracy, TakesNumberedFilesForASeries)
{
    file("A_000.mtx", test::matrix_2x2(4, 1, 1, 3));
    file("A_001.mtx", test::matrix_2x2(4, 1, 1, 2));
    const auto lines = measured({folder.path().string(), "--methods", "lu"});
    ASSERT_EQ(lines.size(), 4U);
    EXPECT_TRUE(lines[2]["name"].get<std::string>().ends_with(" A_001.mtx"));
    EXPECT_EQ(lines[2]["methods"].at(0)["action"], "refactor");
}

TEST_F(BenchAccuracy, PrintsATable)
{
    const Result result = ilux({"accuracy", "gallery:poisson2d:n=8", "--methods", "lu"});
    EXPECT_EQ(result.code, 0) << result.err;
    for (const char* words : {"gallery:poisson2d:n=8: n 64", "64 of 64 components", "1 systems: all of x known in 1"})
        EXPECT_NE(result.out.find(words), std::string::npos) << words << " is not in: " << result.out;
}

TEST_F(BenchAccuracy, RefusesWhatItCannotMeasure)
{
    const std::string A = diagonal("a.mtx", 1);
    expect_refusal(1, {"accuracy"}, {"PATHS are missing"});
    expect_refusal(1, {"accuracy", A, "--methods", "gmers"}, {"gmers", "bicgstab"});
    expect_refusal(1, {"accuracy", A, "-p", "mode=direct"}, {"--methods"});
    expect_refusal(1, {"accuracy", A, "--systems", "-1"}, {"systems"});
    expect_refusal(2, {"accuracy", folder.file("absent")}, {"no such file"});
    const TempFolder empty;
    expect_refusal(2, {"accuracy", empty.path().string()}, {"neither a series nor"});
}

}  // namespace
}  // namespace ilux

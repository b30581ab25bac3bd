// Pages: well-formed, complete, self-contained, and small whatever they show.

#include "ilux/apps/report/html_report.hpp"

#include <algorithm>
#include <cmath>

#include "ilux/apps/report/html_page.hpp"
#include "ilux/apps/report/sequence_report.hpp"
#include "ilux/base/error.hpp"
#include "ilux/gallery/gallery.hpp"
#include "ilux/tests/apps/cli.hpp"
#include "ilux/tests/apps/sequence_folder.hpp"
#include "ilux/tests/apps/well_formed.hpp"
#include "ilux/tests/support/checks.hpp"

namespace ilux {
namespace {

using namespace ilux::test;

using test::nan;
constexpr const char* sections[] = {"outcome", "convergence", "time",    "levels",     "depth",
                                    "pattern", "decisions",   "options", "environment"};

/// Everything a page must be, whatever it shows.
void expect_page(const std::string& html)
{
    const std::string first = "<!DOCTYPE html>\n";
    ASSERT_TRUE(html.starts_with(first));
    EXPECT_EQ(why_not_xml(html.substr(first.size())), "");
    std::size_t at = 0;
    for (const char* section : sections) {
        const std::size_t found = html.find(fmt::format("<section id=\"{}\">", section), at);
        ASSERT_NE(found, std::string::npos) << section;
        const std::string heading = html.substr(html.find("</h2>\n", found) + 6, 10);
        EXPECT_FALSE(heading.starts_with("</section>")) << section << " is empty";
        at = found;
    }
    for (const char* reference : {"http", "src=", "href", "url(", "@import", "<script", "<link"})
        EXPECT_EQ(html.find(reference), std::string::npos) << reference;
    for (std::size_t p = html.find(" d=\""); p != std::string::npos; p = html.find(" d=\"", p + 1)) {
        const std::string data = html.substr(p + 4, html.find('"', p + 4) - p - 4);
        EXPECT_EQ(data.find_first_not_of("MLhv0123456789.- "), std::string::npos)
            << data.substr(0, 200);  // no NaN, no Inf
    }
    EXPECT_LT(html.size(), 1'000'000u);
}

bool holds(const std::string& html, const std::string& text) { return html.find(text) != std::string::npos; }

/// A finished solve of a small matrix, as an iteration leaves it.
struct Finished {
    app::Problem<> problem;
    app::Run       run;
    explicit Finished(CsrMatrix<double> A)
    {
        problem.name = "A.mtx";
        problem.rhs = "A1";
        problem.take(std::move(A));
        problem.b.assign(problem.n(), 1.0);
        run.attempts.resize(1);
        run.forward_error = nan;
        tried().plan.method = MethodChoice::gmres;
        tried().plan.precond.kind = PrecondKind::none;
        tried().x.of<double>().assign(problem.n(), 0.0);
        tried().report.outcome = Outcome::max_steps;
        run.structure.emplace();
    }
    Attempt& tried() { return run.attempts[0]; }
    void     history(const std::vector<double>& residuals)
    {
        for (std::size_t k = 0; k < residuals.size(); ++k)
            tried().history.push_back({static_cast<Index>(k), residuals[k], k % 30 == 0, 1e-3 * double(k)});
        tried().report.steps = static_cast<Index>(residuals.size()) - 1;
        tried().report.relative_residual = residuals.back();
    }
    std::string page() { return app::html_report(run, problem, app::picture_of(problem.A)); }
};

TEST(HtmlReport, OfAnEmptyMatrixIsComplete)
{
    Finished empty(CsrMatrix<double>::identity(0));
    expect_page(empty.page());
    empty.run.structure.reset();
    empty.tried().failure = "there was nothing to do";
    expect_page(empty.page());
    EXPECT_TRUE(holds(empty.page(), "there was nothing to do"));
}

TEST(HtmlReport, DrawsOneStepAndWhatIsNotFinite)
{
    for (const std::vector<double>& residuals :
         std::vector<std::vector<double>>{{1},
                                          {1, 1e-9},
                                          {0},
                                          {nan},
                                          {nan, nan},
                                          {1, nan, 1e-3, std::numeric_limits<double>::infinity(), 1e-5},
                                          {1, 0}}) {
        Finished one(CsrMatrix<double>::identity(3));
        one.history(residuals);
        SCOPED_TRACE(::testing::PrintToString(residuals));
        expect_page(one.page());
    }
}

TEST(HtmlReport, OfAHundredThousandStepsIsBelowAMegabyte)
{
    Finished            finished(random_matrix(3000, 3000, 60, 1));
    std::vector<double> residuals;
    for (int k = 0; k < 100'000; ++k) residuals.push_back(std::pow(10, -8e-5 * k) * (1.5 + std::sin(k)));
    finished.history(residuals);
    auto& pictures = finished.run.structure->pictures;
    pictures = {app::picture_of(finished.problem.A), app::picture_of(finished.problem.A)};
    const std::string html = finished.page();
    expect_page(html);
    EXPECT_TRUE(holds(html, "Residual over time"));
}

TEST(HtmlReport, EscapesEverythingThatIsNotOurs)
{
    const std::string awkward = "<b>&\"x\"</b>\xff\x01";
    Finished          given(CsrMatrix<double>::identity(2));
    given.problem.name = given.problem.about = given.problem.rhs = given.run.options.rhs = awkward;
    given.run.decisions = {awkward};
    given.run.stopped = given.tried().explanation = given.tried().warning = awkward;
    given.tried().device.name = given.tried().plan.change = awkward;
    given.run.attempts.push_back(given.tried());
    given.history({1, 0.5});
    const std::string html = given.page();
    expect_page(html);
    EXPECT_FALSE(holds(html, "<b>"));
    EXPECT_TRUE(holds(html, "&lt;b&gt;&amp;&quot;x&quot;"));
    EXPECT_FALSE(holds(html, "\xff"));
}

TEST(HtmlReport, TellsLevelsOptionsAndTheirDefaults)
{
    Finished finished(CsrMatrix<double>::identity(4));
    finished.history({1, 1e-9});
    auto& report = finished.tried().mlilu.emplace();
    report.levels.push_back({.n = 4, .accepted = 3, .postponed = 1, .nnz_L = 1, .nnz_U = 1});
    report.levels.push_back({.n = 1, .accepted = 1});
    report.dense = true;
    finished.run.options.krylov.restart = 77;
    const std::string html = finished.page();
    expect_page(html);
    EXPECT_TRUE(holds(html, "3 (75 %)"));
    EXPECT_TRUE(holds(html, "1 (25 %)"));
    EXPECT_TRUE(holds(html, "<td data-head=\"fill\">0.50</td>"));  // (1 + 1) / 4
    EXPECT_TRUE(holds(html, "2, dense"));
    EXPECT_TRUE(holds(html, "77 (default 30)"));
    EXPECT_TRUE(holds(html, "precond.drop_tol"));
}

TEST_F(Cli, ReportExplainsItsWordsOnTheSamePage)
{
    const std::string page = folder.file("r.html");
    const auto        told = [&](std::vector<std::string> arguments, std::initializer_list<const char*> words) {
        arguments.insert(arguments.end(), {"--report", page, "--quiet"});
        ilux(arguments);
        const std::string html = read_bytes(page);
        for (const char* word : words) EXPECT_TRUE(holds(html, fmt::format("<th scope=\"row\">{}</th>", word))) << word;
    };
    told({"solve", "gallery:convdiff2d:n=20", "--method", "gmres"},
         {"multilevel ILU", "inverse-based", "postponed", "τ (tau)", "τ_S", "κ (kappa)", "fill", "backward error"});
    told({"solve", "gallery:convdiff2d:n=20", "--method", "lu"}, {"P, Q", "diagonal blocks", "growth", "refinement"});
    const TempFolder  series;
    const std::string path = write_series(series, {4, 1, 1, 3, 5, 1, 1, 3}, {1, 2, 3, 4});
    told({"sequence", path, "--method", "lu"}, {"factor", "refactor"});
    told({"sequence", path, "--method", "gmres"}, {"refresh", "lagged"});
}

TEST(HtmlReport, DrawsTheStepsOfRefinementOfADirectSolution)
{
    Finished finished(CsrMatrix<double>::identity(4));
    finished.tried().plan.method = MethodChoice::lu;
    auto& lu = finished.tried().lu.emplace();
    lu.refine_errors = {1e-9, 1e-14, 1e-16};
    lu.refine_steps = 2;
    finished.tried().accuracy.rowwise = 1e-16;
    const std::string html = finished.page();
    expect_page(html);
    EXPECT_TRUE(holds(html, "steps of refinement"));
    const auto        line = html.find("class=\"line c0\" d=\"");
    const std::string data = html.substr(line, html.find("/>", line) - line);
    EXPECT_EQ(std::ranges::count(data, 'L'), 2) << data;  // from three errors
}

// --- as the program writes them ----------------------------------------------------------------------------------

TEST_F(Cli, ReportIsAPageForEveryMethodAndFailure)
{
    const std::string page = folder.file("report <&>.html");
    const std::string singular = file("s.mtx", matrix("2 2 4\n1 1 1\n1 2 1\n2 1 1\n2 2 1\n"));
    const std::vector<std::pair<std::vector<std::string>, int>>
        all{{{"gallery:convdiff2d:n=20"}, 0},
            {{"gallery:convdiff2d:n=20", "--method", "lu"}, 0},
            {{"gallery:poisson2d:n=8", "--precond", "ilu0", "--method", "cg"}, 0},
            {{"gallery:poisson2d:n=8", "--precond", "jacobi"}, 0},
            {{"gallery:poisson2d:n=1"}, 0},
            {{"gallery:poisson2d:n=30", "--precond", "none", "--max-steps", "3", "--retry", "off"}, 3},
            {{singular, "--method", "lu", "--rhs", "ones"}, 4}};
    for (const auto& [arguments, code] : all) {
        std::vector<std::string> words{"solve"};
        words.insert(words.end(), arguments.begin(), arguments.end());
        words.insert(words.end(), {"--report", page, "--quiet"});
        const Result result = ilux(words);
        SCOPED_TRACE(arguments[0] + " " + arguments.back());
        EXPECT_EQ(result.code, code) << result.out << result.err;
        expect_page(read_bytes(page));
        EXPECT_TRUE(holds(read_bytes(page), code == 0 ? "outcome good" : "outcome bad"));
    }
}

TEST_F(Cli, ReportHoldsTheFiguresOfTheJson)
{
    const auto        json = this->json({"solve", "gallery:convdiff2d:n=20", "--method", "gmres", "--rhs", "random:1",
                                         "--json", "--report", folder.file("r.html")});
    const std::string html = read_bytes(folder.file("r.html"));
    EXPECT_TRUE(holds(html, fmt::format("converged in {} steps", json["steps"].get<int>())));
    EXPECT_TRUE(holds(html, fmt::format("{:.2e}", json["relative_residual"].get<double>())));
    for (const auto& decision : json["decisions"])
        EXPECT_TRUE(holds(html, "<li>" + app::escaped(decision.get<std::string>()) + "</li>")) << decision;
    for (const auto& level : json["mlilu"]["levels"])
        EXPECT_TRUE(holds(html, fmt::format("<td data-head=\"rows\">{}</td>", level["n"].get<int>())));
    EXPECT_EQ(json["options"]["krylov"]["restart"], 30);
    EXPECT_TRUE(holds(html, "krylov.restart"));
}

TEST_F(Cli, ReportIsRefusedWhereOtherOutputsAre)
{
    const std::string A = file("A.mtx", matrix("1 1 1\n1 1 2\n"));
    expect_refusal(1, {"solve", A, "--report", A}, {"would be overwritten by --report"});
    expect_refusal(1, {"solve", A, "--report", "-"}, {"--report"});
    expect_refusal(1, {"solve", A, "--out", folder.file("x"), "--report", folder.file("x")},
                   {"overwritten by --report"});
    expect_refusal(2, {"solve", A, "--report", folder.file("no/such/r.html")}, {"no/such/r.html"});
    expect_refusal(2, {"solve", folder.file("none.mtx"), "--report", folder.file("r.html")}, {"none.mtx"});
    EXPECT_EQ(folder.entries(), 1u);  // nothing is left behind

    const TempFolder series;
    const auto       path = write_series(series, {4, 1, 1, 3}, {1, 2});
    expect_refusal(1, {"sequence", path, "--report", series.file("values.f64")}, {"overwritten by --report"});
    expect_refusal(2, {"sequence", path, "--report", folder.file("no/such/r.html")}, {"no/such/r.html"});
    EXPECT_EQ(ilux({"sequence", path, "--report", series.file("r.html")}).code, 0);
    EXPECT_EQ(ilux({"sequence", path, "--report", series.file("r.html")}).code, 0);  // replaces the former
    EXPECT_EQ(app::escaped(A), A);  // so that names are found as they are
}

TEST_F(Cli, ReportOfASeriesHasAPointForEverySystem)
{
    const TempFolder  series;
    const std::string page = folder.file("r.html"),
                      path = write_series(series, {4, 1, 1, 3, 4, 1, nan, 3, 0, 1, 1, 3, 1, 1, 1, 1},
                                          {5, 4, 1, 2, 6, 4, 1, 2});
    EXPECT_EQ(ilux({"sequence", path, "--method", "lu", "--report", page, "--quiet"}).code, 4);
    std::string html = read_bytes(page);
    expect_page(html);
    for (const char* word :
         {"refused", "singular", "row 2, column 1", "Backward error of each system", "columns of L + U"})
        EXPECT_TRUE(holds(html, word)) << word;

    EXPECT_EQ(ilux({"sequence", write_series(series, {4, 1, 1, 3, 5, 1, 1, 3, 6, 1, 1, 3}, {1, 2, 3, 4, 5, 6}),
                    "--method", "gmres", "--report", page, "--quiet"})
                  .code,
              0);
    html = read_bytes(page);
    expect_page(html);
    const auto        figure = html.find("Residual of each system");
    const auto        lagged = html.find("class=\"marks c1\" d=\"", figure);
    const std::string data = html.substr(lagged, html.find("/>", lagged) - lagged);
    EXPECT_EQ(std::ranges::count(data, 'M'), 2) << data;  // the first is refreshed, the others lag
    EXPECT_TRUE(holds(html, "A in the order of the levels"));

    // The second is singular, and solved by an iteration; levels and pictures are of the first.
    EXPECT_EQ(ilux({"sequence", write_series(series, {4, 1, 1, 3, 1, 1, 1, 1}, {1, 2, 2, 2}), "--report", page,
                    "--quiet"})
                  .code,
              0);
    html = read_bytes(page);
    EXPECT_TRUE(holds(html, "columns of L + U"));
    EXPECT_FALSE(holds(html, "nnz L / U"));
}

}  // namespace
}  // namespace ilux

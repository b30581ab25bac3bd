// --plan, as users of ilux solve and ilux sequence meet it.

#include "ilux/gallery/circuit.hpp"
#include "ilux/tests/apps/cli.hpp"

namespace ilux {
namespace {

class CliPlan : public Cli {
protected:
    TempFolder  folder;
    std::string plan = folder.file("kept.plan");
};

TEST_F(CliPlan, SolveMakesItAndThenNeedsNoAnalysis)
{
    const std::string circuit = "gallery:mna_random:n=500", x = folder.file("x.npy");
    EXPECT_NE(json({"solve", circuit, "--method", "lu", "--plan", plan, "--out", x, "--json"})["decisions"].dump().find(
                  "plan: written to "),
              std::string::npos);
    const std::string first = read_bytes(x);
    const auto        again = json({"solve", circuit, "--method", "lu", "--plan", plan, "--out", x, "--json"});
    EXPECT_NE(again["decisions"].dump().find("plan: loaded from "), std::string::npos);
    EXPECT_EQ(again["options"]["plan"], plan);
    EXPECT_EQ(read_bytes(x), first);
}

TEST_F(CliPlan, SequenceStartsWithTheStoredPivots)
{
    std::vector<std::string> command{"sequence"};
    CsrMatrix<double>        A = gallery::mna_random({.n = 300});
    for (int k = 0; k < 3; ++k) {
        command.push_back(folder.file(fmt::format("A_{}.mtx", k)));
        write_matrix(command.back(), A);
        for (double& value : A.val()) value *= 1.25;
    }
    command.insert(command.end(), {"--method", "lu", "-p", "plan=" + plan});
    const auto first = json_lines(command), again = json_lines(command);
    ASSERT_EQ(first.size(), 4u);
    ASSERT_EQ(again.size(), 4u);
    EXPECT_EQ(first[0]["action"], "factor");
    EXPECT_EQ(again[0]["action"], "refactor");
    for (int k = 0; k < 3; ++k) EXPECT_EQ(first[k]["forward_error"], again[k]["forward_error"]);
    command.insert(command.end(), {"--batch", "2"});
    EXPECT_EQ(json_lines(command)[0]["action"], "refactor");
}

TEST_F(CliPlan, WhatDoesNotFitIsRefusedByItsExitCode)
{
    const std::string circuit = "gallery:mna_random:n=200";
    ASSERT_EQ(ilux({"solve", circuit, "--method", "lu", "--plan", plan}).code, 0);
    const std::string bytes = read_bytes(plan);
    const auto        refused = [&](std::vector<std::string> more, int code, const std::string& words) {
        more.insert(more.begin(), "solve");
        const Result result = ilux(more);
        EXPECT_EQ(result.code, code) << result.out << result.err;
        EXPECT_NE(result.err.find(words), std::string::npos) << result.err;
        EXPECT_EQ(read_bytes(plan), bytes);
    };
    refused({"gallery:poisson2d:n=9", "--method", "lu", "--plan", plan}, 2, "another pattern");
    refused({circuit, "--plan", plan, "-p", "lu.pivot_tol=0.7"}, 2, "pivot_tol");
    refused({circuit, "--method", "gmres", "--plan", plan}, 1, "an iteration was asked for");
    refused({circuit, "--plan", plan, "--out", plan}, 1, "kept.plan");
    refused({circuit, "--plan", folder.file("no/such/p.plan")}, 2, "no/such");
    refused({circuit, "--plan", folder.write("short.plan", bytes.substr(0, 100))}, 2, "short.plan");
    EXPECT_EQ(ilux({"compare", circuit, "-p", "plan=" + plan}).code, 1);
}

}  // namespace
}  // namespace ilux

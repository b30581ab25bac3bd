// ilux compare on a GPU: our two strategies there, and CUSP's GMRES where its program was built.

#include "ilux/apps/compare/compare_rival.hpp"
#include "ilux/tests/apps/cli.hpp"

namespace ilux {
namespace {

using Json = nlohmann::ordered_json;

class GpuCompare : public Cli {
protected:
    void SetUp() override { ILUX_SKIP_WITHOUT_GPU(); }

    /// The rows of a comparison of one system, without its head.
    std::vector<Json> rows(std::vector<std::string> arguments, int code = 0)
    {
        arguments.insert(arguments.begin(), "compare");
        auto all = json_lines<Json>(arguments, code);
        all.erase(all.begin());
        return all;
    }
};

TEST_F(GpuCompare, BothOfOurWaysRunThereAndAgreeWithTheCpu)
{
    const auto all = rows({"gallery:convdiff3d:n=16", "--strategies", "direct,iterative", "--rhs", "random:1"});
    ASSERT_EQ(all.size(), 4u);
    for (std::size_t k = 0; k < all.size(); ++k) {
        const Json& row = all[k];
        SCOPED_TRACE(row.dump());
        EXPECT_EQ(row["strategy"], k < 2 ? "direct" : "iterative");
        EXPECT_EQ(row["device"], k % 2 == 0 ? "cpu" : "gpu");
        EXPECT_EQ(row["outcome"], "converged");
        EXPECT_LE(row["relative_residual"].get<double>(), 1e-8);
        for (const char* part : {"setup", "solve", "total"}) EXPECT_GT(row["seconds"][part].get<double>(), 0) << part;
    }
    EXPECT_NE(all[1]["refactor"], "cpu");
    EXPECT_GT(all[1]["seconds"]["refactor"].get<double>(), 0);
    EXPECT_GT(all[3]["seconds"]["transfer"].get<double>(), 0);
}

TEST_F(GpuCompare, CuspSolvesAPoissonProblemWithEveryPreconditioner)
{
    if (app::find_compare_cusp().empty()) GTEST_SKIP()
    << "ilux_compare_cusp was not built";
    const auto all = rows({"gallery:poisson2d:n=30", "--strategies", "cusp", "--rhs", "random:1"});
    ASSERT_EQ(all.size(), 4u);
    for (const Json& row : all) {
        SCOPED_TRACE(row.dump());
        EXPECT_EQ(row["outcome"], "converged");
        EXPECT_LE(row["relative_residual"].get<double>(), 1e-8);
        EXPECT_GT(row["steps"].get<int>(), 0);
        EXPECT_GT(row["seconds"]["solve"].get<double>(), 0);
    }
}

TEST_F(GpuCompare, CuspThatRunsOutOfStepsIsToldSoWithItsTrueResidual)
{
    if (app::find_compare_cusp().empty()) GTEST_SKIP()
    << "ilux_compare_cusp was not built";
    const auto all = rows({"gallery:poisson2d:n=100", "--strategies", "cusp", "--cusp-preconds", "none", "--max-steps",
                           "5", "--rhs", "random:1"},
                          3);
    ASSERT_EQ(all.size(), 1u);
    EXPECT_NE(all[0]["outcome"], "converged");
    EXPECT_GT(all[0]["relative_residual"].get<double>(), 1e-8);
    EXPECT_LE(all[0]["relative_residual"].get<double>(), 1);
}

}  // namespace
}  // namespace ilux

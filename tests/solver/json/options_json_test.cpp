#include "ilux/solver/json/options_json.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "ilux/base/error.hpp"

namespace ilux {
namespace {

TEST(OptionsJson, OfOddOptionsReadsBackToTheSame)
{
    SolverOptions odd, read;
    odd.method = MethodChoice::cg;
    odd.precond.mlilu.inverse_bound = std::numeric_limits<double>::infinity();  // no number of JSON
    odd.precond.mlilu.depth_bound.rows = 32;
    odd.memory_limit.value = 7;
    odd.krylov.rtol = 3e-310;
    const auto tree = to_json(odd);
    EXPECT_EQ(tree["precond"]["inverse_bound"], "inf");
    EXPECT_EQ(tree["precond"]["depth_bound"], 32);
    EXPECT_FALSE(tree.contains("rhs"));  // of the program
    EXPECT_NE(tree, to_json(read));
    read_options(read, tree.dump(), "odd.json");
    EXPECT_EQ(to_json(read), tree);
    EXPECT_EQ(read.krylov.rtol, 3e-310);
}

TEST(OptionsJson, ChangesNothingWhenAnythingIsWrong)
{
    SolverOptions options;
    for (const char* bad : {R"({"threads": 3, "krylov": {"rtol": 2}})", R"({"threads": 3, "rhs": "ones"})",
                            R"({"threads": 3, "krylov": 1})", R"({"threads": 3, "threads": 4})"})
        EXPECT_THROW(read_options(options, bad, "c.json"), InvalidOption) << bad;
    for (const char* bad : {"", "[]", R"({"threads": 3)"})
        EXPECT_THROW(read_options(options, bad, "c.json"), InvalidInput) << bad;
    EXPECT_EQ(to_json(options), to_json(SolverOptions{}));
    read_options(options, R"({"threads": 3})", "c.json");
    EXPECT_EQ(options.threads, 3);
}

TEST(OptionsJson, RefusalNamesTheFileThePathAndTheNearestOption)
{
    SolverOptions options;
    try {
        read_options(options, R"({"precond": {"droptol": 1}})", "c.json");
        FAIL() << "nothing was thrown";
    } catch (const InvalidOption& error) {
        EXPECT_STREQ(error.what(), "c.json: there is no option 'precond.droptol'; did you mean 'precond.drop_tol'?");
    }
}

}  // namespace
}  // namespace ilux

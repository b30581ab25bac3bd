// What is told of a matrix, as JSON; what is recommended is what a LinearSolver then does.
#include "ilux/solver/info/info_json.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "ilux/gallery/gallery.hpp"
#include "ilux/solver/linear_solver.hpp"

namespace ilux {
namespace {

using Json = nlohmann::ordered_json;

Json told(const CsrMatrix<double>& A, bool levels = false) { return to_json(examine<double>(A, levels)); }

TEST(InfoJson, CountsWhatAHandCounts)
{
    // 4 0 1
    // 0 2 0
    // 1 0 3    in blocks {0, 2} and {1}
    const auto A =
        CsrMatrix<double>::from_triplets(3, 3, std::vector<Index>{0, 0, 1, 2, 2}, std::vector<Index>{0, 2, 1, 0, 2},
                                         std::vector<double>{4, 1, 2, 1, 3});
    const Json json = told(A);
    EXPECT_EQ(json["matrix"]["nnz"], 5);
    EXPECT_EQ(json["matrix"]["symmetric"], true);
    EXPECT_EQ(json["diagonal"]["missing"], 0);
    EXPECT_EQ(json["diagonal"]["dominant_rows"], 3);
    EXPECT_EQ(json["matching"]["structural_rank"], 3);
    EXPECT_EQ(json["lu"]["blocks"], 2);
    EXPECT_EQ(json["lu"]["largest_block"], 2);
    EXPECT_TRUE(json["lu"]["levels"].is_null());
    EXPECT_EQ(json["values"]["largest"], 4.);
    EXPECT_TRUE(told(A, true)["lu"]["levels"].is_object());
}

TEST(InfoJson, ASingularMatrixHasNoFactorsAndNothingRecommended)
{
    const auto A = CsrMatrix<double>::from_triplets(2, 2, std::vector<Index>{0, 1}, std::vector<Index>{0, 0},
                                                    std::vector<double>{1, 1});
    const Json json = told(A);
    EXPECT_EQ(json["matching"]["structural_rank"], 1);
    EXPECT_TRUE(json["lu"].is_null());
    EXPECT_TRUE(json["recommended"].is_null());
}

TEST(InfoJson, RecommendsWhatTheSolverThenBeginsWith)
{
    for (const char* problem :
         {"poisson2d:n=8", "poisson2d:n=60", "convdiff3d:n=16", "poisson3d:n=16", "rlc_mesh:n=12"}) {
        const auto          A = gallery::build(problem);
        const std::string   method = told(A)["recommended"]["method"];
        LinearSolver        solver({.device = DeviceChoice::cpu});
        std::vector<double> x(static_cast<std::size_t>(A.rows())), b = gallery::random_vector(A.rows());
        solver.analyse(A);
        solver.factor();
        const SolverReport report = solver.solve(b, x);
        EXPECT_EQ(method, field_text(report.attempts.front().plan.method)) << problem;
    }
}

TEST(InfoJson, EndsWhenItIsCancelled)
{
    const auto A = gallery::build("convdiff3d:n=16");
    EXPECT_THROW(examine<double>(A, true, StopToken().asking([] { return true; })), Cancelled);
}

}  // namespace
}  // namespace ilux

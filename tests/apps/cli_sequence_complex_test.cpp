// ilux sequence with complex systems.

#include <complex>

#include "ilux/tests/apps/cli.hpp"
#include "ilux/tests/apps/sequence_folder.hpp"
#include "ilux/tests/support/real_form.hpp"

namespace ilux {
namespace {

using namespace ilux::test;
namespace fs = std::filesystem;

class CliSequenceComplex : public CliOfSeries {
protected:
    /// [k + i, 1; 0, 2i] x = b with x = (1, i), for k = 1 … systems.
    static std::string write_known(const TempFolder& where, int systems)
    {
        ComplexVector values, sides;
        for (int k = 1; k <= systems; ++k) {
            values.insert(values.end(), {Complex(k, 1), 1, 0, Complex(0, 2)});
            sides.insert(sides.end(), {Complex(k, 2), -2});
        }
        return write_complex_series(where, values, sides);
    }
    /// x of a system of --out, held against (1, i).
    void expect_known(const std::string& out, int k) const
    {
        const auto x = read_vector<Complex>((fs::path(out) / fmt::format("x_{:03}.mtx", k)).string());
        ASSERT_EQ(x.size(), 2U);
        EXPECT_NEAR(std::abs(x[0] - Complex(1)), 0, 1e-7) << k;
        EXPECT_NEAR(std::abs(x[1] - Complex(0, 1)), 0, 1e-7) << k;
    }

    TempFolder series;
};

TEST_F(CliSequenceComplex, SolvesAFolderByEveryMethodUnderTheKeysOfRealOnes)
{
    const std::string path = write_known(series, 4), out = folder.file("x");
    const TempFolder  of_reals;
    const auto        real = lines({write_series(of_reals, {4, 1, 1, 3, 5, 1, 1, 3}, {1, 2, 3, 4})});
    for (const char* method : {"auto", "lu", "gmres", "fgmres", "bicg", "bicgstab"}) {
        SCOPED_TRACE(method);
        const auto all = lines({path, "--method", method, "--out", out});
        ASSERT_EQ(all.size(), 5U);
        EXPECT_EQ(keys(all[1]), keys(real[1]));
        EXPECT_EQ(keys(all.back()), keys(real.back()));
        EXPECT_EQ(all.back()["converged"], 4);
        EXPECT_TRUE(all.back()["sequence"]["complex"]);
        EXPECT_FALSE(real.back()["sequence"]["complex"]);
        for (int k = 0; k < 4; ++k) {
            EXPECT_TRUE(all[k]["relative_residual"].is_number());
            EXPECT_LE(all[k]["relative_residual"].get<double>(), 1e-8);
            expect_known(out, k);
        }
    }
    const auto lu = lines({path, "--method", "lu"});
    EXPECT_EQ(lu.back()["actions"]["factor"]["count"], 1);
    EXPECT_EQ(lu.back()["actions"]["refactor"]["count"], 3);
}

TEST_F(CliSequenceComplex, SolvesFilesWithRealAndComplexRightHandSides)
{
    const std::string out = folder.file("x");
    for (int k = 0; k < 3; ++k) {
        series.write(fmt::format("A_{}.mtx", k), complex_2x2({k + 1., 1}, 1, 0, {0, 2}));
        series.write(fmt::format("b_{}.mtx", k), k == 1 ? vector_2(0, 4) : complex_vector_2(Complex(k + 1, 2), -2));
    }
    const auto all = lines({series.path().string(), "--method", "lu", "--out", out});
    EXPECT_EQ(all.back()["converged"], 3);
    EXPECT_EQ(all[1]["name"], "A_1.mtx");
    for (const int k : {0, 2}) expect_known(out, k);
    const auto x = read_vector<Complex>(out + "/x_001.mtx");  // 2i x₂ = 4; (2 + i) x₁ + x₂ = 0
    EXPECT_NEAR(std::abs(x[1] - Complex(0, -2)), 0, 1e-15);
    EXPECT_NEAR(std::abs(x[0] - Complex(0, 2) / Complex(2, 1)), 0, 1e-15);
}

TEST_F(CliSequenceComplex, KnowsTheErrorWhereBIsAOnes)
{
    const auto all = lines({write_known(series, 2), "--rhs", "A1", "--method", "lu"});
    for (const int k : {0, 1}) EXPECT_LE(all[k]["forward_error"].get<double>(), 4 * eps);
    EXPECT_EQ(all.back()["rhs"], "A1");
}

TEST_F(CliSequenceComplex, BatchesHaveTheSolutionsOfOneByOne)
{
    const std::string path = write_known(series, 7), out = folder.file("x");
    const auto        all = lines({path, "--method", "lu", "--batch", "3", "--out", out});
    EXPECT_EQ(all.back()["converged"], 7);
    EXPECT_GT(all.back()["actions"]["batch"]["count"].get<int>(), 0);
    for (int k = 0; k < 7; ++k) expect_known(out, k);
}

TEST_F(CliSequenceComplex, DrawsAPageAndATable)
{
    const std::string path = write_known(series, 3), page = folder.file("page.html");
    const Result      result = ilux({"sequence", path, "--report", page, "--method", "lu"});
    EXPECT_EQ(result.code, 0) << result.err;
    for (const char* word :
         {"3 systems, n 2, nnz 4 (2.0 a row), complex", "3 of 3 systems converged: 1 factor, 2 refactor"})
        EXPECT_NE(result.out.find(word), std::string::npos) << result.out;
    EXPECT_GT(fs::file_size(page), 10'000U);
    EXPECT_EQ(read_bytes(page).find("Transfer curve"), std::string::npos);
}

TEST_F(CliSequenceComplex, TellsAFileOfTheOtherTypeAndSolvesTheOthers)
{
    series.write("A_0.mtx", complex_2x2(1, {0, 1}, 0, 2));
    series.write("A_1.mtx", matrix_2x2(1, 1, 0, 2));
    series.write("A_2.mtx", complex_2x2(2, {0, 1}, 0, 2));
    auto all = lines({series.path().string()}, 2);
    ASSERT_EQ(all.size(), 4U);
    EXPECT_EQ(all[1]["outcome"], "refused");
    EXPECT_NE(all[1]["detail"].get<std::string>().find("real values, but those of"), std::string::npos) << all[1];
    EXPECT_EQ(all[2]["action"], "refactor");
    series.write("A_0.mtx", matrix_2x2(1, 1, 0, 2));
    all = lines({series.path().string()}, 2);
    EXPECT_EQ(all[0]["outcome"], "converged");
    EXPECT_EQ(all[2]["outcome"], "refused");
    EXPECT_NE(all[2]["detail"].get<std::string>().find("complex values, but those of"), std::string::npos) << all[2];
}

TEST_F(CliSequenceComplex, RefactorsOnAGpu)
{
    ILUX_SKIP_WITHOUT_GPU();
    const std::string path = write_known(series, 4), out = folder.file("x");
    for (const char* method : {"auto", "left", "glu1", "glu3", "islu"}) {
        SCOPED_TRACE(method);
        const auto all = lines(
            {path, "--device", "gpu", "--method", "lu", "-p", std::string("lu.refactor=") + method, "--out", out});
        EXPECT_EQ(all.back()["converged"], 4);
        EXPECT_EQ(all.back()["device"]["kind"], "gpu");
        for (int k = 0; k < 4; ++k) expect_known(out, k);
    }
}

TEST_F(CliSequenceComplex, RefusesAComplexRightHandSideOfARealSeries)
{
    const TempFolder  of_reals;
    const std::string real = write_series(of_reals, {4, 1, 1, 3}, {1, 2});
    const std::string b = file("b.mtx", complex_vector_2({1, 1}, 2));
    expect_refusal(2, {"sequence", real, "--rhs", b}, {"b.mtx:1", "expected real values"});
    if (!test::why_no_gpu().empty())
        expect_refusal(6, {"sequence", write_known(series, 1), "--device", "gpu", "--method", "lu"}, {"gpu"});
}

TEST_F(CliSequenceComplex, LackOfMemoryAndOfTimeEndASystem)
{
    const std::string path = write_known(series, 2);
    auto              all = lines({path, "--method", "lu", "-p", "memory_limit=1"}, 5);
    for (const int k : {0, 1}) EXPECT_EQ(all[k]["outcome"], "out_of_memory");
    all = lines({path, "--time-limit", "1e-9"}, 3);
    for (const int k : {0, 1}) EXPECT_EQ(all[k]["outcome"], "time_limit");
}

}  // namespace
}  // namespace ilux

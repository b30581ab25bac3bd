// The program with complex systems.

#include <gtest/gtest.h>

#include <algorithm>
#include <complex>
#include <cstdlib>

#include "ilux/base/io/matrix_file.hpp"
#include "ilux/base/io/matrix_market.hpp"
#include "ilux/gallery/gallery.hpp"
#include "ilux/tests/apps/cli.hpp"

namespace ilux {
namespace {

const std::string head = "%%MatrixMarket matrix coordinate complex ";
const std::string column = "%%MatrixMarket matrix array ";

TEST_F(Cli, SolvesAComplexSystemAndWritesItsSolution)
{
    const std::string A = file("A.mtx", head + "general\n2 2 3\n1 1 1 1\n1 2 0 1\n2 2 0 2\n");
    const std::string b = file("b.mtx", column + "complex general\n2 1\n2 1\n0 2\n");
    const std::string x = folder.file("x.mtx");
    for (const char* method : {"auto", "lu", "gmres", "fgmres", "bicg", "bicgstab"}) {
        const auto json = this->json({"solve", A, "--rhs", b, "--method", method, "--out", x, "--json"});
        EXPECT_EQ(json["outcome"], "converged") << method;
        EXPECT_TRUE(json["matrix"]["complex"]);
        EXPECT_FALSE(json["matrix"]["hermitian"]);
        const auto values = read_vector<std::complex<double>>(x);  // 2i x₂ = 2i; (1 + i) x₁ + i x₂ = 2 + i
        ASSERT_EQ(values.size(), 2U);
        EXPECT_NEAR(std::abs(values[0] - std::complex<double>(1, -1)), 0, 1e-8) << method;
        EXPECT_NEAR(std::abs(values[1] - 1.), 0, 1e-8) << method;
    }
}

TEST_F(Cli, TellsAHermitianMatrixFromASymmetricOne)
{
    const std::string hermitian = file("H.mtx", head + "hermitian\n2 2 3\n1 1 4 0\n2 1 1 1\n2 2 4 0\n");
    const std::string symmetric = file("S.mtx", head + "symmetric\n2 2 3\n1 1 4 0\n2 1 1 1\n2 2 4 0\n");
    const auto        of = [&](const std::string& A) { return json({"solve", A, "-p", "mode=iterative", "--json"}); };
    EXPECT_EQ(of(hermitian)["method"], "cg");
    EXPECT_TRUE(of(hermitian)["matrix"]["hermitian"]);
    EXPECT_EQ(of(symmetric)["method"], "gmres");
    EXPECT_TRUE(of(symmetric)["matrix"]["symmetric"]);
    EXPECT_NE(ilux({"solve", hermitian}).out.find("complex, Hermitian"), std::string::npos);
    EXPECT_NE(ilux({"solve", symmetric, "-p", "mode=iterative"}).out.find("A is not Hermitian"), std::string::npos);
}

TEST_F(Cli, TakesARealRightHandSideOfAComplexMatrixAndNotTheOtherWayRound)
{
    const std::string complex_A = file("A.mtx", head + "general\n1 1 1\n1 1 0 2\n");
    const std::string real_A = file("R.mtx", ilux::matrix("1 1 1\n1 1 2\n"));
    const std::string complex_b = file("b.mtx", column + "complex general\n1 1\n2 1\n");
    const std::string real_b = file("r.mtx", column + "real general\n1 1\n4\n");
    const std::string x = folder.file("x.mtx");
    EXPECT_EQ(json({"solve", complex_A, "--rhs", real_b, "--out", x, "--json"})["outcome"], "converged");
    EXPECT_EQ(read_vector<std::complex<double>>(x).at(0), std::complex<double>(0, -2));  // 4 / 2i
    const auto refused = ilux({"solve", real_A, "--rhs", complex_b});
    EXPECT_EQ(refused.code, 2);
    EXPECT_NE(refused.err.find("b.mtx:1: expected real values"), std::string::npos) << refused.err;
}

TEST_F(Cli, DrawsAComplexSystem)
{
    const std::string A = file("A.mtx", head + "general\n2 2 3\n1 1 1 1\n1 2 0 1\n2 2 0 2\n");
    const std::string page = folder.file("page.html");
    EXPECT_EQ(ilux({"solve", A, "--rhs", "random:1", "--report", page}).code, 0);
    EXPECT_GT(std::filesystem::file_size(page), 10'000U);
    EXPECT_EQ(ilux({"solve", A, "--device", "gpu"}).code, test::why_no_gpu().empty() ? 0 : 6);
}

TEST_F(Cli, InfoMeasuresAComplexMatrixByTheKeysOfARealOne)
{
    const std::string hermitian = file("H.mtx", head + "hermitian\n3 3 4\n1 1 5 0\n2 1 3 4\n2 2 0 0\n3 3 2 0\n");
    const auto        json = this->json({"info", hermitian, "--levels", "--json"});
    EXPECT_TRUE(json["matrix"]["complex"]);
    EXPECT_TRUE(json["matrix"]["hermitian"]);
    EXPECT_FALSE(json["matrix"]["symmetric"]);
    EXPECT_FALSE(json["matrix"]["skew_symmetric"]);
    EXPECT_EQ(json["matrix"]["nnz"], 5);
    EXPECT_EQ(json["matrix"]["stored_zeros"], 1);
    EXPECT_EQ(json["values"]["largest"], 5);
    EXPECT_EQ(json["values"]["imaginary"], 2);
    EXPECT_EQ(json["diagonal"]["zeros"], 1);
    EXPECT_EQ(json["diagonal"]["dominant_rows"], 2);  // 5 ≥ |3 + 4i|
    EXPECT_EQ(json["matching"]["structural_rank"], 3);
    EXPECT_GT(json["lu"]["levels"]["left"].get<int>(), 0);
    EXPECT_GT(json["memory_bytes"]["gpu_gmres_mlilu_fill_3"].get<double>(), 0);

    const std::string real = file("R.mtx", ilux::matrix("2 2 2\n1 2 1\n2 1 -1\n"));
    const auto        of_real = this->json({"info", real, "--json"});
    EXPECT_FALSE(of_real["matrix"]["complex"]);
    EXPECT_TRUE(of_real["matrix"]["skew_symmetric"]);
    for (const std::string& key : keys(of_real)) EXPECT_TRUE(json.contains(key)) << key;
    for (const std::string& key : keys(of_real["matrix"])) EXPECT_TRUE(json["matrix"].contains(key)) << key;
}

TEST_F(Cli, InfoSaysTheSymmetryOfComplexMatricesInWords)
{
    const auto says = [&](const std::string& text, std::string_view words) {
        const Result result = ilux({"info", file("A.mtx", head + text)});
        EXPECT_EQ(result.code, 0) << result.err;
        EXPECT_NE(result.out.find(words), std::string::npos) << words << " is not in: " << result.out;
    };
    says("hermitian\n2 2 2\n1 1 4 0\n2 1 1 1\n", "Hermitian (A = Aᴴ)");
    says("symmetric\n2 2 2\n1 1 4 0\n2 1 1 1\n", "symmetric (A = Aᵀ), not Hermitian");
    says("skew-symmetric\n2 2 1\n2 1 1 1\n", "skew-symmetric (A = −Aᵀ)");
    says("symmetric\n2 2 2\n1 1 4 0\n2 1 1 0\n", "none has an imaginary part");
    says("general\n2 2 2\n1 2 4 1\n2 1 1 1\n", "pattern symmetric, values not");
    says("general\n2 2 1\n1 2 4 1\n", "structural rank 1 of 2");
    says("general\n0 0 0\n", "0 × 0, nnz 0, complex");
    const Result cut = ilux({"info", file("cut.mtx", head + "general\n2 2 2\n1 2 4 1\n")});
    EXPECT_EQ(cut.code, 2);
    EXPECT_NE(cut.err.find("cut.mtx:"), std::string::npos) << cut.err;
}

TEST_F(Cli, GalleryListsWritesAndSolvesComplexProblems)
{
    const std::string list = ilux({"gallery"}).out;
    for (const char* problem : {"helmholtz2d_open", "helmholtz3d_open", "maxwell3d", "ac_mesh"})
        EXPECT_NE(list.find(std::string("\n") + problem + "  "), std::string::npos) << problem;
    EXPECT_NE(ilux({"gallery", "maxwell3d:n=3"}).out.find("n 36, nnz 300, complex"), std::string::npos);
    for (const std::string spec : {"helmholtz2d_open:n=9,layer=2", "maxwell3d:n=3", "ac_mesh:n=6"}) {
        const std::string A = folder.file("A.mtx");
        EXPECT_EQ(ilux({"gallery", spec, "--out", A}).code, 0);
        const auto  any = gallery::build_any(spec);
        const auto& built = std::get<CsrMatrix<std::complex<double>>>(any);
        const auto  written = read_matrix<std::complex<double>>(A);
        EXPECT_TRUE(std::ranges::equal(written.row_ptr(), built.row_ptr()));
        EXPECT_TRUE(std::ranges::equal(written.col(), built.col()));
        EXPECT_TRUE(std::ranges::equal(written.val(), built.val()));
        for (const std::string& matrix : {A, "gallery:" + spec}) {
            const auto json = this->json({"solve", matrix, "--json"});
            EXPECT_EQ(json["outcome"], "converged") << matrix;
            EXPECT_TRUE(json["matrix"]["complex"]);
            EXPECT_LT(json["forward_error"].get<double>(), 1e-10) << matrix;
        }
        EXPECT_TRUE(json({"info", "gallery:" + spec, "--json"})["matrix"]["symmetric"]);
    }
    expect_refusal(1, {"solve", "gallery:maxwell3d:n=1"}, {"maxwell3d", "n=1"});
    expect_refusal(1, {"info", "gallery:helmholtz4d_open"}, {"did you mean 'helmholtz"});
}

TEST_F(Cli, ComparesStrategiesOnAComplexSystemAndNamesThoseThatTakeRealOnesOnly)
{
    const std::string program = file("rival", "#!/bin/sh\necho '{\"outcome\": \"converged\"}'\n");
    std::filesystem::permissions(program, std::filesystem::perms::owner_all);
    setenv("ILUX_COMPARE_CUSP", program.c_str(), 1);
    const auto all = json_lines({"compare", "gallery:helmholtz2d_open:n=12", "gallery:poisson2d:n=4", "--cusp-preconds",
                                 "none", "--rhs", "random:1"});
    const auto only = json_lines({"compare", "gallery:ac_mesh:n=4", "--strategies", "cusp"}, 3);
    const auto text = ilux({"compare", "gallery:ac_mesh:n=4", "--device", "cpu"});
    unsetenv("ILUX_COMPARE_CUSP");
    int ours = 0, rivals = 0;
    for (const auto& row : all) {
        if (!row.contains("strategy") || row["n"] != 144) continue;
        EXPECT_TRUE(row["complex"]);
        EXPECT_TRUE(row["symmetric"]);
        EXPECT_FALSE(row["hermitian"]);
        if (row["strategy"] != "cusp") {
            ++ours;
            EXPECT_EQ(row["outcome"], "converged");
            EXPECT_LE(row["relative_residual"].get<double>(), 1e-8);
            EXPECT_GT(row["seconds"]["total"].get<double>(), 0);
        } else {
            ++rivals;
            EXPECT_EQ(row["outcome"], "not_run");
            EXPECT_NE(row["detail"].get<std::string>().find("complex"), std::string::npos);
            EXPECT_TRUE(row["relative_residual"].is_null());
        }
    }
    EXPECT_GE(ours, 2);
    EXPECT_GE(rivals, 1);
    for (std::size_t k = 1; k < only.size(); ++k) EXPECT_EQ(only[k]["outcome"], "not_run");
    EXPECT_EQ(text.code, 0);
    EXPECT_NE(text.out.find("n 16, nnz 64, complex, symmetric; b: A1"), std::string::npos) << text.out;
}

}  // namespace
}  // namespace ilux

// The program on a GPU: the same answers, the same steps, and what it says of the device.

#include "ilux/tests/apps/cli.hpp"

namespace ilux {
namespace {

class GpuCli : public Cli {
protected:
    void SetUp() override { ILUX_SKIP_WITHOUT_GPU(); }
};

TEST_F(GpuCli, TakesTheStepsOfTheCpu)
{
    for (const std::string problem : {"gallery:poisson2d:n=40", "gallery:convdiff2d:n=40", "gallery:convdiff3d:n=16",
                                      "gallery:anisotropic2d:n=30", "gallery:like_lung2:scale=0.02"})
        for (const std::string precond : {"mlilu", "ilu0", "jacobi"}) {
            SCOPED_TRACE(problem + ", " + precond);
            const auto on = [&](const std::string& device) {
                return json({"solve", problem, "--method", "gmres", "--rhs", "random:1", "--precond", precond,
                             "--max-steps", "3000", "--retry", "off", "-p", "precond.off_diagonal=keep", "-p",
                             "precond.depth_bound=none", "--device", device, "--json"});
            };
            const auto cpu = on("cpu"), gpu = on("gpu");
            EXPECT_EQ(gpu["device"]["kind"], "gpu");
            EXPECT_EQ(gpu["outcome"], "converged");
            EXPECT_LE(gpu["relative_residual"].get<double>(), 1e-8);
            const int steps = cpu["steps"];  // of many, restarted ones, rounding decides more than one
            EXPECT_NEAR(gpu["steps"].get<int>(), steps, std::max(1, steps / 20));
        }
}

TEST_F(GpuCli, EveryMethodSolves)
{
    for (const char* method : {"auto", "gmres", "fgmres", "bicg", "bicgstab", "cg"}) {
        const auto json = this->json(
            {"solve", "gallery:poisson2d:n=40", "--method", method, "--retry", "off", "--device", "gpu", "--json"});
        EXPECT_LE(json["forward_error"].get<double>(), 1e-4) << method;
    }
}

TEST_F(GpuCli, EveryOrthogonalizationEngineAndPrecisionSolves)
{
    const auto solves = [&](const std::string& option) {
        const auto json = this->json({"solve", "gallery:convdiff3d:n=16", "--method", "gmres", "--device", "gpu",
                                      "--retry", "off", "-p", option, "--json"});
        EXPECT_LE(json["forward_error"].get<double>(), 1e-4) << option;
        return json;
    };
    for (const char* ortho : {"mgso", "cgs2", "mgso_hybrid", "mgso_host"}) solves(std::string("krylov.ortho=") + ortho);
    for (const char* engine : {"chunked", "syncfree", "level_graph", "level_set", "cusparse"})
        for (const auto& system : solves(std::string("sptrsv.engine=") + engine)["gpu"]["systems"])
            EXPECT_EQ(system["engine"], engine);
    EXPECT_EQ(solves("precond.precision=single")["gpu"]["precision"], "single");
    EXPECT_EQ(solves("precond.precision=double")["gpu"]["precision"], "double");
    solves("precond.off_diagonal=save");
    solves("precond.depth_bound=20");
}

TEST_F(GpuCli, PrintsEveryPromisedJsonKey)
{
    const auto json =
        this->json({"solve", "gallery:convdiff3d:n=20", "--method", "gmres", "--device", "gpu", "--json"});
    expect_keys(json, {"version", "matrix", "rhs", "method", "precond", "device", "outcome", "steps",
                       "relative_residual", "backward_error", "forward_error", "seconds", "memory_bytes", "mlilu",
                       "decisions", "attempts", "options", "gpu"});
    expect_keys(json["device"], {"kind", "name", "threads"});
    EXPECT_NE(json["device"]["name"], "");
    EXPECT_GT(json["memory_bytes"]["peak_device"].get<double>(), json["memory_bytes"]["matrix"].get<double>());
    EXPECT_GT(json["seconds"]["transfer"].get<double>(), 0);
    for (const char* part : {"spmv", "precond", "ortho"}) EXPECT_GT(json["seconds"][part].get<double>(), 0) << part;
    ASSERT_GT(json["gpu"]["systems"].size(), 0u);
    expect_keys(json["gpu"]["systems"][0], {"engine", "n", "nnz", "depth", "longest_row"});
    expect_keys(json["mlilu"]["levels"][0], {"n", "accepted", "postponed", "rounds", "nnz_L", "nnz_U", "nnz_G", "nnz_F",
                                             "inverse_L", "inverse_U", "depth_L", "depth_U"});
}

TEST_F(GpuCli, ReportForPeopleNamesTheDeviceItsSystemsAndTheTransfer)
{
    const Result result = ilux({"solve", "gallery:convdiff3d:n=20", "--method", "gmres", "--device", "gpu"});
    EXPECT_EQ(result.code, 0) << result.err;
    for (const char* word : {"on the GPU", "deep", "transfer", "at most"})
        EXPECT_NE(result.out.find(word), std::string::npos) << word << " is not in:\n" << result.out;
}

TEST_F(GpuCli, TooLittleDeviceMemoryIsExitCodeFiveWithTheEstimateAndTheWayOut)
{
    const auto json = this->json({"solve", "gallery:convdiff3d:n=20", "--method", "gmres", "--device", "gpu", "-p",
                                  "device_memory=100K", "--json"},
                                 5);
    EXPECT_EQ(json["outcome"], "out_of_memory");
    const auto detail = json["detail"].get<std::string>();
    for (const char* word : {"device memory", "matrix", "factors", "100 kB", "device=cpu"})
        EXPECT_NE(detail.find(word), std::string::npos) << word << " is not in: " << detail;
}

TEST_F(GpuCli, AutoTakesTheGpuForLargeSystemsAndTheCpuWhereMemoryOrChainsForbidIt)
{
    const std::string large = "gallery:convdiff3d:n=50";
    const auto        chosen = json({"solve", large, "--json"});
    EXPECT_EQ(chosen["device"]["kind"], "gpu");
    EXPECT_NE(chosen["decisions"].dump().find("device gpu: "), std::string::npos);
    const auto tight = json({"solve", large, "-p", "device_memory=1M", "--json"});
    EXPECT_EQ(tight["device"]["kind"], "cpu");
    EXPECT_NE(tight["decisions"].dump().find("device cpu after all: about"), std::string::npos);
    const auto chained = json({"solve", "gallery:poisson2d:n=300000,ny=1", "--precond", "ilu0", "--json"});
    EXPECT_EQ(chained["device"]["kind"], "cpu");
    EXPECT_NE(chained["decisions"].dump().find("dependent rows"), std::string::npos);
}

TEST_F(GpuCli, DoctorTestsTheGpuToo)
{
    const Result result = ilux({"doctor"});
    EXPECT_EQ(result.code, 0) << result.out;
    EXPECT_NE(result.out.find("gpu: gmres with mlilu"), std::string::npos) << result.out;
}

}  // namespace
}  // namespace ilux

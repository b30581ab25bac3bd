// ilux sequence --ac, as its users run it.

#include <cmath>
#include <complex>
#include <numbers>

#include "ilux/tests/apps/cli.hpp"
#include "ilux/tests/apps/sequence_folder.hpp"
#include "ilux/tests/apps/well_formed.hpp"

namespace ilux {
namespace {

using namespace ilux::test;
using Complex = std::complex<double>;
namespace fs = std::filesystem;

/// A source of 1 V (its current is unknown 3), 1 kΩ from node 1 to node 2, 1 nF from there to the ground.
class CliSweep : public Cli {
protected:
    static Complex low_pass(double f) { return 1. / Complex(1, 2 * std::numbers::pi * f * 1e-6); }

    std::vector<nlohmann::json> lines(const std::vector<std::string>& arguments, int code = 0)
    {
        std::vector<std::string> all{"sequence", "--ac", G, C, "--rhs", b};
        all.insert(all.end(), arguments.begin(), arguments.end());
        return json_lines(all, code);
    }
    Result run(const std::vector<std::string>& arguments)
    {
        std::vector<std::string> all{"sequence", "--ac", G, C, "--rhs", b};
        all.insert(all.end(), arguments.begin(), arguments.end());
        return ilux(all);
    }
    void refused(int code, const std::vector<std::string>& arguments, const std::vector<std::string>& words)
    {
        const Result result = ilux(arguments);
        EXPECT_EQ(result.code, code) << result.err;
        EXPECT_EQ(result.out, "");
        for (const std::string& word : words)
            EXPECT_NE(result.err.find(word), std::string::npos) << word << " is not in: " << result.err;
    }

    std::string G = file("G.mtx", matrix("3 3 6\n1 1 1e-3\n1 2 -1e-3\n2 1 -1e-3\n2 2 1e-3\n1 3 1\n3 1 1\n"));
    std::string C = file("C.mtx", matrix("3 3 1\n2 2 1e-9\n"));
    std::string b = file("b.mtx", "%%MatrixMarket matrix array real general\n3 1\n0\n0\n1\n");
};

TEST_F(CliSweep, TellsTheFrequencyAndTheProbedValuesOfALowPass)
{
    for (const char* method : {"auto", "lu", "gmres"}) {
        SCOPED_TRACE(method);
        const auto all = lines({"--frequencies", "1e3:1e9:log:13", "--probe", "2,1", "--method", method});
        ASSERT_EQ(all.size(), 14U);
        for (int k = 0; k < 13; ++k) {
            const double f = all[k]["frequency"];
            EXPECT_NEAR(f, std::pow(10., 3 + 0.5 * k), 1e-12 * f);
            const auto& probed = all[k]["probed"];
            ASSERT_EQ(probed.size(), 2U);
            EXPECT_EQ(probed[0]["unknown"], 2);
            EXPECT_EQ(probed[1]["unknown"], 1);
            const Complex out(probed[0]["re"], probed[0]["im"]), wanted = low_pass(f);
            EXPECT_NEAR(std::abs(out - wanted), 0, 1e-8 * std::abs(wanted)) << f;
            EXPECT_NEAR(probed[0]["magnitude"].get<double>(), std::abs(wanted), 1e-8 * std::abs(wanted));
            EXPECT_NEAR(probed[0]["db"].get<double>(), 20 * std::log10(std::abs(wanted)), 1e-6);
            EXPECT_NEAR(probed[0]["phase_deg"].get<double>(), std::arg(wanted) * 180 / std::numbers::pi, 1e-5);
            EXPECT_NEAR(probed[1]["re"].get<double>(), 1, 1e-8);
            EXPECT_EQ(all[k]["outcome"], "converged");
        }
        EXPECT_EQ(all.back()["converged"], 13);
        EXPECT_EQ(all.back()["probes"], (nlohmann::json{2, 1}));
        EXPECT_TRUE(all.back()["sequence"]["complex"]);
        EXPECT_EQ(all.back()["sequence"]["nnz"], 6);
        EXPECT_EQ(all.back()["sequence"]["systems"], 13);
    }
    const auto lu = lines({"--frequencies", "1e3:1e9:log:13", "--method", "lu"});
    EXPECT_EQ(lu.back()["actions"]["factor"]["count"], 1);
    EXPECT_EQ(lu.back()["actions"]["refactor"]["count"], 12);
}

TEST_F(CliSweep, ProbesTheLargestUnknownWhereNoneIsNamedAndSaysSo)
{
    const auto all = lines({"--frequencies", "1e12,0", "--method", "lu"});  // 1 V, 0 V and 1 mA
    EXPECT_EQ(all[0]["probed"][0]["unknown"], 1);
    EXPECT_EQ(all[1]["probed"][0]["unknown"], 1);
    EXPECT_EQ(all[1]["frequency"], 0);
    EXPECT_NE(all.back()["decisions"].dump().find(
                  "--probe 1: none was given, and this unknown is the largest at 1e+12 Hz"),
              std::string::npos);
    EXPECT_EQ(lines({"--frequencies", "1", "--probe", "1"}).back()["decisions"].dump().find("--probe"),
              std::string::npos);
}

TEST_F(CliSweep, WritesItsCurveAsATableAndAsADrawing)
{
    const std::string table = folder.file("curve.csv"), drawing = folder.file("curve.svg"),
                      page = folder.file("p.html");
    ASSERT_EQ(run({"--frequencies", "1e3:1e9:log:7", "--probe", "2", "--curve", table}).code, 0);
    std::istringstream text(read_bytes(table));
    std::string        line;
    std::getline(text, line);
    EXPECT_EQ(line, "frequency_hz,magnitude_2,db_2,phase_deg_2");
    int count = 0;
    for (; std::getline(text, line); ++count) {
        double f = 0, magnitude = 0, db = 0, phase = 0;
        ASSERT_EQ(std::sscanf(line.c_str(), "%lf,%lf,%lf,%lf", &f, &magnitude, &db, &phase), 4) << line;
        EXPECT_NEAR(magnitude, std::abs(low_pass(f)), 1e-8 * magnitude);
        EXPECT_NEAR(db, 20 * std::log10(magnitude), 1e-9);
        EXPECT_NEAR(phase, std::arg(low_pass(f)) * 180 / std::numbers::pi, 1e-5);
    }
    EXPECT_EQ(count, 7);
    ASSERT_EQ(run({"--frequencies", "1e3:1e9:log:7", "--probe", "2,1", "--curve", drawing, "--report", page}).code, 0);
    EXPECT_EQ(why_not_xml(read_bytes(drawing)), "");
    EXPECT_NE(read_bytes(drawing).find("unknown 2"), std::string::npos);
    EXPECT_NE(read_bytes(page).find("Transfer curve"), std::string::npos);
    EXPECT_NE(read_bytes(page).find("Phase over frequency"), std::string::npos);
}

TEST_F(CliSweep, WritesSolutionsByTheirIndexAndSolvesInBatches)
{
    const std::string out = folder.file("x");
    for (const char* batch : {"1", "3"}) {
        const auto all = lines({"--frequencies", "1e3:1e9:log:7", "--method", "lu", "--batch", batch, "--out", out});
        EXPECT_EQ(all.back()["converged"], 7);
        for (int k = 0; k < 7; ++k) {
            const auto x = read_vector<Complex>((fs::path(out) / fmt::format("x_{:03}.mtx", k)).string());
            const auto wanted = low_pass(all[k]["frequency"]);
            EXPECT_NEAR(std::abs(x[1] - wanted), 0, 1e-12 * std::abs(wanted)) << k;
            EXPECT_EQ(Complex(all[k]["probed"][0]["re"], all[k]["probed"][0]["im"]), x[0]);
        }
    }
}

TEST_F(CliSweep, PrintsAFrequencyALine)
{
    const Result result = run({"--frequencies", "0,1e3,2.5e6", "--method", "lu", "--threads", "1"});
    EXPECT_EQ(result.code, 0) << result.err;
    for (const char* word : {"3 frequencies, 0 to 2.5e+06 Hz, n 3, nnz 6 (2.0 a row), complex", "frequency      done",
                             "\n0 Hz           factor   converged", "\n1000 Hz        refactor converged",
                             "\n2.5e+06 Hz     refactor converged", "3 of 3 systems converged: 1 factor, 2 refactor"})
        EXPECT_NE(result.out.find(word), std::string::npos) << word << " is not in:\n" << result.out;
    EXPECT_NE(ilux({"sequence", "--ac", G, C, "--frequencies", "1", "--quiet"}).out.find("b = ones, as none was given"),
              std::string::npos);
}

TEST_F(CliSweep, TellsAFrequencyWithoutSolutionAndSolvesTheOthers)
{
    // Node 2 hangs on its capacitor alone.
    const std::string bare = file("bare.mtx", matrix("2 2 1\n1 1 1\n")),
                      cap = file("cap.mtx", matrix("2 2 1\n2 2 1\n"));
    const std::string table = folder.file("curve.csv");
    const auto all = json_lines({"sequence", "--ac", bare, cap, "--frequencies", "0,1", "--method", "lu", "--curve",
                                 table, "--probe", "1"},
                                4);
    ASSERT_EQ(all.size(), 3U);
    EXPECT_EQ(all[0]["outcome"], "singular");
    EXPECT_EQ(all[0]["probed"], nlohmann::json::array());
    EXPECT_EQ(all[1]["outcome"], "converged");
    EXPECT_EQ(read_bytes(table), "frequency_hz,magnitude_1,db_1,phase_deg_1\n0,nan,nan,nan\n1,1,0,0\n");
}

TEST_F(CliSweep, LackOfMemoryAndOfTimeEndASystem)
{
    auto all = lines({"--frequencies", "1,2", "--method", "lu", "-p", "memory_limit=1"}, 5);
    ASSERT_EQ(all.size(), 3U);
    for (const int k : {0, 1}) EXPECT_EQ(all[k]["outcome"], "out_of_memory");
    all = lines({"--frequencies", "1,2", "--time-limit", "1e-9"}, 3);
    for (const int k : {0, 1}) EXPECT_EQ(all[k]["outcome"], "time_limit");
    EXPECT_EQ(lines({"--frequencies", "1,2", "--time-limit", "100"}).back()["converged"], 2);
}

TEST_F(CliSweep, RefusesMatricesThatMakeNoSystem)
{
    const auto with = [&](const std::string& G_file, const std::string& C_file, const std::vector<std::string>& words) {
        refused(2, {"sequence", "--ac", G_file, C_file, "--frequencies", "1"}, words);
    };
    with(G, file("C2.mtx", matrix("2 2 1\n2 2 1e-9\n")), {"C2.mtx: 2 × 2", "G.mtx is 3 × 3"});
    with(file("Z.mtx", complex_2x2(1, 0, 0, 1)), C, {"Z.mtx:1", "expected real values"});
    with(G, file("nan.mtx", matrix("3 3 1\n2 2 nan\n")), {"nan.mtx:3", "finite"});
    with(G, file("cut.mtx", matrix("3 3 2\n2 2 1\n")), {"cut.mtx"});
    with(G, folder.file("nowhere.mtx"), {"nowhere.mtx"});
    with(file("wide.mtx", matrix("2 3 1\n1 1 1\n")), C, {"wide.mtx", "square"});
    with(G, file("huge.mtx", matrix("3 3 1\n2 2 1e308\n")), {"overflows at 1 Hz"});
    refused(2, {"sequence", "--ac", G, C, "--frequencies", "1", "--rhs", file("b2.mtx", vector_2(1, 2))},
            {"b2.mtx", "2 values", "3 rows"});
    if (!test::why_no_gpu().empty())
        refused(6, {"sequence", "--ac", G, C, "--frequencies", "1", "--device", "gpu"}, {"gpu"});
}

TEST_F(CliSweep, RefusesACommandLineThatMakesNoSense)
{
    refused(1, {"sequence", "--ac", G, C}, {"--frequencies is missing"});
    refused(1, {"sequence", "--ac", G, "--frequencies", "1"}, {"--ac: 1 paths", "two files"});
    refused(1, {"sequence", "--ac", G, C, b, "--frequencies", "1"}, {"--ac: 3 paths"});
    for (const char* bad : {"-1", "1,-2", "1:2:oct:3", "0:1:log:3", "nan", "", "1e3:1e9:log"})
        refused(1, {"sequence", "--ac", G, C, std::string("--frequencies=") + bad}, {"frequencies"});
    refused(1, {"sequence", "--ac", G, C, "--frequencies", "-1,2"}, {"-1 is negative", "FIRST:LAST:log:COUNT"});
    for (const char* bad : {"4", "1,4"})
        refused(1, {"sequence", "--ac", G, C, "--frequencies", "1", "--probe", bad}, {"--probe 4", "3 unknowns"});
    for (const char* bad : {"0", "-1", "x", "1,,2", "1,", "2.5", "99999999999"})
        refused(1, {"sequence", "--ac", G, C, "--frequencies", "1", std::string("--probe=") + bad},
                {"--probe", "counted from 1"});
    refused(1, {"sequence", "--ac", G, C, "--frequencies", "1", "--probe", "2,2"}, {"2 stands twice"});
    refused(1, {"sequence", "--ac", G, C, "--frequencies", "1", "--curve", folder.file("c.txt")},
            {"c.txt", ".csv or .svg"});
    for (const char* option : {"--frequencies", "--probe"})
        refused(1, {"sequence", G, option, "1"}, {option, "is of a frequency sweep"});
    refused(1, {"sequence", G, "--curve", folder.file("c.csv")}, {"--curve is of a frequency sweep"});
    const std::string odd = file("C.csv", read_bytes(C));
    refused(1, {"sequence", "--ac", G, odd, "--frequencies", "1", "--curve", odd}, {"would be overwritten by --curve"});
    EXPECT_EQ(read_bytes(odd), read_bytes(C));
}

TEST_F(CliSweep, LeavesNoCurveOfAFormerRunWhereItFails)
{
    const std::string table = file("curve.csv", "of a former run");
    refused(1, {"sequence", "--ac", G, C, "--frequencies", "oops", "--curve", table}, {"oops"});
    EXPECT_FALSE(fs::exists(table));
}

}  // namespace
}  // namespace ilux

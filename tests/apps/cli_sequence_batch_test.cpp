// ilux sequence --batch, as its users run it: held to the same series without it.

#include <cmath>

#include "ilux/tests/apps/cli.hpp"
#include "ilux/tests/apps/sequence_folder.hpp"

namespace ilux {
namespace {

using namespace ilux::test;
namespace fs = std::filesystem;
using Words = std::vector<std::string>;

class CliSequenceBatch : public CliOfSeries {
protected:
    /// Eleven systems: 3 has pivots of its own, 5 is singular, 7 holds NaN.
    std::string eventful()
    {
        std::vector<double> values, sides;
        for (int k = 0; k < 11; ++k) {
            const std::vector<double> odd[] = {{1e-16, 1, 1, 2.5}, {1, 1, 1, 1}, {1, nan, 1, 2}};
            const std::vector<double> usual{1, 1, 1, 2 + 0.1 * k};
            for (const double value : k == 3 ? odd[0] : k == 5 ? odd[1] : k == 7 ? odd[2] : usual)
                values.push_back(value);
            sides.insert(sides.end(), {1.0 + k, 3.0 - k});
        }
        return write_series(series, values, sides);
    }

    const Words plain{"--method", "lu", "-p", "lu.matching=off", "-p", "lu.scaling=none"};
    Words       with(const std::string& path, const Words& more, const Words& and_more = {}) const
    {
        Words all{path};
        for (const Words* some : {&plain, &more, &and_more}) all.insert(all.end(), some->begin(), some->end());
        return all;
    }
    /// The same lines, outcomes, x and exit code as without a batch, whatever its size.
    void expect_as_one_by_one(const Words& device)
    {
        const std::string path = eventful(), out = folder.file("x"), other = folder.file("y");
        const auto        wanted = lines(with(path, {"--out", out}, device), 4);
        for (const char* batch : {"2", "3", "10", "11", "100"}) {
            SCOPED_TRACE(batch);
            const auto found = lines(with(path, {"--batch", batch, "--out", other}, device), 4);
            ASSERT_EQ(found.size(), wanted.size());
            for (std::size_t k = 0; k < 11; ++k) {
                SCOPED_TRACE(k);
                EXPECT_EQ(keys(found[k]), keys(wanted[k]));
                for (const char* key : {"type", "system", "name", "outcome"}) EXPECT_EQ(found[k][key], wanted[k][key]);
                EXPECT_EQ(found[k]["detail"].get<std::string>().empty(),
                          wanted[k]["detail"].get<std::string>().empty());
                const std::string file = fmt::format("x_{:03}.mtx", k);
                ASSERT_EQ(fs::exists(fs::path(other) / file), fs::exists(fs::path(out) / file));
                if (found[k]["outcome"] != "converged") continue;
                EXPECT_LE(found[k]["componentwise_error"].get<double>(), 4 * eps);
                const auto x = read_vector((fs::path(other) / file).string());
                EXPECT_LE(relative_difference(x, read_vector((fs::path(out) / file).string())), 1e-13);
            }
            EXPECT_EQ(found[3]["action"], "repivot");
            EXPECT_EQ(found[0]["action"], "factor");
            EXPECT_EQ(found[10]["action"],
                      std::string(batch) == "2" || std::string(batch) == "10" ? "refactor" : "batch");
            const auto& summary = found.back();
            EXPECT_EQ(keys(summary), keys(wanted.back()));
            for (const char* key : {"outcome", "exit_code", "converged", "method"})
                EXPECT_EQ(summary[key], wanted.back()[key]) << key;
            EXPECT_EQ(summary["failed"]["count"], wanted.back()["failed"]["count"]);
            EXPECT_GT(summary["actions"]["batch"]["count"].get<int>(), 0);
            EXPECT_NE(summary["decisions"].dump().find("systems at once, up to"), std::string::npos);
            EXPECT_NE(summary["decisions"].dump().find("it is system 3 (counted from 0)"), std::string::npos)
                << summary["decisions"];
        }
    }

    TempFolder series;
};

TEST_F(CliSequenceBatch, HasTheOutcomesOfOneSystemAfterAnother) { expect_as_one_by_one({"--device", "cpu"}); }

TEST_F(CliSequenceBatch, NamesABatchInItsTable)
{
    const std::string path = write_series(series, {4, 1, 1, 3, 5, 1, 1, 3, 6, 1, 1, 3}, {1, 2, 3, 4, 5, 6});
    const Result      result = ilux({"sequence", path, "--method", "lu", "--batch", "3", "--device", "cpu"});
    EXPECT_EQ(result.code, 0) << result.err;
    for (const char* word :
         {"0              factor   converged", "1              batch    converged", "2              batch    converged",
          "3 of 3 systems converged: 1 factor, 2 batch", "batch: 2 of 3 systems at once, up to 2 together"})
        EXPECT_NE(result.out.find(word), std::string::npos) << word << " is not in:\n" << result.out;
    EXPECT_EQ(result.err, "");
    const Result one = ilux({"sequence", path, "--method", "lu", "--batch", "1", "--device", "cpu"});
    EXPECT_EQ(one.out.find("batch"), std::string::npos) << one.out;
}

TEST_F(CliSequenceBatch, RefusesWhatIsNoNumberOfSystems)
{
    const std::string path = write_series(series, {4, 1, 1, 3}, {1, 2});
    for (const char* bad : {"0", "-1"})
        expect_refusal(1, {"sequence", path, "--batch", bad}, {"--batch", bad, "1 or more"});
    for (const char* bad : {"many", "2.5", "", "99999999999"})
        expect_refusal(1, {"sequence", path, "--batch", bad}, {"--batch"});
    expect_refusal(1, {"sequence", path, "--batch"}, {"--batch"});
    EXPECT_NE(ilux({"sequence", "--help"}).out.find("--batch K"), std::string::npos);
}

TEST_F(CliSequenceBatch, GoesOneByOneWithAnIteration)
{
    const std::string path = write_series(series, {4, 1, 1, 3, 5, 1, 1, 3, 6, 1, 1, 3}, {1, 2, 3, 4, 5, 6});
    const auto        all = lines({path, "--method", "gmres", "--batch", "2"});
    EXPECT_EQ(all.back()["converged"], 3);
    EXPECT_FALSE(all.back()["actions"].contains("batch"));
    EXPECT_NE(all.back()["decisions"].dump().find("batch: 3 systems one after another"), std::string::npos);
    const auto reused = lines({path, "--method", "gmres", "--batch", "2", "-p", "sequence.reuse_x=on"});
    EXPECT_NE(reused.back()["decisions"].dump().find("--batch 2 has no effect: sequence.reuse_x=on"),
              std::string::npos);
}

TEST_F(CliSequenceBatch, AnalysesByTheFirstSystemThatCanBeRead)
{
    series.write("A_0.mtx", matrix("3 3 1\n"));  // cut off
    for (int k = 1; k < 4; ++k) series.write(fmt::format("A_{}.mtx", k), matrix_2x2(3 + k, 1, 1, 2));
    const auto all = lines({series.path().string(), "--method", "lu", "--batch", "4"}, 2);
    ASSERT_EQ(all.size(), 5u);
    EXPECT_EQ(all[0]["outcome"], "refused");
    EXPECT_EQ(all[1]["action"], "factor");
    for (const int k : {2, 3}) {
        EXPECT_EQ(all[k]["action"], "batch");
        EXPECT_LE(all[k]["forward_error"].get<double>(), 4 * eps);  // b = A·1
    }
}

class GpuCliSequenceBatch : public CliSequenceBatch {
protected:
    void SetUp() override { ILUX_SKIP_WITHOUT_GPU(); }
};

TEST_F(GpuCliSequenceBatch, HasTheOutcomesOfOneSystemAfterAnother) { expect_as_one_by_one({"--device", "gpu"}); }

}  // namespace
}  // namespace ilux

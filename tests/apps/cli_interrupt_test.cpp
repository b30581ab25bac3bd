// Ctrl-C. Oracles: exit codes, and the files that are left.

#include <sys/stat.h>

#include "ilux/gallery/gallery.hpp"
#include "ilux/tests/apps/cli.hpp"

namespace ilux {
namespace {

class CliInterrupt : public Cli {
protected:
    /// As after Ctrl-C, so many seconds after the start. --foreground: else timeout sends the signal twice, and the
    /// second kills.
    static Shell ctrl_c_after(const std::string& seconds)
    {
        return {.before = "timeout --foreground --preserve-status -s INT -k 60 " + seconds + " "};
    }
    std::string silent_pipe(const std::string& name)
    {
        const auto path = folder.file(name);
        EXPECT_EQ(mkfifo(path.c_str(), 0600), 0);
        return path;
    }
};

TEST_F(CliInterrupt, AnIterationEndsWithTheBestXSoFar)
{
    const auto   file = folder.file("x.mtx");
    const Result result =
        ilux({"solve", "gallery:recirculating2d:n=200", "--method", "gmres", "--precond", "none", "--rtol", "1e-15",
              "--max-steps", "1000000000", "--time-limit", "0", "--json", "--out", file},
             "", ctrl_c_after("2"));
    EXPECT_EQ(result.code, 130) << result.err;
    const auto report = nlohmann::json::parse(result.out, nullptr, false);
    ASSERT_TRUE(report.is_object()) << result.out;
    EXPECT_EQ(report["outcome"], "cancelled");
    EXPECT_EQ(report["exit_code"], 130);
    EXPECT_LT(report["relative_residual"].get<double>(), 1);
    EXPECT_EQ(read_matrix(file).rows(), 40'000);  // whole
}

TEST_F(CliInterrupt, BeforeThereIsAnXNoFileIsLeft)
{
    const auto   file = folder.file("x.mtx");
    const Result result =
        ilux({"solve", silent_pipe("A.mtx"), "--time-limit", "0", "--json", "--out", file}, "", ctrl_c_after("0.5"));
    EXPECT_EQ(result.code, 130) << result.err;
    EXPECT_NE(result.err.find("stopped on request"), std::string::npos) << result.err;
    const auto refusal = nlohmann::json::parse(result.out, nullptr, false);
    EXPECT_EQ(refusal["outcome"], "cancelled");
    EXPECT_FALSE(std::filesystem::exists(file));
}

TEST_F(CliInterrupt, AnOutputThatNobodyReadsIsGivenUp)
{
    const Result result =
        ilux({"solve", "gallery:poisson2d:n=4", "--json", "--out", silent_pipe("x.mtx")}, "", ctrl_c_after("1"));
    EXPECT_EQ(result.code, 130) << result.err;
    EXPECT_EQ(nlohmann::json::parse(result.out, nullptr, false)["outcome"], "cancelled") << result.out;
}

TEST_F(CliInterrupt, AModelProblemThatIsBeingWrittenLeavesNothing)
{
    int stopped = 0;
    for (const std::string signal : {"TERM", "HUP", "KILL"})
        for (const std::string seconds : {"0.2", "0.4"}) {
            const std::string out = folder.file("A.mtx");
            const Result      result = ilux({"gallery", "poisson3d:n=120", "--out", out}, "",
                                            {.before = "timeout -s " + signal + " " + seconds + " "});
            const bool        whole = std::filesystem::exists(out);
            EXPECT_EQ(whole, result.code == 0) << result.code;
            EXPECT_EQ(folder.entries(), whole ? 1U : 0U) << signal << " after " << seconds;
            stopped += !whole;
            std::filesystem::remove(out);
        }
    EXPECT_GT(stopped, 0);
}

TEST_F(CliInterrupt, AnOutputThatNobodyReadsIsGivenUpAtTheTimeLimit)
{
    for (const char* option : {"--out", "--history", "--report"}) {
        const Result result = ilux({"solve", "gallery:poisson2d:n=4", "--json", option,
                                    silent_pipe(fmt::format("x{}.mtx", option)), "--time-limit", "0.3"});
        EXPECT_EQ(result.code, 3) << result.err;
        EXPECT_NE(result.err.find("0.3 s was reached before anything read it"), std::string::npos) << result.err;
        EXPECT_EQ(nlohmann::json::parse(result.out, nullptr, false)["outcome"], "time_limit") << result.out;
    }
}

TEST_F(CliInterrupt, ASeriesTellsTheSystemsThatWereSolved)
{
    write_matrix(folder.file("A_0.mtx"), gallery::build("poisson2d:n=10"));
    const Result result = ilux({"sequence", folder.file("A_0.mtx"), silent_pipe("A_1.mtx"), folder.file("A_0.mtx"),
                                "--time-limit", "0", "--json"},
                               "", ctrl_c_after("1.5"));
    EXPECT_EQ(result.code, 130) << result.err;
    std::istringstream          text(result.out);
    std::vector<nlohmann::json> lines;
    for (std::string line; std::getline(text, line);) lines.push_back(nlohmann::json::parse(line, nullptr, false));
    ASSERT_EQ(lines.size(), 3U) << result.out;
    EXPECT_EQ(lines[0]["outcome"], "converged");
    EXPECT_EQ(lines[1]["outcome"], "cancelled");
    EXPECT_EQ(lines[2]["outcome"], "cancelled");
    EXPECT_EQ(lines[2]["exit_code"], 130);
    EXPECT_NE(result.out.find("stopped on request after 2 of 3 systems"), std::string::npos) << result.out;
}

}  // namespace
}  // namespace ilux

// Every open, read, write, fsync, rename, close and unlink of inputs and outputs fails in turn. Then the exit code
// tells it, and each output is complete and of this run, or it is not there.

#include <algorithm>
#include <cerrno>

#include "ilux/tests/apps/outputs.hpp"
#include "ilux/tests/apps/sequence_folder.hpp"

namespace ilux {
namespace {

namespace fs = std::filesystem;

struct Call {
    std::string name;
    int         error, least;  ///< how many there are at least
};

class CliFaults : public Cli {
protected:
    /// Runs the command once for each k, with files of a former run. @return how often it failed
    int each_fault(const Call& call, const std::vector<std::string>& command, const std::vector<std::string>& outputs)
    {
        const std::string hit = elsewhere_.file("hit");
        for (int k = 1;; ++k) {
            fs::remove(hit);
            for (const std::string& name : outputs) former(folder, name);
            const auto   before = files();
            const Fault  fault{call.name, k, fmt::format("{}", call.error)};
            const Result result = ilux(command, "", {.before = fault.environment(folder.path(), hit)});
            SCOPED_TRACE(fmt::format("{} {}: exit {}\n{}{}", call.name, k, result.code, result.out, result.err));
            check(call, result, outputs);
            if (call.name != "unlink") {
                EXPECT_TRUE(std::ranges::includes(before, files())) << "a temporary file was left";
            }
            if (fs::exists(hit)) continue;
            EXPECT_EQ(result.code, 0);
            return k - 1;
        }
    }

private:
    void check(const Call& call, const Result& result, const std::vector<std::string>& outputs)
    {
        EXPECT_TRUE(result.code == 0 || result.code == 2);
        std::size_t there = 0;
        for (const std::string& name : outputs) {
            const std::string path = folder.file(name);
            // What the system does not let us remove can only be named.
            const bool named =
                call.name == "unlink" && result.err.find(name + ": Input/output error") != std::string::npos;
            there += named || holds_the_rule(path);
        }
        if (result.code == 0) {
            EXPECT_EQ(there, outputs.size());
        } else {
            EXPECT_FALSE(result.out.empty() && result.err.empty()) << "nothing was said";
        }
        if (result.out.empty()) return;  // it is what failed
        const std::size_t line = result.out.rfind('\n', result.out.size() - 2);
        const std::string last = line == std::string::npos ? result.out : result.out.substr(line + 1);
        EXPECT_TRUE(nlohmann::json::parse(result.out, nullptr, false).is_object() ||
                    nlohmann::json::parse(last, nullptr, false).is_object());
    }
    std::set<std::string> files() const
    {
        std::set<std::string> names;
        for (const auto& entry : fs::recursive_directory_iterator(folder.path())) names.insert(entry.path().string());
        return names;
    }

    TempFolder elsewhere_;
};

TEST_F(CliFaults, OfEveryCallOfASolveLeaveNothingHalfDoneAndNothingStale)
{
    ILUX_SKIP_WITHOUT_FAULTS();
    const std::string A = file("A.mtx", matrix("2 2 3\n1 1 4\n1 2 1\n2 2 3\n")),
                      b = file("b.mtx", test::vector_2(5, 3));
    const std::vector<std::string> command{"solve",     A,
                                           "--rhs",     b,
                                           "--out",     folder.file("x.mtx"),
                                           "--history", folder.file("h.csv"),
                                           "--report",  folder.file("r.html"),
                                           "--json"};
    // Two files are read; three are written, each after a probe; and the report is one write.
    const Call calls[] = {{"open", EIO, 8},   {"read", EIO, 4},  {"write", ENOSPC, 4}, {"fsync", EIO, 3},
                          {"linkat", EIO, 3}, {"close", EIO, 8}, {"unlink", EIO, 3}};
    for (const Call& call : calls)
        EXPECT_GE(each_fault(call, command, {"x.mtx", "h.csv", "r.html"}), call.least) << call.name;
}

TEST_F(CliFaults, OfEveryCallOfASequenceLeaveNothingHalfDoneAndNothingStale)
{
    ILUX_SKIP_WITHOUT_FAULTS();
    fs::create_directory(folder.file("A"));
    fs::create_directory(folder.file("x"));
    for (const char* name : {"A/A_0.mtx", "A/A_1.mtx"}) file(name, test::matrix_2x2(4, 1, 1, 3));
    for (const char* name : {"A/b_0.mtx", "A/b_1.mtx"}) file(name, test::vector_2(5, 4));
    const std::vector<std::string> command{"sequence", folder.file("A"),      "--out", folder.file("x"),
                                           "--report", folder.file("r.html"), "--json"};
    const Call calls[] = {{"open", EIO, 7},   {"read", EIO, 6},  {"write", ENOSPC, 6}, {"fsync", EIO, 3},
                          {"linkat", EIO, 3}, {"close", EIO, 7}, {"unlink", EIO, 3}};
    for (const Call& call : calls)
        EXPECT_GE(each_fault(call, command, {"x/x_000.mtx", "x/x_001.mtx", "r.html"}), call.least) << call.name;
}

TEST_F(CliFaults, AreToldOnBothStandardDescriptors)
{
    ILUX_SKIP_WITHOUT_FAULTS();
    const std::string A = file("A.mtx", matrix("1 1 1\n1 1 4\n")), hit = folder.file("hit");
    const Fault       fault{"fsync", 1, fmt::format("{}", EIO)};
    const Result      result = ilux({"solve", A, "--out", folder.file("x.mtx"), "--json"}, "",
                                    {.before = fault.environment(folder.path(), hit)});
    EXPECT_EQ(result.code, 2);
    EXPECT_NE(result.err.find("cannot write " + folder.file("x.mtx") + ": Input/output error"), std::string::npos)
        << result.err;
    EXPECT_EQ(nlohmann::json::parse(result.out, nullptr, false)["exit_code"], 2) << result.out;
    EXPECT_TRUE(fs::exists(hit));
    EXPECT_FALSE(fs::exists(folder.file("x.mtx")));  // renamed only when it is on the disk
}

}  // namespace
}  // namespace ilux

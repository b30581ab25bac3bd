// The program where memory is limited, as `ulimit -v` does it: it ends soon, with a solution or by saying why not.

#include <filesystem>

#include "ilux/tests/apps/cli.hpp"

namespace ilux {
namespace {

class LimitedMemory : public Cli {
protected:
    void SetUp() override
    {
        if (!test::memory_may_be_limited) GTEST_SKIP()
        << "no limit on memory under this sanitizer";
    }
    /// A limit, in MB, that lets the system map the program; below it the program is killed before its first word.
    int least_megabytes() const { return 10 + static_cast<int>(std::filesystem::file_size(program()) / 1000000); }
    /// Exit code, 124 where it took 30 seconds; 127 is the dynamic loader's, which lacks memory for the libraries.
    Result with(int megabytes, const std::string& arguments)
    {
        const std::string command = fmt::format("ulimit -v {}; OMP_NUM_THREADS=4 exec timeout 30 '{}' {} 2>&1",
                                                megabytes * 1000, program(), arguments);
        return shell(command);
    }
    /// Where it lacks memory even for its message, it says the end of it.
    static bool is_of_the_loader(const std::string& out)
    {
        return out.find("error while loading shared libraries") != std::string::npos || out == "out of memory\n";
    }
};

TEST_F(LimitedMemory, EveryCommandEndsWithASolutionOrSaysThatMemoryIsShort)
{
    int solved = 0, refused = 0;
    for (const std::string arguments :
         {"--version", "solve gallery:poisson2d:n=200 --method gmres", "solve gallery:convdiff3d:n=24 --method lu"})
        for (int megabytes = least_megabytes(); megabytes <= 680; megabytes += megabytes / 4) {
            const Result result = with(megabytes, arguments);
            if (result.code == 1 && result.out.find("libgomp: Out of memory") != std::string::npos)
                continue;  // it ends programs
            EXPECT_TRUE(result.code == 0 || result.code == 5 || result.code == 127)
                << megabytes << " MB, " << arguments << ": " << result.code << "\n"
                << result.out;
            EXPECT_EQ(result.code == 127, is_of_the_loader(result.out)) << result.out;
            solved += result.code == 0;
            refused += result.code == 5;
        }
    EXPECT_GT(solved, 3);  // a CUDA build needs more for its libraries than one without
    EXPECT_GT(refused, 0) << "the limits are too generous to test anything";
}

}  // namespace
}  // namespace ilux

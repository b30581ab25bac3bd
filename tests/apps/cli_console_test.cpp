// What the program prints, and where it cannot: closed and full descriptors, names that would command a terminal, and
// an object for every exit.

#include "ilux/base/io/printable.hpp"
#include "ilux/tests/apps/outputs.hpp"
#include "ilux/tests/apps/sequence_folder.hpp"

namespace ilux {
namespace {

using Words = std::vector<std::string>;

class CliConsole : public Cli {
protected:
    CliConsole() : series_(test::write_series(more_, {4, 1, 1, 3, 5, 1, 1, 3}, {1, 2, 3, 4})) {}
    /// Every command, with its exit code where all can be written.
    std::vector<std::pair<int, Words>> commands() const
    {
        return {{0, {"--help"}},
                {0, {"--version"}},
                {0, {"solve", "--help"}},
                {0, {"solve", "gallery:poisson2d:n=4"}},
                {0, {"solve", "gallery:poisson2d:n=4", "--json"}},
                {0, {"solve", "gallery:poisson2d:n=4", "--quiet"}},
                {0, {"sequence", series_}},
                {0, {"sequence", series_, "--json"}},
                {0, {"info", "gallery:poisson2d:n=4"}},
                {0, {"gallery"}},
                {0, {"gallery", "poisson2d"}},
                {0, {"gallery", "poisson2d:n=4", "--out", "-"}},
                {0,
                 {"compare", "gallery:poisson2d:n=4", "--strategies", "direct", "--device", "cpu", "--repeats", "1"}},
                {0, {"doctor"}}};
    }
    /// Refused ones, which print on standard error alone.
    std::vector<std::pair<int, Words>> refused() const
    {
        return {{1, {}},
                {1, {"no_such_command"}},
                {1, {"solve"}},
                {1, {"solve", "gallery:poisson2d", "--no-such"}},
                {2, {"solve", folder.file("missing.mtx")}},
                {2, {"sequence", folder.file("missing")}},
                {2, {"compare", folder.file("missing")}}};
    }

private:
    TempFolder  more_;
    std::string series_;
};

TEST_F(CliConsole, LosesQuietlyWhatStandardErrorDoesNotTake)
{
    auto all = commands();
    for (const auto& one : refused()) all.push_back(one);
    for (const auto& [code, arguments] : all)
        for (const char* after : {" 2>&-", " 2>/dev/full"}) {
            const Result result = ilux(arguments, "", {.after = after});
            EXPECT_EQ(result.code, code) << fmt::format("{}{}", fmt::join(arguments, " "), after);
            EXPECT_EQ(result.out.empty(), code != 0) << fmt::format("{}{}", fmt::join(arguments, " "), after);
        }
}

TEST_F(CliConsole, SaysThatStandardOutputCannotBeWrittenAndEndsWithTwo)
{
    for (const auto& [code, arguments] : commands())
        for (const char* after : {" >&-", " >/dev/full"}) {
            SCOPED_TRACE(fmt::format("{}{}", fmt::join(arguments, " "), after));
            const Result result = ilux(arguments, "", {.after = after});
            EXPECT_EQ(result.code, 2) << result.err;
            EXPECT_NE(result.err.find("standard output"), std::string::npos) << result.err;
            EXPECT_EQ(std::ranges::count(result.err, '\n'), 1) << result.err;
        }
    for (const auto& [code, arguments] : refused()) {
        EXPECT_EQ(ilux(arguments, "", {.after = " >&-"}).code, code);
        auto with_json = arguments;
        with_json.emplace_back("--json");
        EXPECT_EQ(ilux(with_json, "", {.after = " >&-"}).code, code) << fmt::format("{}", fmt::join(with_json, " "));
        EXPECT_EQ(ilux(arguments, "", {.after = " >&- 2>&-"}).code, code);
    }
    EXPECT_EQ(ilux({"solve", "gallery:poisson2d:n=4"}, "", {.after = " >&- 2>&- <&-"}).code, 2);
    const Result result = ilux({"solve", folder.file("missing.mtx"), "--json"}, "", {.after = " >/dev/full"});
    EXPECT_EQ(result.code, 2);
    EXPECT_NE(result.err.find("missing.mtx"), std::string::npos) << result.err;
    EXPECT_NE(result.err.find("standard output cannot be written: No space left"), std::string::npos) << result.err;
}

TEST_F(CliConsole, WritesNoReportIntoAFileThatTookAClosedDescriptor)
{
    const std::string x = folder.file("x.mtx");
    for (const char* after : {" >&-", " 2>&-", " <&- >&- 2>&-"}) {
        ilux({"solve", "gallery:poisson2d:n=4", "--out", x}, "", {.after = after});
        EXPECT_TRUE(is_complete(x)) << after;
        ilux({"solve", "gallery:poisson2d:n=4", "--out", x, "--history", folder.file("no/h.csv")}, "",
             {.after = after});
        EXPECT_FALSE(std::filesystem::exists(x)) << after;
    }
    EXPECT_EQ(ilux({"solve", "-"}, "", {.after = " <&-"}).code, 2);
}

TEST_F(CliConsole, NeverSendsControlCharactersOfNamesToATerminal)
{
    const std::string evil = "A\x1b[31m\n\r\x07\x7f\xc2\x9b\x9b\xff.mtx", shown = printable(evil);
    const std::string good = file(evil, matrix("2 2 2\n1 1 2\n2 2 2\n")), bad = file("bad" + evil, "hello"),
                      missing = folder.file("no" + evil),
                      b = file("b" + evil, "%%MatrixMarket matrix array real general\n2 1\n1\n2\n");
    TempFolder series;
    series.write("A_0" + evil, matrix("2 2 2\n1 1 2\n2 2 2\n"));
    series.write("A_1" + evil, "hello");
    const std::string        singular = file("singular" + evil, matrix("2 2 4\n1 1 1\n1 2 1\n2 1 1\n2 2 1\n"));
    const std::vector<Words> commands{
        {"solve", good, "--rhs", b, "--out", folder.file("x" + evil)},
        {"solve", good, "--quiet"},
        {"solve", singular, "--method", "lu", "--rhs", "ones", "--out", folder.file("x" + evil)},
        {"solve", bad},
        {"solve", missing},
        {"solve", good, "--rhs", bad},
        {"solve", good, "--out", folder.file("no/such" + evil)},
        {"solve", good, "--no-such" + evil},
        {"solve", good, evil},
        {"solve", good, "-p", evil},
        {"solve", good, "--config", bad},
        {"solve", "gallery:" + evil},
        {evil},
        {"sequence", series.path().string()},
        {"sequence", good, bad},
        {"sequence", good, "--quiet", "--rhs", b},
        {"sequence", missing},
        {"info", good},
        {"info", bad},
        {"gallery", evil},
        {"compare", good, "--strategies", "direct", "--device", "cpu", "--repeats", "1"},
        {"compare", bad, "--strategies", "direct", "--device", "cpu"},
    };
    std::size_t told = 0;  // of those that name the file at all
    for (const Words& arguments : commands) {
        const Result      result = ilux(arguments);
        const std::string all = result.out + result.err;
        SCOPED_TRACE(fmt::format("{}\n{}", fmt::join(arguments, " "), printable(all)));
        for (std::size_t begin = 0, end = 0; begin < all.size(); begin = end + 1) {
            end = std::min(all.find('\n', begin), all.size());
            const std::string line = all.substr(begin, end - begin);
            EXPECT_EQ(printable(line), line);
        }
        EXPECT_LE(std::ranges::count(result.err, '\n'), 1);
        told += all.find(shown) != std::string::npos;
    }
    EXPECT_GE(told, 20U);
}

TEST_F(CliConsole, JsonHoldsNamesAsTheyAreAndReplacesWhatIsNoUtf8)
{
    const std::string odd = "A\x1b\n\xc2\x9b.mtx", broken = "B\xff.mtx";
    const std::string one = "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 2\n";
    EXPECT_EQ(json({"solve", file(odd, one), "--json"})["matrix"]["name"], folder.file(odd));
    EXPECT_EQ(json({"solve", file(broken, one), "--json"})["matrix"]["name"], folder.file("B\xef\xbf\xbd.mtx"));
    EXPECT_EQ(json({"info", folder.file(broken), "--json"})["matrix"]["name"], folder.file("B\xef\xbf\xbd.mtx"));
    EXPECT_EQ(json_lines({"sequence", folder.file(broken)})[0]["name"], "B\xef\xbf\xbd.mtx");
    const auto refused = json({"solve", folder.file("C\xff.mtx"), "--json"}, 2);
    EXPECT_NE(refused["message"].get<std::string>().find("C\xef\xbf\xbd.mtx"), std::string::npos) << refused;
}

TEST_F(CliConsole, JsonIsOneObjectForEveryExitCode)
{
    const std::string grid = "gallery:poisson2d:n=16",
                      rank_one = file("one.mtx", matrix("2 2 4\n1 1 1\n1 2 1\n2 1 1\n2 2 1\n"));
    struct Case {
        int         code;
        const char* outcome;
        Words       arguments;
        std::string before = "";
    };
    std::vector<Case> cases{
        {0, "converged", {"solve", grid}},
        {1, "usage", {"solve", grid, "--no-such"}},
        {1, "usage", {"solve"}},
        {1, "usage", {"slove"}},
        {2, "input", {"solve", folder.file("missing.mtx")}},
        {2, "input", {"solve", grid, "--out", folder.file("no/such/x.mtx")}},
        {2, "input", {"info", folder.file("missing.mtx")}},
        {2, "input", {"sequence", folder.file("missing")}},
        {2, "input", {"compare", folder.file("missing")}},
        {3,
         "max_steps",
         {"solve", grid, "--method", "gmres", "--precond", "none", "--max-steps", "3", "--retry", "off"}},
        {4, "singular", {"solve", rank_one, "--method", "lu", "--rhs", "ones"}},
        {5, "out_of_memory", {"solve", grid, "--method", "lu", "-p", "memory_limit=1K"}},
    };
    if (!test::sanitized)
        cases.push_back({5,
                         "out_of_memory",
                         {"solve", "gallery:poisson2d:n=4000"},
                         "export OPENBLAS_NUM_THREADS=1; ulimit -v 1000000; "});
    if (!test::why_no_gpu().empty()) cases.push_back({6, "no_device", {"solve", grid, "--device", "gpu"}});
    if (!test::sanitized && std::filesystem::exists(ILUX_FAULT_SHIM))
        cases.push_back({7,
                         "our_fault",
                         {"solve", rank_one},
                         Fault{"open", 1, "throw"}.environment(folder.path(), folder.file("hit"))});
    for (const Case& one : cases) {
        SCOPED_TRACE(fmt::format("{}", fmt::join(one.arguments, " ")));
        Words arguments = one.arguments;
        arguments.emplace_back("--json");
        const Result result = ilux(arguments, "", {.before = one.before});
        EXPECT_EQ(result.code, one.code) << result.err;
        const auto object = nlohmann::json::parse(result.out, nullptr, false);
        ASSERT_TRUE(object.is_object()) << result.out;
        EXPECT_EQ(object["outcome"], one.outcome);
        EXPECT_EQ(object["exit_code"], one.code);
        EXPECT_FALSE(object["message"].get<std::string>().empty());
        EXPECT_TRUE(object["version"].is_string());
        const bool report = object.contains("attempts");
        EXPECT_EQ(result.err.empty(), report) << result.err;
        EXPECT_TRUE(report || result.err.find(object["message"].get<std::string>()) != std::string::npos) << result.err;
    }
}

}  // namespace
}  // namespace ilux

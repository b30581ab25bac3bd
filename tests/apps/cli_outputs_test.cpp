// One rule for every exit: a file that an option names is complete and of this run, or it is not there.

#include <sys/stat.h>

#include <thread>

#include "ilux/tests/apps/outputs.hpp"
#include "ilux/tests/apps/sequence_folder.hpp"

namespace ilux {
namespace {

namespace fs = std::filesystem;

using Words = std::vector<std::string>;

Words operator+(Words words, const Words& more)
{
    words.insert(words.end(), more.begin(), more.end());
    return words;
}

/// A way to end, and what is there then.
struct Exit {
    int         code;
    Words       arguments;
    bool        reports = false, has_x = false;
    std::string before = "";  ///< for the shell
};

class CliOutputs : public Cli {
protected:
    /// Runs it after a former run. @return the names of the outputs that are there
    std::set<std::string> left_by(const Exit& exit, const Words& command, const Words& outputs)
    {
        for (const std::string& name : outputs) former(outputs_, name);
        const std::size_t others = outputs_.entries() - outputs.size();
        const Result      result = ilux(command + exit.arguments, "", {.before = exit.before});
        EXPECT_EQ(result.code, exit.code) << result.out << result.err;
        std::set<std::string> there;
        for (const std::string& name : outputs)
            if (holds_the_rule(outputs_.file(name))) there.insert(name);
        EXPECT_EQ(outputs_.entries(), others + there.size()) << "a temporary file was left";
        return there;
    }
    std::string out(const std::string& name) const { return outputs_.file(name); }
    /// Whether the exits that need faults can be had, too.
    static bool with_faults() { return !test::sanitized && fs::exists(ILUX_FAULT_SHIM); }
    std::string fault(const std::string& call)
    {
        return Fault{call, 1, "throw"}.environment(folder.path(), folder.file("hit"));
    }

    TempFolder outputs_;
};

TEST_F(CliOutputs, OfSolveHoldTheRuleAtEveryExit)
{
    const std::string grid = "gallery:poisson2d:n=16",
                      rank_one = file("one.mtx", matrix("2 2 4\n1 1 1\n1 2 1\n2 1 1\n2 2 1\n"));
    const std::string good = file("good.mtx", matrix("2 2 2\n1 1 1\n2 2 1\n")),
                      bad = file("bad.mtx", matrix("2 2 2\n1 1 1\n"));
    const std::string b = file("b.mtx", "%%MatrixMarket matrix array real general\n3 1\n1\n2\n3\n"),
                      config = file("config.json", "{");
    std::vector<Exit> exits{
        {0, {grid}, true, true},
        {0, {grid, "--method", "gmres"}, true, true},
        {1, {grid, "--no-such"}},
        {1, {grid, "--rtol", "x"}},
        {1, {grid, "-p", "no.such=1"}},
        {1, {grid, "--method", "lu", "--threads"}},
        {1, {grid, "one_too_many"}},
        {2, {folder.file("missing.mtx")}},
        {2, {bad}},
        {2, {grid, "--rhs", b}},
        {2, {grid, "--config", config}},
        {3, {grid, "--method", "gmres", "--precond", "none", "--max-steps", "3", "--retry", "off"}, true, true},
        {3, {grid, "--method", "lu", "--time-limit", "1e-9"}, true, false},
        {4, {rank_one, "--method", "lu", "--rhs", "ones"}, true, false},
        {5, {grid, "--method", "lu", "-p", "memory_limit=1K"}, true, false},
    };
    if (!test::sanitized)
        exits.push_back(
            {5, {"gallery:poisson2d:n=4000"}, false, false, "export OPENBLAS_NUM_THREADS=1; ulimit -v 1000000; "});
    if (!test::why_no_gpu().empty()) exits.push_back({6, {grid, "--device", "gpu"}});
    if (with_faults()) exits.push_back({7, {good}, false, false, fault("open")});
    for (const Exit& exit : exits) {
        SCOPED_TRACE(fmt::format("{}: {}", exit.code, fmt::join(exit.arguments, " ")));
        std::set<std::string> expected;
        if (exit.reports) expected = {"h.csv", "r.html"};
        if (exit.has_x) expected.insert("x.mtx");
        const Words names{"x.mtx", "h.csv", "r.html"};
        const Words command{"solve",    "--quiet",    "--out", out("x.mtx"), "--history=" + out("h.csv"),
                            "--report", out("r.html")};
        EXPECT_EQ(left_by(exit, command, names), expected);
    }
}

TEST_F(CliOutputs, OfSequenceHoldTheRuleAtEveryExit)
{
    const TempFolder  converging, singular, refused, stopped;
    const std::string one = test::matrix_2x2(2, 1, 1, 2);
    for (const TempFolder* series : {&converging, &singular, &refused}) {
        series->write("A_0.mtx", one);
        series->write("A_1.mtx", series == &singular ? test::matrix_2x2(1, 1, 1, 1) : one);
        series->write("A_2.mtx", series == &refused ? "no matrix" : one);
    }
    stopped.write("pattern.mtx", "no pattern");
    using Names = std::set<std::string>;
    const std::string good = converging.path().string();
    struct Case {
        Exit  exit;
        Names expected;
    };
    std::vector<Case> cases{
        {{0, {good}}, {"x_000.mtx", "x_001.mtx", "x_002.mtx", "r.html"}},
        {{1, {good, "--no-such"}}, {}},
        {{1, {good, "--rtol", "x"}}, {}},
        {{2, {folder.file("nowhere")}}, {}},
        {{2, {stopped.path().string()}}, {}},
        {{2, {refused.path().string()}}, {"x_000.mtx", "x_001.mtx", "r.html"}},
        {{3, {good, "--time-limit", "1e-9", "--method", "lu"}}, {"r.html"}},
        {{4, {singular.path().string(), "--method", "lu"}}, {"x_000.mtx", "x_002.mtx", "r.html"}},
        {{5, {good, "--method", "lu", "-p", "memory_limit=1"}}, {"r.html"}},
    };
    if (!test::why_no_gpu().empty()) cases.push_back({{6, {good, "--device", "gpu"}}, {}});
    if (with_faults())
        cases.push_back(
            {{7, {good}, false, false, Fault{"open", 1, "throw"}.environment(converging.path(), folder.file("hit"))},
             {}});
    for (const Case& one_case : cases) {
        SCOPED_TRACE(fmt::format("{}: {}", one_case.exit.code, fmt::join(one_case.exit.arguments, " ")));
        const Words names{"x_000.mtx", "x_001.mtx", "x_002.mtx", "x_003.mtx", "r.html"};
        EXPECT_EQ(left_by(one_case.exit, {"sequence", "--out", outputs_.path().string(), "--report", out("r.html")},
                          names),
                  one_case.expected);
    }
}

TEST_F(CliOutputs, OfTheOtherCommandsHoldTheRule)
{
    const std::string missing = folder.file("missing.mtx");
    struct Case {
        Words       command;
        std::string name;
        Exit        exit;
    };
    const Words       svg{"--svg", out("a.svg")}, mtx{"--out", out("a.mtx")};
    std::vector<Case> cases{
        {Words{"gallery"} + mtx, "a.mtx", {1, {"poisson2d", "--no-such"}}},
        {Words{"gallery"} + mtx, "a.mtx", {1, {"no_such_problem"}}},
        {Words{"gallery"} + mtx, "a.mtx", {1, {"poisson2d:no_such=1"}}},
        {Words{"compare"} + svg, "a.svg", {1, {"gallery:poisson2d:n=4", "--no-such"}}},
        {Words{"compare"} + svg, "a.svg", {2, {missing}}},
    };
    if (!test::why_no_gpu().empty())
        cases.push_back({Words{"compare"} + svg, "a.svg", {6, {"gallery:poisson2d:n=4", "--device", "gpu"}}});
    for (const Case& one : cases) {
        SCOPED_TRACE(fmt::format("{} {}", fmt::join(one.command, " "), fmt::join(one.exit.arguments, " ")));
        EXPECT_EQ(left_by(one.exit, one.command, {one.name}), std::set<std::string>{});
    }
    former(outputs_, "a.mtx");
    EXPECT_EQ(ilux({"gallery", "poisson2d:n=3", "--out", out("a.mtx")}).code, 0);
    EXPECT_EQ(read_matrix(out("a.mtx")).rows(), 9);
    EXPECT_EQ(left_by({0, {"gallery:poisson2d:n=4", "--strategies", "direct", "--device", "cpu"}},
                      Words{"compare"} + svg, {"a.svg"}),
              std::set<std::string>{"a.svg"});
}

TEST_F(CliOutputs, AreNotTouchedWhereWhatWasMeantIsUnknown)
{
    const std::string A = former(folder, "A.mtx");  // meant as MATRIX, perhaps
    expect_refusal(1, {"solve", "--out", A}, {"MATRIX is missing"});
    expect_refusal(1, {"slove", "A", "--out", A}, {"did you mean 'solve'"});
    EXPECT_EQ(ilux({"solve", A, "--out", A, "--help"}).code, 0);
    EXPECT_EQ(read_bytes(A), former_run);
}

TEST_F(CliOutputs, NeverTouchAnInput)
{
    const std::string A = file("A.mtx", matrix("1 1 1\n1 1 2\n")),
                      b = file("b.mtx", "%%MatrixMarket matrix array real general\n1 1\n2\n");
    const std::string config = file("c.json", R"({"rhs": ")" + b + R"("})"), link = folder.file("link"),
                      near_null = file("n.json", R"({"near_null": ")" + b + R"("})");
    fs::create_symlink(A, link);
    fs::create_hard_link(A, folder.file("hard"));
    const std::vector<std::pair<Words, std::string>> cases{
        {{A, "--out", A}, A},
        {{A, "--out", link}, A},
        {{link, "--out", A}, A},
        {{A, "--out", folder.file("hard")}, A},
        {{A, "--rhs", b, "--out", b}, b},
        {{A, "-p", "rhs=" + b, "--report", b}, b},
        {{A, "--near-null", b, "--out", b}, b},
        {{A, "-p", "near_null=" + b, "--report", b}, b},
        {{A, "--config", near_null, "--history", b}, b},
        {{A, "--config", config, "--history", config}, config},
        {{A, "--config", config, "--history", b}, b},
        {{A, "--rhs", b, "--out", b, "--no-such"}, b},
    };
    for (const auto& [arguments, input] : cases) {
        SCOPED_TRACE(fmt::format("{}", fmt::join(arguments, " ")));
        const std::string was = read_bytes(input), history = former(outputs_, "other.csv");
        EXPECT_EQ(ilux(Words{"solve"} + arguments).code, 1);
        EXPECT_EQ(read_bytes(input), was);
    }
    // Its name among the others changes nothing for them.
    const std::string x = former(outputs_, "x.mtx");
    expect_refusal(1, {"solve", A, "--history", A, "--out", x}, {"A.mtx would be overwritten by --history"});
    EXPECT_FALSE(fs::exists(x));
    former(outputs_, "x.mtx");
    expect_refusal(1, {"solve", A, "--history", x, "--out", x}, {"would be overwritten"});
    EXPECT_FALSE(fs::exists(x));
    const Result piped = ilux({"solve", "-", "--out", A}, "", {.after = " <'" + A + "'"});
    EXPECT_EQ(piped.code, 1);
    EXPECT_NE(piped.err.find("standard input"), std::string::npos) << piped.err;
    EXPECT_TRUE(fs::exists(A));
}

TEST_F(CliOutputs, OfAFullDiskLeaveNoFormerSolution)
{
    // SIGXFSZ would end a program that does not ignore it. A block of 512 bytes holds the head of each.
    for (const char* name : {"x.mtx", "h.csv", "r.html"}) {
        for (const char* other : {"x.mtx", "h.csv", "r.html"}) former(outputs_, other);
        const std::string option = std::string(name) == "x.mtx"   ? "--out"
                                   : std::string(name) == "h.csv" ? "--history"
                                                                  : "--report";
        const Result      result =
            ilux({"solve", "gallery:poisson2d:n=30", "--method", "gmres", "--precond", "jacobi", option, out(name)}, "",
                 {.before = "ulimit -f 1; "});
        EXPECT_EQ(result.code, 2) << result.out;
        EXPECT_NE(result.err.find("File too large"), std::string::npos) << result.err;
        EXPECT_FALSE(fs::exists(out(name)));
        EXPECT_EQ(outputs_.entries(), 2U);
    }
}

TEST_F(CliOutputs, KeepModeLinksAndOwner)
{
    const std::string x = former(outputs_, "x.mtx"), page = former(outputs_, "page"), link = out("r.html");
    ASSERT_EQ(chmod(x.c_str(), 0640), 0);
    ASSERT_EQ(chmod(page.c_str(), 0604), 0);
    fs::create_symlink("page", link);
    EXPECT_EQ(ilux({"solve", "gallery:poisson2d:n=4", "--out", x, "--report", link}).code, 0);
    EXPECT_TRUE(fs::is_symlink(link));
    struct stat about {};
    ASSERT_EQ(stat(x.c_str(), &about), 0);
    EXPECT_EQ(about.st_mode & 0777U, 0640U);
    ASSERT_EQ(stat(page.c_str(), &about), 0);
    EXPECT_EQ(about.st_mode & 0777U, 0604U);
    expect_refusal(1, {"solve", "gallery:poisson2d:n=4", "--report", link, "--no-such"}, {"no-such"});
    EXPECT_TRUE(fs::is_symlink(link));
    EXPECT_FALSE(fs::exists(page));

    const std::string solution = former(outputs_, "x_000.mtx");
    ASSERT_EQ(chmod(solution.c_str(), 0600), 0);
    EXPECT_EQ(ilux({"sequence", "gallery:poisson2d:n=4", "--out", outputs_.path().string()}).code, 2);
    EXPECT_FALSE(fs::exists(solution));
    former(outputs_, "x_000.mtx");
    ASSERT_EQ(chmod(solution.c_str(), 0600), 0);
    EXPECT_EQ(ilux({"sequence", file("A_0.mtx", test::matrix_2x2(2, 1, 1, 2)), "--out", outputs_.path().string()}).code,
              0);
    ASSERT_EQ(stat(solution.c_str(), &about), 0);
    EXPECT_EQ(about.st_mode & 0777U, 0600U);
}

TEST_F(CliOutputs, MayBePipesAndDescriptors)
{
    const std::string fifo = out("fifo");
    ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
    std::string got;
    std::thread reader([&] { got = read_bytes(fifo); });
    EXPECT_EQ(ilux({"solve", "gallery:poisson2d:n=4", "--out", fifo}).code, 0);
    reader.join();
    EXPECT_EQ(read_vector(file("got.mtx", got)).size(), 16U);

    // As >(cmd) of a shell: descriptor 3 is a pipe.
    const Result piped =
        ilux({"solve", "gallery:poisson2d:n=4", "--out", "/dev/fd/3"}, "", {.after = " 3>&1 >/dev/null"});
    EXPECT_EQ(piped.code, 0) << piped.err;
    EXPECT_EQ(read_vector(file("piped.mtx", piped.out)).size(), 16U);
    // Nobody reads: an error of the write, not the end of the program by a signal.
    const Result unread =
        ilux({"solve", "gallery:poisson2d:n=4", "--out", "/dev/fd/3"}, "",
             {.before = "{ sleep 0.2; ", .after = " 3>&1 >/dev/null; echo $? >'" + out("code") + "'; } | true"});
    EXPECT_EQ(read_bytes(out("code")), "2\n") << unread.err;
    EXPECT_NE(unread.err.find("/dev/fd/3: Broken pipe"), std::string::npos) << unread.err;

    for (const char* name : {"-", "/dev/stdout", "/dev/fd/1"})
        expect_refusal(1, {"solve", "gallery:poisson2d:n=4", "--out", name},
                       {"standard output carries the report", "--out"});
    expect_refusal(1, {"solve", "gallery:poisson2d:n=4", "--out", ""}, {"--out", "empty"});
    expect_refusal(1, {"solve", "gallery:poisson2d:n=4", "--out", "/dev/stderr"},
                   {"standard error carries the messages"});
    expect_refusal(2, {"solve", "gallery:poisson2d:n=4", "--out", "/dev/fd/9"}, {"/dev/fd/9: Bad file descriptor"});
    const std::string same = former(outputs_, "same");
    EXPECT_EQ(ilux({"solve", "gallery:poisson2d:n=4", "--out", same}, "", {.after = " >'" + same + "'"}).code, 1);
    EXPECT_TRUE(fs::exists(same));
    for (const char* name : {"-", "/dev/stdout"}) {
        const Result written = ilux({"gallery", "poisson2d:n=3", "--out", name});
        EXPECT_EQ(written.code, 0) << written.err;
        EXPECT_EQ(read_matrix(file("g.mtx", written.out)).rows(), 9);
    }
}

}  // namespace
}  // namespace ilux

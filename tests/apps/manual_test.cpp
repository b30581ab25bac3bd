// The manual and completions tell of every option that --help-all tells of, and nothing else stands in for it.

#include <array>
#include <regex>

#include "ilux/tests/apps/cli.hpp"

namespace ilux {
namespace {

const std::vector<std::vector<std::string>> commands{{"solve"},   {"sequence"}, {"info"},
                                                     {"gallery"}, {"compare"},  {"doctor"}};

class Manual : public Cli {
protected:
    /// Options and paths that --help-all of the command begins a line with.
    std::set<std::string> told_by_help(std::vector<std::string> command)
    {
        command.emplace_back("--help-all");
        const Result          help = ilux(command);
        std::set<std::string> told;
        std::istringstream    lines(help.out);
        const std::regex      option("(-p|--[a-z-]+)"), path("  ([a-z_]+(\\.[a-z_]+)*) .*\\[.*\\]");
        bool                  nested = false;
        for (std::string line; std::getline(lines, line);) {
            nested = nested || line.starts_with("Nested options");
            const std::string head = line.substr(0, 26);
            std::smatch       found;
            if (nested && std::regex_match(line, found, path)) told.insert(found[1]);
            else if (!nested && line.starts_with("  -"))
                for (std::sregex_iterator one(head.begin(), head.end(), option); one != std::sregex_iterator(); ++one)
                    told.insert(one->str());
        }
        return told;
    }
    std::vector<std::string> completed(std::vector<std::string> words)
    {
        words.insert(words.begin(), "--complete");
        std::vector<std::string> all;
        std::istringstream       lines(ilux(words).out);
        for (std::string line; std::getline(lines, line);) all.push_back(line.substr(0, line.find('\t')));
        return all;
    }
    /// What a script of this shell prints, with this program as `ilux` on the path; nothing where there is no such
    /// shell.
    std::optional<std::string> in_shell(const std::string& shell, const std::string& script)
    {
        if (Cli::shell("command -v " + shell + " >/dev/null").code != 0) return std::nullopt;
        std::filesystem::create_directories(folder.file("bin"));
        if (!std::filesystem::exists(folder.file("bin/ilux")))
            std::filesystem::create_symlink(program(), folder.file("bin/ilux"));
        const Result result =
            Cli::shell("cd '" + folder.file("") + "' && PATH='" + folder.file("bin") + "':$PATH HOME='" +
                       folder.file("") + "' " + shell + " '" + file("script", script) + "' 2>&1");
        EXPECT_EQ(result.code, 0) << result.out;
        return result.out;
    }
};

std::string without_backslashes(std::string text)
{
    std::erase(text, '\\');
    return text;
}

TEST_F(Manual, HasEveryOptionOfHelpAll)
{
    for (const auto& command : commands) {
        const std::set<std::string> told = told_by_help(command);
        EXPECT_GE(told.size(), 2u) << command.back();
        const std::string page = without_backslashes(ilux({"--man", command.front()}).out);
        for (const std::string& option : told)
            EXPECT_NE(page.find("fB" + option + "fR"), std::string::npos) << option << " of " << command.back();
    }
    EXPECT_GE(told_by_help({"solve"}).size(), 55u);
}

TEST_F(Manual, TheMainPageHasEveryCommandAndExitCode)
{
    const std::string page = without_backslashes(ilux({"--man"}).out);
    for (const auto& command : commands)
        EXPECT_NE(page.find("ilux-" + command.front() + "(1)"), std::string::npos) << command.front();
    for (const int code : {0, 1, 2, 3, 4, 5, 6, 7, 130})
        EXPECT_NE(page.find(fmt::format("fB{}fR", code)), std::string::npos) << code;
    expect_refusal(1, {"--man", "slove"}, {"'slove'", "solve"});
    expect_refusal(1, {"--man", "solve", "twice"}, {"'twice'"});
}

TEST_F(Manual, PagesAreSoundForMan)
{
    if (shell("command -v groff >/dev/null").code != 0) GTEST_SKIP()
    << "there is no groff";
    for (const std::string command : {"", "solve", "sequence", "info", "gallery", "compare", "doctor"}) {
        const std::string page = file("page.1", ilux({"--man", command.empty() ? "solve" : command}).out);
        const Result      made = shell("groff -k -man -Tutf8 -ww -z '" + page + "' 2>&1");
        EXPECT_EQ(made.out, "") << command;
    }
}

TEST_F(Manual, CompletesEveryOptionOfHelpAll)
{
    for (const auto& command : commands) {
        std::set<std::string> found;
        for (const char* begin : {"-", "-p"}) {
            std::vector<std::string> words = command;
            if (std::string(begin) == "-p") words.insert(words.end(), {"-p", ""});
            else words.emplace_back(begin);
            for (std::string word : completed(words))
                found.insert(word.ends_with('=') ? word.substr(0, word.size() - 1) : word);
        }
        for (const std::string& option : told_by_help(command)) EXPECT_TRUE(found.contains(option)) << option;
    }
}

TEST_F(Manual, CompletesCommandsValuesAndModelProblems)
{
    using Words = std::vector<std::string>;
    EXPECT_EQ(completed({"so"}), Words{"solve"});
    EXPECT_EQ(completed({"solve", "A.mtx", "--method", "bi"}), (Words{"bicg", "bicgstab"}));
    EXPECT_EQ(completed({"solve", "--method=bi"}), (Words{"--method=bicg", "--method=bicgstab"}));
    EXPECT_EQ(completed({"solve", "-p", "krylov.side="}), (Words{"krylov.side=right", "krylov.side=left"}));
    EXPECT_EQ(completed({"solve", "--rhs", ""}), (Words{":files", "ones", "random:", "A1"}));
    EXPECT_EQ(completed({"solve", "--threads", ""}), Words{});
    EXPECT_EQ(completed({"solve", "gallery:convdiff3d"}), (Words{":nospace", "gallery:convdiff3d"}));
    EXPECT_EQ(completed({"solve", "gallery:poisson2d:"}).at(1), "gallery:poisson2d:n=");
    EXPECT_EQ(completed({"gallery", "poisson2d:n=4,"}), completed({"gallery", "poisson2d:n=4,"}));
    EXPECT_EQ(completed({"sequence", ""}), (Words{":folders", ":files"}));
    EXPECT_EQ(completed({"solve", "--out", ""}), Words{":files"});
    EXPECT_EQ(completed({"nothing", "--"}), Words{});
    EXPECT_EQ(completed({}), Words{});
}

TEST_F(Manual, CompletesInBash)
{
    file("A.mtx", "");
    file("B b.mtx", "");
    const std::string head = std::string("source '") + ILUX_SOURCE + "/apps/completion/ilux.bash'\n" + R"(
complete_line() {
    COMP_LINE=$1 COMP_POINT=${#1}
    read -ra COMP_WORDS <<<"$1"; COMP_CWORD=$(( ${#COMP_WORDS[@]} - 1 ))
    _ilux ilux
    printf '%s|' "${COMPREPLY[@]}"; echo
})";
    const auto        answer = [&](const std::string& line) {
        return in_shell("bash", head + "\ncomplete_line '" + line + "'").value_or("no bash");
    };
    EXPECT_EQ(answer("ilux so"), "solve|\n");
    EXPECT_EQ(answer("ilux solve A.mtx --method bi"), "bicg|bicgstab|\n");
    EXPECT_EQ(answer("ilux solve --method=bicgs"), "bicgstab|\n");       // behind =, as bash splits words
    EXPECT_EQ(answer("ilux solve gallery:convdiff3"), "convdiff3d|\n");  // behind :
    EXPECT_EQ(answer("ilux solve gallery:poisson2d:ny"), "ny=|\n");
    EXPECT_EQ(answer("ilux solve --out A"), "A.mtx|\n");
    EXPECT_EQ(answer("ilux solve --out B"), "B b.mtx|\n");
    EXPECT_EQ(answer("ilux solve --config "), answer("ilux solve --report "));
}

TEST_F(Manual, CompletesInFish)
{
    const auto found = in_shell("fish", std::string("source '") + ILUX_SOURCE +
                                            "/apps/completion/ilux.fish'\ncomplete -C 'ilux solve A.mtx --method bi'\n"
                                            "complete -C 'ilux solve gallery:convdiff3'\n"
                                            "complete -C 'ilux solve --out=/dev/nul'\n");
    if (!found) GTEST_SKIP()
    << "there is no fish";
    EXPECT_EQ(*found, "bicg\nbicgstab\ngallery:convdiff3d\t-Laplace u + b.grad u on the unit cube\n--out=/dev/null\n");
}

TEST_F(Manual, TheScriptsAreSound)
{
    const std::string scripts = std::string(ILUX_SOURCE) + "/apps/completion/";
    for (const auto& [name, script] :
         {std::pair("bash", "ilux.bash"), std::pair("zsh", "_ilux"), std::pair("fish", "ilux.fish")}) {
        if (shell(std::string("command -v ") + name + " >/dev/null").code != 0) continue;
        const Result checked = shell(std::string(name) + " -n '" + scripts + script + "' 2>&1");
        EXPECT_EQ(checked.code, 0) << checked.out;
    }
}

}  // namespace
}  // namespace ilux

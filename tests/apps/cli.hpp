#pragma once
// A test that runs the program itself, as its users run it.

#include <fmt/core.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <utility>
#include <vector>

#include "ilux/base/io/matrix_file.hpp"
#include "ilux/base/io/matrix_market.hpp"
#include "ilux/tests/support/checks.hpp"

namespace ilux {

using test::read_bytes;
using test::TempFolder;

struct Result {
    int         code = -1;
    std::string out, err;
};

/// What a shell does around the program.
struct Shell {
    std::string before = {};  ///< "ulimit -v 1000; " or "NAME=value "
    std::string after = {};   ///< redirections, which win over ours: " 2>&-"
};

class Cli : public testing::Test {
protected:
    Cli() : Cli("ilux", ILUX_PROGRAM, "ILUX_PROGRAM") {}
    /// @param variable  of the environment, which says where it is if that is not where it was built
    Cli(std::string name, const char* built, const char* variable) : name_(std::move(name))
    {
        const char* elsewhere = std::getenv(variable);
        program_ = elsewhere != nullptr ? elsewhere : built;
    }
    const char* program() const { return program_; }
    /// Runs the program; every argument reaches it as one word.
    Result ilux(const std::vector<std::string>& arguments, const std::string& input = "", const Shell& around = {})
    {
        std::string command = around.before + "'" + program() + "'";
        for (const std::string& argument : arguments) command += " '" + argument + "'";
        command += " <'" + scratch_.write("in", input) + "' 2>'" + scratch_.file("err") + "'" + around.after;
        std::filesystem::remove(scratch_.file("err"));
        Result result = shell(command);
        if (std::filesystem::exists(scratch_.file("err"))) result.err = read_bytes(scratch_.file("err"));
        return result;
    }
    static Result shell(const std::string& command)
    {
        Result     result;
        std::FILE* pipe = popen(command.c_str(), "r");
        if (pipe == nullptr) return result;
        char buffer[4096];
        for (std::size_t got; (got = std::fread(buffer, 1, sizeof buffer, pipe)) > 0;) result.out.append(buffer, got);
        const int status = pclose(pipe);
        result.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
        return result;
    }
    nlohmann::json json(std::initializer_list<std::string> arguments, int code = 0)
    {
        const Result result = ilux(arguments);
        EXPECT_EQ(result.code, code) << result.out << result.err;
        return nlohmann::json::parse(result.out, nullptr, false);
    }
    /// The objects of --json, one a line; one that is null where there is none.
    template <class Json = nlohmann::json>
    std::vector<Json> json_lines(std::vector<std::string> arguments, int code = 0)
    {
        arguments.emplace_back("--json");
        const Result result = ilux(arguments);
        EXPECT_EQ(result.code, code) << result.out << result.err;
        std::vector<Json>  all;
        std::istringstream text(result.out);
        for (std::string line; std::getline(text, line);) all.push_back(Json::parse(line, nullptr, false));
        for (const auto& object : all) EXPECT_TRUE(object.is_object()) << result.out;
        if (all.empty()) all.emplace_back();
        return all;
    }
    /// Refused with this code, nothing on stdout, and a message that holds all of `words`.
    void expect_refusal(int code, std::initializer_list<std::string> arguments,
                        std::initializer_list<std::string> words)
    {
        const Result result = ilux(arguments);
        EXPECT_EQ(result.code, code) << result.err;
        EXPECT_EQ(result.out, "");
        EXPECT_TRUE(result.err.starts_with(name_ + ": ")) << result.err;
        for (const std::string& word : words)
            EXPECT_NE(result.err.find(word), std::string::npos) << word << " is not in: " << result.err;
    }
    std::string file(const std::string& name, const std::string& bytes) { return folder.write(name, bytes); }

    TempFolder folder;

private:
    std::string name_;
    const char* program_;
    TempFolder  scratch_;
};

inline constexpr const char* banner = "%%MatrixMarket matrix coordinate real general\n";

inline std::string matrix(const std::string& size_and_entries) { return banner + size_and_entries; }

inline std::set<std::string> keys(const nlohmann::json& object)
{
    std::set<std::string> all;
    for (const auto& [key, value] : object.items()) all.insert(key);
    return all;
}

inline void expect_keys(const nlohmann::json& object, const std::set<std::string>& wanted)
{
    for (const std::string& key : wanted) EXPECT_TRUE(keys(object).contains(key)) << key;
}

}  // namespace ilux

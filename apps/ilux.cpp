// The program: a table of subcommands, and the one place where exceptions become exit codes.

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <new>
#include <nlohmann/json.hpp>

#include "ilux/apps/manual/completions.hpp"
#include "ilux/apps/manual/manual_page.hpp"
#include "ilux/apps/program/console.hpp"
#include "ilux/apps/subcommands.hpp"
#include "ilux/base/error.hpp"
#include "ilux/base/fields.hpp"

namespace ilux::app {
namespace {

constexpr std::array<Command, 7> commands{{
    {"solve", "solve A x = b for one matrix", solve},
    {"sequence", "solve many systems of one pattern: analyse once, refactor, solve", sequence},
    {"info", "size, symmetry, diagonal, matching, dependency depth, memory estimates", info},
    {"gallery", "list the model problems, or write one as a Matrix Market file", gallery_command},
    {"bench", "measure a table of a paper, or one of our own", bench},
    {"compare", "solve a system directly, by an iteration, as mode auto chooses and by CUSP's GMRES, side by side",
     compare},
    {"doctor", "what this machine offers, and a self-test", doctor},
}};

constexpr std::array<ExitMeaning, 9> exits{{
    {success, "converged, true residual verified"},
    {usage, "usage"},
    {bad_input, "input, or an output that cannot be written"},
    {not_converged, "not converged"},
    {broke_down, "breakdown or singular"},
    {no_memory, "out of memory"},
    {no_device, "device missing"},
    {our_fault, "our own fault"},
    {interrupted, "stopped by Ctrl-C or SIGTERM, with the best x so far"},
}};

std::string help()
{
    std::string text = "ilux solves large sparse linear systems A x = b.\n\nusage: ilux COMMAND [arguments]\n\n";
    for (const Command& command : commands) text += fmt::format("  {:<10}{}\n", command.name, command.summary);
    text +=
        "\n  ilux COMMAND --help   the arguments of one command\n"
        "  ilux --version\n\nexit codes:\n";
    for (const ExitMeaning& exit : exits) text += fmt::format("  {:<10}{}\n", static_cast<int>(exit.code), exit.text);
    return text;
}

std::vector<Chapter> chapters()
{
    std::vector<Chapter> all;
    for (const Command& command : commands) {
        Chapter chapter{std::string(command.name), std::string(command.summary), {}};
        if (command.run == bench)
            for (const Command& suite : bench_suites()) chapter.tables.push_back(table_of(suite.run));
        else chapter.tables.push_back(table_of(command.run));
        all.push_back(std::move(chapter));
    }
    return all;
}

[[noreturn]] void throw_no_command(std::string_view text)
{
    std::vector<std::string> known;
    for (const Command& command : commands) known.emplace_back(command.name);
    const std::string nearest = nearest_name(text, known);
    throw InvalidOption(fmt::format("there is no command '{}'; {}", text,
                                    nearest.empty() ? "see ilux --help" : fmt::format("did you mean '{}'?", nearest)));
}

/// What the build and scripts of shells ask for: a page of the manual; words that may follow.
int write_manual(Arguments of)
{
    const std::vector<Chapter> all = chapters();
    if (of.empty()) return write_out(main_page(all, exits)), success;
    if (of.size() > 1) throw InvalidOption(fmt::format("--man: '{}' is one argument too many", of[1]));
    const auto chapter = std::ranges::find(all, of.front(), &Chapter::name);
    if (chapter == all.end()) throw_no_command(of.front());
    return write_out(command_page(*chapter)), success;
}

int run(Arguments arguments)
{
    if (arguments.empty()) throw InvalidOption("a command is missing; see ilux --help");
    const std::string& first = arguments.front();
    if (first == "--help" || first == "-h" || first == "help") return write_out(help()), success;
    if (first == "--version") return write_out("ilux " ILUX_VERSION "\n"), success;
    if (first == "--man") return write_manual(arguments.subspan(1));
    if (first == "--complete") return write_out(completions(chapters(), arguments.subspan(1))), success;
    for (const Command& command : commands)
        if (command.name == first) return command.run(arguments.subspan(1));
    throw_no_command(first);
}

/// How a run ends that has no report: a message, and with --json an object that says the same.
struct Refusal {
    ExitCode    code = our_fault;
    const char* outcome = "our_fault";
    std::string message = "an unknown exception";
};

/// Of the exception under way. @throws BrokenOutput again: no object can follow there
Refusal refusal()
{
    try {
        throw;
    } catch (const BrokenOutput&) {
        throw;
    } catch (const ilux::InvalidOption& error) {
        return {usage, "usage", error.what()};
    } catch (const ilux::InvalidInput& error) {
        return {bad_input, "input", error.what()};
    } catch (const ilux::OutOfMemory& error) {
        return {no_memory, "out_of_memory", error.what()};
    } catch (const ilux::OutOfTime& error) {
        return {not_converged, "time_limit", error.what()};
    } catch (const ilux::Cancelled& error) {
        return {interrupted, "cancelled", error.what()};
    } catch (const ilux::DeviceError& error) {
        return {no_device, "no_device", error.what()};
    } catch (const std::bad_alloc&) {
        return {no_memory, "out_of_memory", "out of memory"};
    } catch (const std::exception& error) {
        return {our_fault, "our_fault", error.what()};
    } catch (...) {
        return {};
    }
}

/// On one line, as the objects before it are where there are several.
std::string to_json(const Refusal& why)
{
    const nlohmann::ordered_json object{{"type", "refusal"},
                                        {"version", ILUX_VERSION},
                                        {"outcome", why.outcome},
                                        {"exit_code", static_cast<int>(why.code)},
                                        {"message", why.message}};
    return object.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

/// The exit code is that of the refusal also where its object finds no reader.
int tell(const Refusal& why, bool json)
{
    complain(why.message);
    if (why.code == our_fault)
        complain("this is a fault of ilux itself; please report it with the command line and the matrix");
    try {
        if (json) write_out(to_json(why));
    } catch (const BrokenOutput& lost) {
        complain(lost.what());
    }
    return why.code;
}

/// Where memory is lacking even for the words.
int tell_without_memory(bool json) noexcept
{
    write_err("ilux: out of memory\n");
    try {
        if (json)
            write_out(R"({"type":"refusal","version":")" ILUX_VERSION
                      R"(","outcome":"out_of_memory","exit_code":5,"message":"out of memory"})"
                      "\n");
    } catch (...) {  // the exit code says it alone
    }
    return no_memory;
}

/// Every exception ends here.
int end(bool json) noexcept
{
    try {
        try {
            return tell(refusal(), json);
        } catch (const BrokenOutput& error) {
            complain(error.what());
            return bad_input;
        }
    } catch (...) {
        return tell_without_memory(json);
    }
}

}  // namespace
}  // namespace ilux::app

int main(int argc, char** argv)
{
    using namespace ilux::app;
    settle_descriptors();
    bool json = false;
    try {
        const std::vector<std::string> arguments(argv + std::min(argc, 1), argv + argc);
        json = asks_for_json(arguments);
        return run(arguments);
    } catch (...) {
        return end(json);
    }
}

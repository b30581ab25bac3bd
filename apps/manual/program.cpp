#include "ilux/apps/manual/program.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <new>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "ilux/apps/manual/completions.hpp"
#include "ilux/apps/program/console.hpp"
#include "ilux/base/error.hpp"
#include "ilux/base/fields.hpp"

namespace ilux::app {
namespace {

std::string help(const Program& program)
{
    std::size_t width = 8;
    for (const Command& command : program.commands) width = std::max(width, command.name.size());
    std::string text = fmt::format("{}\n\nusage: {} COMMAND [arguments]\n\n", program.purpose, program.name);
    for (const Command& command : program.commands)
        text += fmt::format("  {:<{}}{}\n", command.name, width + 2, command.summary);
    text += fmt::format("\n  {0} COMMAND --help   the arguments of one command\n  {0} --version\n", program.name);
    if (!program.exits.empty()) text += "\nexit codes:\n";
    for (const ExitMeaning& exit : program.exits) text += fmt::format("  {:<10}{}\n", exit.code, exit.text);
    return text;
}

std::vector<Chapter> chapters(const Program& program)
{
    std::vector<Chapter> all;
    for (const Command& command : program.commands)
        all.push_back({std::string(command.name), std::string(command.summary), table_of(command.run)});
    return all;
}

[[noreturn]] void throw_no_command(const Program& program, std::string_view text)
{
    std::vector<std::string> known;
    for (const Command& command : program.commands) known.emplace_back(command.name);
    const std::string nearest = nearest_name(text, known);
    throw InvalidOption(fmt::format("there is no command '{}'; {}", text,
                                    nearest.empty() ? fmt::format("see {} --help", program.name)
                                                    : fmt::format("did you mean '{}'?", nearest)));
}

/// What the build and scripts of shells ask for: a page of the manual; words that may follow.
int write_manual(const Program& program, Arguments of)
{
    const std::vector<Chapter> all = chapters(program);
    if (of.empty()) return write_out(main_page(all, program.exits)), success;
    if (of.size() > 1) throw InvalidOption(fmt::format("--man: '{}' is one argument too many", of[1]));
    const auto chapter = std::ranges::find(all, of.front(), &Chapter::name);
    if (chapter == all.end()) throw_no_command(program, of.front());
    return write_out(command_page(*chapter)), success;
}

int run(const Program& program, Arguments arguments)
{
    if (arguments.empty()) throw InvalidOption(fmt::format("a command is missing; see {} --help", program.name));
    const std::string& first = arguments.front();
    if (first == "--help" || first == "-h" || first == "help") return write_out(help(program)), success;
    if (first == "--version") return write_out(fmt::format("{} {}\n", program.name, ILUX_VERSION)), success;
    if (first == "--man") return write_manual(program, arguments.subspan(1));
    if (first == "--complete") return write_out(completions(chapters(program), arguments.subspan(1))), success;
    for (const Command& command : program.commands)
        if (command.name == first) return command.run(arguments.subspan(1));
    throw_no_command(program, first);
}

/// How a run ends that has no report: a message, and with --json an object that says the same.
struct Refusal {
    ExitCode    code = our_fault;
    const char* outcome = "our_fault";
    std::string message = "an unknown exception";
};

/// The refusal that the exception under way makes. @throws BrokenOutput again: no object can follow there
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
    complain_of_memory();
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

int main_of(const Program& program, int argc, char** argv) noexcept
{
    bool json = false;
    try {
        program_name = program.name;
        settle_descriptors();
        const std::vector<std::string> arguments(argv + std::min(argc, 1), argv + argc);
        json = asks_for_json(arguments);
        return run(program, arguments);
    } catch (...) {
        return end(json);
    }
}

}  // namespace ilux::app

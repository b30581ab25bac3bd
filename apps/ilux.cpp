// The program: a table of subcommands, and the one place where exceptions become exit codes.

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <new>
#include <system_error>

#include "ilux/apps/command.hpp"
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
    {"compare", "solve a system directly, by an iteration and by CUSP's GMRES, side by side", compare},
    {"doctor", "what this machine offers, and a self-test", doctor},
}};

std::string help()
{
    std::string text = "ilux solves large sparse linear systems A x = b.\n\nusage: ilux COMMAND [arguments]\n\n";
    for (const Command& command : commands) text += fmt::format("  {:<10}{}\n", command.name, command.summary);
    text +=
        "\n  ilux COMMAND --help   the arguments of one command\n"
        "  ilux --version\n\n"
        "exit codes: 0 converged, true residual verified; 1 usage; 2 input; 3 not converged;\n"
        "            4 breakdown or singular; 5 out of memory; 6 device missing; 7 our own fault\n";
    return text;
}

int run(Arguments arguments)
{
    if (arguments.empty()) throw InvalidOption("a command is missing; see ilux --help");
    const std::string& first = arguments.front();
    if (first == "--help" || first == "-h" || first == "help") return std::fputs(help().c_str(), stdout) < 0;
    if (first == "--version") return std::puts("ilux " ILUX_VERSION) < 0;
    for (const Command& command : commands)
        if (command.name == first) return command.run(arguments.subspan(1));

    std::vector<std::string> known;
    for (const Command& command : commands) known.emplace_back(command.name);
    const std::string nearest = nearest_name(first, known);
    throw InvalidOption(fmt::format("there is no command '{}'; {}", first,
                                    nearest.empty() ? "see ilux --help" : fmt::format("did you mean '{}'?", nearest)));
}

int complain(ExitCode code, const char* what)
{
    fmt::print(stderr, "ilux: {}\n", what);
    return code;
}

}  // namespace
}  // namespace ilux::app

int main(int argc, char** argv)
{
    using namespace ilux::app;
    try {
        const std::vector<std::string> arguments(argv + std::min(argc, 1), argv + argc);
        const int                      code = run(arguments);
        if (std::fflush(stdout) != 0) throw ilux::InvalidInput("standard output cannot be written");
        return code;
    } catch (const ilux::InvalidOption& error) {
        return complain(usage, error.what());
    } catch (const ilux::InvalidInput& error) {
        return complain(bad_input, error.what());
    } catch (const ilux::OutOfMemory& error) {
        return complain(no_memory, error.what());
    } catch (const ilux::OutOfTime& error) {
        return complain(not_converged, error.what());
    } catch (const ilux::DeviceError& error) {
        return complain(no_device, error.what());
    } catch (const std::system_error&) {  // thrown by fmt::print
        return complain(bad_input, "standard output cannot be written");
    } catch (const std::bad_alloc&) {
        return complain(no_memory, "out of memory");
    } catch (const std::exception& error) {
        complain(our_fault, error.what());
    } catch (...) {
        complain(our_fault, "an unknown exception");
    }
    return complain(our_fault, "this is a fault of ilux itself; please report it with the command line and the matrix");
}

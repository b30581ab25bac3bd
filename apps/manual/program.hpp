#pragma once
// A program that is a table of commands.

#include <span>
#include <string_view>

#include "ilux/apps/manual/manual_page.hpp"
#include "ilux/apps/program/command.hpp"

namespace ilux::app {

/// What its main() needs to know.
struct Program {
    std::string_view             name, purpose;  ///< "ilux"; a sentence
    std::span<const Command>     commands;
    std::span<const ExitMeaning> exits = {};
};

/// Runs the command that the first argument names; --help, --version, --man and --complete are its own. Every exception
/// ends here.
/// @return the exit code
int main_of(const Program& program, int argc, char** argv) noexcept;

}  // namespace ilux::app

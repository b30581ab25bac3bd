#pragma once
// Pages for man(1), made of the tables that --help-all prints.

#include <span>
#include <string>
#include <string_view>

#include "ilux/apps/manual/chapter.hpp"

namespace ilux::app {

/// What an exit code of the program says.
struct ExitMeaning {
    int              code;
    std::string_view text;
};

/// ilux(1): the commands, exit codes and environment.
std::string main_page(std::span<const Chapter> chapters, std::span<const ExitMeaning> exits);

/// ilux-COMMAND(1).
std::string command_page(const Chapter& chapter);

}  // namespace ilux::app

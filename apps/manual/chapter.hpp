#pragma once
// A subcommand as the manual and completions see it.

#include <string>

#include "ilux/apps/program/option_table.hpp"

namespace ilux::app {

/// Its name, what it is for in a line, and all that it takes.
struct Chapter {
    std::string name, summary;
    OptionTable table;
};

}  // namespace ilux::app

#pragma once
// A subcommand as the manual and completions see it.

#include <string>
#include <vector>

#include "ilux/apps/program/option_table.hpp"

namespace ilux::app {

/// Of a command its own options; of `bench` those of each suite.
struct Chapter {
    std::string              name, summary;
    std::vector<OptionTable> tables;
};

}  // namespace ilux::app

#pragma once
// The subcommands, each in its cmd_*.cpp.

#include "ilux/apps/program/command.hpp"

namespace ilux::app {

int solve(Arguments arguments);
int sequence(Arguments arguments);
int info(Arguments arguments);
int gallery_command(Arguments arguments);
int compare(Arguments arguments);
int doctor(Arguments arguments);

}  // namespace ilux::app

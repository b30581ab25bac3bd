#pragma once
// A test that runs ilux-lab as its users run it.

#include "ilux/tests/apps/cli.hpp"

namespace ilux {

/// ilux() runs that program.
class LabCli : public Cli {
protected:
    LabCli() : Cli("ilux-lab", ILUX_LAB_PROGRAM, "ILUX_LAB_PROGRAM") {}
};

}  // namespace ilux

#pragma once
// The suites of `ilux-lab`: each measures one table of a paper, or one of our own, on this machine.

#include "ilux/apps/program/command.hpp"

namespace ilux::app {

int bench_ilupack_gmres(Arguments arguments);
int bench_accuracy(Arguments arguments);
int bench_lu(Arguments arguments);
int bench_lu_model(Arguments arguments);
int bench_setup(Arguments arguments);

}  // namespace ilux::app

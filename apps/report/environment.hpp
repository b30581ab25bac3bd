#pragma once
// This machine and this build, for `ilux doctor` and for reports that outlive them.

#include "ilux/apps/report/report_rows.hpp"

namespace ilux::app {

/// Version, commit, compiler, processor, memory, CUDA and GPUs. Asking for GPUs may start their driver.
Rows environment_rows();

}  // namespace ilux::app

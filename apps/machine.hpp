#pragma once
// What this machine and this build are.

#include <cstdint>
#include <string>

#include "ilux/apps/options.hpp"
#include "ilux/apps/run.hpp"

namespace ilux::app {

std::string   cpu_name();          ///< as the system gives it, or "CPU"
std::uint64_t memory_bytes();      ///< physical; 0 when unknown
std::uint64_t memory_available();  ///< 0 when unknown
std::string   blas_name();         ///< OpenBLAS with its version, or that it is another one
std::string   compiler_name();

/// Where the solve will run; a choice made for the user is noted in `decisions`.
/// @throws DeviceError when a GPU is asked for and there is none, or none that this version solves on
Device choose_device(DeviceChoice choice, int threads, std::vector<std::string>& decisions);

}  // namespace ilux::app

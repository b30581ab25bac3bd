#pragma once
// What this machine and this build are.

#include <cstdint>
#include <string>

namespace ilux::app {

std::string   cpu_name();          ///< as the system gives it, or "CPU"
std::uint64_t memory_bytes();      ///< physical; 0 when unknown
std::uint64_t memory_available();  ///< 0 when unknown
std::string   blas_name();         ///< OpenBLAS with its version, or that it is another one
std::string   compiler_name();
bool          built_with_cuda();
std::string
build_commit();  ///< of the sources, "-dirty" when they differ from it; "" when unknown (cmake/commit.cmake)

}  // namespace ilux::app

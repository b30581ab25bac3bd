#pragma once
// What the host is, and what this build can do.

#include <cstdint>
#include <string>

namespace ilux {

std::string   cpu_name();          ///< as the system gives it, or "CPU"
std::uint64_t memory_bytes();      ///< physical; 0 when unknown
std::uint64_t memory_available();  ///< 0 when unknown
bool          built_with_cuda();

}  // namespace ilux
